"""doctor titles: does tmux count each glyph as wide as terminals draw it, and which set is right here?"""

import os
import secrets
import shutil
from collections.abc import Callable, Sequence
from typing import NamedTuple

from wcwidth import wcswidth

from ibstatus.errors import IbError
from ibstatus.project import config, paths, settings
from ibstatus.system.tmux import server as tmux_servers
from ibstatus.titles import glyphs as title_glyphs

TOOLS = (
    ("Edit", "editing"),
    ("Bash", "a command"),
    ("Read", "reading and searching"),
    ("TaskUpdate", "a list of tasks"),
    ("WebFetch", "the web"),
    ("Write", "writing a file"),
    ("Agent", "an agent or a skill"),
    ("SlashCommand", "a slash command"),
    ("TaskOutput", "the output of a task"),
    ("mcp__any__tool", "any other tool"),
)
STATES = (
    ("IDLE", "ready, or work done"),
    ("WORKING", "a background task runs"),
    ("BASE", "nothing visible done"),
    ("ALERT", "waits for you"),
)


class Width(NamedTuple):
    """One glyph. `styles`: the sets it is in; `tmux`: the columns that tmux counts; `wanted`: those of the standard."""

    glyph: str
    meaning: str
    styles: tuple[str, ...]
    tmux: int
    wanted: int

    @property
    def fits(self) -> bool:
        return self.tmux == self.wanted


class Widths(NamedTuple):
    """`server`: whose tmux was asked; `used`: the set in use; `source`: who says so; `wanted`: the set to use."""

    server: str
    socket: str
    version: str
    term: str
    clients: list[tmux_servers.Client]
    glyphs: list[Width]
    used: str
    source: str
    wanted: str

    @property
    def command(self) -> str:
        """What sets the right one; '' when it is the one in use."""
        everywhere = "" if self.source == settings.PROJECT else " --global"
        return "" if self.used == self.wanted else f"ib config set tmux.glyphs {self.wanted}{everywhere}"


def measure(find: Callable[[], paths.Place]) -> Widths:
    if shutil.which("tmux") is None:
        raise IbError("Window titles need tmux, which is not installed", hint="install tmux; ib doctor")
    known = configured(find)
    table = glyphs()
    texts = [glyph for glyph, _, _ in table]
    server, counted, version = ask(known.value("tmux.socket"), texts)
    found = [Width(*row, count, columns(row[0])) for row, count in zip(table, counted, strict=True)]
    clients = tmux_servers.clients(server) if not server.start else []
    used, source = str(known.value("tmux.glyphs")), known.source("tmux.glyphs")
    term = os.environ.get("TERM", "")
    socket = "" if server.start else server.socket
    return Widths(server.whose, socket, version, term, clients, found, used, source, fitting(found, clients))


def configured(find: Callable[[], paths.Place]) -> settings.Settings:
    """Outside of a repository only the user's own file counts."""
    try:
        return config.load(find())
    except IbError:
        return config.load(paths.Place("/nowhere", "/nowhere/.git"))


def ask(agents: str, texts: Sequence[str]) -> tuple[tmux_servers.Server, list[int], str]:
    """The first server that answers, its widths and its version."""
    for server in tmux_servers.seen(agents):
        counted = count_in_tmux(server, texts)
        if counted is not None:
            return server, counted, version(server)
    with tmux_servers.throw_away() as server:
        counted = count_in_tmux(server, texts)
        if counted is None:
            raise IbError("tmux does not say how wide a text is", hint="tmux -V: ib needs 3.2 or newer; ib doctor")
        return server, counted, version(server)


def count_in_tmux(server: tmux_servers.Server, texts: Sequence[str]) -> list[int] | None:
    """None when this server cannot be asked. It keeps nothing: the option it is asked by has a name of its own."""
    name = f"@ib_width_{secrets.token_hex(4)}"
    asking = [f"set-option -g {name} '{text}'\ndisplay-message -p '#{{w:{name}}}'\n" for text in texts]
    done = tmux_servers.ask_server(server, commands="".join(asking) + f"set-option -gu {name}\n")
    found = done.out.split()
    return [int(word) for word in found] if len(found) == len(texts) and all(map(str.isdigit, found)) else None


def version(server: tmux_servers.Server) -> str:
    """Of the program that runs there; the one on PATH may be newer."""
    return tmux_servers.ask_server(server, "display-message", "-p", "#{version}").out.strip()


def glyphs() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every glyph of the two sets that are no plain letters: what it stands for, and in which sets it is."""
    rows = [(state, "", meaning) for state, meaning in STATES]
    rows += [("ACTIVE_FOCUSED", "", "thinking")] + [("ACTIVE_FOCUSED", tool, meaning) for tool, meaning in TOOLS]
    found: dict[str, tuple[list[str], list[str]]] = {}
    for style in title_glyphs.STYLES[:2]:
        for state, tool, meaning in rows:
            meanings, styles = found.setdefault(title_glyphs.glyph(state, tool, style), ([], []))
            meanings += [] if meaning in meanings else [meaning]
            styles += [] if style in styles else [style]
    return [(glyph, "; ".join(meanings), tuple(styles)) for glyph, (meanings, styles) in found.items()]


def columns(text: str) -> int:
    """Count the columns that terminals draw, by the Unicode standard."""
    width = wcswidth(text)
    return width if width >= 0 else len(text)


def fitting(found: Sequence[Width], clients: Sequence[tmux_servers.Client]) -> str:
    """The richest set of which every glyph fits; a client without UTF-8 is shown underscores instead."""
    if any(not client.utf8 for client in clients):
        return "ascii"
    misfits = {style for width in found if not width.fits for style in width.styles}
    return next(style for style in title_glyphs.STYLES if style not in misfits)
