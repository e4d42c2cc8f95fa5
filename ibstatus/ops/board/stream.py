"""watch: the board's events, in order, from somewhere on and without an end."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from ibstatus.board.port import Board
from ibstatus.board.steady import Steady
from ibstatus.errors import IbError
from ibstatus.model.board import Event
from ibstatus.rules import board as rule

LOOK_EVERY = 30.0  # whatever a bell may have missed
AT_ONCE = 1000
ANEW = "The board was made anew: from its beginning on"
EARLIER = "The board is as it was earlier, and what came after event {} is gone: from there on"


class Wanted(NamedTuple):
    """`since` None: from now on. No `channels`: all of them; no `project`: of all."""

    since: int | None = None
    channels: Sequence[str] = ()
    project: str | None = None


def follow(steady: Steady, wanted: Wanted, tell: Callable[[Event], None], begun: Callable[[int], None]) -> None:
    """Until somebody ends it, or until nobody reads. `begun` is told from where."""
    last = steady.ask(lambda board: board.last_seq())
    seq = last if wanted.since is None else wanted.since
    if seq > last:
        raise IbError(
            f"--since {seq} is ahead of the board, whose last event is {last}", hint="was it made anew? --since 0"
        )
    begun(seq)
    known, openings, complaint = at(steady, 1), steady.openings, ""
    while True:
        if steady.board is None or steady.openings != openings:
            steady.ask(lambda board: board.last_seq())  # opened before anything is told: it may be another board
            openings = steady.openings
            if known and known != at(steady, known[0].seq):
                steady.say(ANEW)
                seq, known = 0, []
            seq = not_ahead(steady, seq)
        seq, told = told_up_to(steady, seq, wanted, tell)
        known = known or told or at(steady, 1)
        if steady.openings == openings and not steady.wait(LOOK_EVERY):
            complaint = freed(steady, complaint)


def not_ahead(steady: Steady, seq: int) -> int:
    """A backup, or a server that took over without the latest, counts on from less than we have seen."""
    last = steady.ask(lambda board: board.last_seq())
    if seq > last:
        steady.say(EARLIER.format(last))
    return min(seq, last)


def freed(steady: Steady, complaint: str) -> str:
    """Leases that ran out end. Where that is refused (a full disk, a role that only reads) it is said once, and others
    do it: who watches goes on."""
    try:
        steady.ask(lambda board: board.sweep())
    except IbError as error:
        text = f"Leases cannot be looked after from here: {error.message}{f' ({error.cause})' if error.cause else ''}"
        if text != complaint:
            steady.say(text)
        return text
    return ""


def at(steady: Steady, seq: int) -> Sequence[Event]:
    """The first event from there on, by which this board is told from another one in the same place; [] without one."""
    return steady.ask(lambda board: board.events(seq - 1, 1, rule.CHANNELS))


def told_up_to(steady: Steady, seq: int, wanted: Wanted, tell: Callable[[Event], None]) -> tuple[int, Sequence[Event]]:
    """All there is behind `seq`; returns up to where, and the first one. What the filter leaves out is not looked at
    again. A board that was opened meanwhile may be another one: of that nothing is told here."""
    openings, told = steady.openings, list[Event]()
    last = steady.ask(lambda board: board.last_seq())
    while True:
        found = steady.ask(partial(some, seq=seq, wanted=wanted))
        if steady.openings != openings or not found:
            return (max(seq, last) if steady.openings == openings else seq), told
        for event in found:
            tell(event)
        seq, told = found[-1].seq, told or [found[0]]


def some(board: Board, seq: int, wanted: Wanted) -> Sequence[Event]:
    return board.events(seq, AT_ONCE, wanted.channels, wanted.project)
