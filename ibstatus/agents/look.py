"""What an agent shows, or has said: its screen while it lives, its transcript, its archive once it is gone.

attach: the caller's terminal becomes the agent's.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from ibstatus.claude import sessions
from ibstatus.errors import IbError, quoted
from ibstatus.project import agents, home, names, paths
from ibstatus.state import session_end
from ibstatus.system import disk
from ibstatus.system.text import terminal
from ibstatus.system.tmux import server

DEFAULT = 50
SCREEN, TRANSCRIPT, ARCHIVE = "screen", "transcript", "archive"
LONGEST_LOG = 1 << 30
STAMP = len("20260101-000000-")
LOOK_EVERY = 1.0


class Looked(NamedTuple):
    """`source`: where the text is from, `path` which file, `note` what there is to say about that."""

    id: str
    source: str
    text: str
    path: str = ""
    note: str = ""


def look(place: paths.Place, given: str, lines: int | None, everything: bool, source: str = "") -> Looked:
    """`source`: SCREEN or TRANSCRIPT when only that will do, else what serves best. `lines`: None shows one screen."""
    try:
        agent = agents.resolve(place, given)
    except IbError:
        kept = archived(place, given)
        if not kept:
            raise
        return from_archive(kept, None if everything else lines or DEFAULT)
    screen = None if source == TRANSCRIPT else shown(place, agent, lines, everything, source == SCREEN)
    if screen is not None:
        return Looked(agent, SCREEN, screen)
    if source == SCREEN:
        raise IbError(f"{agent} is not running, so it has no screen", hint=f"ib look {quoted(agent)}")
    return from_transcript(place, agent, None if everything else lines or DEFAULT)


def shown(place: paths.Place, agent: str, lines: int | None, everything: bool, insists: bool) -> str | None:
    """The screen as text; None when there is none, or when more is wanted than it can show."""
    where = sessions.of(place, agent)
    pane = where.pane()
    screen = where.screen(pane) if pane is not None else None
    if pane is None or screen is None:
        return None
    height = screen.count("\n")
    more = everything or (lines or 0) > height
    if more and not insists and transcript_of(place, agent):
        return None
    if more and not pane.alternate:
        screen = where.screen(pane, None if everything else lines) or screen
    return terminal.last(terminal.harmless(screen), None if everything else lines)


def transcript_of(place: paths.Place, agent: str) -> str:
    return sessions.client_of(place, agent).transcript_of(place, agent)


def from_transcript(place: paths.Place, agent: str, lines: int | None) -> Looked:
    path = transcript_of(place, agent)
    if not path:
        kept = session_end.last_screen(place, agent)
        if not kept.strip():
            raise IbError(
                f"{agent} shows nothing: its session is not running, and there is no transcript of it",
                hint=f"tail {quoted(place.agent_dir(agent) + '/agent.log')}",
            )
        note = f"{agent} has ended before it said anything; this is what its terminal showed"
        return Looked(agent, SCREEN, terminal.last(terminal.harmless(kept), lines), note=note)
    return Looked(agent, TRANSCRIPT, sessions.client_of(place, agent).said(path, lines), path)


def archived(place: paths.Place, given: str) -> str:
    """The newest archive of the agent with this id, or with an id that alone begins so; '' without one."""
    try:
        folders = [name for name in disk.listdir(place.home + "/archive") if len(name) > STAMP]
    except OSError:
        return ""
    ids = {agent_of(name) for name in folders}
    meant = names.meant(given, sorted(ids))
    if len(meant) != 1:
        return ""
    return f"{place.home}/archive/{max((name for name in folders if agent_of(name) in meant), key=age_of)}"


def agent_of(folder: str) -> str:
    """A second one of the same second ends in `.2`; no id holds a dot."""
    return folder[STAMP:].partition(".")[0]


def age_of(folder: str) -> tuple[str, int]:
    number = folder.rpartition(".")[2]
    return folder[:STAMP], int(number) if number.isdigit() else 1


def from_archive(folder: str, lines: int | None) -> Looked:
    name = folder.rpartition("/")[2]
    agent, path = agent_of(name), folder + "/output.log"
    try:
        text = disk.read_ours(path, LONGEST_LOG).decode("utf-8", "replace")
    except OSError as error:
        raise IbError(f"{agent} is gone, and its archive holds no output", cause=str(error)) from None
    note = f"{agent} is gone; this is from its archive {name}"
    return Looked(agent, ARCHIVE, terminal.last(terminal.harmless(text), lines), path, note)


def follow(place: paths.Place, agent: str, lines: int | None) -> Iterator[str]:
    """The last lines of its transcript, then what comes, until its session is over."""
    client = sessions.client_of(place, agent)
    reader = client.reader(client.transcript_of(place, agent))
    known = "\n\n".join(text.rstrip("\n") for text in reader.text())
    if known:
        yield terminal.last(known, lines)
    changed = threading.Event()
    watcher = Following(changed)
    try:
        living, asked = True, 0.0
        while living:
            watcher.look_at(reader.path)
            changed.wait(LOOK_EVERY)
            changed.clear()
            if time.monotonic() - asked >= LOOK_EVERY:
                living, asked = is_living(place, agent), time.monotonic()
            newest = client.transcript_of(place, agent)
            if newest not in ("", reader.path):
                yield from (text.rstrip("\n") for text in reader.text())
                reader = client.reader(newest)
            yield from (text.rstrip("\n") for text in reader.text())
    finally:
        watcher.close()


def is_living(place: paths.Place, agent: str) -> bool:
    pane = sessions.of(place, agent).pane()
    return pane is not None and not pane.dead


class Following(FileSystemEventHandler):
    """Says when the transcript changes. Without a watch to be had, the look once a second is enough."""

    def __init__(self, changed: threading.Event) -> None:
        self.changed = changed
        logging.getLogger("watchdog").setLevel(logging.CRITICAL)  # it warns of what it is still told while it ends
        self.observer = Observer()
        self.observer.start()
        self.folder = ""

    def look_at(self, path: str) -> None:
        folder = path.rpartition("/")[0]
        if folder == self.folder:
            return
        self.observer.unschedule_all()
        self.folder = folder
        try:
            if folder:
                self.observer.schedule(self, folder)
        except OSError:
            return

    def on_modified(self, event: FileSystemEvent) -> None:
        self.changed.set()

    def close(self) -> None:
        self.observer.stop()
        self.observer.join(2)


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
