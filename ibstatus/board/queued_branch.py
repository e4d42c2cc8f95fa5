"""Whose branch is in the merge queue? Asked by every merge and kill, so it costs next to nothing without a board."""

from ibstatus.board import opening
from ibstatus.errors import IbError
from ibstatus.model.board import Entry
from ibstatus.project import agent_meta, paths


def owner(place: paths.Place, agent: str) -> Entry | None:
    """The open entry that merges, or is to merge, the branch of this agent."""
    return queued(place).get(agent)


def queued(place: paths.Place) -> dict[str, Entry]:
    """Open entries by agent. A board that cannot be reached, or cannot be read, keeps nobody from working here."""
    if not opening.is_there(place):
        return {}
    try:
        board = opening.opened(place)
        try:
            found = board.entries(agent_meta.repo_id(place), open_only=True)
        finally:
            board.close()
    except IbError:
        return {}
    named = {entry.branch.removeprefix("refs/heads/"): entry for entry in found}
    return {branch.removeprefix("agent/"): entry for branch, entry in named.items() if branch.startswith("agent/")}
