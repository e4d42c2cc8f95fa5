"""What the status hook costs at every tool call when there is nothing new, against an empty isolated python."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ibstatus
from bench.ground import Row, percentile, repository
from bench.hot import available, compiled, instructions
from ibstatus.mail import post
from ibstatus.project import paths
from ibstatus.system import atomic

BAR = 1.4
MANY = 1000
PAYLOAD = 126_000
ROUNDS = 60
STUB = Path(ibstatus.__file__).parent / "hooks" / "stub.py"
ISOLATED = [sys.executable, "-S", "-E", "-I"]


def hook(name: str, *args: str) -> list[str]:
    return [*ISOLATED, str(STUB), name, *args]


def payload(place: paths.Place, length: int = 0) -> bytes:
    value = {
        "session_id": "b7a1f9c2",
        "transcript_path": "/home/user/.claude/projects/x/b7a1f9c2.jsonl",
        "cwd": place.root,
        "prompt_id": "p1",
        "permission_mode": "default",
        "hook_event_name": "PostToolBatch",
        "tool_calls": [{"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": "x" * length}],
    }
    return json.dumps(value).encode()


def publish(place: paths.Place, agents: int) -> None:
    known = [{"id": f"agent-{number}", "state": "running", "reason": ""} for number in range(agents)]
    value = {"seq": 1, "at": "2026-01-01T00:00:01Z", "version": ibstatus.__version__, "agents": known}
    atomic.put(place.home + "/status.json", json.dumps(value, separators=(",", ":")).encode(), durable=False)
    for number in range(agents):
        folder = Path(place.agent_dir(f"agent-{number}"))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "meta.json").write_text("{}")


def counted(argv: list[str], data: bytes, cwd: str) -> int:
    with tempfile.TemporaryFile() as stdin:
        stdin.write(data)
        stdin.seek(0)
        return instructions(argv, cwd, stdin)


def settled(place: paths.Place) -> None:
    """A session that has heard everything: two turns, whatever there was to tell."""
    for _ in range(3):
        subprocess.run(hook("inject-status"), input=payload(place), stdout=subprocess.DEVNULL, check=True)


def seconds(argv: list[str], data: bytes) -> float:
    began = time.perf_counter()
    subprocess.run(argv, input=data, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def measure(rounds: int = ROUNDS) -> list[Row]:
    if not available():
        return [Row("status hook", "not measured: valgrind is not installed", f"≤ {BAR} ×", False)]
    compiled()
    with repository() as place:
        os.environ["CLAUDE_PROJECT_DIR"] = place.root
        floor = counted([*ISOLATED, "-c", "pass"], b"", place.root)
        post.notify(place, "cli", "complete", "a", True, "heard", time.time())
        publish(place, 0)
        settled(place)
        few = counted(hook("inject-status"), payload(place), place.root)
        publish(place, MANY)
        settled(place)
        many = counted(hook("inject-status"), payload(place), place.root)
        small, large = payload(place), payload(place, PAYLOAD)
        pairs = [(seconds(hook("inject-status"), small), seconds(hook("inject-status"), large)) for _ in range(rounds)]
        growth = percentile([pair[1] for pair in pairs], 0.5) / percentile([pair[0] for pair in pairs], 0.5)
    return [
        Row("status hook, nothing new", f"{few / floor:.2f} ×", f"≤ {BAR} ×", few / floor <= BAR),
        Row(f"… with {MANY:,} agents, of none", f"{many / few:.2f} ×", "≤ 1.3 ×", many / few <= 1.3),
        Row("… with a payload of 126 KB, in time", f"{growth:.2f} ×", "≤ 1.1 ×", growth <= 1.1),
    ]
