"""What the world shows from outside: the published states, what sessions were told, what the history says.

What is really so with each agent, by what was ordered of it.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from ibstatus.claude import transcript
from ibstatus.claude.hook_events import DIALOGS
from ibstatus.mail import inbox, queue, queue_lines
from ibstatus.project import events, paths
from ibstatus.system import disk
from ibstatus.system.text import times
from ibstatus.testkit.simulation.plan import REMOVALS, Act
from ibstatus.testkit.simulation.records import Episode, Notice

SUBTASK = "[hook]: Your subtask "
WITHIN = 0.999  # of the second that a line names
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


def looked_at(path: str) -> float:
    """When the supervisor began the last look that it has finished."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


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


def history(place: paths.Place) -> list[dict[str, Any]]:
    """All that happened, the oldest first."""
    events.fold(place)
    found: list[dict[str, Any]] = []
    for leaf in (*(f".{number}" for number in range(events.KEPT, 0, -1)), ""):
        try:
            found += events.parsed(disk.read_file(place.events + leaf))
        except OSError:
            continue
    return found


class Told:
    """Automatic notices as they stand in the queue and in the managers' inboxes, whatever the history says of them."""

    def __init__(self, place: paths.Place) -> None:
        self.place = place
        self.end = 0
        self.found: dict[str, Notice] = {}

    def read_queue(self) -> None:
        """On from where we were: what all have read is taken away one day."""
        seen = queue.view(self.place)
        try:
            at, data = seen.read(max(seen.base, self.end), seen.end)
            self.end = seen.end
        finally:
            seen.close()
        for line in queue_lines.told(data, at, 0).values:
            if str(line["id"]).startswith("n-") and line["from"] != "system":
                self.add(line, "")

    def read_inboxes(self, agents: Iterable[str]) -> None:
        for agent in agents:
            for line in inbox_of(self.place, agent):
                if SUBTASK in str(line.get("msg", "")):
                    self.add(line, agent)

    def add(self, line: Mapping[str, Any], to: str) -> None:
        item, at = str(line["id"]), (times.epoch(str(line.get("ts", ""))) or 0.0) + WITHIN
        self.found[item] = Notice(str(line["from"]), item, at, to)

    def notices(self, happened: list[dict[str, Any]], began: float) -> list[Notice]:
        """The history knows the time better, and who was over before a letter was read."""
        sent = {str(event.get("id", "")): at(event) for event in happened if event.get("kind") == "notice.sent"}
        ends = [(str(event["who"]), at(event)) for event in happened if event.get("kind") == "agent.stopped"]
        read: dict[str, float] = {}
        for event in happened:
            for item in event.get("ids", ()) if event.get("kind") == "message.offered" else ():
                read.setdefault(item, at(event))
        found = [one._replace(at=sent.get(item, one.at)) for item, one in self.found.items()]
        return [
            one._replace(
                at=one.at - began,
                vain=any(who == one.to and one.at <= end < read.get(one.text, inf) for who, end in ends),
            )
            for one in found
        ]


def episodes(happened: list[dict[str, Any]], began: float) -> list[Episode]:
    """From each word of an agent's hooks to the next."""
    words: dict[str, list[tuple[float, bool]]] = {}
    for event in happened:
        if event.get("kind") in ("agent.state", "agent.stopped"):
            words.setdefault(str(event["who"]), []).append((at(event) - began, event.get("reason") in DIALOGS))
    return [
        Episode(who, since, until, asks)
        for who, each in words.items()
        for (since, asks), (until, _) in pairwise([*each, (inf, False)])
    ]


def nudges(place: paths.Place, who: str, happened: list[dict[str, Any]], began: float) -> dict[str, Notice]:
    """By the id of each; the history knows the time better."""
    queued = {str(event.get("id", "")): at(event) for event in happened if event.get("kind") == "message.queued"}
    found = {}
    for line in inbox_of(place, who):
        item, ts = str(line["id"]), times.epoch(str(line.get("ts", ""))) or began
        if NUDGE in str(line.get("msg", "")):
            found[item] = Notice(who, NUDGE, queued.get(item, ts) - began)
    return found


def quiet(happened: list[dict[str, Any]], who: str, nudged: Container[str], began: float) -> list[Episode]:
    """Between what it was told, but for its nudges, and the ends and beginnings of its client."""
    times = [0.0]
    for event in happened:
        if event.get("who") != who:
            continue
        told = event.get("kind") == "message.offered" and not all(item in nudged for item in event.get("ids", ()))
        if told or event.get("kind") == "agent.stopped" or event.get("state") == "creating":
            times.append(at(event) - began)
    return [Episode(who, *pair) for pair in pairwise([*times, inf])]


def inbox_of(place: paths.Place, who: str) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in disk.read_file(inbox.path_of(place, who)).splitlines()]
    except OSError:
        return []


def at(event: dict[str, Any]) -> float:
    return times.epoch(str(event.get("t", ""))) or 0.0


RUNNING, WAITING, COMPLETE, LIMITED, STOPPED = "running", "waiting", "complete", "rate_limited", "stopped"
COMPACTING = "compacting"
ASKING = {"question": "question", "plan": "plan"}  # permissions are given or denied by ib, whoever the agent is


TROUBLE = "529 Overloaded"


class Truth(NamedTuple):
    """`reason` '' is not compared. `hears`: can it be told something now?"""

    state: str
    reason: str = ""
    hears: bool = True

    def fits(self, state: str, reason: str) -> bool:
        return self.state == state and self.reason in ("", reason)

    def __str__(self) -> str:
        return f"{self.state} ({self.reason})" if self.reason else self.state or "removed"


IDLE = Truth(WAITING, "input")
DONE = Truth(COMPLETE)
UNCOMMITTED = Truth(WAITING, "uncommitted", hears=False)
GONE = Truth("", hears=False)


def orders(act: Act, mark: str, manager: str, reset: str) -> list[str]:
    """The steps that an act begins with."""
    tell = f'run ib send {manager or "user-claude"} "DONE: {mark} by {act.who}"'
    asked = f'run ib send {manager} "? {mark} by {act.who}"' if manager else f'run ib ask "{mark} by {act.who}?"'
    return {
        "turn": [f"say Turn {act.number}", "wait"],
        "work": [f"write f{act.number}.txt Work {act.number}", f"commit Work {act.number}", "finish"],
        "tell": [tell, "finish"],
        "ask": [asked, "wait"],
        "silent": ["end I looked at it."],
        "compact": ["compact", "wait"],
        "long": [f"say A long turn, {act.number}", "hold"],
        "escape": [f"say A turn to interrupt, {act.number}", "hold"],
        "permission": [f"dialog permission touch p{act.number}", "wait"],
        "question": [f"ask Which one, {act.number}? | A | B", "wait"],
        "plan": [f"plan Do it, {act.number}", "wait"],
        "limit": [f"limit usage {reset}"],
        "retry": [f"say A turn in trouble, {act.number}", f"hold {TROUBLE}"],
    }.get(act.fate, [])


def after(act: Act, before: Truth, idle: Truth, *, yolo: bool = True) -> Truth:
    """The truth once this act has begun, or ended. `idle`: how its last turn ended. `yolo`: its dialogs stay open."""
    if act.ends:
        return idle if act.fate in ("crash", "lost", *REMOVALS) else IDLE
    if act.fate in ("long", "escape"):
        return Truth(RUNNING, hears=False)
    if act.fate == "retry":
        return Truth(RUNNING, f"retrying: {TROUBLE}", hears=False)
    if act.fate in ASKING and yolo:
        return Truth(WAITING, ASKING[act.fate], hears=False)
    if act.fate in REMOVALS:
        return GONE
    if act.fate in ("crash", "lost"):
        return Truth(STOPPED, hears=False)
    if act.fate == "limit":
        return Truth(LIMITED, hears=False)
    if act.fate == "mail":
        return before
    return DONE if act.fate in ("work", "tell") else IDLE
