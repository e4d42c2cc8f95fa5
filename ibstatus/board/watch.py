"""watch: the board's events, in order, from somewhere on and without an end."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ibstatus.board.port import Board
from ibstatus.board.reconnect import Steady
from ibstatus.board.rules import validation as rule
from ibstatus.errors import IbError
from ibstatus.model.board import Event

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
    last, mark = steady.ask(lambda board: (board.last_seq(), at(board, 1)))
    seq = last if wanted.since is None else wanted.since
    if seq > last:
        raise IbError(
            f"--since {seq} is ahead of the board, whose last event is {last}", hint="was it made anew? --since 0"
        )
    following = Following(steady, wanted, tell, seq, mark)
    begun(seq)
    complaint = ""
    while True:
        steady.ask(following.catch_up)
        if not steady.wait(LOOK_EVERY):
            complaint = freed(steady, complaint)


class Following:
    """`seq`: up to where it has told; `mark`: an early event of the board that this is a number of, [] while it has
    none: a board that was opened anew may be another one."""

    def __init__(
        self, steady: Steady, wanted: Wanted, tell: Callable[[Event], None], seq: int, mark: Sequence[Event]
    ) -> None:
        self.steady, self.wanted, self.tell = steady, wanted, tell
        self.seq, self.mark = seq, mark
        self.opening = steady.openings

    def catch_up(self, board: Board) -> None:
        """All there is behind `seq`. What the filter leaves out is not looked at again."""
        if self.steady.openings != self.opening:
            self.recognize(board)
        last = board.last_seq()
        while found := board.events(self.seq, AT_ONCE, self.wanted.channels, self.wanted.project):
            for event in found:
                self.tell(event)
            self.seq, self.mark = found[-1].seq, self.mark or found[:1]
        self.seq = max(self.seq, last)
        self.mark = self.mark or at(board, 1)

    def recognize(self, board: Board) -> None:
        """A backup, or a server that took over without the latest, counts on from less than we have seen."""
        last = board.last_seq()
        self.steady.found()  # that it is back is said before anything is told
        if self.mark and self.mark != at(board, self.mark[0].seq):
            self.seq, self.mark = 0, []
            self.steady.say(ANEW)
        elif self.seq > last:
            self.seq = last
            self.steady.say(EARLIER.format(last))
        self.opening = self.steady.openings


def at(board: Board, seq: int) -> Sequence[Event]:
    """The first event from there on, by which this board is told from another one in the same place."""
    return board.events(seq - 1, 1, rule.CHANNELS)


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
