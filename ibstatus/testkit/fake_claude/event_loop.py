"""Courses of events, side by side in one thread: whoever waits for nothing more goes on. Idle is blocked in select."""

import math
import os
import select
import signal
import time
from typing import Any

from ibstatus.testkit.fake_claude.waits import Course, Wait

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class Loop:
    """`signals` holds what came since the last round; a child's end only wakes it."""

    def __init__(self) -> None:
        self.courses: list[Course[Any]] = []
        self.waits: dict[Course[Any], Wait | None] = {}
        self.signals: set[int] = set()
        self.bell, ring = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) if hasattr(os, "pipe2") else pipe()
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        for number in (*ENDING, signal.SIGWINCH, signal.SIGCHLD):
            signal.signal(number, self.note)

    def note(self, number: int, frame: object) -> None:
        self.signals.add(number)

    def start(self, course: Course[Any]) -> Course[Any]:
        self.courses.append(course)
        self.waits[course] = None
        return course

    def stop(self, course: Course[Any] | None) -> None:
        """What it began is ended by its `finally`."""
        if course in self.courses:
            assert course is not None
            self.courses.remove(course)
            del self.waits[course]
            course.close()

    def is_running(self, course: Course[Any] | None) -> bool:
        return course in self.courses

    def advance(self) -> bool:
        """Every course as far as it gets; True when one of them moved."""
        moved = False
        for course in list(self.courses):
            while course in self.waits:
                wait = self.waits[course]
                if wait is not None and not wait.over(time.monotonic()):
                    break
                moved = True
                try:
                    self.waits[course] = next(course)
                except StopIteration:
                    self.courses.remove(course)
                    del self.waits[course]
        return moved

    def until_next(self, files: list[int], latest: float) -> list[int]:
        """Sleep until something happens to a file, a child, a signal, or it is time; returns the files."""
        deadlines = [wait.deadline for wait in self.waits.values() if wait is not None]
        first = min([latest, *deadlines])
        seconds = None if first == math.inf else max(first - time.monotonic(), 0.0)
        ready, _, _ = select.select([self.bell, *files], [], [], seconds)
        if self.bell in ready:
            try:
                os.read(self.bell, 4096)
            except BlockingIOError:
                pass
        return [file for file in ready if file != self.bell]


def pipe() -> tuple[int, int]:
    """Where the system has no pipe2."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    return read, write
