"""A person saves CLAUDE.md 2,000 times while the node is rewritten back to back; what an edit costs beside a rename.

python -m bench saves
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from bench.ground import Row
from ibstatus.system.text import markers
from ibstatus.system.text.splices import Splice
from ibstatus.system.userfiles import displaced, edit
from tests.savers import START, body

PROJECT = Path(__file__).resolve().parent.parent
SAVES, HELD_SAVES = 2000, 100
ROUNDS = 101
MEGABYTE = 1 << 20
MOUNT = 'mount --bind "$1" "$1" && shift && exec "$@"'
STYLES = {
    "editor": "an editor's temp and rename",
    "append": "open('a')",
    "truncate": "truncate and write, moving the node",
    "hold": "a program that holds it open 60 ms",
}


def storm(folder: Path, name: str, *before: str, **words: object) -> dict[str, Any]:
    style = str(words["style"])
    of = {"path": str(folder / name), "saves": HELD_SAVES if style == "hold" else SAVES, **words}
    argv = [*before, sys.executable, "-m", "tests.savers", "storm", json.dumps(of)]
    tally: dict[str, Any] = json.loads(subprocess.run(argv, cwd=PROJECT, capture_output=True, check=True).stdout)
    return tally


def row(what: str, tally: dict[str, Any]) -> Row:
    rewrites = sum(tally["edits"].values())
    figure = f"{tally['lost']} lost, {tally['corrupt']} corrupt of {tally['saves']} ({rewrites:,} rewrites"
    figure += f", {tally['kept']} kept and reported)" if tally["kept"] else ")"
    return Row(what, figure, "0, 0", not tally["lost"] and not tally["corrupt"])


def storms(folder: Path) -> list[Row]:
    rows = []
    for style, what in STYLES.items():
        for leases in (True, False):
            tally = storm(folder, f"{style}-{leases}", style=style, leases=leases)
            rows.append(row(f"saves by {what}, {'with' if leases else 'without'} leases", tally))
    rows += mounted(folder)
    seed = [storm(folder, f"mv-{style}", style=style, way="rename", hope=0.02) for style in list(STYLES)[:3]]
    figure = ", ".join(str(tally["lost"]) for tally in seed)
    rows.append(Row(f"the same three with a plain `mv` as the writer: saves lost of {SAVES:,} each", figure, "—", True))
    return rows


def mounted(folder: Path) -> list[Row]:
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        return [Row("saves of a bind-mounted file", "not possible on this machine", "0, 0", True)]
    rows = []
    for style in ("append", "truncate"):
        path = folder / f"mounted-{style}"
        path.write_bytes(START % body(0, 1024))
        tally = storm(folder, path.name, "unshare", "-m", "sh", "-c", MOUNT, "sh", str(path), style=style)
        rows.append(row(f"saves of a bind-mounted file by {STYLES[style]}", tally))
    return rows


def timed(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def by_rename(path: Path, text: bytes) -> None:
    temp = str(path) + ".tmp"
    Path(temp).write_bytes(text)
    os.rename(temp, path)


def rewriting(number: int, size: int) -> Callable[[bytes], Splice | None]:
    def change(text: bytes) -> Splice | None:
        spot = markers.find(text)
        assert spot is not None
        assert spot.body is not None
        return Splice(*spot.body, body(number, size))

    return change


def ratios(folder: Path) -> tuple[float, float, float]:
    """(exchange, same size, same size with the file read anew) of 1 MB over write and rename: interleaved, medians."""
    path, other, desk = folder / "big", folder / "other", str(folder / "desk")
    line = b"some words of a person on a line of their own\n"
    text = START % body(0, 4096) + line * (MEGABYTE // len(line))
    for each in (path, other):
        each.write_bytes(text)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    times: dict[str, list[float]] = {"rename": [], "same": [], "anew": [], "exchange": []}
    for number in range(ROUNDS):
        size = 4096 if number % 2 else 4000
        resize, same = rewriting(number, size), rewriting(number + ROUNDS, size)
        times["rename"].append(timed(lambda: by_rename(other, text)))
        for name, change in (("exchange", resize), ("anew", same)):
            times[name].append(timed(lambda c=change: edit.edit(str(path), c, desk=desk, durable=False)))  # type: ignore[misc]
        times["same"].append(timed_rewrite(str(path), desk, number + 2 * ROUNDS, size))
        displaced.look(desk, time.time() + 2)
    rename = median(times["rename"])
    return median(times["exchange"]) / rename, median(times["same"]) / rename, median(times["anew"]) / rename


def timed_rewrite(path: str, desk: str, number: int, size: int) -> float:
    """What the supervisor does when nobody has saved the file since its last update."""
    before = body(number, size)
    done = edit.edit(path, rewriting(number, size), desk=desk, durable=False)
    assert done.stamp is not None
    known = edit.Known(done.stamp, Path(path).read_bytes().index(before), before)
    after = body(number + ROUNDS, size)
    took = timed(lambda: edit.rewrite(path, known, after))
    assert after in Path(path).read_bytes()
    return took


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="ib-bench-") as name:
        exchange, same, anew = ratios(Path(name))
        rows = storms(Path(name))
    what = "of a 1 MB CLAUDE.md over write + rename, no fsync on either side"
    rows.append(Row(f"splice that changes the size {what}", f"{exchange:.2f} ×", "≤ 1.5 ×", exchange <= 1.5))
    rows.append(
        Row(
            f"update of the same size {what}",
            f"{same:.2f} × ({anew:.2f} × after a save by another program)",
            "≤ 0.2 ×",
            same <= 0.2,
        )
    )
    return rows
