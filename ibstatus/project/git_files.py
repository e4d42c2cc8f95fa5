"""Files of git as they lie there: is an operation under way, a copy of the index, git's directory of a worktree."""

import posix

from ibstatus.project import paths
from ibstatus.system import atomic, disk, locks
from ibstatus.system.git.lock import GitLock, recover, there, under_way

QUIET_FOR = 2.0
COPY = "ib-index-"
Seen = tuple[int, int, int, int]  # inode, size, and when it was written and changed: an inode is given out again


def turn(place: paths.Place) -> locks.Lock:
    """Only one of us at a time changes files of git. Taken last of all locks."""
    return locks.Lock(place.lock("git"))


def index_of(place: paths.Place) -> str:
    return place.common + "/index"


def busy(place: paths.Place, resize: bool, now: float) -> str:
    """What git is at in the main checkout, or ''. A write of the same size waits only for what it could disturb."""
    if there(index_of(place) + ".lock"):
        return "git is at work: index.lock is there"
    operation = under_way(place.common)
    if operation and resize:
        return f"{operation} is under way"
    if (resize or operation) and abs(now - changed_at(place)) < QUIET_FOR:
        return "git has just been at work"
    return ""


def changed_at(place: paths.Place) -> float:
    """When the index was written, by the wall clock. 0.0 when there is none."""
    try:
        return disk.lstat(index_of(place)).st_mtime
    except OSError:
        return 0.0


def copy_index(place: paths.Place) -> tuple[str, Seen] | None:
    """(the copy, what the original was). None when there is no index, or it changed meanwhile."""
    index, copy = index_of(place), f"{place.common}/{COPY}{posix.getpid()}"
    atomic.forget(copy)
    try:
        before = disk.lstat(index)
        data = disk.read_file(index)
    except FileNotFoundError:
        return None
    if not disk.is_file(before) or identity(index) != seen(before):
        return None
    fd = disk.open(copy, disk.O_WRONLY | disk.O_CREAT | disk.O_EXCL | disk.O_CLOEXEC, 0o600)
    try:
        disk.write_all(fd, data)
        atomic.dress(fd, before)
    finally:
        disk.close(fd)
    # git takes a file that is as young as its index for suspect: a younger copy would hide somebody's edit.
    disk.utime(copy, ns=(before.st_mtime_ns, before.st_mtime_ns))
    return copy, seen(before)


def put_index(place: paths.Place, copy: str, was: Seen) -> bool:
    """The copy becomes the index, unless git is at it or has changed it since. Held for an instant.

    Its time stays: this was no work of git's, and whatever is younger is looked at with more suspicion, not less."""
    index = index_of(place)
    lock = GitLock(index)
    if not lock.try_take():
        return False
    try:
        if identity(index) != was:
            return False
        disk.utime(copy, ns=(was[2], was[2]))
        disk.rename(copy, index)
    finally:
        lock.release()
    return True


def identity(path: str) -> Seen | None:
    try:
        return seen(disk.lstat(path))
    except OSError:
        return None


def seen(status: "posix.stat_result") -> Seen:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def forget_copies(place: paths.Place) -> None:
    """What killed ones of us left beside the index; called with the lock `git` held."""
    recover(index_of(place))
    for leaf in disk.listdir(place.common):
        if leaf.startswith(COPY) or (leaf.startswith(".index.") and leaf.endswith(".ib-tmp")):
            atomic.forget(f"{place.common}/{leaf}")
