"""What a hot command costs, in instructions (callgrind), against `python -c pass` of the same venv."""

import compileall
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import ibstatus
from bench.ground import Row, ib, repository
from ibstatus.mail import json_list, messages
from ibstatus.project import paths

BAR = 2.0


def instructions(argv: list[str], cwd: str, stdin: IO[bytes] | int = subprocess.DEVNULL) -> int:
    """Instructions of one whole process."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    argv = [*tool, *argv]
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, stdin=stdin)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if counted is None or done.returncode:
        raise RuntimeError(f"{argv} failed under callgrind: {done.stderr[-2000:]}")
    return int(counted.group(1))


def available() -> bool:
    return shutil.which("valgrind") is not None


def compiled() -> None:
    """An installed package has its bytecode; an editable one may not have it yet."""
    compileall.compile_dir(str(Path(ibstatus.__file__).parent), quiet=1)


def fill(place: paths.Place, count: int) -> list[str]:
    """A mailbox with this many unacknowledged messages, all heard of."""
    items = [
        {
            "id": f"msg-1736610{number:05d}-manager-abc",
            "from": "manager-abc",
            "timestamp": "2026-01-11T15:30:00Z",
            "type": "question",
            "content": "Should I use CSS variables or a theme provider for dark mode?",
            "queued": True,
        }
        for number in range(count)
    ]
    json_list.save(place, place.messages, items, lambda items: False)
    return [str(item["id"]) for item in items]


def measure(counts: tuple[int, ...] = (50, 1000)) -> list[Row]:
    if not available():
        return [Row("hot commands", "not measured: valgrind is not installed", f"≤ {BAR} ×", False)]
    compiled()
    rows = []
    with repository() as place:
        floor = instructions([sys.executable, "-c", "pass"], place.root)
        agent = Path(place.agent_dir("a"), "repo")
        agent.mkdir(parents=True)
        agent.with_name("meta.json").write_text('{"id": "a"}')
        messages.send(place, "cli", "a", True, "status", "warm", time.time())

        def row(what: str, argv: list[str], cwd: str, bar: float | None = BAR) -> Row:
            ratio = instructions(argv, cwd) / floor
            return Row(what, f"{ratio:.2f} ×", f"≤ {bar} ×" if bar else "stated", bar is None or ratio <= bar)

        rows.append(row("`ib notify`", ib("notify", "Agent a completed"), place.root))
        rows.append(row("`ib log`", ib("log", "Found 5 files to process"), str(agent)))
        for count in counts:
            bar = BAR if count == 50 else None
            fill(place, count)
            send = ib("send", "user-claude", "? Which port?")
            rows.append(row(f"`ib send user-claude`, {count} messages", send, str(agent), bar))
            acknowledge = ib("acknowledge", fill(place, count)[count // 2])
            rows.append(row(f"`ib acknowledge`, {count} messages", acknowledge, place.root, bar))
    return rows
