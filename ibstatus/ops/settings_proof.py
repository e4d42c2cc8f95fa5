"""The proof commands for what sessions are given: the settings of an agent, its role, what it may run."""

import json
from pathlib import Path
from typing import Any

from ibstatus.errors import IbError
from ibstatus.ops import proof
from ibstatus.rules import access, agent_settings, roles, turn_ends
from ibstatus.store import wanted_hooks

UNKNOWN = "unknown"


def build_settings(path: str) -> dict[str, Any]:
    """A file with a role, or with {"role", "base", "allow", "deny", "yolo", "intercepts"}; the settings made of it."""
    text = proof.read(path).decode("utf-8", "replace").strip()
    given = value_of(path) if text.startswith("{") else {"role": text}
    agent = agent_settings.Agent(
        id=str(given.get("id", "example")),
        role=str(given.get("role")),
        root=str(given.get("root", "/project")),
        common=str(given.get("common", "/project/.git")),
        yolo=given.get("yolo") is True,
        intercepts=given.get("intercepts") is True,
    )
    base: Any = given.get("base", {})
    known = agent_settings.base_of(base if isinstance(base, str) else json.dumps(base))
    config = agent_settings.Permissions(tuple(given.get("allow", ())), tuple(given.get("deny", ())))
    program = given.get("program", wanted_hooks.here())
    return agent_settings.build(agent, known, (program[0], program[1]), config, path=path)


def role(path: str) -> str:
    """A file with {"cwd", "meta_json": a file beside it, or "meta": the object}; primary, manager or worker."""
    value = value_of(path)
    meta = value.get("meta", {})
    if isinstance(value.get("meta_json"), str):
        meta = value_of(str(Path(path).parent / value["meta_json"]))
    return roles.role_of(roles.agent_at(str(value.get("cwd", ""))), meta)


def is_injected(path: str) -> bool:
    """A file with {"cwd"}: is the fleet told to a session that stands there?"""
    return roles.role_of(roles.agent_at(str(value_of(path).get("cwd", ""))), {}) == roles.PRIMARY


def refusal(path: str) -> str:
    """A file with {"is_agent", "cmd", "subcmd"}, and "worker" and "yolo" where they count; '' when it is allowed."""
    value = value_of(path)
    words = [str(value.get(key)) for key in ("cmd", "subcmd") if value.get(key)]
    if value.get("is_agent") is not True:
        return ""
    return access.refusal(words, value.get("worker") is not True, value.get("yolo") is True)


def turn_end(path: str) -> str:
    """A file with the last thing that an agent said; complete, waiting or unknown."""
    return turn_ends.end_of(proof.read(path).decode("utf-8", "replace")) or UNKNOWN


def value_of(path: str) -> dict[str, Any]:
    try:
        value = json.loads(proof.read(path))
    except ValueError as error:
        raise IbError(f"{path} should hold a JSON object", cause=str(error)) from None
    if not isinstance(value, dict):
        raise IbError(f"{path} should hold a JSON object")
    return value
