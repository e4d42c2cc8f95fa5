"""A look of our own at the agents' terminals, for a command: two processes however many agents there are."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ibstatus.drivers import clients, tmux
from ibstatus.rules import sights
from ibstatus.rules.fleet import Told
from ibstatus.rules.sights import Sight
from ibstatus.store import config, fleet, places

BUSY = ("running", "compacting")


class Target(NamedTuple):
    """Whom to look at, and where. `asked`: is its screen in question for a command; `is_busy`: hooks say it works."""

    agent: str
    meta: Mapping[str, Any]
    socket: str
    session: str
    asked: bool = True
    is_busy: bool = False


def targets(place: places.Place, records: Sequence[fleet.Record], told: Mapping[str, Told]) -> list[Target]:
    """The default socket and the repository's id are read once, whatever the number of agents."""
    default = str(config.value(place, "tmux.socket")) if records else ""
    ours = fleet.repo_id(place) if any(not fleet.written_session(record) for record in records) else ""
    found = []
    for record in records:
        said = told.get(record.id)
        written = record.meta.get("tmux_socket")
        socket = written if isinstance(written, str) and written else default
        session = fleet.written_session(record) or f"ittybitty-{ours}-{record.id}"
        asked = sights.asks_for_a_look(None if said is None else {"state": said.state, "reason": said.reason})
        found.append(Target(record.id, record.meta, socket, session, asked, said is not None and said.state in BUSY))
    return found


def look(targets: Sequence[Target], now: float) -> dict[str, Sight]:
    """Of every agent; each socket is asked once what there is and once for the screens in question."""
    found: dict[str, Sight] = {}
    for socket in {target.socket for target in targets}:
        there = [target for target in targets if target.socket == socket]
        panes = tmux.panes(socket)
        if panes is None:
            found.update({target.agent: Sight(None, at=now, seen=now, note=sights.NOT_ASKED) for target in there})
            continue
        alive = {one.agent: panes[one.session] for one in there if one.session in panes}
        wanted = [one for one in there if one.asked and one.agent in alive and not alive[one.agent].dead]
        screens = tmux.captures(socket, [alive[one.agent].id for one in wanted])
        shown = {one.agent: screens.get(alive[one.agent].id) for one in wanted}
        for one in there:
            found[one.agent] = sight_of(one, alive.get(one.agent), shown.get(one.agent), now)
    return found


def sight_of(target: Target, pane: tmux.Pane | None, screen: bytes | None, now: float) -> Sight:
    if pane is None or pane.dead or screen is None:
        return Sight(pane is not None, dead=pane is not None and pane.dead, at=now, seen=now, changed=now)
    return parsed(target, screen, now)._replace(at=now, seen=now)


def parsed(target: Target, data: bytes, now: float) -> Sight:
    """A screen that no rule can take is unknown, with the reason."""
    try:
        return Sight(True, shown=clients.of(target.meta).shown(text_of(data)), changed=now)
    except Exception as error:
        return Sight(True, changed=now, note=f"its screen could not be read: {type(error).__name__}: {error}")


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")
