"""The one module that replaces files: the old one or the new one, never half of either."""

import posix
import time

from ibstatus.system import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FALLBACK_MODE = 0o600
NO_LINK = 22  # EINVAL
TOO_MANY_LINKS = 40  # ELOOP on Linux; for people it is the text that tells
STALE_AFTER = 3600


def replace(path: str, data: bytes, still: "Callable[[], bool] | None" = None) -> bool:
    """Put `data` in the place of a user's file; its mode and owner are kept, a symlink is followed.

    `still` is asked when all is written and only the rename is left: False, and nothing is replaced."""
    return put(resolved(path), data, still=still)


def put(target: str, data: bytes, *, durable: bool = True, still: "Callable[[], bool] | None" = None) -> bool:
    """The same for a file of our own, where a symlink is not ours and gives way."""
    folder, _, leaf = target.rpartition("/")
    temp = f"{folder}/.{leaf}.{posix.getpid():x}.{time.time_ns():x}.ib-tmp"
    try:
        before = disk.lstat(target)
    except FileNotFoundError:
        before = None
    fd = disk.open(temp, disk.O_WRONLY | disk.O_CREAT | disk.O_EXCL | disk.O_CLOEXEC, FALLBACK_MODE)
    try:
        try:
            disk.write_all(fd, data)
            if before is not None and disk.is_file(before):
                dress(fd, before)
            if durable:
                disk.fsync(fd)
        finally:
            disk.close(fd)
        if still is not None and not still():
            forget(temp)
            return False
        disk.rename(temp, target)
    except BaseException:
        forget(temp)
        raise
    if durable:
        sync_folder(folder)
    return True


def dress(fd: int, before: object) -> None:
    """Give the new file the mode and the owner of the one that it replaces."""
    st_mode, st_uid, st_gid = before.st_mode, before.st_uid, before.st_gid  # type: ignore[attr-defined]
    now = disk.fstat(fd)
    if (now.st_uid, now.st_gid) != (st_uid, st_gid):
        try:
            disk.fchown(fd, st_uid, st_gid)
        except PermissionError:
            pass
    if now.st_mode != st_mode:
        disk.fchmod(fd, st_mode & 0o7777)


def resolved(path: str) -> str:
    """The file behind a chain of symlinks, so that the link itself survives."""
    for _ in range(40):
        try:
            to = disk.readlink(path)
        except FileNotFoundError:
            return path
        except OSError as error:
            if error.errno == NO_LINK:
                return path
            raise
        path = to if to.startswith("/") else f"{path.rpartition('/')[0]}/{to}"
    raise OSError(TOO_MANY_LINKS, "Too many levels of symbolic links", path)


def sync_folder(folder: str) -> None:
    fd = disk.open(folder or "/", disk.O_RDONLY | disk.O_CLOEXEC)
    try:
        disk.fsync(fd)
    except OSError:
        pass  # some file systems cannot sync a directory; the rename stands all the same
    finally:
        disk.close(fd)


def forget(path: str) -> None:
    try:
        disk.unlink(path)
    except OSError:
        pass


def sweep(folder: str, now: float) -> int:
    """Remove temp files that a killed writer left behind; returns how many."""
    gone = 0
    for leaf in disk.listdir(folder):
        if leaf.startswith(".") and leaf.endswith(".ib-tmp"):
            path = f"{folder}/{leaf}"
            try:
                if now - disk.lstat(path).st_mtime > STALE_AFTER:
                    disk.unlink(path)
                    gone += 1
            except FileNotFoundError:
                continue
    return gone
