"""What is asked of an edit of a user's file, and how it ended."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from ibstatus.system.text.splices import Splice

if TYPE_CHECKING:
    from os import stat_result

    from ibstatus.system.userfiles.reading import Reading

How = Literal["same", "in place", "exchanged", "grown in place", "replaced", "held", "busy", "gone"]


class Wish(NamedTuple):
    """`change` is given the whole text as just read; `now_ok` is asked right before the write."""

    change: Callable[[bytes], Splice | None]
    desk: str
    may_resize: bool = True
    now_ok: Callable[[], bool] | None = None
    durable: bool = True
    patience: float = 2.0

    def may_go_on(self) -> bool:
        return self.now_ok is None or self.now_ok()


Stamp = tuple[int, int, int, int]


def stamp_of(status: "stat_result") -> Stamp:
    """Inode, size and times of a file: when none of them has changed, nobody has written to it."""
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class Edited(NamedTuple):
    """`note` says why nothing was written (held, busy) or what a person should know; `stamp`, after a write in place,
    is how the file was then."""

    how: How
    note: str = ""
    resized: bool = False
    stamp: Stamp | None = None


class Known(NamedTuple):
    """Bytes of ours, where they stand, and how the file was when they were written: the rest need not be read again."""

    stamp: Stamp
    start: int
    data: bytes


class Stuck(NamedTuple):
    """This way is closed; the next one may be open. `why` completes 'Could not …: '.

    `reading`: only the size was in the way, and this is the file as it was read."""

    why: str
    reading: "Reading | None" = None


def is_change(text: bytes, splice: Splice | None) -> bool:
    return splice is not None and text[splice.start : splice.end] != splice.data


def narrowed(text: bytes, splice: Splice) -> Splice:
    """The same change without the bytes at its beginning and end that stay as they are."""
    old, new = text[splice.start : splice.end], splice.data
    head = common(old, new)
    tail = common(old[head:][::-1], new[head:][::-1])
    return Splice(splice.start + head, splice.end - tail, new[head : len(new) - tail])


def common(one: bytes, other: bytes) -> int:
    """How many bytes they begin with in common, by halving."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
