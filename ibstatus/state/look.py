"""A look of our own at the agents' terminals, for a command: two processes however many agents there are."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ibstatus.claude import client as clients
from ibstatus.claude.screens.rules_file import Rules
from ibstatus.project import agent_meta, config, paths
from ibstatus.project.agent_meta import written_socket
from ibstatus.state.rules import screen_history
from ibstatus.state.rules.fleet import is_young
from ibstatus.state.rules.known import Sight, Told
from ibstatus.system.process import status
from ibstatus.system.tmux import server

BUSY = ("running", "compacting")


class Target(NamedTuple):
    """Whom to look at, and where. `asked`: is its screen in question for a command; `is_busy`: hooks say it works;
    `is_ours`: ib has begun its session, and marked its pane."""

    agent: str
    meta: Mapping[str, Any]
    socket: str
    session: str
    asked: bool = True
    is_busy: bool = False
    is_ours: bool = False


def targets(place: paths.Place, records: Sequence[agent_meta.Record], told: Mapping[str, Told]) -> list[Target]:
    """The default socket and the repository's id are read once, whatever the number of agents."""
    default = str(config.value(place, "tmux.socket")) if records else ""
    ours = agent_meta.repo_id(place) if any(not agent_meta.written_session(record) for record in records) else ""
    found = []
    for record in records:
        said = told.get(record.id)
        socket = written_socket(record) or default
        session = agent_meta.written_session(record) or f"ittybitty-{ours}-{record.id}"
        asked = screen_history.asks_for_a_look(None if said is None else {"state": said.state, "reason": said.reason})
        is_ours = isinstance(record.meta.get("started"), int | float) and agent_meta.written_session(record) != ""
        busy = said is not None and said.state in BUSY
        found.append(Target(record.id, record.meta, socket, session, asked, busy, is_ours))
    return found


def look(targets: Sequence[Target], now: float, rules: Rules | None = None) -> dict[str, Sight]:
    """Of every agent; each socket is asked once what there is and once for the screens in question. `rules`: the user's
    about screens, with ours."""
    found: dict[str, Sight] = {}
    for socket in {target.socket for target in targets}:
        there = [target for target in targets if target.socket == socket]
        panes = server.panes(socket)
        if panes is None:
            found.update(
                {target.agent: Sight(None, at=now, seen=now, note=screen_history.NOT_ASKED) for target in there}
            )
            continue
        alive = {one.agent: panes[one.session] for one in there if one.session in panes and is_its(one, panes, now)}
        wanted = [one for one in there if one.asked and one.agent in alive and not alive[one.agent].dead]
        screens = server.captures(socket, [alive[one.agent].id for one in wanted])
        shown = {one.agent: screens.get(alive[one.agent].id) for one in wanted}
        for one in there:
            found[one.agent] = sight_of(one, alive.get(one.agent), shown.get(one.agent), now, rules)
    return found


def is_its(target: Target, panes: Mapping[str, server.Pane], now: float) -> bool:
    """Of an agent whose own pane is gone, a pane that a person has split off may live on."""
    return not target.is_ours or panes[target.session].marked or is_young(target.meta, now)


def sight_of(
    target: Target, pane: server.Pane | None, screen: bytes | None, now: float, rules: Rules | None = None
) -> Sight:
    if pane is None or pane.dead:
        return Sight(pane is not None, dead=pane is not None, at=now, seen=now, changed=now)
    found = Sight(True, changed=now) if screen is None else parsed(target, screen, now, rules)
    stopped, gone = status.look(pane.pid)
    return found._replace(at=now, seen=now, suspended=stopped, gone=gone)


def parsed(target: Target, data: bytes, now: float, rules: Rules | None = None) -> Sight:
    """A screen that no rule can take is unknown, with the reason."""
    try:
        client = clients.of(target.meta)
        client = client if rules is None else client.with_rules(rules)
        return Sight(True, shown=client.shown(text_of(data)), changed=now)
    except Exception as error:
        return Sight(True, changed=now, note=f"its screen could not be read: {type(error).__name__}: {error}")


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")
