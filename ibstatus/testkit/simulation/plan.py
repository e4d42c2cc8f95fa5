"""The course of a simulation, drawn from its seed before it begins: who does what, when, and what befalls them."""

import random
from collections.abc import Iterator
from typing import NamedTuple

SLOT = 600.0  # simulated seconds between two moments
HOUR = 3600.0
BUSY = 0.2  # how many of those who are free begin something at a moment
SUPERVISOR_DIES = 0.04
YOLO, DISTRUSTED = 3, 4  # every so manieth
MANAGERS = 5  # every so manieth agent is a manager
FATES = {
    "turn": 20, "work": 12, "long": 10, "tell": 14, "ask": 6, "mail": 10, "permission": 5, "question": 5, "plan": 4,
    "compact": 4, "limit": 4, "escape": 5, "crash": 4, "lost": 3, "silent": 5,
    "retry": 4, "removed": 2, "merged": 3,
}  # fmt: skip
LASTS = {"long": (1, 3), "retry": (1, 2), "permission": (1, 2), "question": (1, 2), "plan": (1, 2), "limit": (1, 6)}
REMOVALS = ("removed", "merged")  # of workers: their managers, and whom they work beside, go on
LASTING = {**LASTS, "escape": (1, 1), "crash": (1, 1), "lost": (1, 1), "removed": (1, 2), "merged": (1, 2)}


class Who(NamedTuple):
    """Only one that is `yolo` is asked by dialogs: ib answers those of all others. `distrusted`: its client asks at
    each start whether it may trust the folder, and ib answers."""

    name: str
    manager: str = ""
    yolo: bool = False
    distrusted: bool = False

    @property
    def is_worker(self) -> bool:
        return bool(self.manager)


class Act(NamedTuple):
    """`fate` begins at a moment; with `ends` it is its end. `number` is unlike any other act's."""

    number: int
    who: str
    fate: str
    ends: bool = False
    until: int = 0  # the slot of its end


class Moment(NamedTuple):
    slot: int
    acts: tuple[Act, ...]
    supervisor_dies: bool = False

    @property
    def at(self) -> float:
        """Simulated seconds since the beginning."""
        return (self.slot + 1) * SLOT


class Plan(NamedTuple):
    agents: tuple[Who, ...]
    moments: tuple[Moment, ...]


def drawn(agents: int, hours: float, seed: int) -> Plan:
    chance = random.Random(seed)
    fleet = tuple(crew(agents))
    slots = max(1, round(hours * HOUR / SLOT))
    ends: dict[int, list[Act]] = {}
    free_at = dict.fromkeys((one.name for one in fleet), 0)
    moments, number, held = [], 0, -1
    for slot in range(slots):
        acts = ends.pop(slot, [])
        for one in fleet:
            if free_at[one.name] > slot or chance.random() >= BUSY:
                continue
            number += 1
            act = of_account(begun(chance, number, one, slot, slots), slot, held)
            held = act.until if act.fate == "limit" else held
            acts.append(act)
            free_at[one.name] = act.until + 1
            if act.fate in LASTING:
                ends.setdefault(act.until, []).append(act._replace(ends=True))
        moments.append(Moment(slot, tuple(acts), chance.random() < SUPERVISOR_DIES))
    last = tuple(act for slot in sorted(ends) for act in ends[slot])
    return Plan(fleet, (*moments, Moment(slots, last)))


def of_account(act: Act, slot: int, held: int) -> Act:
    """A limit holds the account: whoever meets it meets the same end (`held`), and nobody another at its very reset."""
    if act.fate != "limit" or held < slot:
        return act
    return act._replace(until=held) if held > slot else act._replace(fate="turn", until=slot)


def crew(agents: int) -> Iterator[Who]:
    manager = ""
    for number in range(agents):
        traits = number % YOLO == 0, number % DISTRUSTED == 1
        if number % MANAGERS == 0:
            manager = f"lead-{number // MANAGERS + 1}"
            yield Who(manager, "", *traits)
        else:
            yield Who(f"hand-{number}", manager, *traits)


def begun(chance: random.Random, number: int, who: Who, slot: int, slots: int) -> Act:
    fate = chance.choices(list(FATES), list(FATES.values()))[0]
    fate = "turn" if fate in REMOVALS and not who.is_worker else fate
    lasts = chance.randint(*LASTING[fate]) if fate in LASTING else 0
    return Act(number, who.name, fate, until=min(slot + lasts, slots))
