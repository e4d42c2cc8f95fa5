"""Two people changed the same text: one text with both changes, line by line, or None where they touch the same lines.

The bytes of a line, its line end included, are what is compared; nothing is decoded and no line end is changed.
"""

from collections import Counter
from difflib import SequenceMatcher
from typing import NamedTuple

from ibstatus.system.text import markers

PLACES = 50  # of the line behind the node that are tried
LARGEST = 20_000  # lines in the part that differs: beyond that difflib takes minutes


class Change(NamedTuple):
    """`lines` in the place of base[start:end]."""

    start: int
    end: int
    lines: list[bytes]


def merged(base: bytes, mine: bytes, theirs: bytes) -> bytes | None:
    """What both inserted at the same place: mine, then theirs; or the longer one, where it goes on from the other."""
    if mine in (base, theirs):
        return theirs
    if theirs == base:
        return mine
    old = split(base)
    ours, others = changes(old, split(mine)), changes(old, split(theirs))
    if ours is None or others is None:
        return None
    return woven(old, ours, others)


def around_node(base: bytes, mine: bytes, theirs: bytes) -> bytes | None:
    """The same for what a person wrote: the node of `theirs` stays as it is, those of the other two do not count."""
    node, before = cut(theirs)
    old, new = cut(base)[1], cut(mine)[1]
    if goes_on_from(old, new, before):
        return theirs
    whole = merged(old, new, before)
    if whole == before:
        return theirs
    return None if whole is None else with_node(node, theirs, whole)


def goes_on_from(base: bytes, mine: bytes, theirs: bytes) -> bool:
    """Mine only added lines, and `theirs` has them all, if at another place: it is a later save of the same buffer."""
    mine_lines = Counter(split(mine))
    return Counter(split(base)) < mine_lines <= Counter(split(theirs))


def cut(text: bytes) -> tuple[bytes, bytes]:
    """(the node's lines, the text without them)."""
    try:
        spot = markers.find(text)
    except markers.Malformed:
        spot = None
    if spot is None or spot.node is None:
        return b"", text
    return text[spot.node.start : spot.node.end], text[: spot.node.start] + text[spot.node.end :]


def with_node(node: bytes, theirs: bytes, whole: bytes) -> bytes | None:
    """The node goes in again before the line that it stood before, if it is a node there."""
    if not node:
        return whole
    follow = theirs[theirs.find(node) + len(node) :]
    line = follow[: follow.find(b"\n") + 1] or follow
    lines, at = b"\n" + whole, len(whole) + 1
    for _ in range(PLACES):
        at = lines.rfind(b"\n" + line, 0, at + len(line))
        if at < 0:
            break
        candidate = whole[:at] + node + whole[at:]
        if cut(candidate) == (node, whole):
            return candidate
    return None


def split(text: bytes) -> list[bytes]:
    """At LF alone: bytes.splitlines would cut at a lone CR as well, and so count lines that no editor shows."""
    parts = [line + b"\n" for line in text.split(b"\n")]
    last = parts.pop()[:-1]
    return [*parts, last] if last else parts


def changes(old: list[bytes], new: list[bytes]) -> list[Change] | None:
    """From old to new; what begins and ends alike is not given to difflib."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if not left or not right:
        return [Change(head, head + len(left), right)] if left or right else []
    if len(left) + len(right) > LARGEST:
        return None
    found = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    return [Change(head + i, head + j, right[a:b]) for tag, i, j, a, b in found if tag != "equal"]


def woven(old: list[bytes], ours: list[Change], others: list[Change]) -> bytes | None:
    whole: list[bytes] = []
    at = 0
    while ours or others:
        change = taken(ours, others)
        if change is None:
            return None
        add(whole, old[at : change.start])
        add(whole, change.lines)
        at = change.end
    add(whole, old[at:])
    return b"".join(whole)


def add(whole: list[bytes], lines: list[bytes]) -> None:
    """What was a last line without its end on one side gets one where the other side goes on."""
    if whole and lines and not whole[-1].endswith(b"\n"):
        whole[-1] += b"\n"
    whole += lines


def taken(ours: list[Change], others: list[Change]) -> Change | None:
    """The next change of either side, taken off its list; None where the two cannot stand together."""
    if not ours or not others:
        return (ours or others).pop(0)
    mine, theirs = ours[0], others[0]
    if mine == theirs or (is_insert(mine) and is_insert(theirs) and mine.start == theirs.start):
        del ours[0], others[0]
        return Change(mine.start, mine.end, mine.lines if mine == theirs else both(mine.lines, theirs.lines))
    if touch(mine, theirs):
        return None
    return ours.pop(0) if mine.start < theirs.start or mine.end <= theirs.start else others.pop(0)


def is_insert(change: Change) -> bool:
    return change.start == change.end


def touch(one: Change, other: Change) -> bool:
    """They share a line of the base, or one inserts strictly inside what the other replaces."""
    if is_insert(one) or is_insert(other):
        return max(one.start, other.start) < min(one.end, other.end) or (
            one.start == other.start and not (is_insert(one) and is_insert(other))
        )
    return one.start < other.end and other.start < one.end


def both(mine: list[bytes], theirs: list[bytes]) -> list[bytes]:
    """One after the other, unless one of them goes on from the other: then that one holds both."""
    if theirs[: len(mine)] == mine:
        return theirs
    if mine[: len(theirs)] == theirs:
        return mine
    if not mine[-1].endswith(b"\n"):
        return [*mine[:-1], mine[-1] + b"\n", *theirs]
    return [*mine, *theirs]
