"""8 processes × 500 appends of 20 B–8 KB beside a listener that restarts: lost, torn and doubled lines counted."""

import json
import random
import subprocess
import sys
import time

from bench.ground import Row, ib, repository
from ibstatus.mail import post
from ibstatus.project import paths

WRITERS, APPENDS = 8, 500


def write(name: str, count: int) -> None:
    """One writer process: numbered notices of mixed sizes."""
    place = paths.here()
    sizes = random.Random(name)
    for number in range(count):
        text = f"{name}:{number}:" + "x" * sizes.randint(20, 8192)
        post.notify(place, "cli", "complete", name, True, text, time.time())


def drained(place: paths.Place, writers: "list[subprocess.Popen[bytes]]", wanted: int) -> list[str]:
    """What a listener that is started again and again has printed, until all is there or nothing more comes."""
    printed: list[str] = []
    quiet = 0
    while len(printed) < wanted and quiet < 3:
        listening = subprocess.run(ib("listen", "--timeout", "1"), cwd=place.root, capture_output=True, check=True)
        lines = [line for line in listening.stdout.decode().splitlines() if line.startswith("{")]
        printed += lines
        quiet = 0 if lines or any(writer.poll() is None for writer in writers) else quiet + 1
    return printed


def measure(writers: int = WRITERS, appends: int = APPENDS) -> list[Row]:
    with repository() as place:
        argv = [sys.executable, "-m", "bench.storm"]
        running = [
            subprocess.Popen([*argv, f"w{n}", str(appends)], cwd=place.root, env=with_path()) for n in range(writers)
        ]
        printed = drained(place, running, writers * appends)
        for process in running:
            process.wait()
    seen: list[str] = []
    torn = 0
    for line in printed:
        try:
            seen.append(":".join(json.loads(line)["msg"].split(":")[:2]))
        except ValueError:
            torn += 1
    lost, doubled = writers * appends - len(set(seen)), len(seen) - len(set(seen))
    figure = f"{lost} lost, {torn} torn, {doubled} doubled of {writers * appends}"
    bad = lost or torn or doubled
    return [Row(f"{writers} processes × {appends} appends beside a restarting listener", figure, "0, 0, 0", not bad)]


def with_path() -> dict[str, str]:
    """The writers run in the throw-away repository and import this folder."""
    import os
    from pathlib import Path

    return {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]))
