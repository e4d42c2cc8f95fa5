"""trace and events: what happened, read from the folded history.

The life of one message, read from the events: queued, rung, offered, confirmed, acknowledged.
"""

import threading
from collections.abc import Iterator
from typing import Any

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from ibstatus.errors import IbError
from ibstatus.mail import messages, questions, queue, queue_lines
from ibstatus.project import events, home, paths
from ibstatus.system.text import times

LOOK_EVERY = 1.0


def read(place: paths.Place, since: int) -> list[dict[str, Any]]:
    if not home.look(place):
        return []
    events.fold(place)
    return events.read(place, since)


def follow(place: paths.Place, since: int) -> Iterator[dict[str, Any]]:
    """Every event after `since`, then each new one as it is noted. Ends never."""
    home.enter(place)
    changed = threading.Event()
    changed.set()
    watcher = watching(place, Noticed(changed))
    try:
        known: object = None
        while True:
            changed.clear()
            now = events.state(place)
            if now != known:
                for entry in read(place, since):
                    since = entry["seq"]
                    yield entry
                known = now  # as it was before the reading: what came meanwhile is seen at the next look
            changed.wait(LOOK_EVERY)
    finally:
        if watcher is not None:
            watcher.stop()
            watcher.join()


def watching(place: paths.Place, handler: FileSystemEventHandler) -> BaseObserver | None:
    """None when the system has no watch left to give (inotify's are few): the look once a second is enough."""
    watcher = Observer()
    try:
        watcher.schedule(handler, place.spool)
        watcher.start()
    except OSError:
        return None
    return watcher


class Noticed(FileSystemEventHandler):
    """A change of a spool says `look`; our own fold (moves, deletions, reads) does not."""

    def __init__(self, changed: threading.Event) -> None:
        self.changed = changed

    def on_modified(self, event: FileSystemEvent) -> None:
        if str(event.src_path).endswith(".jsonl"):
            self.changed.set()


def trace(place: paths.Place, item: str) -> dict[str, Any]:
    """The life of one message: its steps and what it says. Fails when nobody knows the id."""
    steps = life(read(place, 0), item)
    found = text_of(place, item)
    if not steps and found is None:
        raise IbError(
            f"Nothing is known of {item}", hint="ib events shows what happened; ids begin with msg-, q-, n- or in-"
        )
    if found is not None and not any(step["step"] in ("queued", "asked") for step in steps):
        steps.insert(0, {"t": found["t"], "step": "queued", "who": found["from"]})  # its history is gone
    return {
        "id": item,
        "text": (found or {}).get("text", ""),
        "open": (found or {}).get("open", False),
        "steps": ordered(steps),
    }


def ordered(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(steps, key=lambda step: times.epoch(str(step["t"])) or 0.0)


def text_of(place: paths.Place, item: str) -> dict[str, Any] | None:
    """What the message says, from whichever file still has it."""
    for message in messages.open_ones(place).items:
        if message.get("id") == item:
            return {
                "text": message.get("content", ""),
                "t": message.get("timestamp", ""),
                "from": message.get("from", ""),
                "open": True,
            }
    for asked in questions.all_of(place).items:
        if asked.get("id") == item:
            still = asked.get("status") == questions.PENDING
            return {
                "text": asked.get("question", ""),
                "t": asked.get("timestamp", ""),
                "from": asked.get("agent", ""),
                "open": still,
            }
    return in_queue(place, item)


def in_queue(place: paths.Place, item: str) -> dict[str, Any] | None:
    seen = queue.view(place)
    try:
        at, data = seen.read(seen.base, seen.end)
    finally:
        seen.close()
    for line in queue_lines.told(data, at, 0).values:
        if line["id"] == item:
            return {"text": line["msg"], "t": line["ts"], "from": line["from"]}
    return None


WORDS = {
    "message.queued": "queued",
    "message.rung": "rung",
    "message.offered": "offered",
    "message.confirmed": "confirmed",
    "message.acknowledged": "acknowledged",
    "question.asked": "asked",
    "question.answered": "answered",
    "question.acknowledged": "acknowledged",
}


def concerns(event: dict[str, Any], item: str) -> bool:
    ids = event.get("ids")
    return event.get("id") == item or (isinstance(ids, list) and item in ids)


def life(events: list[dict[str, Any]], item: str) -> list[dict[str, Any]]:
    """Its steps in order, each `{t, step, who, …}`."""
    steps = []
    for event in events:
        word = WORDS.get(str(event.get("kind")))
        if word and concerns(event, item):
            steps.append({"t": event.get("t", ""), "step": word, "who": event.get("who", ""), **details(event)})
    return steps


def details(event: dict[str, Any]) -> dict[str, Any]:
    return {key: event[key] for key in ("type", "bells", "by", "again", "to") if key in event}


def told(step: dict[str, Any]) -> str:
    """A step in words."""
    who, word = step["who"], step["step"]
    if word == "queued":
        to = f" to {step['to']}" if "to" in step else ""
        return f"by {who}{to}" + (f", type {step['type']}" if "type" in step else "")
    if word == "rung" and "by" in step:
        return f"{who}, by its {step['by']}"
    if word == "rung":
        return f"{step.get('bells', 0)} waiting"
    if word == "offered":
        return f"to {who}" + (", again" if step.get("again") else "")
    return f"by {who}"
