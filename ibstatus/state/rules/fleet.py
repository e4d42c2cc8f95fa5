"""What is known of the agents → who there is, in which state, under whom."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ibstatus.model.fleet import Agent
from ibstatus.state.rules import evidence, session_end, tmux_outage
from ibstatus.state.rules.evidence import Evidence, Verdict
from ibstatus.state.rules.known import Known, Sight, Told
from ibstatus.system.text import times

STATES = ("creating", "running", "compacting", "waiting", "complete", "rate_limited", "stopped", "unknown")
STARTS_WITHIN = 60.0
PROMPT = 60
SAID, LONGEST = 300, 200
TELLING = (evidence.SCREEN, evidence.PROCESS, evidence.TRANSCRIPT)  # whose notes say what the reason does not


def state_of(known: Known, now: float) -> Verdict:
    """The state, its reason, since when, and by which evidence."""
    return evidence.judge(evidence_of(known, now), now)


def evidence_of(known: Known, now: float) -> list[Evidence]:
    """Every piece, whether or not it says something."""
    known = session_end.heeded(known)
    gone = of_gone(known.sight) if not is_young(known.meta, now) else []
    return [of_session(known, now), *gone, *of_sight(known.sight), of_hooks(known), *known.also, of_record(known, now)]


def of_session(known: Known, now: float) -> Evidence:
    """A session that is gone has ended, if it was ever there."""
    sight = known.sight
    there = known.session if sight is None else sight.there and not sight.dead
    seen = now if sight is None else sight.seen
    if there is None:
        note = sight.note if sight is not None else ""
        return Evidence(evidence.SESSION, "", at=seen, seen=seen, note=note or "tmux cannot be asked")
    if there:
        return Evidence(evidence.SESSION, "", at=seen, seen=seen, note="its session is there")
    if "tmux_session" not in known.meta and (known.told is not None or not is_young(known.meta, now)):
        # Made by hand: it never had a session of ours that could have ended, and its hooks are all there is to go by.
        return Evidence(evidence.SESSION, "", at=seen, seen=seen, note="it never had a session of ours")
    if known.told is None and known.meta.get("started") is None and is_young(known.meta, now):
        return Evidence(evidence.SESSION, "", at=seen, seen=seen, note="its session has not begun")
    if sight is not None and seen < max(began_of(known.meta) or 0.0, known.told.at if known.told is not None else 0.0):
        return Evidence(evidence.SESSION, "", at=seen, seen=seen, note="it was not there before it began or spoke last")
    dead = sight is not None and sight.there and sight.dead
    note = "nothing runs in its session any more" if dead else "its session is gone"
    reason, at = session_end.noted(known.meta, now)
    return Evidence(evidence.SESSION, "stopped", reason, at, seen, note)


def of_gone(sight: Sight | None) -> list[Evidence]:
    """Not of one that was begun just now: its launcher is still alone."""
    if sight is None or not sight.there or sight.dead or not sight.gone:
        return []
    return [Evidence(evidence.PROCESS, "stopped", "", sight.seen, sight.seen, evidence.GONE)]


def of_sight(sight: Sight | None) -> list[Evidence]:
    """What runs in the session, and what its screen shows. A screen that stands still has shown this all the time."""
    if sight is None or not sight.there or sight.dead:
        return []
    found = []
    if sight.suspended:
        found.append(
            Evidence(evidence.PROCESS, "waiting", evidence.SUSPENDED, sight.seen, sight.seen, evidence.STOPPED)
        )
    shown = sight.shown
    if shown is None:
        return [*found, Evidence(evidence.SCREEN, "", at=sight.at, seen=sight.seen, note=sight.note or "not looked at")]
    at = min(sight.at, sight.changed) if sight.changed > 0 else sight.at
    state = "" if shown.state == "unknown" else shown.state
    note = sight.note or ("" if state else "the screen shows nothing that is known")
    screen = Evidence(evidence.SCREEN, state, shown.reason, at, sight.seen, note, shown.asks, shown.idle)
    return [*found, screen._replace(moved=sight.changed, rule=shown.rule)]


def of_hooks(known: Known) -> Evidence:
    """A word of before its present session was begun says only how the last one ended."""
    said = known.told
    if said is None:
        return Evidence(evidence.HOOKS, "", note="no hook has spoken")
    began = began_of(known.meta)
    if said.state == "stopped" and began is not None and said.at < began:
        return Evidence(evidence.HOOKS, "", at=said.at, seen=said.at, note="spoke last before its session began")
    return word_of(said)._replace(rest=word_of(said.rest) if said.rest is not None else None)


def word_of(said: Told) -> Evidence:
    note = "it ended its turn without saying whether it waits or is done" if said.silent else ""
    return Evidence(evidence.HOOKS, said.state, said.reason, said.at, said.at, note, since=said.since)


def of_record(known: Known, now: float) -> Evidence:
    """meta.json: it was begun a moment ago, or by whom nobody knows."""
    created = created_of(known.meta)
    began = began_of(known.meta)
    at = began if began is not None else created or now
    if not is_young(known.meta, now):
        return Evidence(evidence.RECORD, "", at=at, seen=now, note="it was not begun just now")
    return Evidence(evidence.RECORD, "creating", at=at, seen=now, note="it was begun a moment ago")


def began_of(meta: Mapping[str, Any]) -> float | None:
    started = meta.get("started")
    return float(started) if isinstance(started, int | float) else created_of(meta)


def is_young(meta: Mapping[str, Any], now: float) -> bool:
    began = began_of(meta)
    return began is not None and -1 < now - began < STARTS_WITHIN


def told(event: Mapping[str, Any]) -> tuple[str, Told] | None:
    """(agent, what it said) of an `agent.state` or `agent.stopped` event."""
    who, kind = event.get("who"), event.get("kind")
    state = "stopped" if kind == "agent.stopped" else event.get("state")
    if not isinstance(who, str) or kind not in ("agent.state", "agent.stopped") or state not in STATES:
        return None
    reason = event.get("reason")
    at = times.epoch(str(event.get("t", "")))
    said = text(event.get("said"))[:SAID]
    return who, Told(str(state), text(reason), at or 0.0, said, event.get("silent") is True)


def fleet(known: Sequence[Known], before: Mapping[str, Agent], now: float) -> list[Agent]:
    """All agents, oldest first. `before`: the last fleet, from which an unchanged state keeps its `since`."""
    known = [session_end.heeded(one) for one in known]
    there = {one.id for one in known}
    olds = [(one, before.get(one.id)) for one in known]
    states = {one.id: tmux_outage.kept(one, old) or tmux_outage.still(judged(one, now), one, old) for one, old in olds}
    managers = {one.id: manager_of(one.meta) for one in known}
    children: dict[str | None, int] = {}
    complete: dict[str | None, int] = {}
    for name, manager in managers.items():
        if manager != name:
            children[manager] = children.get(manager, 0) + 1
            complete[manager] = complete.get(manager, 0) + (states[name].state == "complete")
    found = []
    for one in known:
        state = states[one.id]
        manager = managers[one.id]
        found.append(
            Agent(
                id=one.id,
                state=state.state,
                age=age_of(one.meta, now),
                prompt=prompt_of(one.meta),
                children=children.get(one.id, 0),
                children_complete=complete.get(one.id, 0),
                manager=manager if manager in there else None,
                reason=state.reason,
                since=min(since(state, before.get(one.id)), now),
                created=created_of(one.meta),
                model=text(one.meta.get("model")),
                worker=one.meta.get("worker") is True,
                problem=one.problem,
                marks=marks(one.meta),
                source=state.source,
                asks=state.asks,
                note=tmux_outage.unseen(one.sight, now) or (state.note if state.source in TELLING else ""),
                said=one.told.said if one.told is not None else "",
                silent=is_silent(one.told, state),
            )
        )
    return sorted(found, key=lambda agent: (agent.created or 0.0, agent.id))


def judged(one: Known, now: float) -> Verdict:
    """One agent that cannot be judged is unknown; the others are judged all the same."""
    try:
        return agreed(one, now) or state_of(one, now)
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        return Verdict("unknown", f"its evidence cannot be read: {error}"[:LONGEST], now, "")


def agreed(one: Known, now: float) -> Verdict | None:
    """The short way for most agents of most looks, where hooks and screen say the same: what `state_of` would say."""
    told, sight = one.told, one.sight
    if told is None or sight is None or not sight.there or sight.dead or sight.suspended or sight.gone:
        return None
    shown = sight.shown
    if shown is None or one.also or shown.asks or told.at > now:
        return None
    if told.state == "running":
        at_work = not told.reason and not shown.reason and not shown.idle and shown.state == "running"
        same = at_work and now - sight.changed < evidence.STILL
    else:
        resting = told.state == "complete" or (told.state, told.reason) == ("waiting", "input")
        same = resting and shown.idle and (shown.state, shown.reason) == ("waiting", "input")
    return Verdict(told.state, told.reason, told.since or told.at, evidence.HOOKS, why=evidence.TOLD) if same else None


def is_silent(told: Told | None, state: Verdict) -> bool:
    return told is not None and told.silent and (state.state, state.source) == ("waiting", evidence.HOOKS)


def since(state: Verdict, before: Agent | None) -> float:
    if before is None or before.since is None or (before.state, before.reason) != (state.state, state.reason):
        return state.at
    return state.at if state.source == evidence.HOOKS and state.at > before.since + 1 else before.since  # said again


def created_of(meta: Mapping[str, Any]) -> float | None:
    epoch = meta.get("created_epoch")
    if isinstance(epoch, int | float) and not isinstance(epoch, bool) and 0 < epoch < 1 << 40:
        return float(epoch)
    return times.epoch(text(meta.get("created")))


def age_of(meta: Mapping[str, Any], now: float) -> str:
    created = created_of(meta)
    return "?" if created is None else times.age(now - created)


def prompt_of(meta: Mapping[str, Any]) -> str:
    return text(meta.get("prompt")).strip().partition("\n")[0].strip()[:PROMPT]


def manager_of(meta: Mapping[str, Any]) -> str | None:
    manager = meta.get("manager")
    return manager if isinstance(manager, str) and manager and manager != meta.get("id") else None


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def lined_up(agents: Sequence[Agent]) -> Iterator[tuple[str, Agent]]:
    """Depth first, with the branches drawn before each agent. Agents in a circle of managers start at the oldest."""
    below: dict[str | None, list[Agent]] = {}
    for agent in agents:
        below.setdefault(agent.manager, []).append(agent)
    shown: set[str] = set()

    def branch(agent: Agent, prefix: str, lead: str) -> Iterator[tuple[str, Agent]]:
        if agent.id in shown:
            return
        shown.add(agent.id)
        yield prefix, agent
        children = [child for child in below.get(agent.id, []) if child.id not in shown]
        for at, child in enumerate(children):
            last = at == len(children) - 1
            yield from branch(child, lead + ("└── " if last else "├── "), lead + ("    " if last else "│   "))

    for agent in below.get(None, []):
        yield from branch(agent, "", "")
    for agent in agents:
        yield from branch(agent, "", "")


def marks(meta: Mapping[str, Any]) -> list[str]:
    found = [text(meta.get("role"))] if meta.get("role") else []
    found += ["yolo"] if meta.get("yolo") is True else []
    return found + (["no-worktree"] if meta.get("worktree") is False else [])


def is_over(agent: Agent) -> bool:
    """Its session has ended."""
    return agent.state == "stopped" or (agent.state, agent.reason) == ("waiting", evidence.UNCOMMITTED)


def is_busy(agents: Sequence[Agent]) -> bool:
    """Is there anybody whose state may still change?"""
    return any(agent.state != "stopped" for agent in agents)
