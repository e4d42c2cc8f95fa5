"""Putting a line into the queue so that it is heard: write and ring, sync, note. What every kind of news ends in."""

from ibstatus.mail import queue
from ibstatus.project import ids, logs, paths
from ibstatus.system import append, jsonl, locks, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def notify(
    place: paths.Place, writer: str, kind: str, sender: str, verified: bool, text: str, now: float
) -> "dict[str, Any]":
    """A plain notice. Returns its line once that is safe on the disk."""
    with locks.Lock(place.lock("queue")):
        line = form(ids.take(place, "n", sender, now), kind, sender, verified, text, now)
        done = queue.add(place, jsonl.encode(line))
    finish(place, writer, line, done, now)
    return line


def post(
    place: paths.Place,
    writer: str,
    item: str,
    kind: str,
    sender: str,
    verified: bool,
    text: str,
    now: float,
    quiet: bool = False,
) -> None:
    """The queue line of what has its id already. `quiet`: it rings nobody, and is told with what comes next."""
    line = form(item, kind, sender, verified, text, now)
    if quiet:
        line["quiet"] = True
    with locks.Lock(place.lock("queue")):
        done = queue.add(place, jsonl.encode(line))
    finish(place, writer, line, done, now)


def finish(place: paths.Place, writer: str, line: "dict[str, Any]", done: append.Appended, now: float) -> None:
    """The promise is made after the sync."""
    try:
        done.sync()
    finally:
        done.close()
    who = {"who": line["from"], "id": line["id"]}
    queued = {"kind": "message.queued", **who, "type": line["type"]}
    if done.heard:
        logs.note(place, writer, now, queued, {"kind": "message.rung", **who, "bells": done.heard})
    else:
        logs.note(place, writer, now, queued)


def form(item: str, kind: str, sender: str, verified: bool, text: str, now: float) -> "dict[str, Any]":
    line: dict[str, Any] = {"ts": timestamps.queue(now), "from": sender, "type": kind, "msg": text, "id": item}
    if not verified:
        line["verified"] = False
    return line
