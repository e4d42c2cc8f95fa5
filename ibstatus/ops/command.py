"""Typing a command of the client itself into an idle agent, and answering its menu of a limit: as careful as rouse."""

import time

from ibstatus.drivers import terminal
from ibstatus.ops import attention, rouse
from ibstatus.rules import rousing
from ibstatus.rules.key_pace import LOST, Pace
from ibstatus.store import locks, places

STOP_AND_WAIT = "Stop and wait"
LOOK_EVERY, LONGEST = 0.1, 4 * LOST
STARTS_WITHIN = 3.0


def compact(place: places.Place, agent: str) -> rouse.State:
    """`delivered`: the command was taken."""
    return typed(place, agent, rousing.COMPACT)


def typed(place: places.Place, agent: str, line: str) -> rouse.State:
    lock = locks.Lock(place.lock("typing-" + agent))
    if not lock.try_take():
        return "busy"
    try:
        if rouse.is_at_work(place, agent):
            return "busy"
        seat = rouse.seat_of(place, agent)
        if not isinstance(seat, rouse.Seat):
            return seat
        terminal.server(seat.socket)
        screen = seat.settled()
        left = screen.kind == "prompt" and rousing.stands(screen.draft, line)  # by one of us that has died
        if not screen.takes_text and not left:
            return "draft" if screen.kind == "prompt" else rouse.OF_SCREENS[screen.kind]
        if attention.is_typing(seat.socket, seat.pane):
            return "draft"
        return sent(seat, line, left)
    finally:
        lock.release()


def sent(seat: rouse.Seat, line: str, left: bool = False) -> rouse.State:
    if not left and not terminal.paste(seat.socket, seat.pane, line):
        return "stopped"
    if not rouse.until(lambda: rousing.stands(seat.screen().draft, line), rouse.SHOWS_WITHIN):
        return rouse.taken_back(seat, line)
    pressed: list[float] = []

    def taken() -> bool:
        screen = seat.screen()
        if screen.kind != "unknown" and not rousing.stands(screen.draft, line):
            return True
        if (not pressed or time.monotonic() - pressed[-1] > rouse.AGAIN_AFTER) and rouse.press_enter(seat, line):
            pressed.append(time.monotonic())
        return False

    if rouse.until(taken, STARTS_WITHIN):
        return "delivered" if pressed else rouse.taken_back(seat, line)
    return rouse.taken_back(seat, line)


def wait_for_reset(place: places.Place, agent: str) -> bool:
    """The older client asks what to do about a limit. True when no such menu is open (any more)."""
    lock = locks.Lock(place.lock("typing-" + agent))
    if not lock.try_take():
        return False
    try:
        seat = rouse.seat_of(place, agent)
        if not isinstance(seat, rouse.Seat):
            return True
        return answered(seat)
    finally:
        lock.release()


def answered(seat: rouse.Seat) -> bool:
    """One key at a time; False while it is still open."""
    pace, until = Pace(), time.monotonic() + LONGEST
    while time.monotonic() < until:
        dialog = seat.settled().dialog
        if dialog is None or dialog.which != "limit" or not dialog.options:
            return True
        keys = seat.client.steps(dialog, STOP_AND_WAIT)
        if not keys or attention.is_typing(seat.socket, seat.pane):
            return False
        if pace.is_free(dialog, time.monotonic()):
            terminal.press(seat.socket, seat.pane, keys[0])
            pace.pressed(dialog, time.monotonic())
        time.sleep(LOOK_EVERY)
    return False
