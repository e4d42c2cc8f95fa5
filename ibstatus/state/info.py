"""info: all that is known of one agent."""

from typing import Any

from ibstatus.claude import sessions
from ibstatus.mail import inbox
from ibstatus.project import agent_meta, paths
from ibstatus.state import fleet
from ibstatus.system import disk

TWICE = ("created_epoch", "started", "tmux_session", "tmux_socket")  # said in another form
LAST = "prompt"  # it may be long: it stands below everything else


def info(place: paths.Place, agent: str) -> dict[str, Any]:
    """meta.json as it is written, and under `now` how things stand."""
    shown = next((one for one in fleet.show(place).agents if one.id == agent), None)
    where = sessions.of(place, agent)
    pane = where.pane()
    folder = place.agent_dir(agent)
    now: dict[str, Any] = {
        "state": shown.state if shown else "unknown",
        "reason": shown.reason if shown else "",
        "age": shown.age if shown else "?",
        "session": where.name if pane else None,
        "socket": where.socket,
        "pane": pane.id if pane else None,
        "pid": pane.pid if pane else None,
        "folder": folder,
        "worktree": folder + "/repo" if disk.exists(folder + "/repo/.git") else None,
        "transcript": sessions.client_of(place, agent).transcript_of(place, agent) or None,
        "log": folder + "/agent.log",
        "unread": len(inbox.unread(place, agent).ids),
    }
    if shown and shown.problem:
        now["problem"] = shown.problem
    return {**agent_meta.read(place, agent), "id": agent, "now": now}


def rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """What is worth a line: nothing that is empty, no marks of JSON."""
    said = {key: value for key, value in {**found, **found["now"]}.items() if key not in ("now", LAST, *TWICE)}
    shown = [(key, plain(value)) for key, value in said.items() if value not in (None, "", [], False)]
    return [*shown, *([(LAST, plain(found[LAST]))] if found.get(LAST) else [])]


def plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(plain, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain(one)}" for key, one in value.items())
    return "yes" if value is True else str(value)
