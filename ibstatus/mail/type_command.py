"""Typing a command of the client itself into an idle agent, and answering its menu of a limit: as careful as rouse."""

import time

from ibstatus.claude import sessions
from ibstatus.claude.screens.prompt import LOST, Pace
from ibstatus.mail import wake_agent
from ibstatus.mail.rules import wake_line
from ibstatus.project import paths
from ibstatus.system import locks
from ibstatus.system.tmux import typing

STOP_AND_WAIT = "Stop and wait"
LOOK_EVERY, LONGEST = 0.1, 4 * LOST
STARTS_WITHIN = 3.0


def compact(place: paths.Place, agent: str) -> wake_agent.State:
    """`delivered`: the command was taken."""
    return typed(place, agent, wake_line.COMPACT)


def typed(place: paths.Place, agent: str, line: str) -> wake_agent.State:
    lock = locks.Lock(place.lock("typing-" + agent))
    if not lock.try_take():
        return "busy"
    try:
        if wake_agent.is_at_work(place, agent):
            return "busy"
        seat = wake_agent.seat_of(place, agent)
        if not isinstance(seat, wake_agent.Seat):
            return seat
        typing.server(seat.socket)
        screen = seat.settled()
        left = screen.kind == "prompt" and wake_line.stands(screen.draft, line)  # by one of us that has died
        if not screen.takes_text and not left:
            return "draft" if screen.kind == "prompt" else wake_agent.OF_SCREENS[screen.kind]
        if sessions.is_typing(seat.socket, seat.pane):
            return "draft"
        return sent(seat, line, left)
    finally:
        lock.release()


def sent(seat: wake_agent.Seat, line: str, left: bool = False) -> wake_agent.State:
    if not left and not typing.paste(seat.socket, seat.pane, line):
        return "stopped"
    if not wake_agent.until(lambda: wake_line.stands(seat.screen().draft, line), wake_agent.SHOWS_WITHIN):
        return wake_agent.taken_back(seat, line)
    pressed: list[float] = []

    def taken() -> bool:
        screen = seat.screen()
        if screen.kind != "unknown" and not wake_line.stands(screen.draft, line):
            return True
        if (not pressed or time.monotonic() - pressed[-1] > wake_agent.AGAIN_AFTER) and wake_agent.press_enter(
            seat, line
        ):
            pressed.append(time.monotonic())
        return False

    if wake_agent.until(taken, STARTS_WITHIN):
        return "delivered" if pressed else wake_agent.taken_back(seat, line)
    return wake_agent.taken_back(seat, line)


def wait_for_reset(place: paths.Place, agent: str) -> bool:
    """The older client asks what to do about a limit. True when no such menu is open (any more)."""
    lock = locks.Lock(place.lock("typing-" + agent))
    if not lock.try_take():
        return False
    try:
        seat = wake_agent.seat_of(place, agent)
        if not isinstance(seat, wake_agent.Seat):
            return True
        return answered(seat)
    finally:
        lock.release()


def answered(seat: wake_agent.Seat) -> bool:
    """One key at a time; False while it is still open."""
    pace, until = Pace(), time.monotonic() + LONGEST
    while time.monotonic() < until:
        dialog = seat.settled().dialog
        if dialog is None or dialog.which != "limit" or not dialog.options:
            return True
        keys = seat.client.steps(dialog, STOP_AND_WAIT)
        if not keys or sessions.is_typing(seat.socket, seat.pane):
            return False
        if pace.is_free(dialog, time.monotonic()):
            typing.press(seat.socket, seat.pane, keys[0])
            pace.pressed(dialog, time.monotonic())
        time.sleep(LOOK_EVERY)
    return False
