"""What the world shows from outside: the published states, what sessions were told, what the history says."""

import json
import re
from collections import Counter
from itertools import pairwise
from math import inf
from typing import Any

from ibstatus.drivers.claude import transcript
from ibstatus.ops.simulation.records import Episode, Notice
from ibstatus.rules import ages
from ibstatus.store import disk, events, inbox, places

NUDGE = "You ended your turn without saying how you are"
MARK = re.compile(r"\bm\d+x\d+\b")


def states(path: str) -> dict[str, tuple[str, str]]:
    """Of every agent, as published; nothing while there is no snapshot."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except (OSError, ValueError):
        return {}
    return {agent["id"]: (agent["state"], agent.get("reason", "")) for agent in value["agents"]}


class Ears:
    """What one session was told, read on from where we were. `heard` and `again` count the marks."""

    def __init__(self, path: str) -> None:
        self.reader = transcript.Reader(path)
        self.heard: Counter[str] = Counter()
        self.again: Counter[str] = Counter()

    def listen(self) -> None:
        for raw in self.reader.lines():
            if b'"attachment"' not in raw or b'"rendered"' not in raw:
                continue
            for text in texts(json.loads(raw)):
                self.hear(text)

    def hear(self, text: str) -> None:
        lines = text.splitlines()
        for place, line in enumerate(lines):
            before = lines[place - 1] if place else ""
            marked = '"again":true' in line.replace(" ", "") or "(you may have seen it)" in before
            found = MARK.findall(line)
            self.heard.update(set(found))
            self.again.update(set(found) if marked else ())


def texts(line: dict[str, Any]) -> list[str]:
    return [str(part.get("content", "")) for part in line.get("rendered", []) if isinstance(part, dict)]


def history(place: places.Place) -> list[dict[str, Any]]:
    """All that happened, the oldest first."""
    events.fold(place)
    found: list[dict[str, Any]] = []
    for leaf in (*(f".{number}" for number in range(events.KEPT, 0, -1)), ""):
        try:
            found += events.parsed(disk.read_file(place.events + leaf))
        except OSError:
            continue
    return found


def notices(happened: list[dict[str, Any]], began: float) -> list[Notice]:
    """What the supervisor told of agents by itself, into the queue or to a manager."""
    sent = [event for event in happened if event.get("kind") == "notice.sent" and event.get("who") != "system"]
    return [Notice(str(event["who"]), str(event.get("id", "")), at(event) - began) for event in sent]


def episodes(happened: list[dict[str, Any]], began: float) -> list[Episode]:
    """From each word of an agent's hooks to the next."""
    words: dict[str, list[float]] = {}
    for event in happened:
        if event.get("kind") in ("agent.state", "agent.stopped"):
            words.setdefault(str(event["who"]), []).append(at(event) - began)
    return [Episode(who, *pair) for who, times in words.items() for pair in pairwise([*times, inf])]


def nudges(place: places.Place, who: str, began: float) -> list[Notice]:
    try:
        raw = disk.read_file(inbox.path_of(place, who))
    except OSError:
        return []
    found = [json.loads(line) for line in raw.splitlines() if NUDGE.encode() in line]
    return [Notice(who, NUDGE, (ages.epoch(str(line.get("ts", ""))) or began) - began) for line in found]


def at(event: dict[str, Any]) -> float:
    return ages.epoch(str(event.get("t", ""))) or 0.0
