"""One `tmux -C` kept open: many commands go in at once, their replies come back in order. Never a process an agent.

It stands in a session of its own, because who attaches to an agent's session would count as a person looking at it. The
session goes with the connection, even when we are killed: `destroy-unattached`.
"""

import os
import select
import socket as sockets
import subprocess
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

WATCH = "ib-watch-"
PATIENCE = 1.0  # for the whole of one request
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
OWN_PROGRAM = ("cat", "-u")  # sleeps on its terminal
CHUNK = 1 << 18
LEAVES_WITHIN = 0.5
WELCOME = 3  # the commands that it is started with have been done
SILENT: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)


class Reply(NamedTuple):
    """What one command printed; `ok` is False when that is tmux's complaint."""

    ok: bool
    data: bytes


class Broken(Exception):
    """There is no answer, and not for want of a server."""


class Connection:
    """To the server on this socket, whichever runs there. `why`: why there was no answer last, or ''.

    A server that hangs is never connected to, and a connection to it is kept: tmux 3.3 falls over a client in control
    mode that has gone before it was welcomed, with all its sessions."""

    def __init__(self, socket: str, name: str) -> None:
        self.socket = socket
        self.name = WATCH + name
        self.process: subprocess.Popen[bytes] | None = None
        self.why = ""
        self.pause = 0.0
        self.not_before = 0.0
        self.reading = Reading()
        self.unsent = b""
        self.owed = 0  # replies to what was asked before the server hung

    def ask(self, commands: Sequence[str], patience: float = PATIENCE) -> list[Reply] | None:
        """A reply a command; none at all where surely no server runs; None when tmux cannot be asked. A server that
        hangs is left alone for a while."""
        if time.monotonic() < self.not_before:
            return None
        until = time.monotonic() + patience
        try:
            if self.process is None or self.process.poll() is not None:
                self.close()
                if not is_served(self.socket):
                    return self.rested([])
                self.open(patience)
            self.replies(0, until)
            self.unsent = "".join([command + "\n" for command in commands]).encode()
            return self.rested(self.replies(len(commands), until))
        except (Broken, OSError) as error:
            self.why = str(error)
            self.pause = min(LONGEST_PAUSE, self.pause * 2 or FIRST_PAUSE)
            self.not_before = time.monotonic() + self.pause
        except EOFError:
            self.close()
            if not is_served(self.socket):
                return self.rested([])
            self.why = "the tmux server has closed the connection"
        return None

    def rested(self, replies: list[Reply]) -> list[Reply]:
        self.why, self.pause, self.not_before = "", 0.0, 0.0
        return replies

    def open(self, patience: float) -> None:
        tmux = ["tmux", "-u", "-N", "-f", os.devnull, "-L", self.socket]
        env = {key: value for key, value in os.environ.items() if key not in ("TMUX", "TMUX_PANE")}
        try:
            subprocess.run([*tmux, "list-sessions"], env=env, timeout=patience, check=False, **SILENT)
        except subprocess.TimeoutExpired:
            raise Broken(f"tmux has not answered within {patience:g} s") from None
        here = ["new-session", "-s", f"{self.name}-{os.getpid()}", "-c", "/", "--", *OWN_PROGRAM]
        options = [";", "set-option", "destroy-unattached", "on", ";", "set-option", "detach-on-destroy", "on"]
        self.process = subprocess.Popen(
            [*tmux, "-C", *here, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            bufsize=0,
            start_new_session=True,
        )
        self.reading, self.unsent, self.owed = Reading(), b"", 0
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)

    def replies(self, count: int, until: float) -> list[Reply]:
        """What is owed is read and dropped, then so many. Writes while it reads: neither pipe may fill up."""
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        into, out = self.process.stdin.fileno(), self.process.stdout.fileno()
        reading, self.owed = self.reading, self.owed + count
        while len(reading.replies) < self.owed or reading.welcomed < WELCOME:
            left = max(0.0, until - time.monotonic())
            readable, writable, _ = select.select([out], [into] if self.unsent else [], [], left)
            if not readable and not writable:
                raise Broken("tmux has not answered in time")
            if writable:
                self.unsent = self.unsent[os.write(into, self.unsent) :]
            if readable:
                chunk = os.read(out, CHUNK)
                if not chunk:
                    raise EOFError
                reading.take(chunk)
        found, self.owed = reading.replies[self.owed - count : self.owed], 0
        if len(reading.replies) > len(found) and count:
            reading.replies = []
            raise EOFError  # more than was asked: the stream cannot be trusted any more
        reading.replies = []
        return found

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Its session goes with it."""
        process, self.process = self.process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
        process.terminate()
        try:
            process.wait(LEAVES_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Reading:
    """What comes out of `tmux -C`, taken apart: blocks between %begin and the %end or %error of the same number."""

    def __init__(self) -> None:
        self.data = b""
        self.at = 0
        self.mark: bytes | None = None  # of the block we are in
        self.replies: list[Reply] = []
        self.welcomed = 0

    def take(self, chunk: bytes) -> None:
        self.data = self.data[self.at :] + chunk
        self.at = 0
        while self.block() if self.mark is not None else self.line():
            pass

    def line(self) -> bool:
        """Outside of a block: news of the server, which we pass over, or the begin of one."""
        end = self.data.find(b"\n", self.at)
        if end < 0:
            return False
        line = self.data[self.at : end]
        if line.startswith(b"%begin "):
            self.mark = line[len(b"%begin ") :]
            self.at = end  # the line's end is the beginning of what %end is looked for
        else:
            self.at = end + 1
        return True

    def block(self) -> bool:
        assert self.mark is not None
        for word, ok in ((b"\n%end ", True), (b"\n%error ", False)):
            end = self.data.find(word + self.mark + b"\n", self.at)
            if end >= 0:
                if self.mark.endswith(b" 0"):  # the commands that the client was started with
                    self.welcomed += 1
                else:
                    self.replies.append(Reply(ok, self.data[self.at + 1 : end + 1]))
                self.at = end + len(word) + len(self.mark) + 1
                self.mark = None
                return True
        return False


def path_of(socket: str) -> str:
    folder = os.environ.get("TMUX_TMPDIR") or "/tmp"
    return f"{os.path.realpath(folder)}/tmux-{os.getuid()}/{socket}"


def is_served(socket: str) -> bool:
    """Does anybody hold this socket open? Also a server that hangs does."""
    with sockets.socket(sockets.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(path_of(socket))
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
            return False
        except OSError:
            return True
    return True
