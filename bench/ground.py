"""What the measurements stand on: a throw-away repository, a clean environment, a table."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ibstatus.project import home, paths
from ibstatus.system import locks
from ibstatus.system.process import run


class Row(NamedTuple):
    """One measured line: what, the figure, the bar, and whether it holds."""

    what: str
    figure: str
    bar: str
    holds: bool


@contextmanager
def repository(*, watched: bool = True) -> Iterator[paths.Place]:
    """A fresh repository in a world of its own; the process's environment is replaced for the time.

    `watched`: we hold the supervisor's lock, so that commands find one at work, as in daily life, and start none."""
    saved = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="ib-bench-") as folder:
        env = run.apart(folder)
        os.environ.clear()
        os.environ.update({key: value for key, value in env.items() if not key.startswith("PYTHON")})
        root = Path(folder).resolve() / "repo"
        root.mkdir()
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=root, check=True)
        subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "first"], cwd=root, check=True)
        place = paths.find(str(root))
        home.enter(place)
        lock = locks.Lock(place.lock("supervisor"))
        try:
            if watched:
                lock.try_take()
            yield place
        finally:
            lock.release()
            os.environ.clear()
            os.environ.update(saved)


def ib(*args: str) -> list[str]:
    return [sys.executable, "-m", "ibstatus", *args]


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(rows: list[Row]) -> str:
    """A Markdown table, as docs/measured.md has it."""
    lines = ["| what | measured | bar | |", "|---|---|---|---|"]
    lines += [f"| {row.what} | {row.figure} | {row.bar} | {'✓' if row.holds else '✗'} |" for row in rows]
    return "\n".join(lines)
