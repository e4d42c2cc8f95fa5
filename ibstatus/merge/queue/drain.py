"""All that is pending for this repository is merged: oldest first, one merger a base, and no entry is left behind."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from ibstatus.agents import recover
from ibstatus.board.port import Board
from ibstatus.board.rules import validation as rule
from ibstatus.merge import move_branch, temp_checkout
from ibstatus.merge.queue import entry as merging
from ibstatus.merge.queue import moving, notices, preview
from ibstatus.merge.rules import queue
from ibstatus.model.board import Entry
from ibstatus.project import fleet, home, paths
from ibstatus.system import locks
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
        found = self.board.entries(fleet.repo_id(self.place), open_only=True)
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
    if entry is None or entry.status != rule.M_MERGING or entry.repo != fleet.repo_id(place):
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
    lock = locks.Lock(f"{place.safe}/locks/queue-{moving.key_of(base)}")
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
