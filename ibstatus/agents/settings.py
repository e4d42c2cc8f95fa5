"""The settings file of one agent, written where the agent cannot: agents/<id>/settings.local.json."""

import json
import os

from ibstatus.claude import client
from ibstatus.claude.hooks import agent_settings, settings_file
from ibstatus.errors import IbError
from ibstatus.guard import isolation
from ibstatus.project import agent_meta, agents, config, paths, roles
from ibstatus.system import atomic


def path_of(place: paths.Place, agent: str) -> str:
    return place.agent_dir(agent) + "/settings.local.json"


def write(place: paths.Place, given: str) -> str:
    """The same for an id as a person types it."""
    return written(place, agents.resolve(place, given))


def written(place: paths.Place, agent: str) -> str:
    """Made anew from the project's settings and the configuration; returns its path."""
    record = agent_meta.record_of(place, agent)
    meta = record.meta if record is not None else {}
    known = config.load(place)
    if known.broken:
        raise IbError(
            known.broken[0].partition(";")[0], hint="ib doctor; without its rules an agent would be unguarded"
        )
    role = roles.role_of(agent, meta)
    allow, deny = (tuple(known.value(f"permissions.{role}.{kind}")) for kind in ("allow", "deny"))
    path = settings_file.path_of(place)
    base = (settings_file.content(path) or b"").decode("utf-8", "replace")
    tasks = settings_file.intercepts_tasks(place)  # a manager's Tasks become its workers
    titles = str(known.value(settings_file.TITLES_KEY))
    yolo = meta.get("yolo") is True
    wanted = agent_settings.Agent(
        agent, role, place.root, place.common, yolo, tasks, titles, keys_below(os.path.expanduser("~")),
        tuple(agent_meta.names_of(place)), meta.get("worktree") is not False,
    )  # fmt: skip
    own = agent_settings.Permissions(*(tuple(listed(meta.get(kind))) for kind in ("allow", "deny")))
    sources = (agent_settings.Permissions(allow, deny), own)
    made = client.of(meta).settings(wanted, base, settings_file.here(), *sources, path=path)
    atomic.put(path_of(place, agent), json.dumps(made, indent=2).encode() + b"\n")
    agents.keep(place, agent)
    return path_of(place, agent)


def keys_below(home: str) -> tuple[str, ...]:
    """Paths of keys and passwords in this home, as the guard has them; none where there is no home."""
    names = [*(f"/{name}" for name in sorted(isolation.KEY_FOLDERS | isolation.KEY_FILES)), *isolation.KEYS_BELOW_HOME]
    return tuple(home + name for name in [*names, "/.claude/.credentials.json"]) if home else ()


def listed(rules: object) -> list[str]:
    """What it was given when it was made."""
    return [rule for rule in rules if isinstance(rule, str)] if isinstance(rules, list) else []
