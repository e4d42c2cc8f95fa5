"""Where an agent's terminal session is: its socket, its name, the pane that it runs in."""

from typing import NamedTuple

from ibstatus.drivers import clients, tmux
from ibstatus.drivers.claude.client import Claude
from ibstatus.store import config, fleet, meta, places, screen_rules


class Session(NamedTuple):
    socket: str
    name: str

    def pane(self) -> tmux.Pane | None:
        """None when there is surely no such session; an IbError when tmux cannot be asked."""
        return tmux.pane_of(self.socket, self.name)

    def is_running(self) -> bool:
        pane = self.pane()
        return pane is not None and not pane.dead

    def screen(self, pane: tmux.Pane, history: int | None = 0) -> str | None:
        return tmux.capture(self.socket, pane.id, history)


def of(place: places.Place, agent: str) -> Session:
    """As it was written down when the agent was made; of one made by hand as it must be."""
    record = fleet.record_of(place, agent) or fleet.Record(agent, {})
    return Session(socket_of(place, record), fleet.session_of(place, record))


def client_of(place: places.Place, agent: str) -> Claude:
    """What runs in it, with the user's rules about its screens."""
    return clients.of(meta.read(place, agent)).with_rules(screen_rules.of(place))


def socket_of(place: places.Place, record: fleet.Record) -> str:
    """The configured one where meta.json has none that could be."""
    return fleet.written_socket(record) or str(config.value(place, "tmux.socket"))
