"""titles: whose state stands in which window; and giving windows their names back."""

import time
from typing import NamedTuple

from ibstatus.errors import IbError, quoted
from ibstatus.project import paths
from ibstatus.system.tmux import server as tmux_servers
from ibstatus.titles import hook, pane_files, tmux_window
from ibstatus.titles import machine as rules
from ibstatus.titles.title_widths import configured

FORMAT = tmux_window.of_loudest("#{@ib_pane_glyph}")
NAME = tmux_window.unescaped("window_name")
FIELDS = (
    "pane_id",
    "@ib_pane_state",
    "@ib_pane_since",
    "@ib_session",
    "@ib_loudest",
    "window_id",
    "session_name",
    "window_index",
    "@ib_pane_glyph",
    "@ib_pane_project",
)


class Title(NamedTuple):
    """One session. `window`: as one types it for tmux; `since`: an epoch; `title`: what its window is called;
    `shown`: is it this session that the window speaks of?"""

    socket: str
    window: str
    window_id: str
    pane: str
    state: str
    since: float
    title: str
    shown: bool
    glyph: str
    project: str
    whose: str


def shown() -> list[Title]:
    """In the tmux of this terminal and in that of the agents; a server that does not run has none."""
    socket = str(configured(paths.here).value("tmux.socket"))
    return [title for server in tmux_servers.seen(socket) for title in titles_of(server)]


def titles_of(server: tmux_servers.Server) -> list[Title]:
    """A window that is linked into several sessions is told of once."""
    form = "\t".join([*(f"#{{{field}}}" for field in FIELDS), NAME])
    done = tmux_servers.ask_server(server, "list-panes", "-a", "-F", form)
    if done.code == 127:
        raise IbError("Window titles need tmux, which is not installed", hint="install tmux; ib doctor")
    if done.code == 124:
        raise IbError(f"The tmux of {server.socket} does not answer", hint=f"tmux -S {quoted(server.socket)} ls")
    rows = [line.split("\t", len(FIELDS)) for line in done.out.splitlines()]
    found = [title(server, *row) for row in rows if len(row) > len(FIELDS) and row[1]]
    return list({one.pane: one for one in found}.values())


def title(
    server: tmux_servers.Server,
    pane: str,
    state: str,
    since: str,
    mark: str,
    loudest: str,
    window_id: str,
    session: str,
    index: str,
    glyph: str,
    project: str,
    name: str,
) -> Title:
    whose = f"agent {project}" if mark else "you"
    window = f"{session}:{index}"
    return Title(
        server.socket, window, window_id, pane, state, epoch(since), name, loudest == pane, glyph, project, whose
    )


def epoch(text: str) -> float:
    """0 for what is none: anybody can set these options."""
    whole, _, part = text.partition(".")
    return float(text) if (whole + part).isascii() and (whole + part).isdigit() and 0 < len(whole) < 12 else 0.0


def give_back(root: str) -> int:
    """Every window that a session of this repository has titled gets its own name back; how many have got it.

    Until the settings are read again, at its next prompt or the end of its turn, its hooks leave the window alone."""
    given = set()
    for path in pane_files.paths():
        try:
            if pane_files.is_alive(pane_files.server_of(path)) and is_of(pane_files.read(path), root):
                with pane_files.File(path) as file:
                    given |= give_one_back(file, root)
        except OSError:
            continue
    return len(given)


def give_one_back(file: pane_files.File, root: str) -> set[tuple[str, str]]:
    """It may have changed hands while the lock was waited for."""
    memory, now = file.memory, time.time()
    if not is_of(memory, root):
        return set()
    memory.mode, memory.known = rules.OFF, rules.Known(rules.IDLE, now)
    hook.give_back(file, now)
    return set() if memory.due else {(memory.socket, memory.window)}


def is_of(memory: pane_files.Memory, root: str) -> bool:
    """Does it bear a title of a session of this repository, or of an agent's?"""
    if not memory.shown and not memory.due:
        return False
    try:
        return paths.find(memory.folder).root == root
    except (IbError, ValueError):  # the folder is gone, or no name at all
        return memory.folder == root or memory.folder.startswith(root.rstrip("/") + "/")
