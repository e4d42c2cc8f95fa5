"""The beginning of a session: a new one, or one whose transcript is there."""

import calendar
import time
from typing import Any

from ibstatus.testkit.fake_claude import script, transcript
from ibstatus.testkit.fake_claude.arguments import Refused
from ibstatus.testkit.fake_claude.state import State

Json = dict[str, Any]
SPOKEN = ("user", "assistant", "attachment", "system")  # what it writes of itself alone is no conversation
SEEN = 20  # so many of its last texts are drawn


def fresh(state: State) -> int:
    if transcript.find(state.cwd, state.id):
        raise Refused(f"Error: Session ID {state.id} is already in use.")
    return 0


def take_up(state: State) -> int:
    """Draw what it said last, and go on in its script; a step that was begun is not played again."""
    path = transcript.find(state.cwd, state.id)
    if path is None or not any(line.get("type") in SPOKEN for line in transcript.lines(path)):
        raise Refused(f"No conversation found with session ID: {state.id}")
    last = 0.0
    for line in transcript.lines(path):
        if line.get("type") == "fake-claude":
            state.script.left = script.steps([str(step) for step in line.get("left", [])])
            state.script.is_given, state.script.is_first = True, False
        elif line.get("type") in ("user", "assistant"):
            state.transcript.parent = str(line.get("uuid", "")) or None
            last = seconds(str(line.get("timestamp", ""))) or last
            state.shown += texts(line)
    del state.shown[:-SEEN]
    state.last_words = next((text[2:] for text in reversed(state.shown) if text.startswith("● ")), "")
    return int(time.time() - last) if last else 0


def seconds(stamp: str) -> float:
    try:
        return float(calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S")))
    except ValueError:
        return 0.0


def texts(line: Json) -> list[str]:
    content = (line.get("message") or {}).get("content")
    if line.get("type") == "user":
        return [f"❯ {content}"] if isinstance(content, str) else []
    blocks = content if isinstance(content, list) else []
    return [
        f"● {block.get('text', '')}" if block.get("type") == "text" else f"● {block.get('name', '')}"
        for block in blocks
        if block.get("type") in ("text", "tool_use")
    ]
