"""The tmux servers that ib can see: the one that the caller's terminal runs in, and the one of the agents."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ibstatus.system.process import run
from ibstatus.system.tmux import connect_lock
from ibstatus.system.tmux import server as tmux

PATIENCE = 2.0
HERE, AGENTS, PRIVATE = "this terminal's", "the agents'", "a private one, gone again"


class Server(NamedTuple):
    """`whose`: for people. `pane`: where the caller stands in it, '' for none."""

    whose: str
    socket: str
    pane: str = ""
    start: tuple[str, ...] = ()


class Client(NamedTuple):
    """A terminal that shows something of a server."""

    tty: str
    term: str
    utf8: bool


def seen(agents: str) -> list[Server]:
    """Those that may run, each once; `agents` is the name of the agents' socket."""
    here = of_terminal(os.environ.get("TMUX", ""), os.environ.get("TMUX_PANE", ""))
    theirs = Server(AGENTS, connect_lock.path_of(agents))
    known = [] if here is None else [here]
    if here is None or os.path.realpath(here.socket) != os.path.realpath(theirs.socket):
        known.append(theirs)
    return known


def of_terminal(value: str, pane: str) -> Server | None:
    """What `TMUX` and `TMUX_PANE` say; None outside of tmux."""
    socket = value.rsplit(",", 2)[0]
    if not socket.startswith("/") or "\0" in socket:
        return None
    is_pane = pane[:1] == "%" and pane[1:].isascii() and pane[1:].isdigit()
    return Server(HERE, socket, pane if is_pane else "")


@contextmanager
def throw_away() -> Iterator[Server]:
    """A server for one question: without sessions it ends by itself, and its socket goes."""
    folder = tempfile.mkdtemp(prefix="ib-", dir="/tmp")  # a socket's path must be short
    try:
        yield Server(PRIVATE, folder + "/s", start=("start-server", ";"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def asked(server: Server, *args: str, commands: str = "") -> run.Ended:
    """One process: these words, or a file of commands. code 127 without tmux, 124 when the server hangs."""
    words = ["-S", server.socket, *server.start, *(args or ("source-file", "-"))]
    return tmux.ran(words, commands.encode("utf-8", "surrogateescape"), PATIENCE)


def clients(server: Server) -> list[Client]:
    """Who is attached; with a pane, only to its session."""
    where = ["-t", server.pane] if server.pane else []
    done = asked(server, "list-clients", *where, "-F", "#{client_utf8}\t#{client_termname}\t#{client_tty}")
    rows = [line.split("\t", 2) for line in done.out.splitlines() if line.count("\t") >= 2]
    return [Client(tty, term, utf8 == "1") for utf8, term, tty in rows]
