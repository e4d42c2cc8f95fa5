"""Hooks as the client runs them: a process of their own, the payload on stdin, the project in the environment."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ibstatus
from ibstatus.project import home, paths

STUB = Path(ibstatus.__file__).parent / "hooks" / "stub.py"
PATIENT = Path(__file__).with_name("patient.py")


class Answered(NamedTuple):
    """How a hook ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def context(self) -> str:
        """What the model would be shown; '' when the hook was silent."""
        return str(self.json["hookSpecificOutput"].get("additionalContext", "")) if self.out else ""


is_hasty = False


@contextmanager
def hasty() -> Iterator[None]:
    """Hooks give up in time, as they do in daily life."""
    global is_hasty
    is_hasty = True
    try:
        yield
    finally:
        is_hasty = False


def run_hook(
    place: paths.Place, name: str, payload: Any, *args: str, project: Path | str | None = None, **env: str
) -> Answered:
    """One event. `payload`: an object, or the bytes themselves. `project`: CLAUDE_PROJECT_DIR, the root by default.
    In all the time that it needs, unless it is `hasty`."""
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    stub = STUB if is_hasty else PATIENT
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-I", str(stub), name, *args],
        cwd="/",
        env={**os.environ, "CLAUDE_PROJECT_DIR": str(project or place.root), "CLAUDECODE": "1", **env},
        input=data,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Answered(done.returncode, done.stdout.decode(), done.stderr.decode())


class Session:
    """One session of the client: its id, and its turns one after the other."""

    def __init__(self, place: paths.Place, name: str) -> None:
        self.place = place
        self.name = name
        self.turn = 0

    def payload(self, name: str, **more: Any) -> dict[str, Any]:
        return {
            "session_id": self.name,
            "cwd": self.place.root,
            "prompt_id": f"{self.name}-turn-{self.turn}",
            "hook_event_name": name,
            **more,
        }

    def prompt(self, text: str = "go on", **more: Any) -> Answered:
        self.turn += 1
        return run_hook(self.place, "inject-status", self.payload("UserPromptSubmit", prompt=text, **more))

    def batch(self, **more: Any) -> Answered:
        return run_hook(self.place, "inject-status", self.payload("PostToolBatch", tool_calls=[], **more))

    def stop(self, **more: Any) -> Answered:
        payload = self.payload("Stop", last_assistant_message="done", background_tasks=[], **more)
        return run_hook(self.place, "agent-status", payload)


@pytest.fixture
def entered(repo: paths.Place) -> paths.Place:
    """A repository in which ib is in use."""
    home.enter(repo)
    return repo


@pytest.fixture
def session(entered: paths.Place) -> Session:
    return Session(entered, "s1")


@pytest.fixture
def hook(entered: paths.Place) -> Callable[..., Answered]:
    def run(name: str, payload: Any, *args: str, **more: Any) -> Answered:
        return run_hook(entered, name, payload, *args, **more)

    return run
