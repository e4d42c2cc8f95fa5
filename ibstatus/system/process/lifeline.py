"""Is the client that started us still there? A listener that outlives it would take in what nobody reads."""

import os

import psutil

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
