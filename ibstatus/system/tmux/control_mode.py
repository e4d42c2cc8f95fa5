"""One `tmux -C` kept open: many commands go in at once, their replies come back in order. Never a process an agent.

It stands in a session of its own, because who attaches to an agent's session would count as a person looking at it. The
session goes with us, even when we are killed: its program looks for our process. Not by `destroy-unattached`: tmux 3.3
dies, with all that runs in it, when a session comes or goes while a client in control mode does. For the same reason
nobody of us makes or ends a session while another connects (`tmux_gate`).
"""

import os
import select
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

from ibstatus.system.process import user_processes
from ibstatus.system.process.classify import KEEPER, WATCH
from ibstatus.system.tmux import connect_lock

PATIENCE = 1.0  # for the whole of one request
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
CHUNK = 1 << 18
PART = 64  # so many commands at a time, where their replies are read as they come
LEAVES_WITHIN = 0.5
SWEPT_AFTER = 1.0
WELCOME = 2  # the commands that it is started with have been done
SILENT: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)


class Reply(NamedTuple):
    """What one command printed; `ok` is False when that is tmux's complaint. `mark`: as tmux counts its commands."""

    ok: bool
    data: bytes
    mark: bytes = b""

    @property
    def second(self) -> str:
        """In which it was done, by the clock of tmux."""
        return self.mark.partition(b" ")[0].decode("ascii", "replace")


class Broken(Exception):
    """There is no answer, and not for want of a server."""


class Connection:
    """To the server on this socket, whichever runs there. `why`: why there was no answer last, or ''.

    A server that hangs is never connected to, and a connection to it is kept: tmux 3.3 falls over a client in control
    mode that has gone before it was welcomed, with all its sessions."""

    def __init__(self, socket: str, name: str) -> None:
        self.socket = socket
        self.name = name
        self.process: subprocess.Popen[bytes] | None = None
        self.why = ""
        self.pause = 0.0
        self.not_before = 0.0
        self.reading = Reading()
        self.unsent = b""
        self.sweep_at, self.sweep_pause = inf, SWEPT_AFTER  # when to look for lines that are left of those before us
        self.owed = 0  # replies to what was asked before the server hung

    def ask(self, commands: Sequence[str], patience: float = PATIENCE) -> list[Reply] | None:
        """A reply a command; none at all where surely no server runs; None when tmux cannot be asked. A server that
        hangs is left alone for a while."""
        if time.monotonic() < self.not_before:
            return None
        return self.guarded(self.asked, commands, patience)

    def sweep(self, patience: float = PATIENCE) -> None:
        """A line whose holder was killed while the server hung never ends, and the server waits for it at its own end.
        One whose session is still there is about to end by itself: tmux 3.3 would fall over a blow at that moment.
        To be called now and then, by who asks; most times there is nothing to do. What goes wrong here, the next
        question finds out."""
        if time.monotonic() < self.sweep_at or self.process is None or self.owed:
            return
        with connect_lock.connecting(self.socket, 0.0) as free:
            there = self.sessions(time.monotonic() + patience) if free else None
            gone = there is not None and user_processes.end_lines(self.socket, self.name, there)
        self.sweep_pause = min(self.sweep_pause * 2, LONGEST_PAUSE)
        self.sweep_at = inf if gone else time.monotonic() + self.sweep_pause

    def sessions(self, until: float) -> set[str] | None:
        try:
            self.send(["list-sessions -F '#{session_name}'"])
            (reply,) = self.replies(1, until)
        except (Broken, OSError, EOFError):
            return None
        return set(reply.data.decode("utf-8", "replace").splitlines()) if reply.ok else None

    def stream(self, commands: Sequence[str], patience: float = PATIENCE) -> Iterable[Reply] | None:
        """The same, part by part: tmux works on the next while the caller takes this one in. Where it stops answering
        in the middle, the replies that are missing are not ok."""
        parts = [commands[at : at + PART] for at in range(0, len(commands), PART)] or [commands]
        found = self.ask(parts[0], patience)
        return self.others(found, parts[1:], patience) if found else found

    def others(self, found: list[Reply], parts: Sequence[Sequence[str]], patience: float) -> Iterator[Reply]:
        until, going = time.monotonic() + patience, True
        for part in parts:
            going = going and self.guarded(self.send, part) is not None
            yield from found
            answered = self.guarded(self.replies, len(part), until) if going else None
            going, found = bool(answered), answered or [Reply(False, b"")] * len(part)
        yield from found

    def guarded(self, work: Callable[..., list[Reply]], *given: Any) -> list[Reply] | None:
        try:
            return self.rested(work(*given))
        except (Broken, OSError) as error:
            self.why = str(error)
            self.pause = min(LONGEST_PAUSE, self.pause * 2 or FIRST_PAUSE)
            self.not_before = time.monotonic() + self.pause
        except EOFError:
            self.close()
            if not connect_lock.is_served(self.socket):
                return self.rested([])
            self.why = "the tmux server has closed the connection"
        return None

    def asked(self, commands: Sequence[str], patience: float) -> list[Reply]:
        until = time.monotonic() + patience
        if self.process is None or self.process.poll() is not None:
            self.close()
            if not connect_lock.is_served(self.socket):
                return []
            with connect_lock.connecting(self.socket, patience) as free:
                if not free:
                    raise Broken("sessions are being made or ended")
                self.open(patience)
                self.replies(0, until)  # welcomed
            self.sweep_at, self.sweep_pause = time.monotonic() + SWEPT_AFTER, SWEPT_AFTER
        self.replies(self.owed, until)
        self.send(commands)
        return self.replies(len(commands), until)

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
        mine = str(os.getpid())
        # -A: where the line alone was killed, its session still stands.
        here = ["new-session", "-A", "-s", f"{WATCH}{self.name}-{mine}", "-c", "/", "--", *KEEPER, mine]
        self.process = subprocess.Popen(
            [*tmux, "-C", *here, ";", "set-option", "detach-on-destroy", "on"],
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

    def send(self, commands: Sequence[str]) -> list[Reply]:
        """As much of it as goes without waiting."""
        self.unsent += "".join([command + "\n" for command in commands]).encode()
        self.owed += len(commands)
        if self.process is not None and self.process.stdin is not None:
            try:
                self.unsent = self.unsent[os.write(self.process.stdin.fileno(), self.unsent) :]
            except BlockingIOError:
                pass  # the rest goes while the replies are read
        return []

    def replies(self, count: int, until: float) -> list[Reply]:
        """The next of those that are owed. Writes while it reads: neither pipe may fill up."""
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        into, out = self.process.stdin.fileno(), self.process.stdout.fileno()
        reading = self.reading
        while len(reading.replies) < count or reading.welcomed < WELCOME:
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
        if len(reading.replies) > self.owed:
            raise EOFError  # more than was asked: the stream cannot be trusted any more
        found, reading.replies = reading.replies[:count], reading.replies[count:]
        self.owed -= count
        return found

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Its session is ended by itself, over the connection; closing the pipe alone would leave it."""
        process, self.process = self.process, None
        if process is None or process.stdin is None or process.stdout is None:
            return
        try:
            with connect_lock.changing(self.socket):
                os.write(process.stdin.fileno(), b"\nkill-session\n" if self.unsent else b"kill-session\n")
                gone_within(process.stdout.fileno(), LEAVES_WITHIN)
        except OSError:
            pass  # it has gone before us
        process.terminate()
        try:
            process.wait(LEAVES_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdin.close()
        process.stdout.close()


def gone_within(out: int, seconds: float) -> None:
    """Reads to the end of what comes."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and select.select([out], [], [], left)[0] and os.read(out, CHUNK):
        pass


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
                    self.replies.append(Reply(ok, self.data[self.at + 1 : end + 1], self.mark))
                self.at = end + len(word) + len(self.mark) + 1
                self.mark = None
                return True
        return False
