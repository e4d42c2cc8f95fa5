"""fake-claude as it is started: in a project with hooks that write down what they got, with or without a terminal."""

import json
import os
import shlex
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ibstatus.testkit.fake_claude import transcript
from tests.conftest import Done, git
from tests.until import until

LINE = "❯\u00a0"


class Project:
    """A git repository of its own; `on` gives an event a hook, `fired` says what ran."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project with 'ü'"
        self.root.mkdir()
        git(self.root, "init", "-q", "-b", "main")
        self.log = folder / "hooks.log"
        self.home = folder / "claude-home"
        self.settings: dict[str, Any] = {"hooks": {}}

    def on(self, *events: str, then: str = "", matcher: str = "", **options: object) -> None:
        record = f"cat >> {shlex.quote(str(self.log))}; echo >> {shlex.quote(str(self.log))}"
        for event in events:
            hook = {"type": "command", "command": f"{record}; {then or 'exit 0'}", **options}
            self.settings["hooks"].setdefault(event, []).append({"matcher": matcher, "hooks": [hook]})
        (self.root / ".claude").mkdir(exist_ok=True)
        (self.root / ".claude" / "settings.json").write_text(json.dumps(self.settings))

    def fired(self, event: str = "") -> list[dict[str, Any]]:
        """Without the one that is just being written down."""
        lines = self.log.read_bytes().split(b"\n")[:-1] if self.log.exists() else []
        return [found for found in map(json.loads, filter(None, lines)) if event in ("", found["hook_event_name"])]

    def names(self) -> list[str]:
        return [str(payload["hook_event_name"]) for payload in self.fired()]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "CLAUDE_CONFIG_DIR": str(self.home)}

    def transcript(self, session: str) -> Path:
        return next(iter((self.home / "projects").glob(f"*/{session}.jsonl")), self.home / "none.jsonl")

    def heard(self, session: str) -> list[tuple[str, str]]:
        path = self.transcript(session)
        return [tuple(entry) for entry in transcript.heard(str(path))] if path.exists() else []

    def play(self, *args: str, stdin: bytes | None = None, **env: str) -> Done:
        """Without a terminal."""
        done = subprocess.run(
            [sys.executable, "-m", "ibstatus.testkit.fake_claude", *args],
            cwd=self.root,
            env={**self.environment, **env},
            capture_output=True,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


class Screen:
    """fake-claude in a pane."""

    def __init__(self, tmux: Callable[..., str], project: Project, *args: str, session: str = "", size: str = "110x40"):
        self.run = tmux
        self.project = project
        self.session = session or str(uuid.uuid4())
        self.name = f"fake-{uuid.uuid4().hex[:8]}"
        width, _, height = size.partition("x")
        known = [] if "--resume" in args else ["--session-id", self.session]
        config = f"CLAUDE_CONFIG_DIR={project.home}"
        argv = [sys.executable, "-m", "ibstatus.testkit.fake_claude", *known, *args]
        here = ["-c", str(project.root), "-x", width, "-y", height, "-e", config]
        self.run(
            "new-session", "-d", "-s", self.name, *here, "--", *argv, ";", "set-option", "-g", "remain-on-exit", "on"
        )

    def __str__(self) -> str:
        return self.run("capture-pane", "-p", "-t", f"={self.name}:")

    def until(self, holds: Callable[[], object]) -> None:
        try:
            until(holds)
        except AssertionError as failure:
            raise AssertionError(f"{failure}\n{self}") from None

    def shows(self, *texts: str) -> None:
        self.until(lambda: all(text in str(self) for text in texts))

    def ready(self) -> "Screen":
        self.until(lambda: self.line == "" and "esc to interrupt" not in str(self))
        return self

    @property
    def line(self) -> str | None:
        found = [line for line in str(self).splitlines() if line.startswith(LINE)]
        return found[-1].removeprefix(LINE).rstrip() if found else None

    def submit(self, text: str) -> None:
        self.type(text)
        self.until(lambda: self.line == text)
        self.keys("Enter")

    def leave(self) -> int:
        self.ready()
        self.submit("/exit")
        return self.code

    def keys(self, *names: str) -> None:
        self.run("send-keys", "-t", f"={self.name}:", *names)

    def type(self, text: str) -> None:
        self.run("send-keys", "-t", f"={self.name}:", "-l", "--", text)

    def paste(self, text: bytes, folder: Path) -> None:
        file = folder / "paste"
        file.write_bytes(text)
        self.run("load-buffer", str(file), ";", "paste-buffer", "-p", "-t", f"={self.name}:")

    def ask(self, what: str) -> str:
        return self.run("display-message", "-p", "-t", f"={self.name}:", f"#{{{what}}}").strip()

    @property
    def pid(self) -> int:
        return int(self.ask("pane_pid"))

    @property
    def ended(self) -> bool:
        return self.ask("pane_dead") == "1"

    @property
    def code(self) -> int:
        """Of its end; a signal's counts as 128 and its number. tmux 3.3 may oversee one until another child ends."""
        self.until(lambda: self.ended)
        self.until(
            lambda: self.run("run-shell", "true") or self.ask("pane_dead_status") or self.ask("pane_dead_signal")
        )
        return int(self.ask("pane_dead_status") or 128 + int(self.ask("pane_dead_signal")))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def screen(tmux: Callable[..., str], project: Project) -> Callable[..., Screen]:
    def open_one(*args: str, **options: str) -> Screen:
        return Screen(tmux, project, *args, **options)

    return open_one
