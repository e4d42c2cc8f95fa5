"""The one voice of a session: what its UserPromptSubmit, PostToolBatch and SessionStart hooks tell, and when it counts.

    with voice.hear(place, session, delivery.PROMPT, prompt_id) as offer:
        print(offer.told…); flush
        offer.settle()

A hook that dies before `settle` has told nothing: the lines come again, marked.
"""

import time

from ibstatus.rules import delivery, names, telling
from ibstatus.store import cursors, locks, places, queue, spool


class Offer:
    """What there is to tell now. Silent (`told` is empty) as well when another hook of the session is speaking."""

    __slots__ = ("confirmed", "held", "lock", "place", "reader", "step", "told")

    def __init__(self, place: places.Place, reader: str) -> None:
        self.place = place
        self.reader = reader
        self.told = telling.Told()
        self.confirmed: list[str] = []
        self.lock: locks.Lock | None = None
        self.held: cursors.Held | None = None
        self.step: delivery.Step | None = None

    def settle(self) -> None:
        """The lines were printed and flushed."""
        if self.held is None or self.step is None or not self.step.tells:
            return
        self.held.write(self.step.settle)
        self.step = None
        note(self.place, self.reader, self.reader, self.told)

    def __enter__(self) -> "Offer":
        return self

    def __exit__(self, *exc: object) -> None:
        if self.held is not None:
            self.held.close()
            self.held = None
        if self.lock is not None:
            self.lock.release()
            self.lock = None


def has_voice(place: places.Place, session: str) -> bool:
    """Do this session's hooks speak? Then `ib listen` only rings."""
    return cursors.read(place, names.cursor_file(session)) is not None


def is_speaking(place: places.Place, session: str) -> bool:
    """One of the session's hooks is at it right now; what it has claimed, it is about to print."""
    return locks.is_held(place.lock("cursor-" + names.cursor_file(session)))


def hear(place: places.Place, session: str, event: str, prompt: str) -> Offer:
    """One hook event of a session (never of a subagent): confirm what it confirms, offer what is due."""
    reader = names.cursor_file(session)
    offer = Offer(place, reader)
    lock = locks.Lock(place.lock("cursor-" + reader))
    if not lock.try_take():
        return offer
    offer.lock = lock
    try:
        begin(offer, session, event, prompt)
    except BaseException:
        offer.__exit__()
        raise
    return offer


def begin(offer: Offer, session: str, event: str, prompt: str) -> None:
    place = offer.place
    seen = queue.view(place)
    try:
        known = cursors.read(place, offer.reader)
        start = delivery.first(cursors.last_confirmed(place)) if known is None else known
        cursor = seen.fitted(start)
        step = delivery.step(cursor, event, cursors.word(prompt), seen.end)
        offer.step = step
        if step.confirmed >= 0:
            at, data = seen.read(cursor.done, step.confirmed)
            offer.confirmed = telling.told(data, at, 0).fresh
        if known is None or step.tells or step.settle != known:
            offer.held = cursors.Held(place, offer.reader, start)
        if offer.held is not None:
            offer.held.write(step.claim if step.tells else step.settle)
        if step.tells:
            at, data = seen.read(step.again_from, step.end)
            own = cursors.read(place, names.listener_file(session))  # what it printed itself is a repeat
            offer.told = telling.told(data, at, max(step.fresh_from, own.done if own is not None else 0))
    finally:
        seen.close()
    if offer.confirmed:
        event_note = {"kind": "message.confirmed", "who": offer.reader, "ids": offer.confirmed}
        spool.note(place, offer.reader, time.time(), event_note)


def note(place: places.Place, writer: str, reader: str, told: telling.Told) -> None:
    """History: who was told what, and which of it once more."""
    events: list[dict[str, object]] = []
    if told.again:
        events.append({"kind": "message.offered", "who": reader, "ids": told.again, "again": True})
    if told.fresh:
        events.append({"kind": "message.offered", "who": reader, "ids": told.fresh})
    if events:
        spool.note(place, writer, time.time(), *events)
