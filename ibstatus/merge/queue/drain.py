"""All that is pending for this repository is merged: oldest first, one merger a base, and no entry is left behind.

The queue is merged as it fills: at each ring of the board, and now and then without one.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from ibstatus.agents import recover
from ibstatus.board.port import Board, Gone
from ibstatus.board.reconnect import Steady
from ibstatus.board.rules import validation as rule
from ibstatus.errors import IbError
from ibstatus.merge import move_branch, temp_checkout
from ibstatus.merge.queue import entry as merging
from ibstatus.merge.queue import notices, preview
from ibstatus.merge.rules import queue
from ibstatus.model.board import Entry
from ibstatus.project import agent_meta, home, paths
from ibstatus.system import disk, locks
from ibstatus.system.git import refs

Say = Callable[[str], None]
DIED = "its merger died before anything was merged"


def drain(
    place: paths.Place, board: Board, say: Say, passing: Collection[int] = (), patient: bool = True
) -> list[Entry]:
    """What became of each; those in `passing` are not tried now. A base at which another merger is at work is waited
    for; without patience it is left to that one, which looks again when it has let go."""
    home.enter(place)
    recover.everything(place, say)  # a merger that died at its very last step has left an agent to be closed
    board.sweep()
    notices.tell(place, board, say)  # also of what a merger that was killed could not tell
    run = Drain(place, board, say, passing)
    held = [base for base in run.bases() if not run.base(base, wait=False)]
    for base in held if patient else ():
        run.base(base, wait=True)
    return [entry for _, entry in sorted(run.done.items()) if entry is not None]


class Drain:
    """One going over the queue. `done`: what was tried, None where somebody else has taken it."""

    def __init__(self, place: paths.Place, board: Board, say: Say, passing: Collection[int]) -> None:
        self.place = place
        self.board = board
        self.say = say
        self.passing = frozenset(passing)
        self.done: dict[int, Entry | None] = {}

    def bases(self) -> list[str]:
        """Where something is to be merged, or a merger may have died: by the oldest entry."""
        found = [*self.of(rule.M_PENDING), *self.of(rule.M_MERGING)]
        found.sort(key=lambda entry: (is_dangerous(entry), entry.id))
        return list(dict.fromkeys(preview.base_of(self.place, entry) for entry in found))

    def of(self, status: str, base: str = "") -> list[Entry]:
        found = self.board.entries(agent_meta.repo_id(self.place), open_only=True)
        return [
            entry
            for entry in sorted(found, key=is_dangerous)
            if entry.status == status
            and (status == rule.M_MERGING or (entry.id not in self.passing and entry.id not in self.done))
            and (not base or preview.base_of(self.place, entry) == base)
        ]

    def base(self, base: str, wait: bool) -> bool:
        """False when another merger is at work there. What came while we let go is ours, too."""
        while True:
            with turn(self.place, base, wait, self.say) as ours:
                if not ours:
                    return False
                self.mend(base)
                self.all_of(base)
            if not self.of(rule.M_PENDING, base):
                return True

    def mend(self, base: str) -> None:
        """Nobody else merges here now: whatever is half done is a dead one's."""
        recover.everything(self.place, self.say)
        temp_checkout.sweep(self.place.git_folder)
        for left in self.of(rule.M_MERGING, base):
            entry = judged(self.place, self.board, left, base)
            if entry.status == rule.M_MERGED:
                self.done[entry.id] = entry

    def all_of(self, base: str) -> None:
        while waiting := self.of(rule.M_PENDING, base):
            try:
                entry = self.done[waiting[0].id] = merging.one(self.place, self.board, waiting[0], self.say)
            except KeyboardInterrupt:
                self.mend(base)  # nobody shall believe that it is being merged
                raise
            if entry is not None and entry.status in (rule.M_CONFLICT, rule.M_FAILED):
                notices.tell(self.place, self.board, self.say)


def is_dangerous(entry: Entry) -> bool:
    """Its merger died of it, perhaps: then it must not keep the others behind it."""
    return entry.status == rule.M_MERGING or entry.reason == DIED


def free(place: paths.Place, board: Board, id: int, say: Say) -> None:
    """What a dead merger has left `merging` can be given up, or tried again, as any other; a living one keeps it."""
    entry = board.entry(id)
    if entry is None or entry.status != rule.M_MERGING or entry.repo != agent_meta.repo_id(place):
        return
    base = preview.base_of(place, entry)
    with turn(place, base, False, say) as ours:
        if ours:
            Drain(place, board, say, ()).mend(base)


def judged(place: paths.Place, board: Board, entry: Entry, base: str) -> Entry:
    """What a dead merger has left: merged when its base has what it was about to become, else to be merged again."""
    facts: dict[str, Any] = {"ref": base, "after": entry.merge_sha, "checkouts": []}
    if entry.merge_sha and queue.is_commit(entry.merge_sha) and move_branch.has_moved(place, facts):
        return board.merged(entry.id, entry.merge_sha)
    return board.requeue(entry.id, reason=DIED)


@contextmanager
def turn(place: paths.Place, base: str, wait: bool, say: Say) -> Iterator[bool]:
    """The lock of a base stands outside of all others: tests run while it is held. A kill frees it."""
    lock = locks.Lock(f"{place.safe}/locks/queue-{merging.key_of(base)}")
    if not lock.try_take():
        if not wait:
            yield False
            return
        say(f"Another merger is at work on {refs.name_of(base)}: it is waited for")
        lock.__enter__()
    try:
        yield True
    finally:
        lock.release()


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
