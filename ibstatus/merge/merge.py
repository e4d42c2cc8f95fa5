"""Merging an agent's work and closing the agent. All is known and made before anything changes; a kill leaves the
operation, which `recover` finishes when the branch has moved, and rolls back when it has not."""

import time
from collections.abc import Callable
from typing import NamedTuple

from ibstatus.agents import recover as mending
from ibstatus.agents import retire, session
from ibstatus.board import queued_branch
from ibstatus.claude import sessions
from ibstatus.errors import IbError, quoted
from ibstatus.merge import checkout_update, move_branch, preview, temp_checkout
from ibstatus.merge.preview import Plan
from ibstatus.merge.rules import text as merge_text
from ibstatus.project import agent_meta, agents, authority, home, identity, logs, operations, paths
from ibstatus.state import fleet
from ibstatus.state.rules import evidence
from ibstatus.system import disk
from ibstatus.system.git import refs

Say = Callable[[str], None]
Agree = Callable[[list[str]], bool]


class Wish(NamedTuple):
    """What was asked for. `cwd` decides the target without `into`; `test` must pass on the result."""

    given: str
    into: str = ""
    test: str = ""
    cwd: str = ""
    force: bool = False


class Merged(NamedTuple):
    plan: Plan
    retired: retire.Retired


def refuse_queued(place: paths.Place, agent: str) -> None:
    """Two that merge one branch would each believe that they close its agent."""
    entry = queued_branch.owner(place, agent)
    if entry is not None:
        from ibstatus.merge.queue import resolve

        way = resolve.of(place, entry) if resolve.needed(place, entry) else "ib board merge"
        raise IbError(
            f"The merge queue has the branch of {agent}: entry {entry.id}, {entry.status}",
            hint=f"{way}; or to take it out of there: ib board merge abandon {entry.id}",
            cause=entry.reason,
        )


def check(place: paths.Place, caller: identity.Caller, wish: Wish) -> Plan:
    """The forecast alone. Raises `forecast.Blocked` with what is in the way."""
    home.look(place)
    agent = agents.resolve(place, wish.given)
    refuse_queued(place, agent)
    known = agent_meta.read(place, agent)
    worktree = agent_meta.worktree_of(place, agent, known)
    if known.get("worktree") is not False and disk.exists(worktree):
        agent_meta.refuse_foreign(place, agent, worktree)
    ref = preview.target(place, caller, agent, wish.into, wish.cwd)
    options = merge_text.typed(wish.force, wish.test)
    if not wish.into:
        preview.look_at_base(place, agent, ref, options)
    plan = move_branch.plan(place, agent, ref, caller.kind == identity.AGENT, options)
    if plan.is_idle:
        refuse_working(place, plan)
    return plan


def refuse_working(place: paths.Place, plan: Plan) -> None:
    """Raise `forecast.Blocked` when the agent is at work and has nothing to merge: it would only lose its turn."""
    states = [shown.state for shown in fleet.show(place).agents if shown.id == plan.agent]
    if not states or states[0] not in evidence.WORKING:
        return
    base = agent_meta.read(place, plan.agent).get("base_commit")
    has = f"{plan.into} has all its commits" if base and base != plan.tip else "has no commits yet"
    name = quoted(plan.agent)
    hint = f"ib wait {name}, or to end it: ib kill {name}"
    raise preview.Blocked(preview.WORKING, f"{plan.agent} is still working and {has}", [], hint=hint)


def merge(place: paths.Place, caller: identity.Caller, wish: Wish, agree: Agree, say: Say) -> Merged | None:
    """None when `agree` says no to what it is shown."""
    home.look(place)
    mending.everything(place, say)
    temp_checkout.sweep(place.git_folder)
    agent = authority.resolved(place, caller, wish.given, "merge")
    if caller.kind == identity.AGENT and agent == caller.name:
        raise IbError("An agent cannot merge itself: its manager or the user does", hint='end with "I HAVE COMPLETED"')
    plan = check(place, caller, wish._replace(given=agent))
    if not agree([*merge_text.intended(agent, plan.into, shown(plan)), *left_behind(place, agent)]):
        return None
    if not plan.is_idle:  # before its session is ended for nothing
        move_branch.refuse_at_work(move_branch.of_the_user(place), checkout_update.PATIENCE * move_branch.TRIES)
    try_out(place, plan, wish.test, say)
    with operations.begin(place, "merge", agent, by=caller.name, into=plan.ref) as op:
        if not agents.exists(place, agent):
            op.done()
            raise IbError(f"{agent} is gone: another command has closed it meanwhile", hint="ib list")
        return Merged(*carry_out(op, plan, course(place, plan, wish.test, say), say))


def shown(plan: Plan) -> list[tuple[str, str]]:
    return [(commit.short, commit.subject) for commit in plan.commits]


def left_behind(place: paths.Place, agent: str) -> list[str]:
    children = children_of(place, agent)
    chief = agents.living_manager(place, agent)
    above = f"get the manager {chief}" if chief else "have no manager then"
    lines = ["Its session still runs; this ends it"] if sessions.of(place, agent).pane() is not None else []
    if agent_meta.lost_worktree(place, agent):
        lines.append("Its worktree is gone, and with it what was not committed there")
    return [*lines, f"Its own agents {above}: {', '.join(children)}"] if children else lines


def children_of(place: paths.Place, agent: str) -> list[str]:
    return sorted(name for name, manager in authority.managers(place).items() if manager == agent)


def try_out(place: paths.Place, plan: Plan, command: str, say: Say) -> None:
    """The command runs on the very commit that the branch will be at; when it fails nothing is changed."""
    if not command or plan.is_idle:
        return
    say(f"Testing {plan.after[:7]}: {command}")
    with temp_checkout.checkout(place.git_folder, plan.after) as folder:
        tried = temp_checkout.run(command, folder)
    if tried.code:
        for line in tried.last:
            say(f"  {line}")
        raise IbError(
            f"The test fails on the merged work (exit {tried.code}); nothing was merged",
            cause=command,
            hint=merge_text.ask_agent(plan.agent, f"Merged into {plan.into} your work fails: {command}"),
        )


def course(place: paths.Place, plan: Plan, test: str, say: Say) -> move_branch.Course:
    again = merge_text.again(plan.agent, plan.into, plan.options)

    def anew() -> Plan:
        now = preview.plan(place, plan.agent, plan.ref, plan.linear, plan.options)
        if now.tip != plan.tip:
            raise IbError(f"{plan.agent} has committed meanwhile; nothing was merged", hint=again)
        return now

    return move_branch.Course(anew, (lambda now: try_out(place, now, test, say)) if test else None, again)


def carry_out(op: operations.Operation, plan: Plan, way: move_branch.Course, say: Say) -> tuple[Plan, retire.Retired]:
    place, agent = op.place, plan.agent
    noted(op, "merge.started", plan)
    try:
        session.stop(place, agent, say)
        plan = move_branch.carry(op, plan, way, say)
    except IbError as error:
        noted(op, "merge.failed", plan, why=error.message)
        logs.write(place, agent, f"Merge failed: {error.message}", time.time())
        op.done()
        say(f"{agent} is stopped, and all of its work is there: ib resume {agent}")
        raise
    try:
        way.moved(plan)
        retired = close(op, say)
        move_branch.report_race(place, plan.ref, plan.before, plan.after, say)
        return plan, retired
    except (IbError, OSError):
        say(f"The work is in {plan.into}; the next command closes {agent}: ib list")
        raise


def close(op: operations.Operation, say: Say) -> retire.Retired:
    """The branch has the work: the agent is archived and closed, and its own agents get its manager."""
    place, agent, facts = op.place, op.agent, op.facts["merge"]
    into = refs.name_of(str(facts["ref"]))
    text = merge_text.done(agent, into, int(facts.get("commits") or 0))
    chief = agents.living_manager(place, agent)
    logs.write(place, agent, text, time.time())
    if chief:
        logs.write(place, chief, f"Merged {agent} into {into}", time.time())
    op.note(closing=True)  # from here on it is finished, whatever becomes of the branch
    say(text)
    event = {"kind": "merge.done", "who": agent, "into": into, "before": facts["before"], "after": facts["after"]}
    logs.note(place, "cli", time.time(), event)
    retired = retire.retire(op, say)
    op.done()
    return retired


def noted(op: operations.Operation, kind: str, plan: Plan, **more: object) -> None:
    event = {"kind": kind, "who": op.agent, "by": op.facts.get("by", ""), "into": plan.into, "tip": plan.tip, **more}
    logs.note(op.place, "cli", time.time(), event)


def recover(op: operations.Operation, say: Say) -> None:
    """What a killed merge has left: finished when the branch has moved, rolled back when it has not."""
    facts = op.facts.get("merge")
    if isinstance(facts, dict) and (op.facts.get("closing") or move_branch.has_moved(op.place, facts)):
        say(f"Finishing the merge of {op.agent} that was cut off")
        if not op.facts.get("closing"):
            move_branch.bring_along(op.place, facts, say)
        close(op, say)
        return
    if isinstance(facts, dict):
        move_branch.take_along_back(op.place, facts, say)
    logs.write(op.place, op.agent, "Merge was cut off before anything was merged", time.time())
    say(f"The merge of {op.agent} was cut off before anything was merged; it is stopped: ib resume {op.agent}")
    op.done()
