"""What an agent's state means for the task it was spawned for, and for those that it has claimed by itself."""

from collections.abc import Sequence

from ibstatus.agents.rules import resume_plan
from ibstatus.model.board import Fence, Task
from ibstatus.model.fleet import Agent
from ibstatus.project.rules import counts
from ibstatus.state.rules import fleet, notices

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
