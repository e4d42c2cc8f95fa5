"""The queue is merged as it fills: at each ring of the board, and now and then without one."""

import threading
import time
from collections.abc import Callable

from ibstatus.board.port import Board, Gone
from ibstatus.board.reconnect import Steady
from ibstatus.board.rules import validation as rule
from ibstatus.errors import IbError
from ibstatus.merge.queue.drain import drain
from ibstatus.model.board import Entry
from ibstatus.project import paths
from ibstatus.system import disk

Say = Callable[[str], None]
Report = Callable[[list[Entry]], None]
POLL = 30.0  # also how long an entry that waits for something rests
SLICE = 1.0  # how soon `stop` is seen


def watch(place: paths.Place, open_board: Callable[[], Board], stop: threading.Event, say: Say, report: Report) -> None:
    """Until `stop` is set, or the repository is gone. `report`: what became of each."""
    one = Watch(place, say, report)
    with Steady(open_board, say) as steady:
        while is_on(place, stop):
            try:
                board = steady.opened()
                steady.found()
                one.round(board)
            except Gone as gone:
                steady.lost(gone)
                continue
            until = time.monotonic() + POLL
            while is_on(place, stop) and (left := until - time.monotonic()) > 0 and not steady.wait(min(left, SLICE)):
                pass


def is_on(place: paths.Place, stop: threading.Event) -> bool:
    return not stop.is_set() and disk.exists(place.common)


class Watch:
    """`resting`: entries that wait for something, and until when they are left alone; `told`: the last complaint."""

    def __init__(self, place: paths.Place, say: Say, report: Report) -> None:
        self.place = place
        self.say = say
        self.report = report
        self.resting: dict[int, float] = {}
        self.told = ""

    def round(self, board: Board) -> None:
        """What cannot be done at all now (git is stuck, the disk is full) is said once, and tried again."""
        now = time.monotonic()
        self.resting = {id: until for id, until in self.resting.items() if until > now}
        try:
            done = drain(self.place, board, self.say, self.resting, patient=False)
            self.resting |= {entry.id: now + POLL for entry in done if entry.status == rule.M_PENDING}
            self.told = ""
            if over := [entry for entry in done if entry.status != rule.M_PENDING]:
                self.report(over)
        except Gone:
            raise
        except (IbError, OSError) as error:
            if str(error) != self.told:
                self.say(f"The merge queue is stuck: {error}")
            self.told = str(error)
