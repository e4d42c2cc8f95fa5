"""Changing git's own files (config, index) in git's way: `<file>.lock`, made only where there is none.

Our lock names its maker. Callers hold the lock `git` of the place, so one of ours that lies there is a dead one's.
"""

import posix
import time

from ibstatus.errors import IbError, quoted
from ibstatus.system import atomic, disk

MARK = b"ib holds this for process "
PATIENCE = 2.0
PAUSE = 0.02
# What lies in a git directory while git is in the middle of something there.
OPERATIONS = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase or am",
    "sequencer": "a cherry-pick or revert",
}
NO_LINKS = (1, 18, 31, 38, 95)  # EPERM, EXDEV, EMLINK, ENOSYS, EOPNOTSUPP on Linux


class GitLock:
    """`with GitLock(path):` waits a little, then says whose way it is; `try_take` does not wait."""

    __slots__ = ("path", "target")

    def __init__(self, path: str) -> None:
        self.target = atomic.resolved(path)
        self.path = self.target + ".lock"

    def __enter__(self) -> "GitLock":
        until = time.monotonic() + PATIENCE
        while not self.try_take():
            if time.monotonic() > until:
                raise IbError(
                    f"Another git command is changing {self.target}: {self.path} is there",
                    hint=f"when no git runs here: rm {quoted(self.path)}",
                )
            time.sleep(PAUSE)
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()

    def try_take(self) -> bool:
        """The whole lock appears in one step: whoever finds it can read whose it is."""
        folder, _, leaf = self.target.rpartition("/")
        temp = f"{folder}/.{leaf}.{posix.getpid():x}.ib-tmp"
        atomic.forget(temp)
        write(temp)
        try:
            return linked(temp, self.path) or (recover(self.target) and linked(temp, self.path))
        finally:
            atomic.forget(temp)

    def release(self) -> None:
        """Not where somebody has cleared our lock away and taken one of their own."""
        if is_ours(self.path):
            atomic.forget(self.path)


def linked(temp: str, path: str) -> bool:
    try:
        disk.link(temp, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        try:
            write(path)
        except FileExistsError:
            return False
    return True


def write(path: str) -> None:
    fd = disk.open(path, disk.O_WRONLY | disk.O_CREAT | disk.O_EXCL | disk.O_CLOEXEC, 0o600)
    try:
        disk.write_all(fd, MARK + b"%d\n" % posix.getpid())
    finally:
        disk.close(fd)


def is_ours(path: str) -> bool:
    try:
        return disk.read_file(path).startswith(MARK)
    except OSError:
        return False


def recover(path: str) -> bool:
    """Remove the lock that a killed one of us left on this file; False when there is none of ours."""
    lock = atomic.resolved(path) + ".lock"
    if not is_ours(lock):
        return False
    atomic.forget(lock)
    return True


def under_way(git_dir: str) -> str:
    """What git is in the middle of in the checkout of this git directory, or ''."""
    return next((what for leaf, what in OPERATIONS.items() if there(f"{git_dir}/{leaf}")), "")


def there(path: str) -> bool:
    try:
        disk.lstat(path)
    except OSError:
        return False
    return True
