"""What the merge queue decides without looking: its commits' messages, when a test counts, what a conflict leaves.

What an agent's state means for the task it was spawned for, and for those that it has claimed by itself.

What of the board the user's Claude is told: only that for which nobody but it, or the user, can do anything.
"""

import re
from collections.abc import Mapping, Sequence

from ibstatus.agents.rules import resume_plan
from ibstatus.board.rules import validation
from ibstatus.errors import quoted
from ibstatus.mail.rules import listing
from ibstatus.merge.rules import text
from ibstatus.model.board import Entry, Event, Fence, Task
from ibstatus.model.fleet import Agent
from ibstatus.project.rules import counts
from ibstatus.state.rules import fleet, notices

LONGEST_SUBJECT, LONGEST_REASON = 200, 4000
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
MARKS = (b"<<<<<<<", b"|||||||", b">>>>>>>")


def message(branch: str, task_id: str, title: str) -> bytes:
    """Of a merge commit: the branch and the task, by its title and by its id."""
    subject = validation.cut(" ".join(f"Merge {branch}: {title or task_id}".split()), LONGEST_SUBJECT)
    return f"{subject}\n\nTask: {' '.join(task_id.split())}\n".encode(errors="replace")


def is_commit(text: str) -> bool:
    """A board may be shared: what stands there as a commit must not be an option for git."""
    return COMMIT.fullmatch(text) is not None


def tests(everywhere: str | None, own: str) -> tuple[str, ...]:
    """What must pass, in this order: the test of every merge, then the task's own."""
    return tuple(dict.fromkeys(test for test in ((everywhere or "").strip(), own.strip()) if test))


def receipt(tree: str, commands: Sequence[str], code: int) -> dict[str, str | int]:
    return {"tree": tree, "command": joined(commands), "exit": code}


def holds(known: Mapping[str, str | int] | None, tree: str, commands: Sequence[str]) -> bool:
    """Has just this been tested, with success?"""
    return known == receipt(tree, commands, 0)


def joined(commands: Sequence[str]) -> str:
    return commands[0] if len(commands) == 1 else " && ".join(f"({one})" for one in commands)


def failed(command: str, code: int, last: Sequence[str]) -> str:
    return "\n".join([f"The test fails on the merged work (exit {code}): {command}", *last])


def marks(text: bytes) -> int:
    """Lines that git leaves where two sides conflict. `=======` also underlines titles, and never stands alone."""
    return sum(line[:7] in MARKS and line[7:8] in (b"", b" ", b"\r") for line in text.split(b"\n"))


def waits(branch: str, into: str, reason: str) -> str:
    return f"{branch} waits for {into}: {reason}"


def storable(text: str) -> str:
    """What git and programs say may hold bytes that no store takes."""
    plain = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace").replace("\0", "")
    return validation.cut(plain, LONGEST_REASON)


def whole(message: str, cause: str) -> str:
    return storable(f"{message} ({cause})" if cause else message)


def remedy(entry: Entry, asks: str, folder: str) -> str:
    """What to type about an entry that needs somebody. `asks`: the agent that can mend its branch, or ''; `folder`:
    where the branch is checked out, or ''."""
    if entry.status != validation.M_CONFLICT:
        return f"mend what it names; then: {again(entry)}"
    what = f"Your work conflicts with {entry.base} in {text.files(entry.conflict_files)}"
    first = text.ask_agent(asks, f"{what}. {text.how(entry.base)}") if asks else by_hand(entry, folder)
    return f"{first}; {'when it has' if asks else 'then'}: ib board merge resolve {entry.id}"


def again(entry: Entry) -> str:
    return f"ib board merge retry {entry.id}, or give it up: ib board merge abandon {entry.id}"


def brought_back(entry: Entry) -> str:
    """For one whose branch is gone."""
    return f"git branch {quoted(entry.branch)} {quoted(entry.sha)}; then: {again(entry)}"


def by_hand(entry: Entry, folder: str) -> str:
    branch, base = quoted(entry.branch), quoted(entry.base)
    merge = f"git -C {quoted(folder)} merge {base}" if folder else f"git switch {branch} && git merge {base}"
    return f"{merge}; resolve it there, commit"


def unmarked(entry: Entry, asks: str, names: Sequence[str]) -> str:
    """For a resolution in which conflict markers were left."""
    what = f"Conflict markers stand in {text.files(names)}. Keep what both sides need, commit"
    marks = f"git grep -n '^[<>|]\\{{7\\}}' {quoted(entry.branch)}; take them out, commit"
    first = f"{text.ask_agent(asks, what)}; when it has" if asks else f"{marks}; then"
    return f"{first}: ib board merge resolve {entry.id}"


def still(branch: str, into: str, names: Sequence[str]) -> str:
    return f"{branch} still conflicts with {into} in {text.files(names)}"


BEAT, AGAIN = 120.0, 30.0
NEVER = float("-inf")


def is_done(agent: Agent) -> bool:
    return agent.state == "complete"


def is_kept(agent: Agent) -> bool:
    """Whoever lives, or was paused on purpose, keeps its task; of the dead the lease runs out."""
    return not fleet.is_over(agent) or agent.reason == resume_plan.PAUSED


def is_at_it(agent: Agent) -> bool:
    """What it has claimed by itself it keeps until it says that it is complete: nobody knows whether that is done."""
    return is_kept(agent) and not is_done(agent)


def summary(said: str, left: Sequence[str]) -> str:
    """What it said last, without the phrase that ended it; and what it has not committed: nobody is handed that."""
    files = counts.counted(len(left), "uncommitted file")
    lost = [f"Left behind in its worktree: {files} ({counts.some(left)})"] if left else []
    return "\n".join([*filter(None, [notices.without_phrase(said)]), *lost])


def letter(fence: Fence, task: Task | None, spawned: bool = True) -> str:
    """To an agent that has lost its task, unless it has ended it itself. `spawned`: it was made for this one alone."""
    if task is None or (task.done_by, task.attempt) == (fence.agent, fence.attempt):
        return ""
    by = f" by {task.claimed_by}" if task.claimed_by and task.claimed_by != fence.agent else ""
    rest = ", leave your branch as it is, and end with WAITING, alone on the last line" if spawned else ""
    return f"[ib] The task {task.id} is not yours any more: it is {task.status}{by}. Stop working on it{rest}."


CHANNELS = ("merge_conflict", "merge_failed", "task_failed")
STATUS = {"merge_conflict": validation.M_CONFLICT, "merge_failed": validation.M_FAILED}
LONGEST_WHY = 300


def is_open(event: Event, entry: Entry) -> bool:
    """Does it still stand so? What was queued again or given up meanwhile needs nobody."""
    return entry.status == STATUS[event.channel] and not entry.abandoned


def of_entry(entry: Entry, how: str) -> str:
    """Who, what, where, and `how`: the command to type."""
    what = f"{entry.branch} (task {entry.task_id}, agent {entry.agent_id})"
    if entry.status == validation.M_CONFLICT:
        files = text.files(entry.conflict_files)
        return plain(f"Merge queue: {what} conflicts with {entry.base} in {files}; {how}")
    return plain(f"Merge queue: {what} could not be merged into {entry.base}: {why(entry.reason)}; {how}")


def of_task(event: Event) -> str:
    tries = f"after {event.attempt} attempts" if event.attempt != 1 else "at its only attempt"
    how = f"ib board show {event.task_id}, then: ib board retry {event.task_id}"
    return plain(f"Board: task {event.task_id} has failed {tries}: {why(event.reason or 'no reason given')}; {how}")


def why(reason: str) -> str:
    return validation.cut(reason.partition("\n")[0], LONGEST_WHY)


def plain(text: str) -> str:
    return listing.shown(text)
