"""The mail of a full nuke: messages, questions and queue lines go into the archive and the undo log, and come back.

Taken away is what was written down first, by its id: what arrives meanwhile stays.
"""

import json
import time
from typing import Any

from ibstatus.agents import archive as shelf
from ibstatus.agents.undo import log
from ibstatus.mail import cleanup, cursors, json_list, messages, questions, queue
from ibstatus.project import operations, paths
from ibstatus.system import atomic, disk, folders, locks

FILE = "mail.json"


def is_any(place: paths.Place) -> bool:
    found = look(place)
    return bool(found["messages"] or found["questions"] or found["lines"])


def look(place: paths.Place) -> dict[str, Any]:
    """`lines`: what no session has taken in yet; `end`: where the queue ended, as an absolute offset."""
    seen = queue.view(place)
    try:
        start = max(seen.base, min(cursors.last_confirmed(place), seen.end))
        unheard = seen.read(start, seen.end)[1]
        end = seen.end
    finally:
        seen.close()
    return {
        "messages": messages.open_ones(place).items,
        "questions": questions.all_of(place).items,
        "lines": unheard.decode("utf-8", "surrogateescape").splitlines(),
        "end": end,
    }


def take(op: operations.Operation) -> str:
    """Inside an operation "kill" on `undo_log.MAIL`. Returns the archive's folder."""
    place, now = op.place, time.time()
    name = log.reserve(place, log.MAIL, now)
    op.note(
        mail=True,
        undo=name,
        archive=shelf.name_for(place, log.MAIL, now),
        group=op.facts.get("group") or name,
        at=now,
    )
    return finish(op)


def finish(op: operations.Operation) -> str:
    """Once more is fine: what was written down first is what goes."""
    place = op.place
    if "undo" not in op.facts:
        return ""
    path = f"{log.folder(place, str(op.facts['undo']))}/{FILE}"
    if not disk.exists(path):
        atomic.put(path, json.dumps(look(place)).encode() + b"\n")
    found = json.loads(disk.read_file(path))
    archived = keep(op, found)
    empty(place, found)
    log.write(place, record_of(op, archived))
    return archived


def keep(op: operations.Operation, found: dict[str, Any]) -> str:
    texts = {f"user-{kind}.json": json.dumps(found[kind], indent=2).encode() for kind in ("messages", "questions")}
    texts["queue"] = "".join(f"{line}\n" for line in found["lines"]).encode("utf-8", "surrogateescape")
    return shelf.write_archive(op.place, log.MAIL, str(op.facts["archive"]), texts, {})


def empty(place: paths.Place, found: dict[str, Any]) -> None:
    now = time.time()
    with locks.Lock(place.lock("messages")):
        gone = {item.get("id") for item in found["messages"]}
        loaded = json_list.load_to_change(place, place.messages)
        if any(item.get("id") in gone for item in loaded.items):
            messages.save(place, "cli", [item for item in loaded.items if item.get("id") not in gone], now)
    with locks.Lock(place.lock("questions")):
        gone = {item.get("id") for item in found["questions"]}
        loaded = json_list.load_to_change(place, place.questions, questions.KEY)
        if any(item.get("id") in gone for item in loaded.items):
            questions.save(place, "cli", [item for item in loaded.items if item.get("id") not in gone], now)
    drain(place, int(found["end"]))


def drain(place: paths.Place, end: int) -> None:
    """Everything before this offset leaves the queue; readers' cursors stay true, for offsets never go back."""
    seen = queue.view(place)
    try:
        if seen.fd < 0 or end <= seen.base:
            return
        with locks.Lock(place.lock("queue")):
            if disk.has_name(disk.fstat(seen.fd), place.queue):
                cleanup.rewrite(place, seen.fd, seen.base, min(end, seen.end) - seen.base)
    finally:
        seen.close()


def record_of(op: operations.Operation, archived: str) -> log.Record:
    folder = log.folder(op.place, str(op.facts["undo"]))
    return log.Record(
        name=str(op.facts["undo"]),
        kind=str(op.facts.get("as") or op.kind),
        agent=log.MAIL,
        group=str(op.facts["group"]),
        by=str(op.facts.get("by") or ""),
        at=float(op.facts["at"]),
        finished=True,
        archive=archived,
        size=folders.size_of(folder),
    )


def bring_back(place: paths.Place, record: log.Record) -> None:
    """What is not there again by its id, before what has come since."""
    found = json.loads(disk.read_file(f"{log.folder(place, record.name)}/{FILE}"))
    now = time.time()
    with locks.Lock(place.lock("messages")):
        loaded = json_list.load_to_change(place, place.messages)
        messages.save(place, "cli", joined(found["messages"], loaded.items), now)
    with locks.Lock(place.lock("questions")):
        loaded = json_list.load_to_change(place, place.questions, questions.KEY)
        questions.save(place, "cli", joined(found["questions"], loaded.items), now)
    requeue(place, found["lines"])


def joined(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[dict[str, Any]]:
    there = {item.get("id") for item in after}
    return [*(item for item in before if item.get("id") not in there), *after]


def requeue(place: paths.Place, lines: list[str]) -> None:
    for line in lines:
        if not is_queued(place, line):
            with locks.Lock(place.lock("queue")):
                queue.add(place, line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")).close()


def is_queued(place: paths.Place, line: str) -> bool:
    try:
        key = json.loads(line).get("id")
    except (ValueError, AttributeError):
        return False
    return isinstance(key, str) and queue.holds(place, key)
