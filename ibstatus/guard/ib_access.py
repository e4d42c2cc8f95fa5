"""May this command run here? Inside an agent's worktree only what an agent may run of ib."""

from ibstatus.errors import IbError, quoted
from ibstatus.guard import ib_commands
from ibstatus.project import agent_meta, paths, roles, tokens


def check(words: list[str]) -> None:
    """Raise what an agent is told; silent everywhere else. Who cannot be found out here, the command finds out."""
    try:
        place = paths.here()
    except (IbError, OSError):
        return elsewhere(words) if tokens.claimed() else None
    if place.stranger:
        return elsewhere(words)
    if not place.agent:
        return None
    record = agent_meta.record_of(place, place.agent)
    meta = record.meta if record is not None else {}
    manager = roles.role_of(place.agent, meta) == roles.MANAGER
    reason = ib_commands.refusal(words, manager, meta.get("yolo") is True, place.proven)
    if reason:
        raise IbError(reason, hint=f"only if you are no agent and have strayed in here: cd {quoted(place.root)}")
    return None


def elsewhere(words: list[str]) -> None:
    reason = ib_commands.elsewhere(words)
    if reason:
        raise IbError(reason, hint=ib_commands.BACK)
