"""Changing one value in a JSON text and nothing else: order, indent, line ends and odd spellings stay as they were.

Every text here is one that `lines.decode` accepts and whose value is an object.
"""

from ibstatus.system import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Path = tuple[str, ...]

UNIT = "  "


class Blocked(Exception):
    """On the way to the value stands something that is neither an object nor null; `path` leads to it."""

    def __init__(self, path: "Path") -> None:
        super().__init__(".".join(path))
        self.path = path


class Part:
    """A member of an object, or an item of an array (key ''): [start, end), its value from `value` on."""

    __slots__ = ("end", "key", "start", "value")

    def __init__(self, key: str, start: int, value: int, end: int) -> None:
        self.key = key
        self.start = start
        self.value = value
        self.end = end


def with_value(text: str, path: "Path", value: "Any") -> str:
    """The value at `path` set; what is missing on the way is made."""
    at = past_blank(text, 0)
    for depth, key in enumerate(path):
        member = named(text, at, key)
        rest = path[depth + 1 :]
        if member is None:
            return inserted(text, at, key, nested(rest, value))
        if not rest or text.startswith("null", member.value):
            new = written(nested(rest, value), text, indent_at(text, member.start))
            return text[: member.value] + new + text[member.end :]
        at = member.value
        if text[at] != "{":
            raise Blocked(path[: depth + 1])
    return text


def without(text: str, path: "Path") -> str:
    """The member at `path` gone, with every earlier one of the same name; the same text when there is none."""
    while True:
        at = past_blank(text, 0)
        for key in path[:-1]:
            member = named(text, at, key)
            if member is None or text[member.value] != "{":
                return text
            at = member.value
        last = named(text, at, path[-1])
        if last is None:
            return text
        text = removed(text, at, last)


def with_item(text: str, path: "Path", item: str) -> str:
    """`item` added at the end of the list at `path`, which is made when it is missing."""
    at = found(text, path)
    if at < 0 or text.startswith("null", at):
        return with_value(text, path, [item])
    if text[at] != "[":
        raise Blocked(path)
    items = parts(text, at)
    if not items:
        return text[: at + 1] + jsonl.encode(item) + text[past_blank(text, at + 1) :]
    return text[: items[-1].end] + "," + gap_before(text, at, items) + jsonl.encode(item) + text[items[-1].end :]


def without_item(text: str, path: "Path", item: str) -> str:
    """Every `item` in the list at `path` gone."""
    at = found(text, path)
    if at < 0 or text[at] != "[":
        return text
    while True:
        same = [part for part in parts(text, at) if jsonl.scan(text, part.value)[0] == item]
        if not same:
            return text
        text = removed(text, at, same[0])


def parts(text: str, at: int) -> list[Part]:
    """What stands in the object or array that opens at `at`."""
    opened = text[at]
    all_parts = []
    at = past_blank(text, at + 1)
    while text[at] not in "}]":
        start, key = at, ""
        if opened == "{":
            key, at = jsonl.scan(text, at)
            at = past_blank(text, past_blank(text, at) + 1)  # past the colon
        _, end = jsonl.scan(text, at)
        all_parts.append(Part(key, start, at, end))
        at = past_blank(text, end)
        if text[at] == ",":
            at = past_blank(text, at + 1)
    return all_parts


def named(text: str, at: int, key: str) -> Part | None:
    """The member that counts: of several with one name the last."""
    members = [part for part in parts(text, at) if part.key == key]
    return members[-1] if members else None


def found(text: str, path: "Path") -> int:
    """Where the value at `path` begins, or -1."""
    at = past_blank(text, 0)
    for depth, key in enumerate(path):
        if text.startswith("null", at):
            return -1
        if text[at] != "{":
            raise Blocked(path[:depth])
        member = named(text, at, key)
        if member is None:
            return -1
        at = member.value
    return at


def inserted(text: str, at: int, key: str, value: "Any") -> str:
    """A new last member of the object at `at`, laid out as its neighbours are."""
    members = parts(text, at)
    if not members:
        return filled(text, at, key, value)
    last = members[-1]
    gap = gap_before(text, at, members)
    _, key_end = jsonl.scan(text, last.start)
    colon = text[key_end : last.value]
    if "\n" in colon or "\r" in colon:
        colon = ": "
    if not gap and colon.endswith(" "):
        gap = " "
    indent = gap.rpartition("\n")[2] if "\n" in gap else None
    return text[: last.end] + "," + gap + jsonl.encode(key) + colon + written(value, text, indent) + text[last.end :]


def filled(text: str, at: int, key: str, value: "Any") -> str:
    """The empty object at `at` with its first member."""
    close = past_blank(text, at + 1)
    inside_a_line = at > past_blank(text, 0) and "\n" not in text[:at]
    indent = None if inside_a_line else indent_at(text, at) or ""
    return text[:at] + written({key: value}, text, indent) + text[close + 1 :]


def removed(text: str, at: int, part: Part) -> str:
    """The object or array at `at` without this part and its comma."""
    starts = [other.start for other in parts(text, at)]
    place = starts.index(part.start)
    if len(starts) == 1:
        return text[: at + 1] + text[past_blank(text, part.end) :]
    if place < len(starts) - 1:
        return text[: part.start] + text[starts[place + 1] :]
    return text[: parts(text, at)[place - 1].end] + text[part.end :]


def written(value: "Any", text: str, indent: str | None) -> str:
    """`value` as JSON; objects go over several lines where `indent` is known, in the manner of `text`."""
    if isinstance(value, list):
        return "[" + ", ".join([jsonl.encode(item) for item in value]) + "]"
    if not isinstance(value, dict) or not value or indent is None:
        return jsonl.encode(value)
    newline = "\r\n" if "\r\n" in text else "\n"
    deeper = indent + unit_of(text)
    members = [f"{deeper}{jsonl.encode(key)}: {written(item, text, deeper)}" for key, item in value.items()]
    return "{" + newline + ("," + newline).join(members) + newline + indent + "}"


def nested(path: "Path", value: "Any") -> "Any":
    for key in reversed(path):
        value = {key: value}
    return value


def gap_before(text: str, at: int, all_parts: list[Part]) -> str:
    """The blanks that stand before the last part, without empty lines."""
    start = all_parts[-1].start
    since = start
    while since > at + 1 and text[since - 1] in jsonl.BLANK:
        since -= 1
    gap = text[since:start]
    if "\n" in gap:
        gap = ("\r\n" if "\r\n" in gap else "\n") + gap.rpartition("\n")[2]
    elif len(all_parts) == 1:
        gap = " " if text[at] == "[" else ""
    return gap


def indent_at(text: str, at: int) -> str | None:
    """How far the line of this position is indented; None when the whole text is one line."""
    begin = text.rfind("\n", 0, at) + 1
    if not begin and "\n" not in text[at:].rstrip(jsonl.BLANK):
        return None
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def unit_of(text: str) -> str:
    """One step of indentation: that of the first member."""
    members = parts(text, past_blank(text, 0))
    if not members:
        return UNIT
    before = text[: members[0].start].rpartition("\n")
    return before[2] if before[1] and not before[2].strip(" \t") and before[2] else UNIT


def past_blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in jsonl.BLANK:
        at += 1
    return at
