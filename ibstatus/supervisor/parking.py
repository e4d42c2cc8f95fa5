"""A usage limit holds the whole account: one notice; after the reset each agent is sent on, one after the other."""

import time
from collections.abc import Sequence

from msgspec.structs import replace

from ibstatus.model.records import Agent
from ibstatus.rules import episodes, limits
from ibstatus.rules.notices import SYSTEM, Notice
from ibstatus.store import inbox, places
from ibstatus.supervisor.errands import Errands
from ibstatus.supervisor.noticing import WRITER, Noticing

LETTER = "[ib] The usage limit that stopped you is over: go on with your task."
MENU_TRIES = 3


class Parking:
    def __init__(self, place: places.Place, noticing: Noticing, errands: Errands) -> None:
        self.place = place
        self.noticing = noticing
        self.errands = errands
        self.menus: dict[tuple[str, float], int] = {}

    def look(self, agents: Sequence[Agent], wall: float) -> None:
        before = self.noticing.record.park
        step = limits.step(agents, before, wall)
        if step.park != before:
            self.keep(step.park)
        if step.park is not None and not step.park.told and not step.park.calm:
            self.keep(replace(step.park, told=True))
            self.noticing.tell([Notice(SYSTEM, "", "waiting", limits.notice(step.park, wall), ())], wall)
        if step.park != before:
            self.noticing.save(durable=bool(step.wake))
        for agent in agents:
            if episodes.is_limited(agent):
                self.see_to_menu(agent.id, agent.since or 0.0)
        if step.wake:
            self.wake(step.wake)

    def keep(self, park: limits.Park | None) -> None:
        self.noticing.record = replace(self.noticing.record, park=park)

    def see_to_menu(self, name: str, since: float) -> None:
        tries = self.menus.get((name, since), 0)
        if tries >= MENU_TRIES:
            return

        def errand() -> None:
            from ibstatus.ops import command  # it loads what types

            self.menus[name, since] = MENU_TRIES if command.wait_for_reset(self.place, name) else tries + 1

        self.errands.add("menu " + name, errand)

    def wake(self, name: str) -> None:
        def errand() -> None:
            from ibstatus.ops import rouse

            if not inbox.unread(self.place, name).ids:
                inbox.put(self.place, WRITER, name, SYSTEM, True, LETTER, time.time())
            rouse.rouse(self.place, name)

        self.errands.add("wake " + name, errand)

    def again(self, mono: float, wall: float) -> float | None:
        left = limits.again(self.noticing.record.park, wall)
        return None if left is None else mono + left
