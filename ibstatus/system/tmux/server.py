"""tmux: asked as one server on a socket of its own; what the caller's terminal runs in does not count.

Every target is exact: a session is looked up by its whole name once, then spoken to by its pane's id.

The tmux servers that ib can see: the one that the caller's terminal runs in, and the one of the agents.
"""

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.system.process import run
from ibstatus.system.tmux import connect_lock

PATIENCE = 10.0
LOOK_PATIENCE = 2.0  # a look can be made again
NO_SERVER = (
    "no server running",
    "error connecting",
    "server exited",
    "lost server",
    "no current target",
    "No such file or directory",
)
GONE = ("can't find", *NO_SERVER)
WIDTH, HEIGHT = 160, 48
LEAVING = " #{prefix} d leaves it running "
FIELDS = (
    "@ib_session",
    "session_id",
    "pane_id",
    "pane_pid",
    "pane_dead",
    "alternate_on",
    "pane_in_mode",
    "session_name",
)
NOT_THE_SERVERS = ("TMUX", "TMUX_PANE", "IB_AGENT_ID", "IB_AGENT_TOKEN")
OWN = ("TMUX", "TMUX_PANE", "TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION")


class Pane(NamedTuple):
    """The one pane of an agent's session, as tmux saw it a moment ago. `pid`: the process that was started in it;
    `marked`: ib has made it, it is no other one of that session."""

    session: str
    session_id: str
    id: str
    pid: int
    dead: bool
    alternate: bool
    in_mode: bool
    marked: bool = False


def version() -> str:
    """As in `tmux 3.4`; '' when there is no tmux."""
    return run.first_line(["tmux", "-V"])


def asked(socket: str, *args: str, data: bytes | None = None, patience: float = PATIENCE) -> run.Ended:
    """One command to the server of this socket."""
    return ran(["-L", socket, *args], data, patience)


def ran(words: Sequence[str], data: bytes | None, patience: float) -> run.Ended:
    """code 127 without tmux, 124 when it does not answer. A server that it starts is nobody's: no agent's marks, no
    agent's folder."""
    env = {key: value for key, value in os.environ.items() if key not in NOT_THE_SERVERS}
    try:
        done = subprocess.run(
            ["tmux", "-u", "-f", os.devnull, *words],  # -u: without UTF-8 it prints tabs as _
            input=data,
            stdin=subprocess.DEVNULL if data is None else None,
            capture_output=True,
            timeout=patience,
            check=False,
            env=env,
            cwd="/",
        )
    except FileNotFoundError:
        return run.Ended(127, "", "tmux is not installed")
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return run.Ended(124, "", f"tmux does not answer: {error}")
    return run.Ended(done.returncode, run.text(done.stdout), run.text(done.stderr).strip())


def sessions(socket: str) -> frozenset[str] | None:
    """The names of all sessions in which something runs; None when tmux cannot be asked."""
    known = panes(socket)
    return None if known is None else frozenset(name for name, pane in known.items() if not pane.dead)


def panes(socket: str) -> dict[str, Pane] | None:
    """By the name that each session was given at its start: renamed, split or with more windows, the pane that ib has
    made is still the one. Of any other session its first pane. None when tmux cannot be asked."""
    form = "\t".join(f"#{{{field}}}" for field in FIELDS)
    done = asked(socket, "list-panes", "-a", "-F", form, patience=LOOK_PATIENCE)
    if done.code:
        return {} if any(words in done.err for words in NO_SERVER) else None
    marked: dict[str, Pane] = {}
    others: dict[str, Pane] = {}
    for line in done.out.splitlines():
        mark, session_id, pane, pid, dead, alternate, mode, name = line.split("\t", len(FIELDS) - 1)
        found = Pane(name, session_id, pane, int(pid or 0), dead == "1", alternate == "1", mode != "0", bool(mark))
        (marked if mark else others).setdefault(mark or name, found)
    return {**others, **marked}


def pane_of(socket: str, session: str) -> Pane | None:
    """None when there is surely no session of exactly this name."""
    known = panes(socket)
    if known is None:
        raise IbError("tmux cannot be asked", hint=f"tmux -L {socket} list-sessions, which says why; ib doctor")
    return known.get(session)


def start(socket: str, session: str, cwd: str, argv: Sequence[str], title: str) -> None:
    """A session that runs this program, with the environment of the caller, whoever started the server. `title`: what
    the window is called, so that who attaches sees where they are."""
    names = [name for name in os.environ if name not in OWN and name.isidentifier()]
    with connect_lock.changing(socket):
        done = asked(
            socket,
            "start-server",
            ";",
            "set-option",
            "-g",
            "update-environment",
            " ".join(names),
            ";",
            "new-session",
            "-d",
            "-s",
            session,
            "-n",
            title,
            "-x",
            str(WIDTH),
            "-y",
            str(HEIGHT),
            "-c",
            cwd,
            "--",
            *argv,
        )
    if done.code == 0:
        there = f"={session}:"
        options = (("status-left", f" {title}  "), ("status-left-length", "44"), ("status-right", LEAVING))
        commands = [["set-option", "-t", there, *option] for option in options]
        asked(socket, *chained([["set-option", "-p", "-t", there, "@ib_session", session], *commands]))
    if done.code:
        raise IbError(f"tmux could not start the session {session}", cause=done.err, hint="ib doctor")


def chained(commands: Sequence[Sequence[str]]) -> list[str]:
    """Several commands in one call."""
    return [word for command in commands for word in (*command, ";")][:-1]


def end(socket: str, session: str) -> bool:
    """Kill the pane that was made under this name, wherever it is now, and its session; False when there is neither."""
    pane = (panes(socket) or {}).get(session)
    with connect_lock.changing(socket):
        gone = pane is not None and asked(socket, "kill-pane", "-t", pane.id).code == 0
        return asked(socket, "kill-session", "-t", f"={session}").code == 0 or gone


def captures(socket: str, panes: Sequence[str]) -> dict[str, bytes]:
    """What all of these panes show, asked by one process; without those that are gone. Each answer begins with a mark
    that no screen can know; display-message takes a % for a form of time."""
    if not panes:
        return {}
    mark = secrets.token_hex(16)
    commands = "".join([f"display-message -p {mark}{pane[1:]}\ncapture-pane -p -t {pane}\n" for pane in panes])
    done = asked(socket, "source-file", "-", data=commands.encode(), patience=LOOK_PATIENCE)
    found: dict[str, bytes] = {}
    for part in done.out.split(mark)[1:]:
        pane, _, screen = part.partition("\n")
        if screen:
            found["%" + pane] = screen.encode()
    return found


def capture(socket: str, pane: str, history: int | None = 0) -> str | None:
    """What the pane shows, with so many lines of history (None: all there are). None when it is gone."""
    lines = ["-S", "-" if history is None else str(-history)] if history != 0 else []
    done = asked(socket, "capture-pane", "-p", *lines, "-t", pane)
    return done.out if done.code == 0 else None


SERVER_PATIENCE = 2.0
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


def ask_server(server: Server, *args: str, commands: str = "") -> run.Ended:
    """One process: these words, or a file of commands. code 127 without tmux, 124 when the server hangs."""
    words = ["-S", server.socket, *server.start, *(args or ("source-file", "-"))]
    return ran(words, commands.encode("utf-8", "surrogateescape"), SERVER_PATIENCE)


def clients(server: Server) -> list[Client]:
    """Who is attached; with a pane, only to its session."""
    where = ["-t", server.pane] if server.pane else []
    done = ask_server(server, "list-clients", *where, "-F", "#{client_utf8}\t#{client_termname}\t#{client_tty}")
    rows = [line.split("\t", 2) for line in done.out.splitlines() if line.count("\t") >= 2]
    return [Client(tty, term, utf8 == "1") for utf8, term, tty in rows]
