"""What can be typed about an entry that needs somebody: who is to be asked, and where its branch is checked out."""

from collections.abc import Sequence

import msgspec

from ibstatus.drivers import git_refs
from ibstatus.model.board import Entry
from ibstatus.ops import merge_step
from ibstatus.ops.board_queue import outlook
from ibstatus.rules import board as rule
from ibstatus.rules import board_merge
from ibstatus.store import agents, fleet, places


def needed(place: places.Place, entry: Entry) -> bool:
    """Does it wait for somebody of this repository?"""
    is_stuck = entry.status in (rule.M_CONFLICT, rule.M_FAILED) and not entry.abandoned
    return is_stuck and entry.repo == fleet.repo_id(place)


def of(place: places.Place, entry: Entry, conflicts: Sequence[str] = ()) -> str:
    """`conflicts`: what it conflicts in by now, where that was looked at."""
    now = msgspec.structs.replace(entry, conflict_files=list(conflicts)) if conflicts else entry
    if not outlook.tip_of(place, entry):
        return board_merge.brought_back(entry)
    asks = asked(place, entry)
    return board_merge.remedy(now, asks, "" if asks else folder_of(place, entry))


def of_marks(place: places.Place, entry: Entry, names: Sequence[str]) -> str:
    return board_merge.unmarked(entry, asked(place, entry), names)


def asked(place: places.Place, entry: Entry) -> str:
    """The agent whose branch it is, while it is there."""
    name = entry.branch.removeprefix("agent/")
    return name if name != entry.branch and agents.exists(place, name) else ""


def folder_of(place: places.Place, entry: Entry) -> str:
    ref = git_refs.branch_of(place.git_folder, entry.branch)
    return next((one.path for one in merge_step.checkouts(place) if one.ref == ref), "")
