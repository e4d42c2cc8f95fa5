"""8 × 100 concurrent sends, acknowledgements and questions: arrays stay whole, every item is there or settled."""

import json
import subprocess
import sys
import time
from pathlib import Path

from bench.ground import Row, repository
from bench.storm import with_path
from ibstatus.mail import messages, questions
from ibstatus.project import paths

WRITERS, ROUNDS = 8, 100


def talk(name: str, count: int) -> None:
    """One process: sends, asks, and acknowledges every third thing it said. Prints what it was promised."""
    place = paths.here()
    for number in range(count):
        sent = messages.send(place, "cli", name, True, "question", f"{name} {number}", time.time()).item["id"]
        asked = questions.ask(place, "cli", name, True, f"{name} {number}?", time.time())[0]["id"]
        print(sent)
        print(asked)
        if number % 3 == 0:
            messages.acknowledge(place, "cli", "user", [sent], time.time())
            questions.acknowledge(place, "cli", "user", [asked], time.time())
            print("ack", sent)
            print("ack", asked)


def always_valid(place: paths.Place, running: "list[subprocess.Popen[str]]") -> int:
    """Parse both files as fast as possible while the writers run; returns how often one was broken."""
    broken = 0
    while any(process.poll() is None for process in running):
        for path in (place.messages, place.questions):
            try:
                json.loads(Path(path).read_bytes())
            except FileNotFoundError:
                continue
            except ValueError:
                broken += 1
    return broken


def measure(writers: int = WRITERS, rounds: int = ROUNDS) -> list[Row]:
    with repository() as place:
        argv = [sys.executable, "-m", "bench.mail"]
        running = [
            subprocess.Popen(
                [*argv, f"w{n}", str(rounds)], cwd=place.root, env=with_path(), stdout=subprocess.PIPE, text=True
            )
            for n in range(writers)
        ]
        broken = always_valid(place, running)
        said = [line for process in running for line in process.communicate()[0].splitlines()]
        there = {item["id"] for item in messages.open_ones(place).items}
        there |= {item["id"] for item in questions.pending(place)}
    settled = {line.split()[1] for line in said if line.startswith("ack ")}
    promised = [line for line in said if not line.startswith("ack ")]
    lost = set(promised) - settled - there
    revived = settled & there
    doubled = len(promised) - len(set(promised))
    figure = (
        f"{len(lost)} lost, {len(revived)} back after acknowledge, {doubled} duplicate ids, {broken} invalid reads, "
        f"of {len(promised)}"
    )
    good = not (lost or revived or doubled or broken)
    return [Row(f"{writers} × {rounds} concurrent send, ask and acknowledge", figure, "0, 0, 0, 0", good)]


if __name__ == "__main__":
    talk(sys.argv[1], int(sys.argv[2]))
