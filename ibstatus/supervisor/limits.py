"""A usage limit holds the whole account: one notice; after the reset each agent is sent on, one after the other."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ibstatus.mail import inbox
from ibstatus.model.fleet import Agent
from ibstatus.project import paths
from ibstatus.state.rules import episodes, limits
from ibstatus.state.rules.notices import SYSTEM, Notice
from ibstatus.supervisor.background import Errands
from ibstatus.supervisor.notices import WRITER, Noticing

LETTER = "[ib] The usage limit that stopped you is over: go on with your task."
MENU_AFTER = (0.0, 2.0, 10.0, 60.0)  # seconds of a limit; the menu is drawn a moment after the hook tells of it


class Menu(NamedTuple):
    """A limit that may have one: `began` is when we saw it first, by the monotonic clock."""

    since: float
    began: float
    looks: int = 0

    @property
    def due(self) -> float | None:
        return self.began + MENU_AFTER[self.looks] if self.looks < len(MENU_AFTER) else None


class Parking:
    def __init__(self, place: paths.Place, noticing: Noticing, errands: Errands) -> None:
        self.place = place
        self.noticing = noticing
        self.errands = errands
        self.menus: dict[str, Menu] = {}
        self.waking: dict[str, bool] = {}  # whose errand is in line; was it seen as not limited since?

    def look(self, agents: Sequence[Agent], mono: float, wall: float) -> None:
        before = self.noticing.record.park
        step = limits.step(agents, before, wall)
        if step.park != before:
            self.keep(step.park)
            self.noticing.save(durable=bool(step.wake))
        limited = {agent.id: agent.since or 0.0 for agent in agents if episodes.is_limited(agent)}
        known = {name: menu for name, menu in self.menus.items() if limited.get(name) == menu.since}
        self.menus = {}
        self.waking.update({name: True for name in list(self.waking) if name not in limited})
        for name, since in limited.items():
            self.see_to_menu(name, known.get(name, Menu(since, mono)), mono)
        if step.wake:
            self.wake(step.wake)
        if step.park is not None and limits.is_news(step.park, wall):
            notice = Notice(SYSTEM, "", "waiting", limits.notice(step.park, wall), ())
            self.noticing.tell([notice], wall, limits.heard(step.park))

    def keep(self, park: limits.Park | None) -> None:
        self.noticing.record = replace(self.noticing.record, park=park)

    def see_to_menu(self, name: str, menu: "Menu", mono: float) -> None:
        """That none stands there yet says nothing: it is looked for more than once."""
        self.menus[name] = menu
        if menu.due is None or mono < menu.due:
            return

        def errand() -> None:
            from ibstatus.mail import type_command  # it loads what types

            type_command.wait_for_reset(self.place, name)

        if self.errands.add("menu " + name, errand):
            self.menus[name] = menu._replace(looks=menu.looks + 1)

    def wake(self, name: str) -> None:
        self.waking.setdefault(name, False)

        def errand() -> None:
            if self.waking.pop(name, False):
                return  # it went on by itself, and may be held anew
            from ibstatus.mail import type_command, wake_agent

            type_command.wait_for_reset(self.place, name)  # nobody hears behind it
            if not inbox.unread(self.place, name).ids:
                inbox.put(self.place, WRITER, name, SYSTEM, True, LETTER, time.time())
            wake_agent.rouse(self.place, name)

        self.errands.add("wake " + name, errand)

    def again(self, mono: float, wall: float) -> float | None:
        left = limits.again(self.noticing.record.park, wall)
        times = [menu.due for menu in self.menus.values() if menu.due is not None]
        return min([*times, *([mono + left] if left is not None else [])], default=None)
