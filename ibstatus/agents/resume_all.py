"""resume --all: after a crash, a reboot or a dead tmux server, whoever was cut off is brought back, one by one."""

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ibstatus
from ibstatus.agents import attend, pause, spawn_limit, spawn_plan
from ibstatus.agents import recover as recovering
from ibstatus.agents.rules import resume_plan
from ibstatus.claude import client, transcript_text
from ibstatus.claude import hook_state as standings
from ibstatus.claude import transcript as transcripts
from ibstatus.errors import IbError
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_meta as files
from ibstatus.project import authority, config, events, home, identity, operations, paths
from ibstatus.project.rules import authority as family
from ibstatus.state import episode_file, fleet, session_end, snapshot
from ibstatus.state.rules import evidence, limits
from ibstatus.state.rules import fleet as judging
from ibstatus.state.rules import session_end as endings
from ibstatus.system import disk
from ibstatus.system.text import times

Say = Callable[[str], None]
NEXT_AFTER = 5.0  # the next one does not wait longer for the one before
LOOK_EVERY = 0.1


class Plan(NamedTuple):
    steps: list[resume_plan.Step]
    left: list[resume_plan.Left]


class Resumed(NamedTuple):
    """`failed`: agent and why."""

    resumed: list[str]
    left: list[resume_plan.Left]
    failed: list[tuple[str, IbError]]


def plan(place: paths.Place, caller: identity.Caller, say: Say) -> Plan:
    """Nothing is changed by it but what a killed command has left half done."""
    if not home.look(place):
        return Plan([], [])
    recovering.everything(place, say)
    managers = authority.managers(place)
    records = [one for one in files.records(place) if not family.refusal(caller, one.id, managers, "resume")]
    found = [resume_plan.judged(seen) for seen in facts(place, records)]
    created = {one.id: judging.created_of(one.meta) or 0.0 for one in records}
    steps = resume_plan.in_order([one for one in found if isinstance(one, resume_plan.Step)], created)
    most = int(config.value(place, "maxAgents"))
    fitting, others = resume_plan.fitted(steps, most - spawn_limit.living(place) if steps else 0, most)
    return Plan(fitting, [*others, *(one for one in found if isinstance(one, resume_plan.Left))])


def facts(place: paths.Place, records: Sequence[files.Record]) -> list[resume_plan.Facts]:
    living = fleet.sessions(place, list(records))
    heard = histories(place, records)
    halted = interrupted(place)
    parked = parked_until(place, time.time())
    return [
        fact(place, one, living[one.id], heard.get(one.id, resume_plan.Heard()), halted.get(one.id, 0.0), parked)
        for one in records
    ]


def fact(
    place: paths.Place, one: files.Record, living: bool | None, heard: resume_plan.Heard, halted: float, parked: str
) -> resume_plan.Facts:
    begun = client.of(one.meta).goes_on(place, one.id)
    known = one.meta if begun else {**one.meta, "prompted": session_end.was_prompted(place, one.id, dict(one.meta))}
    return resume_plan.Facts(
        one.id,
        known,
        living,
        heard,
        said_last(place, one),
        begun,
        disk.exists(files.worktree_of(place, one.id, one.meta)),
        has_client(one.meta),
        operations.is_at_work(place, one.id),
        read(place, one, heard, halted),
        parked,
    )


def interrupted(place: paths.Place) -> dict[str, float]:
    """Whom the supervisor saw interrupted when it last wrote down what it saw, and since when: one that had said
    nothing yet leaves no trace of it in its conversation."""
    known = snapshot.read(place, ibstatus.__version__)
    agents = known[0].agents if known is not None else []
    return {one.id: one.since or 0.0 for one in agents if one.note == evidence.INTERRUPTED}


def read(place: paths.Place, one: files.Record, last: resume_plan.Heard, halted: float) -> tuple[str, str]:
    """(state, note) of the end of its conversation, where a turn that is said to run has ended without a hook."""
    if last.state not in ("running", "compacting"):
        return "", ""
    if 0.0 < last.at <= halted:
        return "waiting", evidence.INTERRUPTED
    path = client.of(one.meta).transcript_of(place, one.id)
    found = transcript_text.ending(transcripts.tail(path).data) if path else None
    if found is None or not found[0] or (times.epoch(found[2]) or 0.0) < last.at - resume_plan.AHEAD:
        return "", ""
    return found[0], found[3]


def parked_until(place: paths.Place, now: float) -> str:
    """As the supervisor has written it down; '' when the account is not held now."""
    known = episode_file.read(place)
    park = known.park if known is not None else None
    if park is None or park.until <= now:
        return ""
    return limits.clock(park.until, now)


def histories(place: paths.Place, records: Sequence[files.Record]) -> dict[str, resume_plan.Heard]:
    """One reading for all; where the history is lost, what each agent's own hooks left is taken."""
    created = {one.id: judging.created_of(one.meta) or 0.0 for one in records}
    try:
        events.fold(place)
    except OSError:
        pass  # what was said before still holds
    told: list[dict[str, Any]] = []
    for path in (place.events + ".1", place.events):
        try:
            data = disk.read_file(path)
        except OSError:
            continue
        lines = [line for line in data.split(b"\n") if b'"agent.st' in line or b'"merge.failed' in line]
        told += events.parsed(b"\n".join(lines))
    ends = {one.id: at for one in records if (at := endings.stands(one.meta)) is not None}
    found = resume_plan.heard(told, created, ends)
    for agent in created:
        last = standings.read(standings.path_of(place, agent, ""))
        if agent not in found and last.state not in ("", "stopped") and last.at <= ends.get(agent, last.at):
            new = resume_plan.Heard(last.state, last.reason, last.at)
            found[agent] = new._replace(answered=resume_plan.turn_was_over(new))
    return found


def said_last(place: paths.Place, one: files.Record) -> str:
    """Why its session ended, as its own hooks have said before it had."""
    last, end = standings.read(standings.path_of(place, one.id, "")), endings.stands(one.meta)
    return last.reason if last.state == "stopped" and (end is None or last.at <= end) else ""


def has_client(known: dict[str, Any]) -> bool:
    if os.access(str(known.get("client")), os.X_OK):
        return True
    try:
        return bool(spawn_plan.client())
    except IbError:
        return False


def carry_out(place: paths.Place, wanted: Plan, say: Say) -> Resumed:
    """Each is looked at again right before: a person or another command may have been quicker."""
    resumed: list[str] = []
    left: list[resume_plan.Left] = []
    failed: list[tuple[str, IbError]] = []
    for step in wanted.steps:
        now = again(place, step.id)
        if isinstance(now, resume_plan.Left):
            left.append(now)
            continue
        how = resume_plan.WAIT if step.how == resume_plan.WAIT else now.how  # as it was agreed to, if it was to wait
        try:
            pause.bring_up(place, step.id, quiet=how == resume_plan.WAIT)
        except IbError as error:
            failed.append((step.id, error))
            continue
        say(f"Resumed {step.id}: it {resume_plan.MEANING[how]}")
        resumed.append(step.id)
        if step is not wanted.steps[-1]:
            wait_until_up(place, step.id)
    return Resumed(resumed, left, failed)


def again(place: paths.Place, agent: str) -> resume_plan.Step | resume_plan.Left:
    record = files.record_of(place, agent)
    return resume_plan.judged(facts(place, [record])[0]) if record is not None else resume_plan.Left(agent, "gone")


def wait_until_up(place: paths.Place, agent: str) -> None:
    """Not ten clients at once: each needs a core while it starts."""
    deadline = time.monotonic() + NEXT_AFTER
    try:
        while time.monotonic() < deadline and not attend.is_settled(place, agent):
            time.sleep(LOOK_EVERY)
    except IbError:
        return  # tmux does not answer: the next one's own look will say so


def cut_off(place: paths.Place, agents: Sequence[Agent]) -> list[str]:
    """Their ids; nothing is read while nobody's session has ended."""
    over = {agent.id for agent in agents if judging.is_over(agent)}
    if not over:
        return []
    records = [one for one in files.records(place) if one.id in over and "client" in one.meta]
    heard = histories(place, records) if records else {}
    parked = parked_until(place, time.time()) if records else ""
    halted = interrupted(place) if parked else {}
    found = []
    for one in records:
        last = heard.get(one.id, resume_plan.Heard())
        seen = resume_plan.Facts(one.id, one.meta, False, last, said_last(place, one), parked=parked)
        if parked:
            seen = seen._replace(read=read(place, one, last, halted.get(one.id, 0.0)))
        found += [one.id] if resume_plan.is_cut_off(seen) and not files.lost_worktree(place, one.id) else []
    return found
