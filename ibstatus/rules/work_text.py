"""The work of one agent as people read it."""

from collections.abc import Sequence

from ibstatus.errors import visible


def heading(text: str) -> str:
    return f"═══ {visible(text)} ═══"


def section(title: str, rows: Sequence[str]) -> list[str]:
    return ["", heading(title), *(f"  {visible(row)}" for row in rows)]


def work(
    agent: str,
    branch: str,
    worktree: str,
    into: str,
    commits: Sequence[tuple[str, str]],
    changes: Sequence[tuple[str, str]],
    summary: str,
) -> str:
    """`commits`: (short id, subject); `changes`: (the two letters of `git status`, path)."""
    lines = [f"Agent: {agent}", f"Branch: {branch or 'none'}", f"Worktree: {visible(worktree) or 'none'}"]
    against = f" vs {into}" if into else ""
    if not branch:
        return "\n".join([*lines, "", f"{agent} works without a branch of its own: it has no commits to show."])
    title = f"Commits ({len(commits)}){against}" if commits else f"No commits{against}"
    lines += section(title, [f"{oid} {subject}" for oid, subject in commits])
    lines += section("Uncommitted Changes" if changes else "No Uncommitted Changes", [f"{a} {b}" for a, b in changes])
    lines += section("Files Changed" if summary else "No Files Changed", [summary] if summary else [])
    return "\n".join(lines)
