"""Where our block and its node stand in a CLAUDE.md, and which files we do not touch.

A marker is a line of its own in column 0, outside of fences, code spans and comments. Lines end with LF: git and sed
see no others.
"""

from typing import TYPE_CHECKING, NamedTuple

from ibstatus.system.text import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN_BLOCK = b"<ittybitty>"
CLOSE_BLOCK = b"</ittybitty>"
OPEN_NODE = b"<ittybitty-status>"
CLOSE_NODE = b"</ittybitty-status>"
LOCAL = b"<!-- ib:local"
ROOM = b"<!-- ib:room"

TAGS = (OPEN_BLOCK, CLOSE_BLOCK, OPEN_NODE, CLOSE_NODE)
STEMS = (b"<ittybitty", b"</ittybitty")
BLANK = b" \t\r\n"


class Range(NamedTuple):
    start: int
    end: int


class Spot(NamedTuple):
    """Offsets of whole lines, closing newline included; `body` is what stands between the node's two marker lines."""

    block: Range
    node: Range | None
    body: Range | None
    newline: bytes
    local: bool


class Malformed(Exception):
    """A file that we leave alone; `why` ends a sentence, `line` counts from 1."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line
        self.why = why


class Marker(NamedTuple):
    """`whole` is False where the line goes on behind the tag."""

    tag: bytes
    start: int
    end: int
    whole: bool


def find(data: bytes) -> Spot | None:
    """None: there is no block at all. Raises Malformed."""
    block = node = node_end = end = None
    for marker in markers(data):
        why = objection(marker, block, node, node_end, end, data)
        if why:
            raise Malformed(line_of(data, marker.start), why)
        if marker.tag == OPEN_BLOCK:
            block = marker
        elif marker.tag == OPEN_NODE:
            node = marker
        elif marker.tag == CLOSE_NODE:
            node_end = marker
        else:
            end = marker
    if node and not node_end:
        raise Malformed(line_of(data, node.start), "this node has no end tag")
    if block and not end:
        raise Malformed(line_of(data, block.start), "this block has no end tag")
    return spot(data, block, node, node_end, end) if block and end else None


def objection(
    marker: Marker,
    block: Marker | None,
    node: Marker | None,
    node_end: Marker | None,
    end: Marker | None,
    data: bytes,
) -> str:
    """Why this marker cannot follow those before it; '' when it can."""
    tag = marker.tag.decode()
    if not marker.whole:
        return f"{tag} must stand on a line of its own"
    if marker.tag == OPEN_BLOCK:
        return f"a second {tag}, the first one is on line {line_of(data, block.start)}" if block else ""
    if not block:
        return f"{tag} outside of an <ittybitty> block"
    if end:
        return f"{tag} behind the end of the block"
    inside = node and not node_end
    if marker.tag == CLOSE_BLOCK and node and inside:
        return f"{tag} before the end of the node of line {line_of(data, node.start)}"
    if marker.tag == OPEN_NODE and node:
        return f"a second {tag}, the first one is on line {line_of(data, node.start)}"
    if marker.tag == CLOSE_NODE and not inside:
        return f"{tag} ends a node that was never opened"
    return ""


def spot(data: bytes, block: Marker, node: Marker | None, node_end: Marker | None, end: Marker) -> Spot:
    newline = b"\r\n" if data.endswith(b"\r\n", 0, (node or block).end) else b"\n"
    local = data.startswith(LOCAL, block.end)
    if not node or not node_end:
        return Spot(Range(block.start, end.end), None, None, newline, local)
    body = Range(node.end, node_end.start)
    return Spot(Range(block.start, end.end), Range(node.start, node_end.end), body, newline, local)


def markers(data: bytes) -> "Iterator[Marker]":
    """In order. What stands in a node is ours and no Markdown: nothing hides its end."""
    spans = markdown.Spans(data)
    tags = markdown.Search(data, b"<", *STEMS)
    comments = markdown.Search(data, b"<", markdown.COMMENT)
    ticks, waves = (markdown.Search(data, fence[:1], fence) for fence in markdown.FENCES)
    at = 0
    while (tag := tags.at(at)) < len(data):
        fence = min(ticks.at(at), waves.at(at))
        comment = comments.at(at)
        if fence < min(tag, comment):
            at = markdown.past_fence(data, fence)
        elif comment < tag:
            at = markdown.past_comment(data, comment, spans)
        else:
            at = tag + 1
            marker = marker_at(data, tag)
            if marker and not spans.hold(tag):
                yield marker
                at = max(at, marker.end)
                while marker.tag == OPEN_NODE and marker.whole:
                    inner = next_marker(data, at, tags)
                    if inner is None:
                        return
                    yield inner
                    spans.floor = at = inner.end
                    marker = inner


def next_marker(data: bytes, at: int, tags: markdown.Search) -> Marker | None:
    while (at := tags.at(at)) < len(data):
        marker = marker_at(data, at)
        if marker and marker.whole:
            return marker
        at += 1
    return None


def marker_at(data: bytes, at: int) -> Marker | None:
    """The marker that starts here, if one does. A line that only starts with a tag counts where it would be a node."""
    tag = next((tag for tag in TAGS if data.startswith(tag, at)), None)
    if tag is None:
        return None
    if at != markdown.line_start(data, at):
        return Marker(tag, at, at, False) if is_between_old_line_ends(data, at, tag) else None
    end = markdown.line_end(data, at)
    rest = data[at + len(tag) : end]
    if not rest.strip(BLANK):
        stray = b"\r" in rest.removesuffix(b"\n").removesuffix(b"\r")
        return Marker(tag, at, end, not stray)
    half = rest.startswith(b"\r") or (tag == OPEN_NODE and CLOSE_NODE in rest)
    return Marker(tag, at, end, False) if half else None


def is_between_old_line_ends(data: bytes, at: int, tag: bytes) -> bool:
    """A line to an old editor that ends its lines with CR alone, and to no other program."""
    after = data[at + len(tag) : at + len(tag) + 1]
    return data[at - 1 : at] == b"\r" and after in (b"\r", b"\n", b"")


def line_of(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1
