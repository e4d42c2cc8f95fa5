"""The real client as a person has it before them: in a terminal, which is a tmux server of its own."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

from ibstatus.claude import transcript
from ibstatus.claude.screens.dialogs import Dialog
from ibstatus.claude.screens.prompt import Pace
from tests.peers.client import Client, environment
from tests.until import until

READY = re.compile(r"bypass permissions on|\? for shortcuts|manual mode|accept edits on|plan mode on|auto mode")
TRUSTED = re.compile(r"❯\s(1\.\s)?Yes")
LINE = "❯\u00a0"  # the prompt line; a prompt that was sent stands behind an ordinary blank


class Tui:
    """One session. Close it; whatever it leaves behind is the client fixture's to end."""

    def __init__(
        self, client: Client, cwd: Path, *args: str, mode: str = "bypassPermissions", env: dict[str, str] | None = None
    ) -> None:
        self.client = client
        self.cwd = cwd
        self.mode = mode
        self.env = {**environment(client.home, client.url), "TERM": "xterm-256color", **(env or {})}
        self.folder = tempfile.mkdtemp(prefix="ib-tui-", dir="/tmp")  # a socket's path must be short
        self.servers = 0
        self.session = str(uuid.uuid4())
        self.start("--session-id", self.session, *args)

    def start(self, *args: str) -> None:
        argv = [str(self.client.binary), "--permission-mode", self.mode, *args]
        self.tmux("-f", os.devnull, "new-session", "-d", "-x", "140", "-y", "45", "-c", str(self.cwd), *argv)
        self.tmux("set-option", "-g", "remain-on-exit", "on")
        self.pace = Pace()
        self.until(self.is_ready, 30)

    def is_ready(self) -> bool:
        """On the way there the folder is trusted: which answer the arrow points to at first differs by version."""
        screen = self.screen()
        if "I trust this folder" in screen and "Enter to confirm" in screen:
            dialog = Dialog("trust", (), 1 if TRUSTED.search(screen) else 0)
            if self.pace.is_free(dialog, time.monotonic()):
                self.keys("Enter" if dialog.at else "Down")
                self.pace.pressed(dialog, time.monotonic())
            return False
        return bool(READY.search(screen)) and self.line is not None

    def resume(self, *args: str) -> None:
        """The same session in a new client; the old one has ended. A server that is about to end takes nobody in."""
        self.tmux("kill-server")
        self.servers += 1
        self.start("--resume", self.session, *args)

    def tmux(self, *args: str) -> str:
        argv = ["tmux", "-S", f"{self.folder}/{self.servers}", *args]
        return subprocess.run(argv, env=self.env, capture_output=True, text=True, check=False).stdout

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def until(self, holds, seconds: float = 20.0) -> None:
        """Retried; the screen is shown when it does not come true."""
        try:
            until(holds, seconds)
        except AssertionError as failure:
            raise AssertionError(f"{failure}\n{self.screen()}") from None

    @property
    def line(self) -> str | None:
        """What stands on the prompt line; None while there is none, as with a dialog open."""
        found = [line for line in self.screen().splitlines() if LINE in line]
        return found[-1].partition(LINE)[2].rstrip() if found else None

    def type(self, text: str) -> None:
        """Until it stands on the prompt line: what is typed during start-up can get lost."""
        deadline = time.monotonic() + 20
        while True:
            self.tmux("send-keys", "-l", text)
            try:
                return until(lambda: text in (self.line or ""), 3)
            except AssertionError:
                assert time.monotonic() < deadline, f"{text!r} does not stand on the prompt line\n{self.screen()}"
                self.keys("C-u")

    @property
    def is_busy(self) -> bool:
        """Also while the Stop hooks of its turn run: what is typed then belongs to that turn."""
        return "esc to interrupt" in self.screen()

    def submit(self, text: str, meanwhile: bool = False) -> None:
        """A prompt of its own; `meanwhile`: into the turn that runs."""
        if not meanwhile:
            self.until(lambda: not self.is_busy)
        self.type(text)
        self.keys("Enter")
        self.until(lambda: text not in (self.line or ""))

    def keys(self, *names: str) -> None:
        self.tmux("send-keys", *names)

    @property
    def pid(self) -> int:
        return int(self.tmux("display-message", "-p", "#{pane_pid}"))

    @property
    def ended(self) -> bool:
        return self.tmux("display-message", "-p", "#{pane_dead}").strip() != "0"

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)
        self.until(lambda: self.ended)

    def kill9(self) -> None:
        """Not before the client has written the conversation down: it could not be resumed."""
        self.until(lambda: any(transcript.is_begun(str(file)) for file in self.transcripts()))
        self.send_signal(signal.SIGKILL)

    def transcripts(self) -> list[Path]:
        return list((self.client.home / ".claude" / "projects").glob(f"*/{self.session}.jsonl"))

    def leave(self) -> None:
        """/exit, and yes if it asks whether to stop what runs in the background."""
        self.type("/exit")
        self.keys("Enter")
        self.until(lambda: self.ended or "Exit and stop tasks" in self.screen())
        if not self.ended:
            self.keys("Enter")
            self.until(lambda: self.ended)

    def close(self) -> None:
        self.tmux("kill-server")
        shutil.rmtree(self.folder, ignore_errors=True)
