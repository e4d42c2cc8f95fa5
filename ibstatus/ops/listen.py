"""listen: wait until there is news, print it, say that it was printed. The listener's only job is to be heard."""

import os
import time
from collections.abc import Callable

from ibstatus.errors import IbError
from ibstatus.model import words
from ibstatus.rules import identity, names
from ibstatus.store import atomic, bells, cursors, disk, home, locks, places, queue, spool, tap, voice

LOOK_EVERY = 1.0


class Ended:
    """How a listening ended: `news`, `timeout`, `busy` (somebody else listens), `voice` (hooks tell it), `left`."""

    NEWS, TIMEOUT, BUSY, VOICE, LEFT = "news", "timeout", "busy", "voice", "left"


class Outcome:
    def __init__(self, how: str, *, told: int = 0, holder: str = "") -> None:
        self.how = how
        self.told = told
        self.holder = holder


Write = Callable[[bytes], None]
Say = Callable[[str], None]


def listen(
    place: places.Place, caller: identity.Caller, timeout: float | None, follow: bool, write: Write, say: Say
) -> Outcome:
    """Wait up to `timeout` seconds (None: for ever) and hand the lines to `write`; notes on odd lines go to `say`."""
    if caller.kind == identity.AGENT:
        raise IbError(
            "An agent cannot listen: the queue is the user's Claude's mail", hint="your own mail reaches you by itself"
        )
    home.enter(place)
    spoken = bool(caller.session) and voice.has_voice(place, caller.session)
    reader = names.listener_file(caller.session) if caller.session else words.DEFAULT_READER
    lock = tap.lock_of(place, reader)
    if not lock.try_take():
        return Outcome(Ended.BUSY, holder=tap.holder(place, reader))
    try:
        sign(place, lock)
        spool.note(place, "cli", time.time(), {"kind": "listener.started", "who": reader, "pid": os.getpid()})
        wait = Waiter(place, lock, timeout, caller.session)
        try:
            outcome = (
                ring_only(place, caller.session, wait) if spoken else pour(place, reader, wait, follow, write, say)
            )
        finally:
            wait.close()
        spool.note(place, "cli", time.time(), {"kind": "listener.stopped", "who": reader, "why": outcome.how})
        return outcome
    finally:
        unsign(place)
        lock.release()


class Waiter:
    """Between two looks: a ring, or a second. Knows when the time is up and when nobody is left to hear."""

    def __init__(self, place: places.Place, lock: locks.Lock, timeout: float | None, session: str) -> None:
        self.place = place
        self.lock = lock
        self.bell = bells.Bell(place)
        self.deadline = None if timeout is None else time.monotonic() + timeout
        self.parent = os.getppid()
        client = os.environ.get("CLAUDE_PID", "")
        self.client = int(client) if session and client.isdigit() else 0
        self.bound = bool(session)
        self.tick = 0

    def next(self) -> str:
        """'' to look again; otherwise why to end."""
        left = LOOK_EVERY if self.deadline is None else self.deadline - time.monotonic()
        if left <= 0:
            return Ended.TIMEOUT
        if self.bell.wait(min(LOOK_EVERY, left)):
            return ""
        if not self.lock.is_mine():
            return self.come_back()
        self.tick += 1
        if self.tick % 3 == 0:
            queue.close_tail(self.place, time.time())
        return Ended.LEFT if self.bound and self.alone() else ""

    def come_back(self) -> str:
        """The folder was cleaned away under us: bell and lock are made anew, unless somebody else listens by now."""
        home.enter(self.place)
        self.lock.release()
        if not self.lock.try_take():
            return Ended.BUSY
        sign(self.place, self.lock)
        self.bell.close()
        self.bell = bells.Bell(self.place)
        return ""

    def alone(self) -> bool:
        """A listener that outlives its session would take in what nobody reads."""
        if os.getppid() != self.parent:
            return True
        if self.client:
            try:
                os.kill(self.client, 0)
            except ProcessLookupError:
                return True
            except PermissionError:
                return False
        return False

    def close(self) -> None:
        self.bell.close()


def pour(place: places.Place, reader: str, wait: Waiter, follow: bool, write: Write, say: Say) -> Outcome:
    reading = tap.Tap(place, reader)
    count = 0
    try:
        while True:
            if reading.changed():
                told = reading.poured(write)
                for note in told.skipped:
                    say(note)
                count += len(told.values)
                if told.values and not follow:
                    return Outcome(Ended.NEWS, told=count)
            why = wait.next()
            if why:
                last = reading.pour(write) if why == Ended.TIMEOUT else None  # what came in the last moment
                if last is not None and last.values:
                    return Outcome(Ended.NEWS, told=count + len(last.values))
                return Outcome(why, told=count)
    finally:
        reading.close()


def ring_only(place: places.Place, session: str, wait: Waiter) -> Outcome:
    """A session whose hooks speak: exit when something waits, and leave the telling to them."""
    while True:
        waiting = unheard(place, session)
        if waiting:
            return Outcome(Ended.VOICE, told=waiting)
        why = wait.next()
        if why:
            waiting = unheard(place, session)
            return Outcome(Ended.VOICE, told=waiting) if waiting else Outcome(why)


def unheard(place: places.Place, session: str) -> int:
    """How many lines stand behind what this session was offered."""
    cursor = cursors.read(place, names.cursor_file(session))
    seen = queue.view(place)
    try:
        if cursor is None or seen.end <= cursor.offered:
            return 0
        return seen.read(max(cursor.offered, seen.base), seen.end)[1].count(b"\n")
    finally:
        seen.close()


def sign(place: places.Place, lock: locks.Lock) -> None:
    """Our pid, for people: in the lock file, and in notify/listener.pid. On a full disk we listen all the same."""
    pid = b"%d\n" % os.getpid()
    try:
        disk.ftruncate(lock.fd, 0)
        disk.pwrite(lock.fd, pid, 0)
        atomic.replace(place.home + "/notify/listener.pid", pid, durable=False)
    except OSError:
        return


def unsign(place: places.Place) -> None:
    path = place.home + "/notify/listener.pid"
    try:
        if disk.read_file(path) == b"%d\n" % os.getpid():
            disk.unlink(path)
    except OSError:
        pass
