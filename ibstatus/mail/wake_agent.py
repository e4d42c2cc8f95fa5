"""Waking an idle agent that has mail: one fixed line on its prompt line. Nothing else of ib types while it works.

The messages are not typed: the line makes a turn, and the agent's own hook tells them. Whatever is not certainly an
idle session with nothing on its prompt line is left alone; the mail waits.
"""

import time
from collections.abc import Callable
from typing import Literal, NamedTuple

from ibstatus.claude import hook_events, sessions
from ibstatus.claude import hook_state as standings
from ibstatus.claude.client import Claude
from ibstatus.claude.screens import prompt
from ibstatus.mail import inbox
from ibstatus.mail.rules import wake_line
from ibstatus.project import agent_meta, logs, paths
from ibstatus.system import locks
from ibstatus.system.tmux import server, typing

State = Literal["delivered", "busy", "dialog", "draft", "stopped", "unknown"]

STEP = 0.02
SHOWS_WITHIN = 2.0
TOLD_WITHIN = 3.0
DRAWN_WITHIN = 0.3
AGAIN_AFTER = 0.7  # an Enter that came too soon after the paste is part of it
FRESH = 2.0  # a turn that began so lately may not show yet
OF_SCREENS: dict[prompt.Kind, State] = {"busy": "busy", "dialog": "dialog", "ended": "stopped", "unknown": "unknown"}


class Roused(NamedTuple):
    """How things stand now; only `delivered` says that the agent's hook has told all that waited."""

    state: State


class Seat(NamedTuple):
    """Where one types: an agent's pane, on the server of this socket."""

    socket: str
    pane: server.Pane
    client: Claude

    def screen(self) -> prompt.Screen:
        return self.client.read(typing.styled(self.socket, self.pane))

    def settled(self) -> prompt.Screen:
        """One that is just being drawn shows nothing that could be read."""
        deadline = time.monotonic() + DRAWN_WITHIN
        while (screen := self.screen()).kind == "unknown" and time.monotonic() < deadline:
            time.sleep(STEP)
        return screen


def rouse(place: paths.Place, agent: str, unconfirmed: bool = False) -> Roused:
    """Never two at once on one agent: who comes second waits for the first, and sees what that has done.
    `unconfirmed`: what it was told in a turn that came to nothing counts as unheard."""
    lock = locks.Lock(place.lock("typing-" + agent))
    if not inbox.unread(place, agent, unconfirmed).ids:
        return Roused("delivered")
    if not until(lock.try_take, SHOWS_WITHIN + TOLD_WITHIN):
        return Roused("unknown" if inbox.unread(place, agent).ids else "delivered")
    try:
        waiting = inbox.unread(place, agent, unconfirmed)
        return Roused(tried(place, agent, waiting) if waiting.ids else "delivered")
    finally:
        lock.release()


def tried(place: paths.Place, agent: str, waiting: inbox.Unread) -> State:
    if is_at_work(place, agent):
        return "busy"
    found = seat_of(place, agent)
    if not isinstance(found, Seat):
        return found
    typing.server(found.socket)  # loaded before the look: nobody shall begin to type in between
    screen = cleared(found)
    left = screen.kind == "prompt" and wake_line.is_ours(screen.draft)
    if not screen.takes_text and not left:
        return "draft" if screen.kind == "prompt" else OF_SCREENS[screen.kind]
    if sessions.is_typing(found.socket, found.pane):
        return "draft"
    line = screen.draft if left else wake_line.line(len(waiting.ids), waiting.senders)
    if not left and not typing.paste(found.socket, found.pane, line):
        return "stopped"
    return sent(place, agent, found, line, waiting)


def cleared(seat: Seat) -> prompt.Screen:
    """A command of ours that one of us left behind when it died must not keep the mail for ever."""
    screen = seat.settled()
    if screen.kind != "prompt" or not wake_line.stands(screen.draft, wake_line.COMPACT):
        return screen
    if sessions.is_typing(seat.socket, seat.pane, sessions.LATELY):
        return screen
    typing.press(seat.socket, seat.pane, "-N", str(len(wake_line.COMPACT)), "BSpace")
    until(lambda: seat.screen().draft == "", SHOWS_WITHIN)
    return seat.settled()


def is_at_work(place: paths.Place, agent: str) -> bool:
    """By its hooks. Esc fires none: after a moment the screen decides whether a turn still runs."""
    last = standings.read(standings.path_of(place, agent, ""))
    at_work = last.state == hook_events.COMPACTING or (last.state == hook_events.RUNNING and not last.reason)
    return at_work and 0 <= time.time() - last.at < FRESH


def seat_of(place: paths.Place, agent: str) -> "Seat | State":
    """Its pane, or why there is none to type into."""
    where = sessions.of(place, agent)
    known = server.panes(where.socket)
    if known is None:
        return "unknown"
    pane = known.get(where.name)
    about = agent_meta.read(place, agent)
    if pane is None:
        return "stopped" if "tmux_session" in about else "unknown"
    if pane.dead or ("started" in about and not pane.marked):  # what a person has split off is theirs
        return "stopped"
    return "unknown" if pane.in_mode else Seat(where.socket, pane, sessions.client_of(place, agent))


def sent(place: paths.Place, agent: str, seat: Seat, line: str, waiting: inbox.Unread) -> State:
    """Enter, once exactly our line stands there; then until the agent's hook has told what waits."""
    if not until(lambda: wake_line.stands(seat.screen().draft, line), SHOWS_WITHIN):
        return taken_back(seat, line)
    if sessions.is_typing(seat.socket, seat.pane):
        return taken_back(seat, line)
    now, before = time.time(), inbox.telling_of(place, agent)
    if not press_enter(seat, line):
        return taken_back(seat, line)
    logs.note(place, "cli", now, {"kind": "message.rung", "who": agent, "by": "prompt", "ids": waiting.ids})
    pressed = [time.monotonic()]

    def told() -> bool:
        if inbox.is_told(place, agent, waiting.end) and inbox.telling_of(place, agent) != before:
            return True
        if time.monotonic() - pressed[-1] > AGAIN_AFTER and press_enter(seat, line):
            pressed.append(time.monotonic())
        return False

    return "delivered" if until(told, TOLD_WITHIN) else "unknown"


def press_enter(seat: Seat, line: str) -> bool:
    """Only on a prompt line that holds our line alone; looked at right before."""
    screen = seat.screen()
    ready = screen.kind == "prompt" and wake_line.stands(screen.draft, line)
    return ready and typing.press(seat.socket, seat.pane, "Enter")


def taken_back(seat: Seat, line: str) -> State:
    """Somebody typed meanwhile. Ours goes where it certainly is the last on the line, else it stays for them to see."""
    screen = seat.screen()
    if screen.kind in ("prompt", "busy") and wake_line.tail(screen.draft, line):
        typing.press(seat.socket, seat.pane, "-N", str(len(line)), "BSpace")
    return "draft" if screen.kind == "prompt" else OF_SCREENS[screen.kind]


def until(holds: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(STEP)
    return True
