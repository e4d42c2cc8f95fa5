"""What an agent's state means for the task it was spawned for."""

from collections.abc import Sequence

from ibstatus.model.records import Agent
from ibstatus.rules import fleet, notices, recovery, removal_text

BEAT, AGAIN = 120.0, 30.0
NEVER = float("-inf")


def is_done(agent: Agent) -> bool:
    return agent.state == "complete"


def is_kept(agent: Agent) -> bool:
    """Whoever lives, or was paused on purpose, keeps its task; of the dead the lease runs out."""
    return not fleet.is_over(agent) or agent.reason == recovery.PAUSED


def summary(said: str, left: Sequence[str]) -> str:
    """What it said last, without the phrase that ended it; and what it has not committed: nobody is handed that."""
    files = removal_text.counted(len(left), "uncommitted file")
    lost = [f"Left behind in its worktree: {files} ({removal_text.some(left)})"] if left else []
    return "\n".join([*filter(None, [notices.without_phrase(said)]), *lost])
