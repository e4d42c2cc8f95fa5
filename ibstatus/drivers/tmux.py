"""tmux: asked as one server on a socket of its own; what the caller's terminal runs in does not count.

Every target is exact: a session is looked up by its whole name once, then spoken to by its pane's id.
"""

import os
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from ibstatus.drivers import installed, processes
from ibstatus.errors import IbError

PATIENCE = 10.0
NO_SERVER = ("no server running", "error connecting", "server exited", "No such file or directory")
GONE = ("can't find", *NO_SERVER)
WIDTH, HEIGHT = 160, 48
FIELDS = ("session_id", "pane_id", "pane_pid", "pane_dead", "alternate_on", "pane_in_mode", "session_name")
OWN = ("TMUX", "TMUX_PANE", "TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION")


class Pane(NamedTuple):
    """The one pane of an agent's session, as tmux saw it a moment ago. `pid`: the process that was started in it."""

    session: str
    session_id: str
    id: str
    pid: int
    dead: bool
    alternate: bool
    in_mode: bool


def version() -> str:
    """As in `tmux 3.4`; '' when there is no tmux."""
    return installed.first_line(["tmux", "-V"])


def asked(socket: str, *args: str, data: bytes | None = None) -> processes.Ended:
    """One command to the server of this socket. code 127 without tmux, 124 when it does not answer."""
    env = {key: value for key, value in os.environ.items() if key not in ("TMUX", "TMUX_PANE")}
    try:
        done = subprocess.run(
            ["tmux", "-u", "-f", os.devnull, "-L", socket, *args],  # -u: without UTF-8 it prints tabs as _
            input=data,
            stdin=subprocess.DEVNULL if data is None else None,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
            env=env,
        )
    except FileNotFoundError:
        return processes.Ended(127, "", "tmux is not installed")
    except (OSError, subprocess.TimeoutExpired) as error:
        return processes.Ended(124, "", f"tmux does not answer: {error}")
    return processes.Ended(done.returncode, processes.text(done.stdout), processes.text(done.stderr).strip())


def sessions(socket: str) -> frozenset[str] | None:
    """The names of all sessions; None when tmux cannot be asked."""
    done = asked(socket, "list-sessions", "-F", "#{session_name}")
    if done.code == 0:
        return frozenset(done.out.splitlines())
    return frozenset() if any(words in done.err for words in NO_SERVER) else None


def panes(socket: str) -> dict[str, Pane] | None:
    """The first pane of every session, by the session's name; None when tmux cannot be asked."""
    done = asked(socket, "list-panes", "-a", "-F", "\t".join(f"#{{{field}}}" for field in FIELDS))
    if done.code:
        return {} if any(words in done.err for words in NO_SERVER) else None
    found: dict[str, Pane] = {}
    for line in done.out.splitlines():
        session_id, pane, pid, dead, alternate, mode, name = line.split("\t", len(FIELDS) - 1)
        found.setdefault(name, Pane(name, session_id, pane, int(pid or 0), dead == "1", alternate == "1", mode != "0"))
    return found


def pane_of(socket: str, session: str) -> Pane | None:
    """None when there is no session of exactly this name, or no tmux to ask."""
    return (panes(socket) or {}).get(session)


def start(socket: str, session: str, cwd: str, argv: Sequence[str]) -> None:
    """A session that runs this program, with the environment of the caller, whoever started the server."""
    names = [name for name in os.environ if name not in OWN and name.isidentifier()]
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
        "-x",
        str(WIDTH),
        "-y",
        str(HEIGHT),
        "-c",
        cwd,
        "--",
        *argv,
    )
    if done.code:
        raise IbError(f"tmux could not start the session {session}", cause=done.err, hint="ib doctor")


def end(socket: str, session: str) -> bool:
    """Kill the session of exactly this name; False when there is none (any more)."""
    return asked(socket, "kill-session", "-t", f"={session}").code == 0


def capture(socket: str, pane: str, history: int | None = 0) -> str | None:
    """What the pane shows, with so many lines of history (None: all there are). None when it is gone."""
    lines = ["-S", "-" if history is None else str(-history)] if history != 0 else []
    done = asked(socket, "capture-pane", "-p", *lines, "-t", pane)
    return done.out if done.code == 0 else None
