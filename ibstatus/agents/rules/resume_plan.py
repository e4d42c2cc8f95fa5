"""Who was cut off by a crash, and who is brought back how: to go on, to wait as before, or to begin. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ibstatus.claude import hook_events
from ibstatus.model import constants
from ibstatus.state.rules import evidence
from ibstatus.state.rules.episodes import CRASHED
from ibstatus.system.text import times

How = Literal["go on", "wait", "begin"]
GO_ON: How = "go on"
WAIT: How = "wait"
BEGIN: How = "begin"
MEANING: dict[How, str] = {
    GO_ON: "goes on with its task",
    WAIT: "waits as before, without a word",
    BEGIN: "begins with its task",
}
PAUSED = "paused"
BY_US = {PAUSED: "paused", "brought back": "brought back by undo, and not started since"}
BY_SELF = ("left by /exit", "logged out")
STARTS = ("trust", "resumed", "uncommitted")  # said of a session, not of a turn
AHEAD = 1.0  # a note may be a hair younger than what it is of
SIGNALS = 128
SHORT = 300.0  # a client that lived longer was past its start, whoever heard of it


class Heard(NamedTuple):
    """What the history says of one agent: the last word of a turn and when, who has stopped it since, and whether a
    turn of it has ever ended."""

    state: str = ""
    reason: str = ""
    at: float = 0.0
    stopped: str = ""
    answered: bool = False


class Facts(NamedTuple):
    """`running` None: tmux cannot be asked. `standing`: what its hooks said last, also that the session ended.
    `begun`: there is a conversation to go on with. `read`: the state and note that the end of it tells, where that
    ended a turn without a hook. `parked`: until when the account's limit holds it."""

    id: str
    meta: Mapping[str, Any]
    running: bool | None
    heard: Heard
    standing: str = ""
    begun: bool = True
    has_tree: bool = True
    has_client: bool = True
    at_work: bool = False
    read: tuple[str, str] = ("", "")
    parked: str = ""


class Step(NamedTuple):
    """One line of the plan: whom to resume, how, in which conversation ('': a new one). `was`: how it was when it was
    heard of last."""

    id: str
    manager: str
    how: How
    session: str
    was: str


class Left(NamedTuple):
    """Who is left alone, and why; `hint`: what to type where somebody wants it otherwise."""

    id: str
    why: str
    hint: str = ""


def heard(
    events: Iterable[Mapping[str, Any]], created: Mapping[str, float], ended: Mapping[str, float] | None = None
) -> dict[str, Heard]:
    """Of each agent; `created` keeps what is told of an earlier one of the same name out, `ended` what the hooks of a
    session that is over have said after its end."""
    found: dict[str, Heard] = {}
    fresh: set[str] = set()  # a session that has just begun says that it waits: nothing of a turn is over by that
    over: dict[str, float] = {}  # of those that have not begun again: when their session was found ended
    for event in events:
        who, kind, state = event.get("who"), event.get("kind"), event.get("state")
        at = times.epoch(str(event.get("t", ""))) or 0.0
        if not isinstance(who, str) or who not in created or at < created[who] - AHEAD:
            continue
        last, reason = found.get(who, Heard()), str(event.get("reason") or "")
        if reason.startswith(CRASHED) or reason == evidence.UNCOMMITTED:
            over[who] = at
        end = min(over.get(who, at), (ended or {}).get(who, at))
        if kind == "merge.failed":
            found[who] = last._replace(stopped="stopped by a merge that failed")
        elif kind == "agent.stopped":
            fresh.add(who)
            found[who] = last._replace(stopped=BY_US.get(reason, last.stopped))
        elif kind == "agent.state" and isinstance(state, str) and reason == "resumed":
            fresh.add(who)
            over.pop(who, None)
            found[who] = last._replace(stopped="")
        elif (kind == "agent.state" and who in fresh and (state, reason) == ("waiting", "input")) or at > end:
            continue
        elif state == hook_events.COMPACTING and hook_events.is_rest(last.state, last.reason):
            continue  # however it ends, no turn was cut off
        elif kind == "agent.state" and isinstance(state, str) and state != "creating" and reason not in STARTS:
            fresh.discard(who)
            new = Heard(state, reason, at)
            found[who] = new._replace(answered=last.answered or turn_was_over(new))
    return found


def judged(seen: Facts) -> Step | Left:
    """Both for the plan and for what is done a moment later."""
    out = left_alone(seen) or finished(seen) or broken(seen)
    if out is not None:
        return out
    session = str(seen.meta["session_id"]) if seen.begun else ""
    manager = seen.meta.get("manager")
    return Step(seen.id, manager if isinstance(manager, str) else "", how(seen), session, was(seen))


def is_cut_off(seen: Facts) -> bool:
    """Without a look at what it would take to bring it back."""
    return left_alone(seen) is None and finished(seen) is None and not is_held(seen)


def left_alone(seen: Facts) -> Left | None:
    agent = seen.id
    if "session_id" not in seen.meta or "client" not in seen.meta:
        return Left(agent, "not started by ib new-agent, so its session is not known", f"ib info {agent}")
    if seen.running is None:
        return Left(agent, "tmux cannot be asked whether it runs", "ib doctor")
    if seen.running:
        return Left(agent, "its session runs")
    if seen.at_work:
        return Left(agent, "another command is at work on it", "ib list")
    ended = seen.meta.get("ended")
    if isinstance(ended, Mapping) and ended.get("why") == PAUSED:
        return Left(agent, PAUSED, f"ib resume {agent}")
    if isinstance(ended, Mapping) and ended.get("why") == constants.COPIED:
        why = "copied with its repository, and not started here"
        return Left(agent, why, f"ib resume {agent}, which begins with its task once more")
    if seen.heard.stopped:
        return Left(agent, seen.heard.stopped, f"ib resume {agent}")
    return None


def finished(seen: Facts) -> Left | None:
    """It has ended by itself, or had done what it was for."""
    agent, code = seen.id, code_of(seen.meta)
    if seen.standing in BY_SELF:
        return Left(agent, seen.standing, f"ib resume {agent}")
    if code == 0:
        return Left(agent, "its client ended by itself", f"ib resume {agent}")
    if seen.heard.state == "complete":
        return Left(agent, "complete", f"ib merge {agent}")
    started = seen.meta.get("started")
    unheard = isinstance(started, int | float) and seen.heard.at < started
    if code is not None and 0 < code < SIGNALS and unheard:
        why = f"its client ended with exit code {code} as soon as it was started"
        return Left(agent, why, f"ib look {agent}; ib resume {agent}")
    return None


def broken(seen: Facts) -> Left | None:
    agent = seen.id
    if not seen.has_tree:
        return Left(agent, "its worktree is gone", f"ib resume {agent}, which says how to get it back; ib kill {agent}")
    if not seen.has_client:
        return Left(agent, "its client is gone", "ib doctor")
    if not seen.begun and (why := was_given(seen)):
        then = f"ib kill {agent}; ib resume {agent}, which begins with its task once more"
        return Left(agent, f"its conversation is gone, and {why}", then)
    if is_held(seen):
        return Left(agent, f"held by the usage limit until {seen.parked}", f"ib resume {agent}, after that")
    return None


def is_held(seen: Facts) -> bool:
    """By a limit of the account, at this moment."""
    last = seen.heard
    return bool(seen.parked) and (
        "rate_limited" in (last.state, seen.read[0]) or (last.state, last.reason) == ("waiting", "limit")
    )


def was_given(seen: Facts) -> str:
    """Why its task must not be run again, or '': whatever comes, no prompt runs twice."""
    if seen.heard.answered or turn_was_over(seen.heard):
        return "its task was done once"
    if seen.heard.state:
        return "work on its task had begun"
    if seen.meta.get("prompted"):
        return "it had got its task"
    started, ended = seen.meta.get("started"), seen.meta.get("ended")
    at = ended.get("at") if isinstance(ended, Mapping) and code_of(seen.meta) is not None else None
    if isinstance(started, int | float) and isinstance(at, int | float) and at - started > SHORT:
        return "nobody knows what it has done"
    return ""


def code_of(meta: Mapping[str, Any]) -> int | None:
    """None: nobody saw it end."""
    ended = meta.get("ended")
    code = ended.get("code") if isinstance(ended, Mapping) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def turn_was_over(last: Heard) -> bool:
    """It has answered its task: whatever comes, this is not run again."""
    if last.state == "running":
        return last.reason == "background"
    return last.state in ("complete", "rate_limited") or (
        last.state == "waiting" and last.reason not in hook_events.DIALOGS
    )


def how(seen: Facts) -> How:
    """A dialog is lost with its session, and so is what ran in the background: only a word makes it ask again."""
    if not seen.begun:
        return BEGIN
    last = seen.heard
    if is_interrupted(seen):
        return WAIT
    if last.state in ("running", "compacting", "rate_limited") or last.reason in hook_events.DIALOGS:
        return GO_ON
    return WAIT


def is_interrupted(seen: Facts) -> bool:
    """Esc fires no hook: whoever pressed it has not said to go on."""
    return seen.heard.state in ("running", "compacting") and seen.read[1] == evidence.INTERRUPTED


def was(seen: Facts) -> str:
    last = seen.heard
    if is_interrupted(seen):
        return "somebody had interrupted it"
    if not last.state:
        return "nothing was heard of it"
    return f"it was {last.state} ({last.reason})" if last.reason else f"it was {last.state}"


def in_order(steps: Sequence[Step], created: Mapping[str, float]) -> list[Step]:
    """Managers before their agents, else the oldest first; a circle of managers begins at its oldest."""
    ordered = sorted(steps, key=lambda step: (created.get(step.id, 0.0), step.id))
    there, done = {step.id: step for step in ordered}, dict[str, Step]()

    def put(step: Step, above: frozenset[str]) -> None:
        manager = there.get(step.manager)
        if manager is not None and manager.id not in done and manager.id not in above:
            put(manager, above | {step.id})
        done.setdefault(step.id, step)

    for step in ordered:
        put(step, frozenset((step.id,)))
    return list(done.values())


def fitted(steps: Sequence[Step], places: int, most: int) -> tuple[list[Step], list[Left]]:
    """Those for whom there is a place, and the others."""
    hint = f"ib config set maxAgents {most + max(0, len(steps) - places)}; ib resume --all"
    why = f"no place: maxAgents is {most}"
    return list(steps[: max(0, places)]), [Left(step.id, why, hint) for step in steps[max(0, places) :]]


def notice(count: int) -> str:
    return f"{count} agent{' was' if count == 1 else 's were'} cut off; ib resume --all" if count else ""


def rows(steps: Sequence[Step], left: Sequence[Left], sessions: bool = True) -> list[str]:
    """`sessions`: with the beginning of each session's id, which no line of a terminal has room for."""
    wide = max(map(len, [*(step.id for step in steps), *(one.id for one in left)]), default=0)
    lines = [
        f"resume  {step.id:<{wide}}  {MEANING[step.how]}; {step.was}"
        + (f"; session {step.session[:8]}" if sessions and step.session else "")
        for step in steps
    ]
    return lines + [f"leave   {one.id:<{wide}}  {one.why}" + (f" ({one.hint})" if one.hint else "") for one in left]
