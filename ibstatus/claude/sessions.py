"""Where an agent's terminal session is: its socket, its name, the pane that it runs in.

Is a person at an agent's terminal? Whoever types there comes first.
"""

import time
from typing import NamedTuple

from ibstatus.claude import client
from ibstatus.claude.client import Claude
from ibstatus.claude.screens import user_rules
from ibstatus.project import agent_meta, config, paths
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
    record = agent_meta.record_of(place, agent) or agent_meta.Record(agent, {})
    return Session(socket_of(place, record), agent_meta.session_of(place, record))


def client_of(place: paths.Place, agent: str) -> Claude:
    """What runs in it, with the user's rules about its screens."""
    return client.of(agent_meta.read(place, agent)).with_rules(user_rules.of(place))


def socket_of(place: paths.Place, record: agent_meta.Record) -> str:
    """The configured one where meta.json has none that could be."""
    return agent_meta.written_socket(record) or str(config.value(place, "tmux.socket"))


LATELY = 60.0
TYPING = 2.5  # tmux has whole seconds


def last_key(socket: str, pane: server.Pane) -> float:
    """When somebody last pressed a key in a terminal that is attached to this session; 0 when nobody is there."""
    done = server.asked(
        socket, "list-clients", "-t", pane.session_id, "-F", "#{client_control_mode} #{client_activity}"
    )
    words = [line.split() for line in done.out.splitlines()] if done.code == 0 else []
    return max((float(each[1]) for each in words if len(each) == 2 and each[0] == "0" and each[1].isdigit()), default=0)


def is_typing(socket: str, pane: server.Pane, within: float = TYPING) -> bool:
    last = last_key(socket, pane)
    return last > 0 and -1 < time.time() - last < within


def is_attended(place: paths.Place, agent: str) -> bool:
    """Somebody has looked after it a moment ago."""
    at = of(place, agent)
    pane = at.pane()
    return pane is not None and is_typing(at.socket, pane, LATELY)
