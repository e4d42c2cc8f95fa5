"""Is a client stopped (Ctrl-Z, SIGSTOP)? Asked of the kernel for the program of one pane."""

import psutil

DEEPEST = 4


def is_suspended(pid: int) -> bool:
    """The program of the pane, or what it runs for its terminal: a client under a shell is stopped without it."""
    for _ in range(DEEPEST):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_STOPPED:
                return True
            below = children_of(pid)
        except (psutil.Error, OSError):
            return False
        if len(below) != 1:
            return False
        pid = below[0]
    return False


def children_of(pid: int) -> list[int]:
    """Linux knows them; psutil would read every process of the machine for it."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except FileNotFoundError:
        return [child.pid for child in psutil.Process(pid).children()]
