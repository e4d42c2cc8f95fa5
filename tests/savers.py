"""People who save CLAUDE.md while its node is rewritten back to back, and what is left of their saves in the end.

    python -m tests.savers storm '{"path": …, "style": "append", "saves": 100, "leases": false, "way": "ours"}'

prints a Tally as JSON. A save carries a line of its own. It is lost when that line is not in the file (looked for after
every other save, and in the end) and not in a file that was kept and reported; the text outside of the node must be
exactly what the person wrote.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from ibstatus.system import disk
from ibstatus.system.text import markers
from ibstatus.system.text.splices import Splice, applied
from ibstatus.system.userfiles import displaced, edit, text_merge

HELD = 0.06
BREATH = 0.002  # at most, between two saves: or all saves would be done after a few edits
LOOK_EVERY = 0.2
HOPE = 8.0  # how long a late save may take to come home
CAPACITY = 1024
START = b"# Project\n\nbefore\n<ittybitty>\ntext\n<ittybitty-status>\n%s</ittybitty-status>\n</ittybitty>\nafter\n"


class Storm(NamedTuple):
    """`sizes`: same or mixed. `way`: ours, or rename as the seed does it."""

    path: str
    style: str
    saves: int
    sizes: str = "mixed"
    leases: bool = True
    way: str = "ours"
    hope: float = HOPE


class Tally(NamedTuple):
    """What became of the saves; `kept` were not merged but set aside and reported, `reports` are those words."""

    saves: int
    lost: int
    corrupt: int
    kept: int
    edits: dict[str, int]


class Person:
    """Saves in one style, each time one more line, and looks whether it is there."""

    def __init__(self, storm: Storm) -> None:
        self.storm = storm
        self.path = storm.path
        self.start = read(storm.path)
        self.lines: list[bytes] = []
        self.random = Random(storm.style)
        self.missing = 0

    def work(self) -> None:
        save: Callable[[], None] = getattr(self, self.storm.style)
        for number in range(self.storm.saves):
            self.lines.append(b"save %d of a person\n" % number)
            save()
            time.sleep(self.random.random() * BREATH)
            if number % 2 and not self.sees(self.lines[-1]):
                self.missing += 1

    def sees(self, line: bytes) -> bool:
        deadline = time.monotonic() + self.storm.hope
        while line not in read(self.path):
            if time.monotonic() > deadline:
                return any(line in read(path) for path in kept_files(self.path))
            time.sleep(0.0005)
        return True

    def editor(self) -> None:
        """Its own buffer, with whatever node it once read; a temp beside the file, and a rename."""
        temp = self.path + ".swp"
        Path(temp).write_bytes(self.start + b"".join(self.lines))
        os.rename(temp, self.path)

    def append(self) -> None:
        with open(self.path, "ab") as file:
            file.write(self.lines[-1])

    def truncate(self) -> None:
        """Its own buffer, where the block is every time at another place."""
        with open(self.path, "wb") as file:
            file.write(self.moved())

    def moved(self) -> bytes:
        spot = markers.find(self.start)
        assert spot is not None
        block = self.start[spot.block.start : spot.block.end]
        rest = [*(self.start[: spot.block.start] + self.start[spot.block.end :]).splitlines(True), *self.lines]
        rest.insert(self.random.randint(0, len(rest)), block)
        return b"".join(rest)

    def hold(self) -> None:
        with open(self.path, "ab") as file:
            time.sleep(HELD)
            file.write(self.lines[-1])


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def desk_of(path: str) -> str:
    return path + ".desk"


def kept_files(path: str) -> list[str]:
    desk = Path(desk_of(path))
    return [json.loads(record.read_bytes())["file"] for record in desk.glob("kept-*.json")]


def rewriting(random: Random, sizes: str) -> Callable[[bytes], Splice | None]:
    """A change that gives the node another text, and now and then another size."""

    def change(text: bytes) -> Splice | None:
        try:
            spot = markers.find(text)
        except markers.Malformed:
            return None
        if spot is None or spot.body is None:
            return None
        size = spot.body.end - spot.body.start
        if sizes == "mixed" and random.random() < 0.5:
            size = random.randint(64, CAPACITY)
        return Splice(*spot.body, body(random.randint(0, 10**9), size))

    return change


def body(number: int, size: int) -> bytes:
    head = b'{"n": %d}\n' % number
    return head + b" " * max(0, size - len(head) - 1) + b"\n"


def by_rename(path: str, change: Callable[[bytes], Splice | None]) -> None:
    """What the seed does: read, write a temp, mv."""
    text = read(path)
    splice = change(text)
    if splice is not None:
        Path(path + ".tmp").write_bytes(applied(text, splice))
        os.rename(path + ".tmp", path)


def storm(of: Storm) -> Tally:
    desk = desk_of(of.path)
    os.makedirs(desk, exist_ok=True)
    if not os.path.exists(of.path):
        Path(of.path).write_bytes(START % body(0, CAPACITY))
    first = read(of.path)
    if not of.leases:
        disk.control = no_leases  # type: ignore[assignment]
    child = subprocess.Popen([sys.executable, "-m", "tests.savers", "person", json.dumps(of._asdict())], stdout=-1)
    change, edits, looked = rewriting(Random(1), of.sizes), dict[str, int](), 0.0
    while child.poll() is None:
        if of.way == "ours":
            done = edit.edit(of.path, change, desk=desk, durable=False)
            edits[done.how] = edits.get(done.how, 0) + 1
            if time.monotonic() - looked > LOOK_EVERY:
                displaced.look(desk, time.time())
                looked = time.monotonic()
        else:
            by_rename(of.path, change)
    assert child.stdout is not None
    missing = int(child.stdout.read())
    assert child.wait() == 0
    deadline = time.monotonic() + of.hope
    while of.way == "ours" and unsettled(desk, of.leases) and time.monotonic() < deadline:
        displaced.look(desk, time.time())
        time.sleep(0.05)
    return tally(of, first, missing, edits)


def unsettled(desk: str, leases: bool) -> bool:
    """With leases all goes; without, what was displaced stays for an hour, and is only looked at for a while."""
    entries = displaced.all_on(desk)
    return bool(entries) and (leases or time.time() - entries[-1].at < 3)


def no_leases(*args: Any) -> int:
    raise OSError(22, "no leases here")


def tally(of: Storm, first: bytes, missing: int, edits: dict[str, int]) -> Tally:
    text = read(of.path)
    kept = kept_files(of.path)
    aside = b"".join(map(read, kept))
    wanted = [b"save %d of a person\n" % number for number in range(of.saves)]
    lost = [line for line in wanted if line not in text and line not in aside]
    node, rest = text_merge.cut(text)
    whole = text_merge.cut(first)[1].splitlines(True) + [line for line in wanted if line not in lost]
    # where the person puts the block is theirs; that nothing is torn, doubled or foreign is what counts
    is_exact = bool(node) and sorted(
        rest.splitlines(True) + [k for k in wanted if k in aside and k not in rest]
    ) == sorted(whole)
    return Tally(of.saves, max(missing, len(lost)), int(not is_exact), len(kept), edits)


def main(what: str, words: str) -> None:
    of = Storm(**json.loads(words))
    if what == "person":
        person = Person(of)
        person.work()
        print(person.missing)
    else:
        print(json.dumps(storm(of)._asdict()))


if __name__ == "__main__":
    main(*sys.argv[1:])
