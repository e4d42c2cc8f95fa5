"""Is a client stopped (Ctrl-Z, SIGSTOP), or is only its launcher left? Asked of the kernel, in a few reads.

Is the client that started us still there? A listener that outlives it would take in what nobody reads.
"""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import psutil

if TYPE_CHECKING:
    import psutil


Found = TypeVar("Found")

DEEPEST = 4
LAUNCHERS = (b"start.sh", b"resume.sh")
ENDING = b"session-ended"  # what a launcher runs when its client has ended


def look(pid: int) -> tuple[bool, bool]:
    """(it is stopped, it is gone), of the client in the pane with this process."""
    try:
        gone = is_alone(pid)
    except (OSError, ValueError):
        gone = False
    return is_suspended(pid), gone


def is_suspended(pid: int) -> bool:
    """The program of the pane, or what it runs for its terminal: a client under a shell is stopped without it. What has
    a session of its own is a tool's."""
    try:
        session = os.getsid(pid)
        for _ in range(DEEPEST):
            if status_of(pid) == "T":
                return True
            below = children_of(pid)
            if len(below) != 1 or os.getsid(below[0]) != session:
                return False
            pid = below[0]
    except (OSError, ValueError):
        pass
    return False


def is_alone(pid: int) -> bool:
    """A launcher with nothing below it but what is dead, or tells how it ended."""
    if not any(word.endswith(LAUNCHERS) for word in words_of(pid)):
        return False
    return all(status_of(child) in ("Z", "X") or ENDING in words_of(child) for child in children_of(pid))


def status_of(pid: int) -> str:
    """One letter, as /proc has it; a tracer's stop (t) is none of ours."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        known = {"stopped": "T", "zombie": "Z", "dead": "X"}
        return elsewhere(pid, lambda process: known.get(process.status(), "S"), "X")


def words_of(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read(4096).split(b"\0")
    except FileNotFoundError:
        return elsewhere(pid, lambda process: [word.encode("utf-8", "replace") for word in process.cmdline()], [])


def children_of(pid: int) -> list[int]:
    """Linux knows them; psutil would read every process of the machine for it."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except FileNotFoundError:
        return elsewhere(pid, lambda process: [child.pid for child in process.children()], [])


def elsewhere(pid: int, what: "Callable[[psutil.Process], Found]", gone: Found) -> Found:
    """Where there is no /proc, or no longer this process in it. Loaded only then: no listing shall wait for it."""
    import psutil

    try:
        return what(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return gone
    except psutil.Error as error:
        raise OSError(str(error)) from error


HIGHEST = 16


class Lifeline:
    """The processes between us and the client, each with its parent: when the client dies, a link breaks.

    What the client's shell tool starts carries the session's id in its environment, the client itself does not.
    """

    def __init__(self, session: str) -> None:
        self.parent = os.getppid()
        self.links = links_above(self.parent, session)
        # Started by a shell that is gone already; unless, as in a container, the client itself is process 1.
        self.orphan = self.parent == 1 and not self.links and os.environ.get("CLAUDE_PID") != "1"

    def is_cut(self) -> bool:
        if self.orphan:
            return True
        return os.getppid() != self.parent or any(parent_of(process) != above for process, above in self.links)


def links_above(pid: int, session: str) -> list[tuple[psutil.Process, int]]:
    found: list[tuple[psutil.Process, int]] = []
    while pid > 1 and len(found) < HIGHEST:
        try:
            process = psutil.Process(pid)
            if process.environ().get("CLAUDE_CODE_SESSION_ID") != session:
                break
            pid = process.ppid()
        except (psutil.Error, OSError):
            break  # it cannot be seen, as in a sandbox: the links below are what we have
        found.append((process, pid))
    return found


def parent_of(process: psutil.Process) -> int:
    """0 when it is gone."""
    try:
        return 0 if process.status() == psutil.STATUS_ZOMBIE else process.ppid()
    except psutil.Error:
        return 0
