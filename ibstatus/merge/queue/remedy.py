"""What can be typed about an entry that needs somebody: who is to be asked, and where its branch is checked out."""

from collections.abc import Sequence

import msgspec

from ibstatus.board.rules import validation as rule
from ibstatus.merge import move_branch
from ibstatus.merge.queue import preview
from ibstatus.merge.rules import queue
from ibstatus.model.board import Entry
from ibstatus.project import agents, fleet, paths
from ibstatus.system.git import refs


def needed(place: paths.Place, entry: Entry) -> bool:
    """Does it wait for somebody of this repository?"""
    is_stuck = entry.status in (rule.M_CONFLICT, rule.M_FAILED) and not entry.abandoned
    return is_stuck and entry.repo == fleet.repo_id(place)


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
