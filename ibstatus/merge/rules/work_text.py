"""The work of one agent as people read it."""

from collections.abc import Sequence

from ibstatus.errors import visible
from ibstatus.model.fleet import Agent
from ibstatus.state.rules import status_text

LONGEST = 200


def heading(text: str) -> str:
    return f"═══ {visible(text)} ═══"


def section(title: str, rows: Sequence[str]) -> list[str]:
    return ["", heading(title), *(f"  {visible(row)}" for row in rows)]


def now(agent: Agent | None, questions: Sequence[tuple[str, str]]) -> list[str]:
    """Its state, age and task, and what it waits to be told. `questions`: (id, text)."""
    lines = []
    if agent is not None:
        lines = [f"State: {visible(status_text.state(agent))}", f"Age: {agent.age}"]
        lines += [f"Task: {shortened(agent.prompt)}"] if agent.prompt else []
    return lines + [f"Question {visible(ident)}: {shortened(text)}" for ident, text in questions]


def shortened(text: str) -> str:
    return status_text.cut(visible(" ".join(text.split())), LONGEST)


def work(
    agent: str,
    branch: str,
    worktree: str,
    into: str,
    commits: Sequence[tuple[str, str]],
    changes: Sequence[tuple[str, str]],
    summary: str,
    now: Sequence[str] = (),
    lost: str = "",
) -> str:
    """`commits`: (short id, subject); `changes`: (git's two letters, path); `now`: lines about the agent itself;
    `lost`: its worktree is gone, and this makes it again."""
    where = f"gone ({visible(lost)})" if lost else visible(worktree) or "none"
    lines = [f"Agent: {agent}", f"Branch: {branch or 'none'}", f"Worktree: {where}", *now]
    against = f" vs {into}" if into else ""
    if not branch:
        return "\n".join([*lines, "", f"There is no branch agent/{agent}, so there are no commits to show."])
    title = f"Commits ({len(commits)}){against}" if commits else f"No commits{against}"
    lines += section(title, [f"{oid} {subject}" for oid, subject in commits])
    if worktree:  # else nobody knows
        title = "Uncommitted Changes" if changes else "No Uncommitted Changes"
        lines += section(title, [f"{a} {b}" for a, b in changes])
    lines += section("Files Changed" if summary else "No Files Changed", [summary] if summary else [])
    return "\n".join(lines)
