"""A board for those who wait for long: opened anew when it is gone, with growing pauses, and said once."""

import select
from collections.abc import Callable
from typing import TypeVar

from ibstatus.board.port import Board, Broken, Doorbell, Gone

T = TypeVar("T")
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0
BLIND = 1.0  # where no bell could be hung
BACK = "The board is back"


class Steady:
    """The doorbell is there before the first question: what changes in between rings. `reader`: our stdout; as soon as
    nobody reads it any more, whatever waits here raises BrokenPipeError."""

    def __init__(self, open_board: Callable[[], Board], say: Callable[[str], None], reader: int = -1) -> None:
        self.open_board = open_board
        self.say = say
        self.reader = reader
        self.board: Board | None = None
        self.bell: Doorbell | None = None
        self.pause = 0.0
        self.openings = 0

    def __enter__(self) -> "Steady":
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    def ask(self, question: Callable[[Board], T]) -> T:
        """Asked again, as a whole and of one board, until there is an answer; so only what may be asked twice."""
        while True:
            try:
                answer = question(self.opened())
            except Gone as error:
                self.lost(error, asked=True)
            else:
                self.found()
                return answer

    def opened(self) -> Board:
        if self.board is None:
            self.board = self.open_board()
            self.openings += 1
        if self.bell is None:
            self.bell = self.board.doorbell()
        return self.board

    def wait(self, seconds: float) -> bool:
        """True when it may have changed."""
        try:
            return self.rung(seconds)
        except Gone as error:
            self.lost(error, asked=True)
            return True

    def rung(self, seconds: float) -> bool:
        self.opened()
        assert self.bell is not None
        if self.bell.wait(0):
            return True
        bell = self.bell.fileno()
        self.rest(seconds if bell >= 0 else min(seconds, BLIND), bell)
        return self.bell.wait(0)

    def rest(self, seconds: float, bell: int = -1) -> None:
        """Until the bell rings or the time is over, if there is still somebody to be told."""
        poll, longest = select.poll(), max(0, int(seconds * 1000))
        for fd, events in ((bell, select.POLLIN), (self.reader, 0)):
            if fd >= 0:
                poll.register(fd, events)
        if self.reader in dict(poll.poll(longest)):
            raise BrokenPipeError

    def lost(self, error: Gone, asked: bool = False) -> None:
        """Whoever has only asked asks again, and sees: whether the last change was made is no question of theirs."""
        cause = "" if asked and isinstance(error, Broken) else error.cause
        if not self.pause:
            self.say(f"{error.message}; trying again until it is back{f' ({cause})' if cause else ''}")
        self.close()
        self.pause = min(max(FIRST_PAUSE, self.pause * 2), LONGEST_PAUSE)
        self.rest(self.pause)

    def found(self) -> None:
        if self.pause:
            self.pause = 0.0
            self.say(BACK)

    def close(self) -> None:
        for one in (self.bell, self.board):
            if one is not None:
                try:
                    one.close()
                except Gone:
                    pass
        self.board, self.bell = None, None
