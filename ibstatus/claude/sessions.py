"""Where an agent's terminal session is: its socket, its name, the pane that it runs in."""

from typing import NamedTuple

from ibstatus.claude import clients
from ibstatus.claude.client import Claude
from ibstatus.claude.screens import user_rules
from ibstatus.project import agent_meta, config, fleet, paths
from ibstatus.system.tmux import server


class Session(NamedTuple):
    socket: str
    name: str

    def pane(self) -> server.Pane | None:
        """None when there is surely no such session; an IbError when tmux cannot be asked."""
        return server.pane_of(self.socket, self.name)

    def is_running(self) -> bool:
        pane = self.pane()
        return pane is not None and not pane.dead

    def screen(self, pane: server.Pane, history: int | None = 0) -> str | None:
        return server.capture(self.socket, pane.id, history)


def of(place: paths.Place, agent: str) -> Session:
    """As it was written down when the agent was made; of one made by hand as it must be."""
    record = fleet.record_of(place, agent) or fleet.Record(agent, {})
    return Session(socket_of(place, record), fleet.session_of(place, record))


def client_of(place: paths.Place, agent: str) -> Claude:
    """What runs in it, with the user's rules about its screens."""
    return clients.of(agent_meta.read(place, agent)).with_rules(user_rules.of(place))


def socket_of(place: paths.Place, record: fleet.Record) -> str:
    """The configured one where meta.json has none that could be."""
    return fleet.written_socket(record) or str(config.value(place, "tmux.socket"))
