"""Is a person at an agent's terminal? Whoever types there comes first."""

import time

from ibstatus.claude import sessions
from ibstatus.project import paths
from ibstatus.system.tmux import server

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
    at = sessions.of(place, agent)
    pane = at.pane()
    return pane is not None and is_typing(at.socket, pane, LATELY)
