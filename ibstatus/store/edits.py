"""What is asked of an edit of a user's file, and how it ended."""

from collections.abc import Callable
from typing import Literal, NamedTuple

from ibstatus.rules.splices import Splice

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


class Edited(NamedTuple):
    """`note` says why nothing was written (held, busy) or what a person should know."""

    how: How
    note: str = ""
    resized: bool = False


class Stuck(NamedTuple):
    """This way is closed; the next one may be open. `why` completes 'Could not …: '."""

    why: str


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
