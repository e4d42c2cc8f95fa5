"""Listings as text: what people see of questions, events and traces."""

from typing import Any

from ibstatus.system import jsonl, timestamps
from ibstatus.system.text import times

FORM = {code: f"\\x{code:02x}" for code in range(0x20)} | jsonl.RISKY | {0x09: "\t", 0x0A: "\\n"}


def shown(text: object) -> str:
    """Text of an agent on a terminal, in one line: no control character of it gets through."""
    return str(text).translate(FORM)


def indented(text: object, blanks: str) -> str:
    """The same in its own lines."""
    return ("\n" + blanks).join(shown(line) for line in str(text).split("\n"))


def questions(items: list[dict[str, Any]], everything: bool, now: float) -> str:
    """`Questions (n):`, then a block for each, as users of the older tool know it."""
    if not items:
        return "No questions yet." if everything else "No pending questions."
    blocks = [question(item, now) for item in items]
    return f"Questions ({len(items)}):\n\n" + "\n\n".join(blocks)


def question(item: dict[str, Any], now: float) -> str:
    stamp = str(item.get("timestamp", ""))
    unverified = " (unverified)" if item.get("verified") is False else ""
    parts = [
        f"[{shown(item.get('status', '?'))}] {shown(item.get('id', '?'))} ({times.age_of(stamp, now)} ago)",
        f"  From: {shown(item.get('agent', '?'))}{unverified}",
        f"  Time: {shown(stamp)}",
        f"  Question: {indented(item.get('question', ''), '            ')}",
    ]
    if "answer" in item:
        parts.append(f"  Answer: {indented(item['answer'], '          ')}")
    return "\n".join(parts)


def messages(items: list[dict[str, Any]], now: float) -> str:
    """`Messages (n):`, then a block for each, as questions are shown."""
    if not items:
        return "No open messages."
    blocks = []
    for item in items:
        stamp = str(item.get("timestamp", ""))
        unverified = " (unverified)" if item.get("verified") is False else ""
        blocks.append(
            f"[{shown(item.get('type', '?'))}] {shown(item.get('id', '?'))} ({times.age_of(stamp, now)} ago)\n"
            f"  From: {shown(item.get('from', '?'))}{unverified}\n"
            f"  {indented(item.get('content', ''), '  ')}"
        )
    return f"Messages ({len(items)}):\n\n" + "\n\n".join(blocks)


def event(item: dict[str, Any]) -> str:
    """One line: seq, local time, kind, who, and what else there is."""
    then = times.epoch(str(item.get("t", "")))
    at = timestamps.log(then)[:19].replace("T", " ") if then is not None else "?"
    known = ("seq", "t", "kind", "who")
    rest = " ".join(f"{shown(key)}={shown(compact(value))}" for key, value in item.items() if key not in known)
    seq, kind, who = (shown(item.get(key, "?")) for key in ("seq", "kind", "who"))
    return f"{seq:>6}  {at}  {kind:<21}  {who}  {rest}".rstrip()


def compact(value: object) -> str:
    if isinstance(value, list):
        return ",".join(str(part) for part in value)
    return "yes" if value is True else str(value)
