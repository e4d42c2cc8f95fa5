"""attach: the caller's terminal becomes the agent's."""

import os
import sys

from ibstatus.claude import sessions
from ibstatus.errors import IbError, quoted
from ibstatus.project import home, paths
from ibstatus.system.tmux import server

LEAVE = "To leave: Ctrl-b d"
NESTED = "To leave: Ctrl-b twice, then d (this terminal is in a tmux of its own, which takes the first one)"


def check(place: paths.Place, agent: str, on_terminal: bool) -> sessions.Session:
    """Where there is something to attach to, and somebody to attach."""
    if not on_terminal:
        raise IbError("ib attach needs a terminal", hint=f"ib look {quoted(agent)} --follow")
    home.look(place)  # a copied repository must not reach the sessions of the other one
    where = sessions.of(place, agent)
    known = server.panes(where.socket)
    if known is None:
        raise IbError("tmux cannot be asked", hint="ib doctor")
    if where.name not in known:
        raise IbError(f"{agent} is not running", hint=f"ib resume {quoted(agent)}")
    return where


def argv(where: sessions.Session, read_only: bool) -> list[str]:
    """Who only looks does not change the size of the agent's terminal either."""
    flags = ["-f", "read-only,ignore-size"] if read_only else []
    return ["tmux", "-u", "-f", os.devnull, "-L", where.socket, "attach-session", *flags, "-t", f"={where.name}"]


def leaving() -> str:
    return NESTED if os.environ.get("TMUX") else LEAVE


def become(words: list[str]) -> None:
    """This process goes on as tmux; of the tmux that it may stand in, that one knows nothing."""
    env = {key: value for key, value in os.environ.items() if key not in ("TMUX", "TMUX_PANE")}
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(words[0], words, env)
    except FileNotFoundError:
        raise IbError("tmux is not installed", hint="ib doctor") from None
