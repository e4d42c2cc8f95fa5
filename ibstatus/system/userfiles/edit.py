"""Editing a file of the user, whose own programs may save it at any moment: no save of theirs is ever lost.

    user_file.edit(path, change, desk=place.home + "/tmp")

`change` gets the whole text and returns a Splice, or None for nothing to do. The ways, in this order: in place under
a lease when the size stays; exchange of the names; in place with a journal where names cannot be exchanged.
"""

import errno
import time
from collections.abc import Callable

from ibstatus.errors import refused
from ibstatus.system import atomic, disk
from ibstatus.system.text.splices import Splice, applied
from ibstatus.system.userfiles import exchange, in_place
from ibstatus.system.userfiles.result import Edited, Known, Stuck, Wish, is_change

__all__ = ["Edited", "Known", "edit", "read", "rewrite"]

TRIES = 40
OWNER_WRITES = 0o200
NOT_FOR_US = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY)
NOT_A_FILE = (errno.ELOOP, errno.EISDIR, errno.ENXIO)
PAUSE = 0.001


def edit(
    path: str,
    change: Callable[[bytes], Splice | None],
    *,
    desk: str,
    may_resize: bool = True,
    now_ok: Callable[[], bool] | None = None,
    durable: bool = True,
    patience: float = 2.0,
) -> Edited:
    """Trouble with the disk is a DiskError; what `change` raises passes through, and nothing was changed."""
    deadline = time.monotonic() + patience
    try:
        for _ in range(TRIES):
            rest = max(0.0, deadline - time.monotonic())
            done = once(path, Wish(change, desk, may_resize, now_ok, durable, rest))
            if done is not None:
                return done
    except OSError as error:
        raise refused(f"change {path}", error) from error
    return Edited("busy", "it is saved again and again; nothing was written")


def rewrite(path: str, known: Known, data: bytes, *, now_ok: Callable[[], bool] | None = None) -> Known | None:
    """The quick way for bytes that we wrote last: the file is only proven to be unchanged. None: use `edit`."""
    wish = Wish(lambda text: None, "", False, now_ok)
    try:
        return in_place.rewrite(atomic.resolved(path), known, data, wish)
    except OSError as error:
        raise refused(f"change {path}", error) from error


def once(path: str, wish: Wish) -> Edited | None:
    """One round through the ways; None: the file was saved meanwhile, begin anew with its newer text."""
    try:
        target = atomic.resolved(path)
        status = disk.lstat(target)
    except (FileNotFoundError, NotADirectoryError):
        return Edited("gone")
    if not disk.is_file(status):
        return Edited("busy", "it is not a regular file")
    if not status.st_mode & OWNER_WRITES:
        return untouched(target, wish, "it is read-only")
    try:
        first = in_place.edit(target, wish)
    except OSError as error:
        if error.errno in NOT_A_FILE:
            return None  # put there this moment
        if error.errno in NOT_FOR_US:
            return untouched(target, wish, f"it cannot be written ({error.strerror})")
        raise
    return first if isinstance(first, Edited) else other_ways(target, wish, first, status.st_nlink)


def other_ways(target: str, wish: Wish, first: Stuck, links: int) -> Edited | None:
    second = Stuck("it has another name (hard link)") if links > 1 else exchange.edit(target, wish, first.reading)
    if not isinstance(second, Stuck):
        return second
    last = first
    if first.reading is not None and wish.may_resize:
        grown = in_place.edit(target, wish, resize=True)
        if isinstance(grown, Edited):
            return grown
        last = grown
    if second == exchange.UNKNOWN and wish.may_resize:
        return replaced(target, wish)
    return untouched(target, wish, f"{second.why}, and {last.why}")


def replaced(target: str, wish: Wish) -> Edited | None:
    """A system without exchange: the last look and the rename are as close together as can be."""
    text = read(target, wish.patience)
    splice = wish.change(text)
    if splice is None or not is_change(text, splice):
        return Edited("same")
    if not wish.may_go_on():
        return Edited("held")
    done = atomic.replace(target, applied(text, splice), lambda: read(target, wish.patience) == text)
    return Edited("replaced", resized=not splice.fits) if done else None


def untouched(target: str, wish: Wish, why: str) -> Edited:
    """Nothing is written: fine when there was nothing to write."""
    text = read(target, wish.patience)
    splice = wish.change(text)
    if splice is None or not is_change(text, splice):
        return Edited("same")
    return Edited("busy", f"{why}; nothing was written")


def read(path: str, patience: float = 2.0) -> bytes:
    """The whole text; an edit under a lease, which takes microseconds, is waited out."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return disk.read_file(path)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE)
