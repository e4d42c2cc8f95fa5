"""Ending an agent's client and its terminal session; its files stay. Used by pause, kill and merge."""

import time
from collections.abc import Callable

from ibstatus.claude import sessions
from ibstatus.project import agent_meta, agent_worktree, logs, paths
from ibstatus.system.process import user_processes
from ibstatus.system.tmux import connect_lock, server

Say = Callable[[str], None]


def stop(place: paths.Place, agent: str, say: Say) -> bool:
    """True when there was something to end. The client is asked first: its last hook writes into the agent's folder."""
    where = sessions.of(place, agent)
    pane = where.pane()
    with connect_lock.changing(where.socket):  # its session ends with it
        ended = pane is not None and not pane.dead and end_pane(pane.pid)
        ended = end_strays(place, agent) or ended
    if ended:
        told(place, agent, "Terminated Claude process", say)
    if pane is not None:
        server.end(where.socket, where.name)
        told(place, agent, "Killed tmux session", say)
    return ended or pane is not None


def end_pane(top: int) -> bool:
    known = user_processes.family(top)
    return user_processes.end(user_processes.clients(top, known), known)


def end_strays(place: paths.Place, agent: str) -> bool:
    """What has lost its terminal: the tmux server died, or the client was started by hand."""
    known = user_processes.strays(agent_worktree.worktree_of(place, agent, agent_meta.read(place, agent)), agent)
    return user_processes.end(known, known)


def told(place: paths.Place, agent: str, text: str, say: Say) -> None:
    logs.write(place, agent, text, time.time())
    say(text)
