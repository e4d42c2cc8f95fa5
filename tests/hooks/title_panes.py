"""Sessions of the client in panes of a real tmux: what each event does to the windows."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import forked
from tests.hooks.payloads import recorded

STUB = Path(__file__).with_name("patient.py")
FIELDS = "#{window_id}\t#{window_name}\t#{automatic-rename}"


class Server:
    """A tmux server with windows of which each runs `cat`; a wrapper before tmux counts who asks it."""

    def __init__(self, tmux: Callable[..., str], folder: Path) -> None:
        self.tmux = tmux
        self.folder = folder
        self.calls = folder / "calls"
        self.calls.write_text("")
        wrapper = folder / "bin" / "tmux"
        wrapper.parent.mkdir()
        real = subprocess.run(
            ["sh", "-c", "command -v tmux"], capture_output=True, text=True, check=True
        ).stdout.strip()
        wrapper.write_text(f'#!/bin/sh\necho "$*" >>{self.calls}\nexec {real} "$@"\n')
        wrapper.chmod(0o755)
        self.bin = wrapper.parent
        self.home = folder / "home"
        self.home.mkdir()
        tmux("new-session", "-d", "-s", "one", "-n", "own", "-x", "100", "-y", "30", "cat")
        self.socket = self.ask("#{socket_path}")
        self.pid = self.ask("#{pid}")

    def ask(self, form: str, target: str = "") -> str:
        return self.tmux("-u", "display-message", "-p", *(["-t", target] if target else []), form).rstrip("\n")

    def pane(self, target: str = "one:") -> str:
        return self.ask("#{pane_id}", target)

    def window(self, *args: str) -> str:
        """A new window; the id of its pane."""
        return self.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", *args, "cat").strip()

    def split(self, target: str) -> str:
        return self.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", target, "cat").strip()

    def name(self, target: str) -> str:
        """As it was given: tmux keeps some characters behind a backslash."""
        return self.ask("#{s/\\\\(\\\\|[$])/\\1/:window_name}", target)

    def is_named_by_tmux(self, target: str) -> bool:
        """tmux looks at what runs there only when something is drawn, and `cat` may have been a shell still."""
        self.tmux("send-keys", "-t", target, "Enter")
        return self.name(target) == "cat"

    def state(self, target: str) -> str:
        return self.ask("#{@ib_state}", target)

    def ours(self, target: str) -> str:
        """Every option of the window and the pane that bears our mark."""
        both = self.tmux("show-options", "-w", "-t", target) + self.tmux("show-options", "-p", "-t", target)
        return "".join(line for line in both.splitlines(True) if line.startswith(("@ib", "@agent_r", "@last_c")))

    def automatic(self, target: str) -> str:
        """What the window says for itself; '' where it says nothing."""
        return (
            self.tmux("show-options", "-w", "-t", target, "automatic-rename").strip().removeprefix("automatic-rename ")
        )

    def asked(self) -> int:
        """How many tmux processes were started since the last time."""
        count = len(self.calls.read_text().splitlines())
        self.calls.write_text("")
        return count

    @property
    def memories(self) -> list[Path]:
        return sorted((self.home / ".local/state/ib/titles").glob("*"))


class Session:
    """One session of the client in a pane. `is_hasty`: its hooks give tmux up in time, as they do in daily life."""

    is_hasty = False

    def __init__(self, server: Server, pane: str, project: Path | str, name: str = "s1", **env: str) -> None:
        self.server = server
        self.pane = pane
        self.project = str(project)
        self.name = name
        self.turn = 0
        self.env = env

    def payload(self, name: str, **more: Any) -> dict[str, Any]:
        given = {"session_id": self.name, "cwd": self.project, **more}
        return recorded(name, **{"prompt_id": f"{self.name}-{self.turn}", **given})

    def environment(self, **env: str) -> dict[str, str]:
        server = self.server
        return {
            **os.environ,
            "PATH": f"{server.bin}:{os.environ['PATH']}",
            "HOME": str(server.home),
            "TMUX": f"{server.socket},{server.pid},0",
            "TMUX_PANE": self.pane,
            "CLAUDE_PROJECT_DIR": self.project,
            "CLAUDE_CODE_ENTRYPOINT": "cli",
            **self.env,
            **env,
        }

    def run(self, name: str, *, env: dict[str, str | bytes] | None = None, **more: Any) -> None:
        """As the client runs it, in a process from its very start. An empty variable is none."""
        given = {key: value for key, value in {**self.environment(), **(env or {})}.items() if value}
        argv = [sys.executable, "-S", "-E", "-I", str(STUB), "notify-tmux"]
        data = json.dumps(self.payload(name, **more)).encode()
        done = subprocess.run(argv, cwd="/", env=given, input=data, capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    def tell(self, name: str, **more: Any) -> "Session":
        """One event; the hook never says anything."""
        assert self.told(name, **more) == (0, b"", b"")
        return self

    def told(
        self, name: str, what: str = "", at: int = 0, *, args: tuple[str, ...] = (), **more: Any
    ) -> tuple[int, bytes, bytes]:
        """As a process that is forked; `what` and `at` arm the fault seam in it."""
        patient = "" if self.is_hasty else "notify-tmux"
        data = json.dumps(self.payload(name, **more)).encode()
        return forked.run(["hooks", "notify-tmux", *args], "/", self.environment(), data, what, at, patient)

    def start(self, **more: Any) -> "Session":
        return self.tell("SessionStart.startup", **more)

    def edit(self) -> "Session":
        return self.tell("PostToolBatch", tool_calls=[{"tool_name": "Edit"}])

    def stop(self, **more: Any) -> "Session":
        self.tell("Stop", **more)
        self.turn += 1
        return self

    def end(self) -> "Session":
        return self.tell("SessionEnd.prompt_input_exit")


def settings(folder: Path, **values: str) -> None:
    """The user's own, as `ib config set --global` leaves them."""
    (folder / ".ittybitty.json").write_text(json.dumps({"tmux": values}))
