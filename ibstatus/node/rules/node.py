"""The node as bytes: how it is laid out, and the splices that put it into a file.

Its body, what stands between the two marker lines, keeps its size (the capacity) from update to update.
"""

import json
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from ibstatus.node.rules.content import SHORTER, Facts, Item, Limits, Ordered, Shape, content, key, ordered, told
from ibstatus.system import jsonl
from ibstatus.system.text.markers import CLOSE_BLOCK, CLOSE_NODE, OPEN_NODE, ROOM, Spot, find
from ibstatus.system.text.splices import Splice

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Facts",
    "Fitted",
    "Limits",
    "body",
    "change",
    "content",
    "fitted",
    "insert",
    "key",
    "node",
    "remove",
    "set_body",
]

NOTE = b"<!-- Auto-updated by ittybitty watchdogs. Do not edit manually. -->"
CAPACITY = 4096
LEAST = 512
MOST = 32768
WANTED = 3072  # bytes of JSON that messages other than questions may fill


class Fitted(NamedTuple):
    content: Item
    body: bytes
    capacity: int


def body(value: Item, capacity: int, newline: bytes = b"\n") -> bytes | None:
    """Exactly `capacity` bytes; None: does not fit."""
    start = NOTE + newline + encoded(value).replace(b"\n", newline) + newline
    room = padding(capacity - len(start), newline)
    return None if room is None else start + room


def padding(size: int, newline: bytes) -> bytes | None:
    """An empty line and a comment, `size` bytes: behind an empty line Claude strips it, so that room costs nothing."""
    blanks = size - len(newline + ROOM + b"-->" + newline)
    return newline + ROOM + b" " * blanks + b"-->" + newline if blanks > 0 else None


def node(body: bytes, newline: bytes = b"\n") -> bytes:
    return OPEN_NODE + newline + body + CLOSE_NODE + newline


def encoded(value: Item) -> bytes:
    """JSON, an agent and a message a line."""
    members = [f" {jsonl.encode(name)}: {listed(part)}" for name, part in value.items()]
    return ("{\n" + ",\n".join(members) + "\n}").encode()


def listed(value: object) -> str:
    if not isinstance(value, list):
        return harmless(jsonl.encode(value))
    return "[\n  " + ",\n  ".join([harmless(jsonl.encode(item)) for item in value]) + "\n ]" if value else "[]"


def harmless(text: str) -> str:
    """JSON that cannot be a tag, a comment or a fence, and hides nothing from who reads it."""
    text = text.replace("<", "\\u003c").replace(">", "\\u003e")
    text = text.replace("```", "\\u0060\\u0060\\u0060").replace("~~~", "\\u007e\\u007e\\u007e")
    return text if text.isprintable() else "".join([c if c.isprintable() else json.dumps(c)[1:-1] for c in text])


def decoded(body: bytes) -> Item | None:
    """The JSON of a body, ours or an older tool's; None if there is none."""
    text = body.decode("utf-8", "replace")
    try:
        value = jsonl.decode("\n".join([line for line in text.split("\n") if not line.startswith("<!--")]))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def fitted(
    facts: Facts, limits: Limits, now: float, capacity: int, *, may_grow: bool, newline: bytes = b"\n"
) -> Fitted:
    """What is told in this room. Where it may, the room grows before anything but other messages is left out."""
    known = ordered(facts)
    shape = wanted(known, limits, now)
    capacity = max(capacity, LEAST) if may_grow else capacity
    while True:
        value = told(known, limits, now, shape)
        new = body(value, capacity, newline)
        if new is not None:
            return Fitted(value, new, capacity)
        if not may_grow or capacity * 2 > MOST:
            return squeezed(known, limits, now, capacity, shape, newline)
        capacity *= 2


def wanted(known: Ordered, limits: Limits, now: float) -> Shape:
    """All questions and agents; of the other messages as many of the newest as the wanted size allows."""
    shapes = [Shape(others) for others in range(min(limits.messages, len(known.others)) + 1)]
    return last(shapes, lambda shape: len(encoded(told(known, limits, now, shape))) <= WANTED) or shapes[0]


def squeezed(known: Ordered, limits: Limits, now: float, capacity: int, shape: Shape, newline: bytes) -> Fitted:
    """As much as fits: other messages go first, then texts get shorter, then agents go, then questions."""

    def fits(shape: Shape) -> bool:
        return body(told(known, limits, now, shape), capacity, newline) is not None

    bare = Shape(0, min(SHORTER))
    steps = (
        [Shape(others) for others in range(shape.others + 1)],
        [Shape(0, text) for text in sorted(SHORTER)],
        [bare._replace(agents=count) for count in range(min(bare.agents, len(known.agents)) + 1)],
        [bare._replace(agents=0, questions=count) for count in range(len(known.questions) + 1)],
    )
    for step in steps:
        found = last(step, fits)
        if found:
            value = told(known, limits, now, found)
            return Fitted(value, body(value, capacity, newline) or b"", capacity)
    raise ValueError(f"a body of {capacity} bytes holds no status")


def last(shapes: list[Shape], fits: "Callable[[Shape], bool]") -> Shape | None:
    """The last that fits, of shapes in growing size; None if not even the first does."""
    count = bisect_left(shapes, True, key=lambda shape: not fits(shape))
    return shapes[count - 1] if count else None


def set_body(spot: Spot, data: bytes, new: bytes) -> Splice | None:
    """None: it is there already, or there is no node."""
    if spot.body is None or data[spot.body.start : spot.body.end] == new:
        return None
    return Splice(spot.body.start, spot.body.end, new)


def insert(spot: Spot, data: bytes, new: bytes) -> Splice:
    """A node with this body as the last thing in the block."""
    at = data.rindex(CLOSE_BLOCK, spot.block.start, spot.block.end)
    return Splice(at, at, node(new, spot.newline))


def remove(spot: Spot) -> Splice | None:
    return Splice(spot.node.start, spot.node.end, b"") if spot.node else None


def change(
    data: bytes, facts: Facts, limits: Limits, now: float, *, may_resize: bool, aged: bool = False
) -> Splice | None:
    """The splice that makes the node true; None: it is, or there is no block. `aged`: also when only ages differ."""
    spot = find(data)
    if spot is None:
        return None
    there = data[spot.body.start : spot.body.end] if spot.body else None
    if there is None and not may_resize:
        return None
    capacity = CAPACITY if there is None else len(there)
    if capacity < LEAST or (may_resize and capacity > MOST):
        if not may_resize:
            return None
        capacity = CAPACITY
    new = fitted(facts, limits, now, capacity, may_grow=may_resize, newline=spot.newline)
    if there is None:
        return insert(spot, data, new.body)
    shown = decoded(there)
    same = shown is not None and len(there) == new.capacity and key(shown) == key(new.content)
    return None if same and not aged else set_body(spot, data, new.body)
