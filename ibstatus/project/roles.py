"""Who a session is: the primary, a manager, a worker; decided from where it stands and what is written down of it."""

from ibstatus.model.constants import AGENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Role = Literal["primary", "manager", "worker"]

PRIMARY, MANAGER, WORKER = "primary", "manager", "worker"


def agent_at(cwd: str) -> str:
    """The agent whose worktree this path lies in, or ''. By text: `…/agents/x/report` is no worktree."""
    at = cwd.find(AGENTS)
    while at >= 0:
        agent, _, rest = cwd[at + len(AGENTS) :].partition("/")
        if agent and (rest == "repo" or rest.startswith("repo/")):
            return agent
        at = cwd.find(AGENTS, at + 1)
    return ""


def role_of(agent: str, meta: "dict[str, Any]") -> "Role":
    """Of whom nothing is written down, it is a manager: as the older tool takes it."""
    if not agent:
        return "primary"
    return "worker" if meta.get("worker") is True else "manager"
