"""Finding the block and the node: fixtures, and a slow reader of Markdown that goes byte by byte."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ibstatus.system.text import markers
from tests.conftest import PROJECT

FIXTURES = sorted((PROJECT / "fixtures" / "node").iterdir())


def outcome(data: bytes) -> str:
    try:
        return "accepted" if markers.find(data) else "none"
    except markers.Malformed as error:
        return f"refused-{error.line}"


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_the_name_of_a_fixture_says_what_becomes_of_it(path: Path) -> None:
    words = path.stem.split("-")
    expected = "-".join(words[:2]) if words[0] == "refused" else words[0]

    assert expected.rstrip("0123456789") in ("accepted", "none", "refused-")
    assert outcome(path.read_bytes()) == expected


@pytest.mark.parametrize("path", [p for p in FIXTURES if p.name.startswith("accepted")], ids=lambda path: path.stem)
def test_a_spot_is_made_of_whole_marker_lines(path: Path) -> None:
    data = path.read_bytes()

    spot = markers.find(data)

    assert spot
    block = data[slice(*spot.block)]
    assert block.startswith(markers.OPEN_BLOCK)
    assert block.rstrip().endswith(markers.CLOSE_BLOCK)
    assert data[spot.block.end - 1 :][:1] == b"\n" or spot.block.end == len(data)
    assert spot.local == path.stem.startswith("accepted-local")
    assert (spot.newline == b"\r\n") == ("crlf" in path.name)
    assert (spot.node is None) == (markers.OPEN_NODE + b"\n" not in block.replace(b"\r", b"").replace(b"\t", b""))
    if spot.node and spot.body:
        assert data[spot.node.start : spot.body.start].strip() == markers.OPEN_NODE
        assert data[spot.body.end : spot.node.end].strip() == markers.CLOSE_NODE


def test_why_is_the_end_of_a_sentence() -> None:
    with pytest.raises(markers.Malformed, match="line 3: a second <ittybitty>, the first one is on line 1"):
        markers.find(b"<ittybitty>\n</ittybitty>\n<ittybitty>\n")


PIECES = (
    *[tag + b"\n" for tag in markers.TAGS],
    *markers.TAGS,
    b"<ittybitty>\ntext\n<ittybitty-status>\n{}\n</ittybitty-status>\n</ittybitty>\n",
    b"```", b"````", b"~~~", b"~~~~", b"\n```\n", b"\n~~~\n", b"`", b"``", b"\\", b"<!--", b"-->", b"<", b"-", b"- ",
    b"1. ", b" ", b"   ", b"    ", b"\t", b"\n", b"\n\n", b"\r\n", b"\r", b"text", b"# h\n", b"> ", b"| a |", b"===\n",
    b"\x00", b"\xff", b"\xef\xbb\xbf",
)  # fmt: skip


@settings(max_examples=500)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))
@example(b"x" + b"`" * 300 + b"\n\n<ittybitty>\n</ittybitty>\n")
@example(b"<p>\n" * 300 + b"<!-- \n<ittybitty>\n-->\n<ittybitty>\n</ittybitty>\n")
@example(b"`a\n" * 150 + b"<ittybitty>\n</ittybitty>\n")
def test_the_fast_reader_finds_what_the_slow_one_finds(data: bytes) -> None:
    assert list(markers.markers(data)) == list(Slow(data).markers())


class Slow:
    """The same rules, told line by line and byte by byte."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.starts = [0] + [at + 1 for at, byte in enumerate(data) if byte == 10 and at + 1 < len(data)]
        if data.startswith(b"\xef\xbb\xbf"):
            self.starts[0] = 3
        self.floor = 0

    def line(self, at: int) -> bytes:
        return self.data[at : self.after(at)]

    def after(self, at: int) -> int:
        while at < len(self.data):
            at += 1
            if self.data[at - 1] == 10:
                break
        return at

    def start(self, at: int) -> int:
        return max(start for start in self.starts if start <= at)

    def markers(self):
        at = self.starts[0]
        in_node = False
        while at < len(self.data):
            marker = self.marker(at)
            if in_node:
                if marker and marker.whole:
                    yield marker
                    in_node = marker.tag == markers.OPEN_NODE
                    self.floor = marker.end
                    at = marker.end
                else:
                    at += 1
            elif marker and not self.in_code(at):
                yield marker
                in_node = marker.tag == markers.OPEN_NODE and marker.whole
                at = marker.end if marker.end > at else at + 1
            elif marker:
                at += 1
            elif self.data.startswith((b"```", b"~~~"), at):
                at = self.fence(at)
            elif self.data.startswith(b"<!--", at):
                at = self.comment(at)
            else:
                at += 1

    def marker(self, at: int):
        for tag in markers.TAGS:
            if self.data.startswith(tag, at):
                break
        else:
            return None
        if at in self.starts:
            rest = self.line(at)[len(tag) :]
            if rest in (b"", b"\n", b"\r\n", b"\r") or not rest.replace(b"\r\n", b"\n").strip(b" \t\n"):
                return markers.Marker(tag, at, self.after(at), True)
            if not rest.strip(b" \t\r\n"):
                return markers.Marker(
                    tag, at, self.after(at), rest.rstrip(b"\n").count(b"\r") == 1 and rest.rstrip(b"\n").endswith(b"\r")
                )
            if rest.startswith(b"\r") or (tag == b"<ittybitty-status>" and b"</ittybitty-status>" in rest):
                return markers.Marker(tag, at, self.after(at), False)
            return None
        behind = self.data[at + len(tag) : at + len(tag) + 1]
        if at and self.data[at - 1] == 13 and behind in (b"", b"\r", b"\n"):
            return markers.Marker(tag, at, at, False)
        return None

    def run(self, at: int) -> int:
        end = at
        while end < len(self.data) and self.data[end] == self.data[at]:
            end += 1
        return end - at

    def fence(self, at: int) -> int:
        length, kind = self.run(at), self.data[at : at + 1]
        lead = self.data[self.start(at) : at]
        rest = self.data[at + length : self.after(at)]
        width, text = self.items(lead)
        if text not in (b"", b" ", b"  ", b"   ") or (kind == b"`" and b"`" in rest):
            return at + length
        here = self.after(at)
        while here < len(self.data):
            line = self.line(here).expandtabs(4)
            indent = len(line) - len(line.lstrip(b" "))
            body = line.strip(b" \r\n")
            if width and body and indent < width:
                return here
            raw = self.line(here)
            plain = raw.startswith(b" " * indent + kind) or width
            closes = len(body) >= length and body == kind * len(body) and plain
            if closes and indent <= (width + 3):
                return self.after(here)
            here = self.after(here)
        return here

    def items(self, lead: bytes) -> tuple[int, bytes]:
        """(width of the list markers, what stands behind them)."""
        import re

        width = 0
        while True:
            match = re.match(rb" {0,3}([-+*]|[0-9]{1,9}[.)])( {1,4}|\t)", lead[width:])
            if not match:
                return len(lead[:width].expandtabs(4)), lead[width:]
            width += match.end()

    def comment(self, at: int) -> int:
        lead = self.data[self.start(at) : at]
        end = next((e for e in range(at + 2, len(self.data)) if self.data.startswith(b"-->", e)), None)
        if lead in (b"", b" ", b"  ", b"   "):
            return len(self.data) if end is None else self.after(end)
        if end is None or self.in_code(at):
            return at + 4
        between = self.data[at:end].split(b"\n")[1:-1]
        return at + 4 if any(not line.strip(b" \t\r") for line in between) else end + 3

    def in_code(self, at: int) -> bool:
        first = last = self.start(at)
        if self.is_border(first):
            return any(start < at < end for start, end in self.spans(first, self.after(first)))
        while first > self.floor and not self.is_item(first):
            above = self.start(first - 1) if first - 1 >= self.starts[0] else first
            above = max(above, self.floor)
            if above >= first or self.is_border(above) or b"-->" in self.data[above:first]:
                break
            first = above
        line, last = last, self.after(last)
        while last < len(self.data) and not self.is_border(last) and not self.is_item(last):
            if b"-->" in self.data[line:last]:
                break
            line, last = last, self.after(last)
        return any(start < at < end for start, end in self.spans(first, last))

    def is_item(self, at: int) -> bool:
        return self.items(self.line(at))[0] > 0

    def is_border(self, at: int) -> bool:
        import re

        line = self.line(at).rstrip(b"\n")
        text = line.strip(b" \t\r")
        bare = line.lstrip(b" ")
        if not text:
            return True
        if len(line) - len(bare) > 3 or bare.startswith((b"\t", b"\r")):
            return False
        if re.match(rb"#{1,6}([ \t\r]|$)", bare) or bare.startswith((b"|", b"<!--", b"~~~")):
            return True
        if bare.startswith(b"```") and b"`" not in bare.lstrip(b"`"):
            return True
        squeezed = text.replace(b" ", b"").replace(b"\t", b"")
        return bool(
            re.fullmatch(rb"=+", text)
            or re.fullmatch(rb"-+", squeezed)
            or re.fullmatch(rb"\*{3,}|_{3,}", squeezed)
        )  # fmt: skip

    def spans(self, at: int, end: int):
        found = []
        while at < end:
            if self.data[at] == 92 and self.data[at + 1 : at + 2] in (b"\\", b"`"):
                at += 2
            elif self.data[at] == 96:
                length = min(self.run(at), end - at)
                close = at + length
                while close < end:
                    if self.data[close] == 96:
                        other = min(self.run(close), end - close)
                        if other == length:
                            break
                        close += other
                    else:
                        close += 1
                if close < end:
                    found.append((at, close + length))
                    at = close + length
                else:
                    at += length
            else:
                at += 1
        return found
