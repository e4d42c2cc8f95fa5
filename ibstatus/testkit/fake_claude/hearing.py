"""What a transcript says that the model was shown, so that a test can ask what an agent heard, in order."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

Json = dict[str, Any]


class Heard(NamedTuple):
    """`how`: prompt, context or tool."""

    how: str
    text: str


def lines(path: str) -> Iterator[Json]:
    """A torn or foreign line is passed over."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if isinstance(line, dict):
                yield line


def heard(path: str) -> Iterator[Heard]:
    """What the model was shown, in order: prompts (those typed in the middle of a turn too), context, tool results."""
    entries: dict[str, Json] = {}
    leaf: str | None = None
    for line in lines(path):
        if line.get("uuid"):
            leaf = str(line["uuid"])
            entries[leaf] = line
        elif line.get("type") == "last-prompt":
            leaf = line.get("leafUuid")
    for line in chain(entries, leaf):
        if line.get("type") == "user":
            yield from of_message(line.get("message") or {})
        elif line.get("type") == "attachment" and line.get("rendered"):
            fact = line.get("attachment") or {}
            if fact.get("type") == "queued_command":
                yield Heard("prompt", str(fact.get("prompt", "")))
            else:
                yield Heard("context", unwrapped(line["rendered"]))


def chain(entries: dict[str, Json], leaf: str | None) -> list[Json]:
    """From the first entry to the leaf: what was taken back hangs on another branch."""
    found: list[Json] = []
    while leaf in entries:
        line = entries.pop(leaf)
        found.append(line)
        leaf = line.get("parentUuid")
    return found[::-1]


def of_message(message: Json) -> Iterator[Heard]:
    content = message.get("content")
    if isinstance(content, str):
        yield Heard("prompt", content)
        return
    for block in content if isinstance(content, list) else []:
        if block.get("type") == "tool_result":
            yield Heard("tool", str(block.get("content", "")))
        elif block.get("type") == "text":
            yield Heard("prompt", str(block.get("text", "")))


def unwrapped(rendered: list[Json]) -> str:
    text = "\n".join(str(part.get("content", "")) for part in rendered)
    return text.removeprefix("<system-reminder>\n").removesuffix("\n</system-reminder>")
