"""What is said about a merge: what would be merged, what is in its way, and what can be typed about it.

The work of one agent as people read it.
"""

from collections.abc import Sequence

from ibstatus.errors import quoted, visible
from ibstatus.model.fleet import Agent
from ibstatus.state.rules import status_text

MOST_FILES, MOST_COMMITS = 20, 50


def files(names: Sequence[str]) -> str:
    """In one line; of very many the first ones."""
    more = len(names) - MOST_FILES
    return ", ".join(visible(name) for name in names[:MOST_FILES]) + (f" and {more} more" if more > 0 else "")


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def intended(agent: str, into: str, subjects: Sequence[tuple[str, str]]) -> list[str]:
    """What is shown before the question. `subjects`: (short id, subject), newest first."""
    if not subjects:
        return [f"Nothing to merge from agent/{agent}: {visible(into)} has all of it. The agent would be closed"]
    lines = [f"Will merge {counted(len(subjects), 'commit')} from agent/{agent} into {visible(into)}:"]
    lines += [f"  {oid} {visible(subject)}" for oid, subject in subjects[:MOST_COMMITS]]
    return lines + ([f"  … and {len(subjects) - MOST_COMMITS} more"] if len(subjects) > MOST_COMMITS else [])


def stash_hint(path: str, again: str) -> str:
    """One line to type; the changes are back with `git stash pop`."""
    return f"git -C {quoted(path)} stash && {again}"


def done(agent: str, into: str, commits: int) -> str:
    return f"Agent merged into {into} ({counted(commits, 'commit')})" if commits else f"Nothing to merge into {into}"


def again(agent: str, into: str, options: str = "") -> str:
    """`options`: what else the user had typed."""
    return f"ib merge {quoted(agent)} --into {quoted(into)}{options}"


def typed(force: bool, test: str) -> str:
    """The options of a merge, to be typed once more."""
    return (" --force" if force else "") + (f" --test {quoted(test)}" if test else "")


def ask_agent(agent: str, what: str) -> str:
    """A line that is ready to be pasted, whatever the files in it are called."""
    return f"ib send {quoted(agent)} {quoted(visible(what))}"


def conflicts(branch: str, into: str, names: Sequence[str], at: str) -> str:
    """`at`: the one commit of the branch that does, where it is known."""
    which = f" (its commit {at[:7]})" if at else ""
    return f"{branch}{which} conflicts with {into} in {counted(len(names), 'file')}"


def how(into: str) -> str:
    """What an agent is asked to do about a conflict."""
    return f"Merge or rebase onto {into}, keep what both sides need, commit"


def conflict_hint(agent: str, into: str, names: Sequence[str], options: str = "") -> str:
    what = f"Your work conflicts with {into} in {files(names)}. {how(into)}"
    return f"{ask_agent(agent, what)}; when it has: {again(agent, into, options)}"


def commit_hint(agent: str, into: str, names: Sequence[str], options: str = "") -> str:
    what = f"Commit your work (or throw away what is not needed): {files(names)}"
    return f"{ask_agent(agent, what)}; when it has: {again(agent, into, options)}"


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
