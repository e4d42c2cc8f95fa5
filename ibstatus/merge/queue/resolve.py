"""What people and agents say of an entry: its conflict is resolved, it shall be tried again, it is given up."""

import msgspec

from ibstatus.board.port import Board
from ibstatus.board.rules import validation as rule
from ibstatus.errors import IbError
from ibstatus.merge.queue import preview, remedy
from ibstatus.merge.rules import queue
from ibstatus.model.board import Entry
from ibstatus.project import fleet, paths
from ibstatus.system.git import refs


def resolve(place: paths.Place, board: Board, id: int) -> Entry:
    """Queued again with what the branch is at now; refused while that would conflict still."""
    entry = here(place, board, id)
    if entry.status != rule.M_CONFLICT:
        hint = f"ib board merge retry {id}" if entry.status == rule.M_FAILED else f"{rule.QUEUE} --all"
        raise IbError(f"Entry {id} of the merge queue is {entry.status}, not in conflict", hint=hint)
    tip = preview.tip_of(place, entry)
    if not tip:
        raise IbError(f"The branch {entry.branch} is gone", hint=remedy.of(place, entry))
    look(place, entry, preview.work_of(place, board, msgspec.structs.replace(entry, sha=tip)))
    return board.requeue(id, sha=tip)


def look(place: paths.Place, entry: Entry, work: preview.Work) -> None:
    cwd = place.git_folder
    before = refs.tip_of(cwd, work.base)
    made = preview.result(cwd, work, before)
    if made.conflicts:
        raise IbError(
            queue.still(entry.branch, entry.base, made.conflicts), hint=remedy.of(place, entry, made.conflicts)
        )
    left = [name for name in entry.conflict_files if marks(cwd, made.after, name) > marks(cwd, before, name)]
    if left:
        raise IbError(
            f"Conflict markers stand in {', '.join(left)}", cause=entry.branch, hint=remedy.of_marks(place, entry, left)
        )


def marks(cwd: str, commit: str, path: str) -> int:
    """Some have had them before: a fixture, a text on git. They stay."""
    return queue.marks(refs.asked(cwd, "cat-file", "blob", f"{commit}:{path}").out)


def retry(place: paths.Place, board: Board, id: int) -> Entry:
    """Whoever asks for it means the branch as it is now, also where it was rewritten."""
    entry = here(place, board, id)
    if entry.status not in (rule.M_FAILED, rule.M_CONFLICT):
        raise IbError(
            f"Entry {id} of the merge queue is {entry.status}: nothing to try again", hint=f"{rule.QUEUE} --all"
        )
    return board.requeue(id, sha=preview.tip_of(place, entry) or None)


def abandon(board: Board, id: int, reason: str) -> Entry:
    """It will not be merged: nobody waits for it any more. The branch stays."""
    return board.abandon(known(board, id).id, reason)


def here(place: paths.Place, board: Board, id: int) -> Entry:
    entry = known(board, id)
    if entry.repo != fleet.repo_id(place):
        raise IbError(f"Entry {id} of the merge queue is of another repository ({entry.repo})", hint="cd there first")
    return entry


def known(board: Board, id: int) -> Entry:
    entry = board.entry(id)
    if entry is None:
        raise IbError(f"There is no entry {id} in the merge queue", hint="ib board merge list")
    return entry
