"""Putting our hooks into the text of a settings file and taking them out again: every other byte stays as it is.

What is taken out leaves the text as it was: a member that was added goes with its comma, and an empty list, object or
null that had to give way comes back as it is written in `before`, the text from before the first touch.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from ibstatus.claude.hooks import command_lines
from ibstatus.claude.hooks.events import Mine, Wanted, is_current, is_of
from ibstatus.system import jsonl
from ibstatus.system.text import json_edit
from ibstatus.system.text.json_edit import Part, named, parts, past_blank

EMPTY = "{}\n"
UNKNOWN = "{}"  # for `before`, when nobody noted it
KINDS = {"{": "an object", "[": "a list"}


class Unfit(Exception):
    """The text cannot be edited: why, and at which character."""

    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.why = why
        self.at = at


class Spot(NamedTuple):
    """Where a hook of ours stands: `hooks` ⊃ `event` ⊃ `entry` ⊃ `inner` (its list) ⊃ `part`."""

    mine: Mine
    hooks: Part
    event: Part
    entry: Part
    inner: Part
    part: Part


def values_of(text: str) -> Any:
    """What a settings file says. Nothing but blanks counts as an empty object."""
    if not text.strip(jsonl.BLANK):
        return {}
    try:
        value = jsonl.decode(text)
    except jsonl.NotJson as error:
        raise Unfit(why_not(text, error), error.at) from None
    if not isinstance(value, dict):
        raise Unfit("an object was expected: { … }", past_blank(text, 0))
    try:
        json.loads(text)
    except ValueError as error:  # what we can read, but the client cannot: a bare control character in a string
        raise Unfit(str(getattr(error, "msg", error)).lower(), getattr(error, "pos", 0)) from None
    return value


def why_not(text: str, error: jsonl.NotJson) -> str:
    if text[past_blank(text, error.at) :].startswith(("//", "/*")):
        return "a comment stands here, and settings are JSON without comments"
    return error.why[:1].lower() + error.why[1:]


def expect(text: str, part: Part, opening: str) -> None:
    if text[part.value] not in (opening, "n"):
        raise Unfit(f"{jsonl.encode(part.key)} is not {KINDS[opening]}", part.value)


def with_hooks(text: str, hooks: list[Wanted], kind: str, before: str = "") -> str:
    """Ours brought up to date where they stand, and put in where they are missing."""
    text = text if text.strip(jsonl.BLANK) else EMPTY
    check(text, hooks)
    known = {want.key: want for want in hooks}
    while (wrong := first_wrong(text, known, kind)) is not None:
        spot, want = wrong
        text = without_one(text, spot, before) if want is None else renewed(text, spot, want)
    there = {(spot.mine.event, spot.mine.hook) for spot in spots(text)}
    for want in hooks:
        text = text if want.key in there else with_one(text, want)
    return text


def check(text: str, wanted: list[Wanted]) -> None:
    """Where ours are to go there must be room for them."""
    values_of(text)
    hooks = named(text, past_blank(text, 0), "hooks")
    if hooks is None:
        return
    expect(text, hooks, "{")
    for want in wanted if text[hooks.value] == "{" else ():
        event = named(text, hooks.value, want.event)
        if event is not None:
            expect(text, event, "[")


def without_hooks(text: str, kind: str, before: str | None) -> str | None:
    """None when nothing is left of a file that was made for us (`before` is None)."""
    if not values_of(text):
        return text
    text, first = removed(text, kind, before or "")
    if first and before is None and not jsonl.decode(text):
        return None
    was_blank = before is not None and not before.strip(jsonl.BLANK)
    return before if first and was_blank and not jsonl.decode(text) else text


def removed(text: str, kind: str, before: str) -> tuple[str, bool]:
    """(the text, was there anything of ours)."""
    any_found = False
    while (spot := next((spot for spot in spots(text) if is_of(kind, spot.mine.hook)), None)) is not None:
        text, any_found = without_one(text, spot, before), True
    return text, any_found


def spots(text: str) -> Iterator[Spot]:
    """All of ours. What has another shape than settings have is passed over."""
    for hooks in parts(text, past_blank(text, 0)):
        for event in inside(text, hooks, "{") if hooks.key == "hooks" else ():
            for entry in inside(text, event, "["):
                inner = named(text, entry.value, "hooks") if text[entry.value] == "{" else None
                for part in inside(text, inner, "[") if inner is not None else ():
                    value, _ = jsonl.scan(text, part.value)
                    if inner is not None and isinstance(value, dict) and command_lines.is_ours(value.get("command")):
                        mine = Mine(event.key, command_lines.hook_of(value["command"]), value)
                        yield Spot(mine, hooks, event, entry, inner, part)


def inside(text: str, part: Part, opening: str) -> list[Part]:
    return parts(text, part.value) if text[part.value] == opening else []


def first_wrong(text: str, known: dict[tuple[str, str], Wanted], kind: str) -> tuple[Spot, Wanted | None] | None:
    """The first one that runs something else than it should, and what that is; None: it is stale, or there twice."""
    seen = set()
    for spot in spots(text):
        key = (spot.mine.event, spot.mine.hook)
        want = known.get(key) if key not in seen else None
        seen.add(key)
        if is_of(kind, spot.mine.hook) and (want is None or not is_current(spot.mine, want)):
            return spot, want
    return None


def renewed(text: str, spot: Spot, want: Wanted) -> str:
    """In its place and in its layout."""
    old = text[spot.part.start : spot.part.end]
    indent = json_edit.indent_at(text, spot.part.start) if "\n" in old else None
    return text[: spot.part.start] + laid_out(want.value, text, indent) + text[spot.part.end :]


def with_one(text: str, want: Wanted) -> str:
    at = past_blank(text, 0)
    hooks = named(text, at, "hooks")
    if hooks is None:
        return added(text, at, "hooks", {want.event: [want.entry]})
    if text[hooks.value] != "{":
        return in_place_of(text, hooks, {want.event: [want.entry]})
    event = named(text, hooks.value, want.event)
    if event is None:
        return added(text, hooks.value, want.event, [want.entry])
    if text[event.value] != "[":
        return in_place_of(text, event, [want.entry])
    return added(text, event.value, "", want.entry)


def in_place_of(text: str, part: Part, value: Any) -> str:
    return text[: part.value] + laid_out(value, text, indent_of(text, part.start)) + text[part.end :]


def added(text: str, at: int, key: str, value: Any) -> str:
    """A last member of the object at `at`, or a last item (key '') of the list, laid out as its neighbours are."""
    there = parts(text, at)
    if not there:
        whole = {key: value} if key else [value]
        return text[:at] + laid_out(whole, text, indent_of(text, at)) + text[past_blank(text, at + 1) + 1 :]
    gap = json_edit.gap_before(text, at, there)
    indent = gap.rpartition("\n")[2] if "\n" in gap else None
    head = jsonl.encode(key) + (": " if gap else ":") if key else ""
    end = there[-1].end
    return text[:end] + "," + gap + head + laid_out(value, text, indent) + text[end:]


def indent_of(text: str, at: int) -> str | None:
    """How far what goes over several lines is indented here; None where the text stays in a line."""
    if at > past_blank(text, 0) and "\n" not in text[:at]:
        return None
    return json_edit.indent_at(text, at) or ""


def laid_out(value: Any, text: str, indent: str | None) -> str:
    """As the client itself writes its settings, in the line ends and the indentation of `text`."""
    if indent is None or not isinstance(value, dict | list) or not value:
        return jsonl.encode(value)
    newline = "\r\n" if "\r\n" in text else "\n"
    deeper = indent + json_edit.unit_of(text)
    if isinstance(value, dict):
        opening, closing = "{}"
        items = [f"{jsonl.encode(key)}: {laid_out(item, text, deeper)}" for key, item in value.items()]
    else:
        opening, closing = "[]"
        items = [laid_out(item, text, deeper) for item in value]
    body = ("," + newline).join([deeper + item for item in items])
    return opening + newline + body + newline + indent + closing


def without_one(text: str, spot: Spot, before: str) -> str:
    """From the inside out: what would be left empty goes too, or comes back as it was in `before`."""
    root = past_blank(text, 0)
    for at, part in ((spot.inner.value, spot.part), (spot.event.value, spot.entry)):
        if len(parts(text, at)) > 1:
            return cut(text, at, part)
    for at, part, path in (
        (spot.hooks.value, spot.event, ("hooks", spot.event.key)),
        (root, spot.hooks, ("hooks",)),
    ):
        old = empty_value(before, path)
        if old:
            return text[: part.value] + old + text[part.end :]
        if len(parts(text, at)) > 1:
            return cut(text, at, part)
    return text[: root + 1] + blanks_of(before) + text[past_blank(text, spot.hooks.end) :]


def cut(text: str, at: int, part: Part) -> str:
    """This part and its comma: the one before it, for that is how it came, or the one behind it."""
    there = parts(text, at)
    number = [other.start for other in there].index(part.start)
    if number:
        return text[: there[number - 1].end] + text[part.end :]
    return text[: part.start] + text[there[1].start :]


def empty_value(before: str, path: tuple[str, ...]) -> str:
    """How an empty list, an empty object or null was written at this path; '' when there was none."""
    at = past_blank(before, 0)
    part = None
    for key in path:
        part = named(before, at, key) if before[at : at + 1] == "{" else None
        if part is None:
            return ""
        at = part.value
    return before[at : part.end] if part is not None and not jsonl.scan(before, at)[0] else ""


def blanks_of(before: str) -> str:
    """What stood between the braces of an empty object."""
    at = past_blank(before, 0)
    end = past_blank(before, at + 1)
    return before[at + 1 : end] if before[at : at + 1] == "{" and before[end : end + 1] == "}" else ""
