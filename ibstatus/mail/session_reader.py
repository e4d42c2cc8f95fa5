"""The one voice of a session: what its UserPromptSubmit, PostToolBatch and SessionStart hooks tell, and when it counts.

    with voice.hear(place, session, delivery.PROMPT, prompt_id) as offer:
        print(offer.told…); flush
        offer.settle()

A hook that dies before `settle` has told nothing: the lines come again, marked.
"""

import time

from ibstatus.mail import cursors, delivery, queue
from ibstatus.project import names, paths
from ibstatus.system import disk, locks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ibstatus.mail import queue_lines

    Fitting = Callable[[bytes, int, int], int]

MANY, AGAIN = 1 << 16, 200  # from so many bytes on, so many lines: more than any telling ever held
AT_ONCE = 0.3  # seconds; measured between two joined wakes: 0.02


class Nothing:
    """What most events have to tell; it saves them the reading of how lines are told."""

    values = encoded = fresh = again = skipped = ()


class Offer:
    """What there is to tell now. Silent (`told` is empty) as well when another hook of the session is speaking."""

    __slots__ = ("confirmed", "held", "lock", "place", "reader", "step", "told")

    def __init__(self, place: paths.Place, reader: str) -> None:
        self.place = place
        self.reader = reader
        self.told: queue_lines.Told = Nothing()  # type: ignore[assignment]
        self.confirmed: list[str] = []
        self.lock: locks.Lock | None = None
        self.held: cursors.Held | None = None
        self.step: delivery.Step | None = None

    @property
    def who(self) -> str:
        """In the history: the session, or the agent."""
        return self.reader.removeprefix(cursors.INBOX)

    def settle(self) -> None:
        """The lines were printed and flushed."""
        if self.held is None or self.step is None or not self.step.tells:
            return
        self.held.write(self.step.settle)
        self.step = None
        note(self.place, self.who, self.who, self.told)

    def __enter__(self) -> "Offer":
        return self

    def __exit__(self, *exc: object) -> None:
        if self.held is not None:
            self.held.close()
            self.held = None
        if self.lock is not None:
            self.lock.release()
            self.lock = None


def has_voice(place: paths.Place, session: str) -> bool:
    """Do this session's hooks speak? Then `ib listen` only rings."""
    return cursors.read(place, names.cursor_file(session)) is not None


def is_speaking(place: paths.Place, session: str) -> bool:
    """One of the session's hooks is at it right now; what it has claimed, it is about to print."""
    return locks.is_held(place.lock("cursor-" + names.cursor_file(session)))


def hear(
    place: paths.Place,
    session: str,
    event: str,
    prompt: str,
    fitting: "Fitting | None" = None,
    joins: bool = False,
) -> Offer:
    """One hook event of a session (never of a subagent): confirm what it confirms, offer what is due.

    `fitting(lines, where they begin, least)`: up to where they can be told at once; the rest stays for the next event.
    `joins`: a wake. The client makes one turn of several that come at once, and asks for each of them.
    """
    return heard(Offer(place, names.cursor_file(session)), session, event, prompt, fitting, joins)


def hear_inbox(place: paths.Place, agent: str, event: str, prompt: str, fitting: "Fitting | None" = None) -> Offer:
    """The same for an agent and what lies in its inbox; silent where there is none."""
    offer = Offer(place, cursors.INBOX + agent)
    if "/" in agent or "\0" in agent or not disk.exists(inbox_of(place, agent)):
        return offer
    return heard(offer, "", event, prompt, fitting, False)


def inbox_of(place: paths.Place, agent: str) -> str:
    return place.agent_dir(agent) + "/inbox.jsonl"


def heard(offer: Offer, session: str, event: str, prompt: str, fitting: "Fitting | None", joins: bool) -> Offer:
    lock = locks.Lock(offer.place.lock("cursor-" + offer.reader))
    if not lock.try_take():
        return offer
    offer.lock = lock
    try:
        begin(offer, session, event, prompt, fitting, joins and is_fresh(offer.place, offer.reader))
    except BaseException:
        offer.__exit__()
        raise
    return offer


def is_fresh(place: paths.Place, reader: str) -> bool:
    """Did the session's voice tell something a moment ago? No person can interrupt a turn that fast."""
    try:
        return 0 <= time.time() - disk.stat(place.cursor(reader)).st_mtime < AT_ONCE
    except OSError:
        return False


def begin(offer: Offer, session: str, event: str, prompt: str, fitting: "Fitting | None", joined: bool = False) -> None:
    place = offer.place
    inbox = offer.reader.startswith(cursors.INBOX)
    seen = queue.view_of(inbox_of(place, offer.who)) if inbox else queue.view(place)
    try:
        known = cursors.read(place, offer.reader)
        start = known or delivery.first(0 if inbox else cursors.last_confirmed(place))
        cursor = recent(seen, seen.fitted(start))
        step = delivery.step(cursor, event, cursors.word(prompt), seen.end, joined)
        if step.tells and fitting is not None:
            at, data = seen.read(step.again_from, step.end)
            end = fitting(data, at, step.fresh_from)
            if end < step.end:
                step = delivery.step(cursor, event, cursors.word(prompt), end, joined)
        offer.step = step
        if step.tells or step.confirmed >= 0:
            from ibstatus.mail import queue_lines
        if step.confirmed >= 0:
            at, data = seen.read(cursor.done, step.confirmed)
            offer.confirmed = queue_lines.told(data, at, 0).fresh
        if known is None or step.tells or step.settle != known:
            offer.held = cursors.Held(place, offer.reader, start)
        if offer.held is not None:
            offer.held.write(step.claim if step.tells else step.settle)
        if step.tells:
            at, data = seen.read(step.again_from, step.end)
            own = None if inbox else cursors.read(place, names.listener_file(session))  # what it printed is a repeat
            offer.told = queue_lines.told(data, at, max(step.fresh_from, own.done if own is not None else 0))
    finally:
        seen.close()
    if offer.confirmed:
        from ibstatus.project import logs  # most events have nothing to note

        event_note = {"kind": "message.confirmed", "who": offer.who, "ids": offer.confirmed}
        logs.note(place, offer.who, time.time(), event_note)


def recent(seen: queue.View, cursor: delivery.Cursor) -> delivery.Cursor:
    """A lost cursor would offer the whole queue again: of far too much only the newest lines are told once more."""
    if cursor.offered - cursor.done < MANY:
        return cursor
    at, data = seen.read(cursor.done, min(cursor.offered, seen.end))
    cut = len(data)
    for _ in range(AGAIN + 1):
        cut = data.rfind(b"\n", 0, cut)
        if cut < 0:
            return cursor
    return delivery.Cursor(at + cut + 1, cursor.offered, cursor.prompt)


def note(place: paths.Place, writer: str, reader: str, told: "queue_lines.Told") -> None:
    """History: who was told what, and which of it once more."""
    events: list[dict[str, object]] = []
    if told.again:
        events.append({"kind": "message.offered", "who": reader, "ids": told.again, "again": True})
    if told.fresh:
        events.append({"kind": "message.offered", "who": reader, "ids": told.fresh})
    if events:
        from ibstatus.project import logs

        logs.note(place, writer, time.time(), *events)
