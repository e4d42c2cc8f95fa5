"""listen: wait until there is news, print it, say that it was printed. The listener's only job is to be heard.

A listener between two looks: rung or a second later, alive as long as its session, back after a clean repository.
"""

import os
import time
from collections.abc import Callable

from ibstatus.errors import IbError, quoted
from ibstatus.mail import bells, cursors, delivery, listener_reader, queue, session_reader, wake_claim, wake_state
from ibstatus.model import constants
from ibstatus.project import home, identity, logs, names, paths
from ibstatus.project.presence import Ground
from ibstatus.system import atomic, disk, locks
from ibstatus.system.process.status import Lifeline

LOOK_EVERY = 1.0
LOOK_ROUND_EVERY = 5

TIMEOUT, BUSY, LEFT = "timeout", "busy", "left"


class Waiter:
    """Holds the reader's lock and bell. Knows when the time is up and when nobody is left to hear."""

    def __init__(self, place: paths.Place, lock: locks.Lock, timeout: float | None, session: str, stdout: int) -> None:
        self.place = place
        self.stdout = stdout
        self.lock = lock
        self.deadline = None if timeout is None else time.monotonic() + timeout
        self.lifeline = Lifeline(session) if session else None
        self.rung_for = rung_for(lock)
        self.ticks = 0
        self.ground = Ground(place)
        self.sign(0)
        self.bell = bells.Bell(place.bells, stdout)
        queue.close_tail(place, time.time())

    def next(self) -> str:
        """'' to look again; otherwise why to end."""
        left = LOOK_EVERY if self.deadline is None else self.deadline - time.monotonic()
        if left <= 0:
            return TIMEOUT
        if self.bell.wait(min(LOOK_EVERY, left)):
            return ""
        if self.bell.broken:
            return LEFT
        self.ticks += 1
        return "" if self.ticks % LOOK_ROUND_EVERY else self.look_round()

    def look_round(self) -> str:
        """What costs more than a look at the queue, and may be seen some seconds later."""
        if not self.lock.is_mine():
            return self.come_back()
        queue.close_tail(self.place, time.time())
        return LEFT if self.alone() else ""

    def alone(self) -> bool:
        """The session is gone: what this listener took in now, nobody would read."""
        return self.lifeline is not None and self.lifeline.is_cut()

    def come_back(self) -> str:
        """The folder was cleaned away under us: bell and lock are made anew, unless somebody else listens by now."""
        self.lock.release()
        if not self.ground.stays():
            raise IbError(f"The repository is gone from {self.place.root}")
        home.enter(self.place)
        if not self.lock.try_take():
            return BUSY
        self.sign(0)
        self.bell.close()
        self.bell = bells.Bell(self.place.bells, self.stdout)
        return ""

    def sign(self, rung: int) -> None:
        """Our pid for people, in the lock file and in notify/listener.pid; and up to where we rang a voice.

        On a full disk we listen all the same.
        """
        pid = b"%d\n" % os.getpid()
        try:
            disk.ftruncate(self.lock.fd, 0)
            disk.pwrite(self.lock.fd, pid + b"%d\n" % rung, 0)
            atomic.put(self.place.home + "/notify/listener.pid", pid, durable=False)
        except OSError:
            return

    def close(self) -> None:
        self.bell.close()
        self.ground.close()
        remove_pid_file(self.place)


def remove_pid_file(place: paths.Place) -> None:
    """Remove notify/listener.pid, if it names this process."""
    path = place.home + "/notify/listener.pid"
    try:
        if disk.read_file(path) == b"%d\n" % os.getpid():
            disk.unlink(path)
    except OSError:
        pass


def rung_for(lock: locks.Lock) -> int:
    """Up to which offset the last listener of this session rang its voice; 0 when it rang none."""
    parts = disk.pread(lock.fd, 64, 0).split()
    return int(parts[1]) if len(parts) == 2 and parts[1].isdigit() else 0


class Ended:
    """How a listening ended: `news`, `timeout`, `busy` (somebody else listens), `voice` (hooks tell it), `left`."""

    NEWS, TIMEOUT, BUSY, VOICE, LEFT = "news", TIMEOUT, BUSY, "voice", LEFT


class Outcome:
    def __init__(self, how: str, *, told: int = 0, holder: str = "") -> None:
        self.how = how
        self.told = told
        self.holder = holder


QUICKER = 2.0  # seconds in which a Stop waiter or FileChanged wakes the session; our exit costs Claude a restart

Write = Callable[[bytes], None]
Say = Callable[[str], None]


def listen(
    place: paths.Place,
    caller: identity.Caller,
    timeout: float | None,
    follow: bool,
    write: Write,
    say: Say,
    stdout: int = -1,
) -> Outcome:
    """Wait up to `timeout` seconds (None: for ever) and hand the lines to `write`; notes on odd lines go to `say`.

    `stdout` is the descriptor behind `write`: when its reader is gone, so are we."""
    if caller.kind == identity.AGENT:
        raise IbError(
            "An agent cannot listen: the queue is the mail of the user's Claude",
            hint=f"only if you are the user's Claude and have strayed in here: cd {quoted(place.root)}",
        )
    home.enter(place)
    reader = names.listener_file(caller.session) if caller.session else constants.DEFAULT_READER
    lock = listener_reader.lock_of(place, reader)
    if not lock.try_take():
        return Outcome(Ended.BUSY, holder=listener_reader.holder(place, reader))
    try:
        wait = Waiter(place, lock, timeout, caller.session, stdout)
        try:
            logs.note(place, "cli", time.time(), {"kind": "listener.started", "who": reader, "pid": os.getpid()})
            told = voice_of(place, caller.session)
            if told is not None and told.offered >= wait.rung_for:
                outcome = ring_only(place, caller.session, wait)
            else:  # no voice, or one that was rung and did not speak
                begin = told.done if told is not None else None
                outcome = pour(listener_reader.Tap(place, reader, begin), wait, follow, write, say)
        finally:
            wait.close()
        logs.note(place, "cli", time.time(), {"kind": "listener.stopped", "who": reader, "why": outcome.how})
        return outcome
    finally:
        lock.release()


def voice_of(place: paths.Place, session: str) -> delivery.Cursor | None:
    """How far this session's hooks have told; None when it has no hooks that speak."""
    return cursors.read(place, names.cursor_file(session)) if session else None


def pour(reading: listener_reader.Tap, wait: Waiter, follow: bool, write: Write, say: Say) -> Outcome:
    count = 0
    try:
        while True:
            if reading.changed():
                if wait.alone():
                    return Outcome(Ended.LEFT, told=count)
                told = reading.poured(write)
                for note in told.skipped:
                    say(note)
                count += len(told.values)
                if told.values and not follow:
                    return Outcome(Ended.NEWS, told=count)
            why = wait.next()
            if why:
                late = why == Ended.TIMEOUT and not wait.alone()
                last = reading.pour(write, quiet=True) if late else None  # what has come and rung nobody
                if last is not None and last.values:
                    return Outcome(Ended.NEWS, told=count + len(last.values))
                return Outcome(why, told=count)
    finally:
        reading.close()


def ring_only(place: paths.Place, session: str, wait: Waiter) -> Outcome:
    """A session whose hooks speak: exit when something waits, and leave the telling to them.

    A ring that a quicker rung has sent brings the news without us: then there is nothing to exit for."""
    why, since, known = "", 0.0, None
    queued, cursor = place.queue, place.cursor(names.cursor_file(session))
    while True:
        moved = (listener_reader.state_of(queued), listener_reader.state_of(cursor))
        if (moved != known or since) and not session_reader.is_speaking(place, session):
            known = moved
            end, news = wake_claim.unheard(place, session)
            since = (since or time.monotonic()) if end else 0.0
            late = why != "" or time.monotonic() - since >= grace(place, session)
            if end and late and (wake_claim.claim(place, session, wake_state.LISTENER, time.time()) or why):
                wait.sign(end)
                return Outcome(Ended.VOICE, told=news.count(b"\n"))
        if why:
            return Outcome(why)
        why = wait.next()


def grace(place: paths.Place, session: str) -> float:
    """How long the quicker rungs have, where there are any."""
    return QUICKER if wake_state.armed(place, session, besides=wake_state.LISTENER) else 0.0
