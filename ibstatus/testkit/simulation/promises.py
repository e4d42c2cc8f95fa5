"""The promises, each judged by what was written down. Pure; each returns what breaks it.

What a simulation came to, as it is printed.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple

import msgspec

from ibstatus.testkit.simulation.records import Episode, Notice, Record

MINUTE = 60.0
RESUMES_WITHIN = 900.0  # simulated: a staggered resume of a whole fleet
FIRST_NUDGE, NUDGES = 60.0, 5


class Promise(NamedTuple):
    name: str
    text: str
    judged: int  # how often it was put to the test
    broken: list[str]

    @property
    def holds(self) -> bool:
        return not self.broken


def nothing_lost(record: Record) -> list[str]:
    return [f"{one.mark} to {one.reader} was never told" for one in record.sent if one.heard == 0]


def told_once(record: Record) -> list[str]:
    return [
        f"{one.mark} to {one.reader} was told {one.heard} times, {one.again} of them marked"
        for one in record.sent
        if one.heard - one.again > 1
    ]


def states_right(record: Record) -> list[str]:
    return [
        f"{one.who} was {one.wanted} and shown as {one.shown} for {one.seconds:.0f} s, {clock(one.at)} ({one.act})"
        for one in record.wrong
        if one.seconds > MINUTE
    ]


def removals(record: Record) -> int:
    return record.acts.get("removed", 0) + record.acts.get("merged", 0)


def no_orphan(record: Record) -> list[str]:
    return record.orphans


def one_notice_an_episode(record: Record) -> list[str]:
    """Only automatic notices are counted, each with the episode that it falls into. Two may be told of the same one
    where a dialog is open: the manager, because it is its worker, and the primary, because it has the keys; and where a
    manager is over before it has read its letter, the next reader is told. Nobody is told twice."""
    told: dict[Episode, list[Notice]] = {}
    for notice in record.notices:
        last = max(
            (e for e in record.episodes if e.who == notice.who and e.began <= notice.at), key=began, default=None
        )
        told.setdefault(last or Episode(notice.who, -1.0, inf), []).append(notice)
    return [
        f"{one.who}: {len(notices)} notices of one episode, {clock(one.began)}: {notices[-1].text}"
        for one, notices in told.items()
        if is_too_much(one, notices)
    ]


def is_too_much(one: Episode, notices: Sequence[Notice]) -> bool:
    readers = [notice.to for notice in notices if not notice.vain]
    both = one.asks and len({reader == "" for reader in readers}) == 2
    return len({notice.to for notice in notices}) < len(notices) or len(readers) > (2 if both else 1)


def began(one: Episode) -> float:
    return one.began


def nudges_back_off(record: Record) -> list[str]:
    """The first after a minute of silence, each next one after twice the time, while nobody else tells it anything; not
    for ever."""
    broken = []
    for episode in record.quiet:
        times = [one.at for one in record.nudges if one.who == episode.who and episode.began < one.at < episode.ended]
        pauses = [after - before for before, after in pairwise([episode.began, *times])]
        early = any(pause < FIRST_NUDGE * 2.0**number * 0.95 for number, pause in enumerate(pauses))
        if early or len(times) > NUDGES:
            broken.append(f"{episode.who} was nudged {', '.join(map(clock, times))}")
    return broken


def limits_resumed(record: Record) -> list[str]:
    broken = []
    for one in record.limits:
        if one.resumed is None or one.resumed - one.reset > RESUMES_WITHIN:
            broken.append(f"{one.who} was not resumed after its limit, {clock(one.reset)}")
        elif one.resumed < one.reset:
            broken.append(f"{one.who} was resumed before its limit was over, {clock(one.resumed)}")
    return broken


def supervisor_up(record: Record) -> list[str]:
    return [f"not up again {seconds:.0f} s after it was killed" for seconds in record.outages if seconds > MINUTE]


def commits_there(record: Record) -> list[str]:
    return record.lost_commits


def outside_untouched(record: Record) -> list[str]:
    return [record.outside] if record.outside else []


def commands_work(record: Record) -> list[str]:
    return record.failures


def clock(seconds: float) -> str:
    return f"at {int(seconds // 3600):02}:{int(seconds % 3600 // 60):02}:{int(seconds % 60):02}"


TABLE: tuple[tuple[str, str, Callable[[Record], list[str]], Callable[[Record], int]], ...] = (
    ("message", "Every message is told to its reader", nothing_lost, lambda r: len(r.sent)),
    ("once", "Once, unless marked as a repeat", told_once, lambda r: len(r.sent)),
    ("state", "No state is wrong for more than a minute", states_right, lambda r: r.looks),
    ("orphan", "No process or session of an agent that is gone", no_orphan, removals),
    ("notice", "One notice an episode; of a dialog one to each", one_notice_an_episode, lambda r: len(r.notices)),
    ("nudge", "Nudges back off", nudges_back_off, lambda r: len(r.nudges)),
    ("limit", "Limits are resumed after their reset, not before", limits_resumed, lambda r: len(r.limits)),
    ("supervisor", "The supervisor is up again after its death", supervisor_up, lambda r: len(r.outages)),
    ("commit", "Every commit is still there", commits_there, lambda r: r.acts.get("work", 0)),
    ("outside", "Nothing of CLAUDE.md outside of the node is changed", outside_untouched, lambda r: 1),
    ("command", "No command of ib fails", commands_work, lambda r: sum(r.acts.values())),
)


def judged(record: Record) -> Sequence[Promise]:
    return [Promise(name, text, tested(record), judge(record)) for name, text, judge, tested in TABLE]


class Judged(msgspec.Struct, frozen=True):
    """One promise: how often it was put to the test, and what broke it."""

    name: str
    text: str
    judged: int
    broken: list[str]


class Report(msgspec.Struct, frozen=True):
    """`kept_in`: where the world was left for a look."""

    agents: int
    hours: float
    seed: int
    acts: dict[str, int]
    promises: list[Judged]
    kept_in: str = ""

    @property
    def holds(self) -> bool:
        return not any(one.broken for one in self.promises)
