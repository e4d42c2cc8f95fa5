"""The worktree of an agent: where it is, whether it is lost, whether it is one of this repository."""

from typing import Any

from ibstatus.drivers import git_worktree
from ibstatus.errors import IbError, quoted
from ibstatus.store import disk, git_layout, meta, operations, places


def worktree_of(place: places.Place, agent: str, known: dict[str, Any]) -> str:
    return place.root if known.get("worktree") is False else place.agent_dir(agent) + "/repo"


def lost_worktree(place: places.Place, agent: str, *, ours: bool = False) -> str:
    """What makes it again, where somebody has removed it; '' while it is there, and for an agent that never had one.
    Nor while a command is making or closing the agent, unless that is `ours`."""
    known = meta.read(place, agent)
    path, branch = worktree_of(place, agent, known), f"agent/{agent}"
    if "client" not in known or known.get("worktree") is False or disk.exists(path):
        return ""
    if not ours and operations.is_at_work(place, agent):
        return ""
    if git_worktree.tip(place.git_folder, branch):
        return f"git worktree add -f {quoted(path)} {branch}"
    base = str(known.get("base_commit") or "")
    return f"git worktree add -f -b {branch} {quoted(path)} {base}" if base else f"ib kill {agent}"


def refuse_foreign(place: places.Place, agent: str, worktree: str) -> None:
    """git would work in another repository there: a copied worktree points to where it was copied from."""
    if not git_worktree.admin_of(place.common, worktree):
        pointer = git_layout.pointed(worktree + "/.git", worktree)
        raise IbError(
            f"{worktree} is no worktree of this repository",
            cause=f"its .git names {pointer}" if pointer else "",
            hint=f"ib diff {agent} --committed; or git worktree repair {quoted(worktree)}",
        )
