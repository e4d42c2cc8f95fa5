"""The proof commands for who is who: the id that is meant, who is under whom, who may get which manager."""

from typing import Any

from ibstatus.ops.settings_proof import value_of
from ibstatus.rules import names, reassignment


def resolved(path: str) -> str:
    """A file with {"partial", "agents": [id, …]}; the id, or `error`."""
    value = value_of(path)
    meant = names.meant(str(value.get("partial", "")), [str(name) for name in value.get("agents", [])])
    return meant[0] if len(meant) == 1 else "error"


def children(path: str) -> list[str]:
    """A file with {"agents": [{"id", "manager"}, …], "query": {"manager": id}}."""
    value = value_of(path)
    manager = value.get("query", {}).get("manager")
    return [str(agent["id"]) for agent in value.get("agents", []) if agent.get("manager") == manager]


def reassigned(path: str) -> str:
    """A file with {"agents": […], "reassign": {"agent", "new_parent"}}; `ok`, `noop:<why>` or `error:<why>`."""
    value = value_of(path)
    agents: list[dict[str, Any]] = value.get("agents", [])
    asked = value.get("reassign", {})
    managers = {str(agent["id"]): str(agent.get("manager") or "") for agent in agents}
    workers = [str(agent["id"]) for agent in agents if agent.get("worker") is True]
    return reassignment.verdict(str(asked.get("agent") or ""), str(asked.get("new_parent") or ""), managers, workers)
