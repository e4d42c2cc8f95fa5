"""Ending an agent's client and its terminal session; its files stay. Used by pause, kill and merge."""

import time
from collections.abc import Callable

from ibstatus.drivers import ending, tmux, tmux_gate
from ibstatus.ops import agent_worktree, session
from ibstatus.store import agent_log, meta, places

Say = Callable[[str], None]


def stop(place: places.Place, agent: str, say: Say) -> bool:
    """True when there was something to end. The client is asked first: its last hook writes into the agent's folder."""
    where = session.of(place, agent)
    pane = where.pane()
    with tmux_gate.changing(where.socket):  # its session ends with it
        ended = pane is not None and not pane.dead and end_pane(pane.pid)
        ended = end_strays(place, agent) or ended
    if ended:
        told(place, agent, "Terminated Claude process", say)
    if pane is not None:
        tmux.end(where.socket, where.name)
        told(place, agent, "Killed tmux session", say)
    return ended or pane is not None


def end_pane(top: int) -> bool:
    known = ending.family(top)
    return ending.end(ending.clients(top, known), known)


def end_strays(place: places.Place, agent: str) -> bool:
    """What has lost its terminal: the tmux server died, or the client was started by hand."""
    known = ending.strays(agent_worktree.worktree_of(place, agent, meta.read(place, agent)), agent)
    return ending.end(known, known)


def told(place: places.Place, agent: str, text: str, say: Say) -> None:
    agent_log.write(place, agent, text, time.time())
    say(text)
