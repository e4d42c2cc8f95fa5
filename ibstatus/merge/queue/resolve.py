"""What people and agents say of an entry: its conflict is resolved, it shall be tried again, it is given up.

What can be typed about an entry that needs somebody: who is to be asked, and where its branch is checked out.
"""

from collections.abc import Sequence

import msgspec

from ibstatus.board.port import Board
from ibstatus.board.rules import validation as rule
from ibstatus.errors import IbError
from ibstatus.merge import move_branch
from ibstatus.merge.queue import preview
from ibstatus.merge.rules import queue
from ibstatus.model.board import Entry
from ibstatus.project import agent_meta, agents, paths
from ibstatus.system.git import refs


def resolve(place: paths.Place, board: Board, id: int) -> Entry:
    """Queued again with what the branch is at now; refused while that would conflict still."""
    entry = here(place, board, id)
    if entry.status != rule.M_CONFLICT:
        hint = f"ib board merge retry {id}" if entry.status == rule.M_FAILED else f"{rule.QUEUE} --all"
        raise IbError(f"Entry {id} of the merge queue is {entry.status}, not in conflict", hint=hint)
    tip = preview.tip_of(place, entry)
    if not tip:
        raise IbError(f"The branch {entry.branch} is gone", hint=of(place, entry))
    look(place, entry, preview.work_of(place, board, msgspec.structs.replace(entry, sha=tip)))
    return board.requeue(id, sha=tip)


def look(place: paths.Place, entry: Entry, work: preview.Work) -> None:
    cwd = place.git_folder
    before = refs.tip_of(cwd, work.base)
    made = preview.result(cwd, work, before)
    if made.conflicts:
        raise IbError(queue.still(entry.branch, entry.base, made.conflicts), hint=of(place, entry, made.conflicts))
    left = [name for name in entry.conflict_files if marks(cwd, made.after, name) > marks(cwd, before, name)]
    if left:
        raise IbError(
            f"Conflict markers stand in {', '.join(left)}", cause=entry.branch, hint=of_marks(place, entry, left)
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
    if entry.repo != agent_meta.repo_id(place):
        raise IbError(f"Entry {id} of the merge queue is of another repository ({entry.repo})", hint="cd there first")
    return entry


def known(board: Board, id: int) -> Entry:
    entry = board.entry(id)
    if entry is None:
        raise IbError(f"There is no entry {id} in the merge queue", hint="ib board merge list")
    return entry


def needed(place: paths.Place, entry: Entry) -> bool:
    """Does it wait for somebody of this repository?"""
    is_stuck = entry.status in (rule.M_CONFLICT, rule.M_FAILED) and not entry.abandoned
    return is_stuck and entry.repo == agent_meta.repo_id(place)


def of(place: paths.Place, entry: Entry, conflicts: Sequence[str] = ()) -> str:
    """`conflicts`: what it conflicts in by now, where that was looked at."""
    now = msgspec.structs.replace(entry, conflict_files=list(conflicts)) if conflicts else entry
    if not preview.tip_of(place, entry):
        return queue.brought_back(entry)
    asks = asked(place, entry)
    return queue.remedy(now, asks, "" if asks else folder_of(place, entry))


def of_marks(place: paths.Place, entry: Entry, names: Sequence[str]) -> str:
    return queue.unmarked(entry, asked(place, entry), names)


def asked(place: paths.Place, entry: Entry) -> str:
    """The agent whose branch it is, while it is there."""
    name = entry.branch.removeprefix("agent/")
    return name if name != entry.branch and agents.exists(place, name) else ""


def folder_of(place: paths.Place, entry: Entry) -> str:
    ref = refs.branch_of(place.git_folder, entry.branch)
    return next((one.path for one in move_branch.checkouts(place) if one.ref == ref), "")
