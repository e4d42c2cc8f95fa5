"""An agent that lives: fake-claude in its own tmux session, with the settings that ib makes for it."""

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

from ibstatus.claude import sessions
from ibstatus.claude.screens import prompt
from ibstatus.project import agent_meta, home, paths
from ibstatus.system.tmux import server as driver
from ibstatus.system.tmux import typing
from ibstatus.testkit.fake_claude import transcript
from tests.conftest import make_agent, run_ib
from tests.until import until

ORDERS = "orders"  # a script that is told step by step: `order`


class Living:
    """`script`: what it does, see `fake-claude --help`."""

    def __init__(self, place: paths.Place, tmux: Callable[..., str], config: Path, name: str, script: str = "") -> None:
        home.enter(place)
        self.place, self.name, self.tmux, self.config = place, name, tmux, config
        self.worktree = make_agent(place, name)
        self.folder = Path(place.agent_dir(name))
        self.orders = self.folder / "orders"
        script = f"orders {self.orders}\n" if script == ORDERS else script
        (self.folder / "script").write_text(script)
        settings = run_ib("hooks", "agent-settings", name, cwd=place.root).out.strip()
        self.session = str(uuid.uuid4())
        record = agent_meta.record_of(place, name)
        assert record is not None
        known = {"session_id": self.session, "tmux_session": agent_meta.session_of(place, record), "tmux_socket": "ib"}
        agent_meta.change(place, name, **known, config_dir=str(config))
        self.where = sessions.of(place, name)
        env = [f"CLAUDE_CONFIG_DIR={config}", f"FAKE_CLAUDE_SCRIPT={self.folder}/script", "CLAUDECODE="]
        argv = ["env", *(env if script else env[:1]), sys.executable, "-m", "ibstatus.testkit.fake_claude"]
        argv += ["--permission-mode", "bypassPermissions", "--session-id", self.session, "--settings", settings]
        driver.start(self.where.socket, self.where.name, str(self.worktree), argv, name)
        pane = self.where.pane()
        assert pane is not None
        self.pane = pane

    @property
    def screen(self) -> prompt.Screen:
        return prompt.read(typing.styled("ib", self.pane))

    def fill(self) -> Path:
        """Its context is too full; returns its transcript."""
        full = {
            "input_tokens": 1,
            "cache_read_input_tokens": 170_000,
            "cache_creation_input_tokens": 0,
            "output_tokens": 5,
        }
        path = next(self.config.glob(f"projects/*/{self.session}.jsonl"))
        entry = {"type": "assistant", "message": {"role": "assistant", "model": "m", "content": [], "usage": full}}
        with path.open("a") as file:
            file.write(json.dumps(entry) + "\n")
        return path

    def until(self, holds: Callable[[], object], seconds: float = 20.0) -> None:
        """Retried; the screen is shown when it does not come true."""
        try:
            until(holds, seconds)
        except AssertionError as failure:
            raise AssertionError(f"{failure}\n{self.shown()}") from None

    def shown(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", self.pane.id)

    def idle(self) -> "Living":
        self.until(lambda: self.screen.takes_text)
        return self

    def busy(self) -> "Living":
        self.until(lambda: self.screen.kind == "busy")
        return self

    def held(self) -> "Living":
        """At work until the next order: no hook of its runs, and none comes."""
        self.order("hold").submit("go")
        self.until(lambda: Path(f"{self.orders}.at").exists() and self.screen.kind == "busy")
        return self

    def order(self, *steps: str) -> "Living":
        with self.orders.open("a") as file:
            file.write("".join(f"{step}\n" for step in steps))
        os.kill(self.pane.pid, signal.SIGCHLD)  # it looks at once
        return self

    def keys(self, *names: str) -> None:
        self.tmux("send-keys", "-t", self.pane.id, *names)

    def type(self, text: str) -> None:
        """Onto the prompt line, as a person would."""
        self.keys("-l", text)
        self.until(lambda: self.screen.draft == text)

    def submit(self, text: str) -> None:
        self.type(text)
        self.keys("Enter")
        self.until(lambda: self.screen.draft != text)

    def prompts(self) -> list[str]:
        return [text for kind, text in self.heard() if kind == "prompt"]

    def heard(self) -> list[tuple[str, str]]:
        """All that its model was shown."""
        path = next(iter((self.config / "projects").glob(f"*/{self.session}.jsonl")), None)
        return [tuple(entry) for entry in transcript.heard(str(path))] if path is not None else []  # type: ignore[misc]

    def hears(self, text: str) -> int:
        """How often; the hook has told it a moment before the client writes it down."""
        self.until(lambda: self.has_heard(text))
        return self.has_heard(text)

    def has_heard(self, text: str) -> int:
        return sum(said.count(text) for _, said in self.heard())

    def end(self) -> None:
        subprocess.run(["kill", "-KILL", str(self.pane.pid)], check=True)
        until(lambda: self.where.pane() is None)
