"""Queue bytes → the lines that a session or a person is shown.

What kind of message a text is: `?` asks, `!` warns, `COMPLETE:` and `DONE:` report, the rest is status.
"""

from ibstatus.model import constants
from ibstatus.system import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


QUIET = b'"quiet":true'
KNOWN = ("ts", "from", "type", "msg", "id")


class Told:
    """Lines ready to print, the ids in them, and what was skipped, as sentences."""

    __slots__ = ("again", "encoded", "fresh", "skipped", "values")

    def __init__(self) -> None:
        self.values: list[dict[str, Any]] = []
        self.encoded: list[str] = []
        self.fresh: list[str] = []
        self.again: list[str] = []
        self.skipped: list[str] = []

    def text(self) -> str:
        return "".join([line + "\n" for line in self.encoded])


def told(data: bytes, start: int, fresh_from: int) -> Told:
    """`data` are whole lines that begin at the absolute offset `start`; those before `fresh_from` are repeats."""
    result = Told()
    at = start
    for raw in data.split(b"\n")[:-1]:
        again = at < fresh_from
        try:
            value = taken(raw, at, again)
            line = jsonl.encode(value)
        except (ValueError, RecursionError):  # what cannot be printed must not stop what can
            value = None
        if value is not None:
            (result.again if again else result.fresh).append(value["id"])
            result.values.append(value)
            result.encoded.append(line)
        elif raw.strip():
            result.skipped.append(f"skipped {len(raw)} bytes at offset {at} of the queue: no JSON object")
        at += len(raw) + 1
    return result


def is_quiet(data: bytes) -> bool:
    """Only lines that ring nobody: they are told with the next one that does, or at the next prompt."""
    marked = data.count(QUIET)
    return marked > 0 and all(value.get("quiet") is True for value in told(data, 0, 0).values)


def taken(raw: bytes, at: int, again: bool) -> "dict[str, Any] | None":
    """One queue line with all its fields, None if no JSON object. A foreign line gets its id from its offset."""
    value = jsonl.decode(raw.decode("utf-8", "replace"))
    if not isinstance(value, dict):
        return None
    line: dict[str, Any] = {
        "ts": as_text(value.get("ts"), ""),
        "from": as_text(value.get("from"), constants.UNKNOWN),
        "type": as_text(value.get("type"), constants.NOTICE_TYPES[0]),
        "msg": as_text(value.get("msg"), ""),
        "id": as_text(value.get("id"), "") or f"n-at-{at}",
    }
    for key, more in value.items():
        if key not in KNOWN and key != "again":
            line[key] = more
    if again:
        line["again"] = True
    return line


def as_text(value: object, instead: str) -> str:
    if isinstance(value, str):
        return jsonl.clean(value)
    return instead if value is None else jsonl.encode(value)


WORDS = (("QUESTION:", "question"), ("ALERT:", "alert"), ("COMPLETE:", "complete"), ("DONE:", "complete"))


def split(text: str) -> tuple[str, str]:
    """(type, content). One prefix is taken, case as written. `?` counts before anything, `!` only before a blank or
    alone: `?Should I` is a question, `!important` stays text."""
    start = text.lstrip()
    if start.startswith("?"):
        return "question", rest_of(start[1:])
    if start.startswith("!") and (len(start) == 1 or start[1].isspace()):
        return "alert", rest_of(start[1:])
    for word, kind in WORDS:
        if start.startswith(word):
            return kind, rest_of(start[len(word) :])
    return "status", text


def rest_of(text: str) -> str:
    """The text after a prefix: blanks on the prefix's own line go, further lines keep their indentation."""
    first, newline, more = text.partition("\n")
    first = first.strip(" \t\r")
    return f"{first}\n{more}" if newline and first else first + more
