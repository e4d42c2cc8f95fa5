"""One change to a user's file: these bytes instead of those, every other byte as it was."""

from typing import NamedTuple


class Splice(NamedTuple):
    """`data` in the place of [start, end)."""

    start: int
    end: int
    data: bytes

    @property
    def fits(self) -> bool:
        """The file keeps its size, so that it can be written in place."""
        return len(self.data) == self.end - self.start


def applied(text: bytes, splice: Splice) -> bytes:
    return b"".join((text[: splice.start], splice.data, text[splice.end :]))


def inverse(text: bytes, splice: Splice) -> Splice:
    """What takes `splice` back from the text that it was applied to; `text` is the one before."""
    return Splice(splice.start, splice.start + len(splice.data), text[splice.start : splice.end])
