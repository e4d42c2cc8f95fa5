"""A listener between two looks: rung or a second later, alive as long as its session, back after a clean repository."""

import os
import time

from ibstatus.errors import IbError
from ibstatus.mail import bells, queue
from ibstatus.project import home, paths
from ibstatus.project.presence import Ground
from ibstatus.system import atomic, disk, locks
from ibstatus.system.process.lifeline import Lifeline

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
