"""The proof commands: one fixture in, what the real function makes of it out."""

import json
from pathlib import Path

from ibstatus.errors import IbError
from ibstatus.model import words
from ibstatus.rules import ages, lines, names, stamps, telling
from ibstatus.store import notices


def read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise IbError(f"{path} cannot be read", cause=error.strerror or str(error)) from error


def format_age(path: str) -> str:
    """A file with `created now`, both epochs."""
    parts = read(path).split()
    try:
        created, now = (float(part) for part in parts)
    except ValueError:
        raise IbError(f"{path} should hold two numbers: created and now", hint="1704067200 1704067205") from None
    return ages.age(now - created)


def log_format(path: str, timestamp: str) -> str:
    """A file with a message; the entry that agent.log would get, with `timestamp` between the brackets if given."""
    text = read(path).decode("utf-8", "replace").removesuffix("\n")
    entry = stamps.log_entry(text, 0)
    at = timestamp or stamps.log(0)
    return f"[{at}] " + entry.partition("] ")[2]


def notify_format(path: str, now: float) -> str:
    """A file with `{"from", "type", "msg"}`; the queue line."""
    try:
        value = json.loads(read(path))
        sender, kind, text = value.get("from", words.UNKNOWN), value.get("type", words.NOTICE_TYPES[0]), value["msg"]
    except (ValueError, KeyError, AttributeError) as error:
        raise IbError(f"{path} should hold an object with from, type and msg", cause=str(error)) from None
    if kind not in words.NOTICE_TYPES:
        raise IbError(f"unknown type: {kind} (expected: {', '.join(words.NOTICE_TYPES)})")
    if not names.is_sender(sender):
        raise IbError(f"'{sender}' cannot be a sender's name")
    if not text.strip():
        raise IbError("A message is required")
    item = f"n-{int(now)}-{sender}"
    return lines.encode(notices.form(item, kind, sender, True, lines.clean(text), now))


def notify_drain(path: str) -> tuple[str, list[str]]:
    """A queue file; the lines that a listener would print, and what it would skip. A missing file is an empty queue."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        data = b""
    if data and not data.endswith(b"\n"):
        data += b"\n"
    told = telling.told(data, 0, 0)
    return told.text(), told.skipped
