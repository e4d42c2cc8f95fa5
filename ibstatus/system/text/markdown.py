"""As much of CommonMark as decides whether a line is shown as code or hidden: fences, code spans, comments.

Bytes in, offsets out, and the text is never split into lines: a search for the next rare character costs next to
nothing, and only the lines around what it finds are looked at.
"""

import re
from bisect import bisect_right

BOM = b"\xef\xbb\xbf"
COMMENT = b"<!--"
END_OF_COMMENT = b"-->"
FENCES = (b"```", b"~~~")
DENSE = 100

RUN = re.compile(rb"`+|~+")
TICKS = re.compile(rb"(\\*)(`+)")
FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})[ \t\r]*(?=\n|\Z)")
ITEM = re.compile(rb"(?: {0,3}(?:[-+*]|\d{1,9}[.)])(?: {1,4}|\t))+")
EMPTY_LINE = re.compile(rb"\n[ \t\r]*\n")
# Lines that end a paragraph: blank, heading, underline or rule, table row, fence, comment.
BORDER = re.compile(
    rb"[ \t\r]*(?:\n|\Z)| {0,3}(?:#{1,6}(?:[ \t\r\n]|\Z)|\||<!--|~~~|`{3,}[^`\n]*(?:\n|\Z)"
    rb"|(?:=+|(?:-[ \t]*)+|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})[ \t\r]*(?:\n|\Z))"
)


class Search:
    """The next place of any of `needles`, each beginning with `rare`; asked with growing positions only."""

    __slots__ = ("data", "needles", "rare", "seen")

    def __init__(self, data: bytes, rare: bytes, *needles: bytes) -> None:
        self.data = data
        self.rare = rare
        self.needles = needles
        self.seen = -1

    def at(self, start: int) -> int:
        """len(data) when there is none."""
        if self.seen < start:
            self.seen = self.look(start)
        return self.seen

    def look(self, start: int) -> int:
        data, rare, needles = self.data, self.rare, self.needles
        for _ in range(DENSE):
            start = data.find(rare, start)
            if start < 0:
                return len(data)
            if data.startswith(needles, start):
                return start
            start += 1
        return min([found for needle in needles if (found := data.find(needle, start)) >= 0], default=len(data))


def line_start(data: bytes, at: int) -> int:
    """Behind a BOM too: an editor shows what follows it in column 0."""
    start = data.rfind(b"\n", 0, at) + 1
    return len(BOM) if not start and at >= len(BOM) and data.startswith(BOM) else start


def line_end(data: bytes, at: int) -> int:
    """Where the next line starts."""
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end + 1


def past_fence(data: bytes, at: int) -> int:
    """Where reading goes on after the run of ` or ~ at `at`: behind the whole fence, if it opens one."""
    run = data[at : end_of_run(data, at)]
    lead = data[line_start(data, at) : at]
    item = ITEM.match(lead)
    inside = len(lead[: item.end()].expandtabs(4)) if item else 0
    rest = lead[item.end() :] if item else lead
    begin = line_end(data, at)
    if len(rest) > 3 or rest.strip(b" ") or (run[:1] == b"`" and b"`" in data[at + len(run) : begin]):
        return at + len(run)
    return past_item_fence(data, begin, run, inside) if inside else past_plain_fence(data, begin, run)


def end_of_run(data: bytes, at: int) -> int:
    match = RUN.match(data, at)
    return match.end() if match else at + 1


def past_plain_fence(data: bytes, at: int, run: bytes) -> int:
    """A fence that nobody closes goes on to the end of the file."""
    while (at := data.find(run, at)) >= 0:
        start = line_start(data, at)
        close = FENCE.match(data, start)
        if close and close.start(1) == at:
            return line_end(data, at)
        at = end_of_run(data, at)
    return len(data)


def past_item_fence(data: bytes, at: int, run: bytes, inside: int) -> int:
    """A fence in a list item ends with the item at the latest: at the first line that is indented less."""
    while at < len(data):
        end = line_end(data, at)
        line = data[at:end].expandtabs(4)
        text = line.strip(b" \r\n")
        indent = len(line) - len(line.lstrip(b" "))
        if text and indent < inside:
            return at
        if text.startswith(run) and not text.strip(run[:1]) and indent <= inside + 3:
            return end
        at = end
    return at


def past_comment(data: bytes, at: int, spans: "Spans") -> int:
    """Where reading goes on after the `<!--` at `at`: behind the whole comment, if it opens one."""
    lead = data[line_start(data, at) : at]
    block = len(lead) <= 3 and not lead.strip(b" ")
    end = data.find(END_OF_COMMENT, at + 2)
    if block:
        return len(data) if end < 0 else line_end(data, end)
    if end < 0 or EMPTY_LINE.search(data, at, end) or spans.hold(at):
        return at + len(COMMENT)
    return end + len(END_OF_COMMENT)


class Spans:
    """Inline code. The last paragraph looked at is remembered; none reaches above `floor`."""

    __slots__ = ("data", "end", "floor", "found", "start")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.start = self.end = -1
        self.floor = 0
        self.found: list[tuple[int, int]] = []

    def hold(self, at: int) -> bool:
        """Is this position inside of a code span?"""
        data = self.data
        if not self.start <= at < self.end or self.start < self.floor:
            if data.find(b"`", at) < 0 or data.rfind(b"`", self.floor, at) < 0:
                return False
            self.start, self.end = paragraph(data, at, self.floor)
            self.found = code_spans(data, self.start, self.end)
        before = bisect_right(self.found, (at, len(data))) - 1
        return before >= 0 and at < self.found[before][1]


def paragraph(data: bytes, at: int, floor: int) -> tuple[int, int]:
    """[from, to) of the paragraph around `at`, generously: a list item or a quote counts as one."""
    start = line_start(data, at)
    end = line_end(data, at)
    if BORDER.match(data, start):
        return start, end
    while start > floor and not ITEM.match(data, start):
        above = max(floor, line_start(data, start - 1))
        if above >= start or BORDER.match(data, above) or ends_comment(data, above, start):
            break
        start = above
    last = line_start(data, at)
    while end < len(data) and not BORDER.match(data, end) and not ITEM.match(data, end):
        if ends_comment(data, last, end):
            break
        last, end = end, line_end(data, end)
    return start, end


def ends_comment(data: bytes, start: int, end: int) -> bool:
    return data.find(END_OF_COMMENT, start, end) >= 0


def code_spans(data: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """[from, to) of each: a run of backticks to the next run of the same length; a backslash escapes an opening one."""
    runs = []
    places: dict[int, list[int]] = {}
    for number, run in enumerate(TICKS.finditer(data, start, end)):
        first = run.start(2)
        length = run.end() - first
        runs.append((first, run.end(), length - len(run.group(1)) % 2))
        places.setdefault(length, []).append(number)
    spans = []
    number = 0
    while number < len(runs):
        first, last, length = runs[number]
        closers = places.get(length, [])
        after = bisect_right(closers, number)
        if after < len(closers):
            number = closers[after]
            spans.append((last - length, runs[number][1]))
        number += 1
    return spans
