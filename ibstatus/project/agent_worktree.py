"""The worktree of an agent: where it is, whether it is lost, whether it is one of this repository."""

from typing import Any

from ibstatus.errors import IbError, quoted
from ibstatus.project import agent_meta, operations, paths
from ibstatus.system import disk, git_layout
from ibstatus.system.git import worktrees


def worktree_of(place: paths.Place, agent: str, known: dict[str, Any]) -> str:
    return place.root if known.get("worktree") is False else place.agent_dir(agent) + "/repo"


def lost_worktree(place: paths.Place, agent: str, *, ours: bool = False) -> str:
    """What makes it again, where somebody has removed it; '' while it is there, and for an agent that never had one.
    Nor while a command is making or closing the agent, unless that is `ours`."""
    known = agent_meta.read(place, agent)
    path, branch = worktree_of(place, agent, known), f"agent/{agent}"
    if "client" not in known or known.get("worktree") is False or disk.exists(path):
        return ""
    if not ours and operations.is_at_work(place, agent):
        return ""
    if worktrees.tip(place.git_folder, branch):
        return f"git worktree add -f {quoted(path)} {branch}"
    base = str(known.get("base_commit") or "")
    return f"git worktree add -f -b {branch} {quoted(path)} {base}" if base else f"ib kill {agent}"


def refuse_foreign(place: paths.Place, agent: str, worktree: str) -> None:
    """git would work in another repository there: a copied worktree points to where it was copied from."""
    if not worktrees.admin_of(place.common, worktree):
        pointer = git_layout.pointed(worktree + "/.git", worktree)
        raise IbError(
            f"{worktree} is no worktree of this repository",
            cause=f"its .git names {pointer}" if pointer else "",
            hint=f"ib diff {agent} --committed; or git worktree repair {quoted(worktree)}",
        )
