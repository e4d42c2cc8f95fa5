"""Which news of an agent is told to whom, in which words: once an episode. Pure.

An agent that ended its turn without saying how it is: told so, less and less often, and not for ever.
"""

import re
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from ibstatus.claude import hook_events
from ibstatus.model.fleet import Agent
from ibstatus.state.rules import evidence, fleet
from ibstatus.state.rules.episodes import INPUT, UNSURE, Episode, is_limited, kind_of

SYSTEM = "system"
HOUR = 3600.0
MANY_STOPPED = 3
PATIENCE = 1.5  # what a dialog asks is read from the screen a moment after its hook
SAID = 300
PHRASE = re.compile(r"(?:^|\s)[*_`>#\s]*(?:I HAVE COMPLETED THE GOAL|WAITING)[*_`.!\s]*$")
DIALOGS = ("permission", "question", "plan", "trust")


class Notice(NamedTuple):
    """`to`: whose inbox it goes into, '' for the primary's queue. `counts`: it may interrupt so and so often only.
    `warned`: which agents the reader is told of. `about`: whose episodes it tells."""

    agent: str
    to: str
    kind: str
    text: str
    about: tuple[str, ...]
    counts: bool = True
    warned: tuple[str, ...] = ()
    work: str = ""  # whose commits are to be named


class View(NamedTuple):
    """What decides. `mail`: agents that have unread mail; `spoke`: (agent, kind) that the agent itself has told in this
    turn; `rests`: for how long each agent is seen as it is; `ending`: agents whom a command of ours is ending; `hears`:
    those that were told something just now."""

    agents: Sequence[Agent]
    episodes: Mapping[str, Episode]
    mail: Container[str] = ()
    spoke: Container[tuple[str, str]] = ()
    rests: Mapping[str, float] = {}
    ending: Container[str] = ()
    hears: Container[str] = ()


def due(view: View) -> tuple[list[Notice], set[str]]:
    """(what is to be told now, the agents whose episode needs no telling), children before their managers."""
    by_id = {agent.id: agent for agent in view.agents}
    fresh = [agent for agent in view.agents if is_news(view.episodes.get(agent.id), agent)]
    found: list[Notice] = []
    settled: set[str] = set()
    over = [agent for agent in fresh if fleet.is_over(agent) and agent.id not in view.ending]
    # A command that ends one says so a moment later; and others may stop with it.
    early = {reader_of(agent, by_id) for agent in over if view.rests.get(agent.id, PATIENCE) < PATIENCE}
    fresh = [agent for agent in fresh if not fleet.is_over(agent)]
    fresh += [agent for agent in over if reader_of(agent, by_id) not in early]
    found += many_stopped([agent for agent in fresh if agent.state == "stopped"], by_id)
    gone = {name for notice in found for name in notice.about}
    for agent in sorted((one for one in fresh if one.id not in gone), key=lambda one: -depth(one, by_id)):
        mailed = {notice.to for notice in found}
        notice = one(agent, by_id, view, mailed)
        if notice is not None and is_told_by_itself(agent, notice, view):
            settled.add(agent.id)
        elif notice is not None:
            found += [notice, *of_dialog(agent, notice)]
    return found, settled


def is_news(episode: Episode | None, agent: Agent) -> bool:
    if episode is None or not episode.kind or episode.told or episode.left:
        return False
    if kind_of(agent) != episode.kind:  # by now it is ended by us, or held by a limit
        return False
    return not (agent.silent and episode.nudges)  # what a nudge led to was told before it


def depth(agent: Agent, by_id: Mapping[str, Agent]) -> int:
    steps, at = 0, agent
    while at.manager is not None and at.manager in by_id and steps < len(by_id):
        at, steps = by_id[at.manager], steps + 1
    return steps


def one(agent: Agent, by_id: Mapping[str, Agent], view: View, mailed: Container[str]) -> Notice | None:
    """None: not yet."""
    own = [child for child in by_id.values() if child.manager == agent.id and not fleet.is_over(child)]
    if agent.state == "complete":
        return completed(agent, own, view.episodes[agent.id], by_id)
    if is_unread(agent, view.rests.get(agent.id, PATIENCE)):
        return None
    if view.episodes[agent.id].kind == INPUT and agent.id in view.hears:
        return None
    if view.episodes[agent.id].kind == INPUT and own:
        waits = any(child.state in evidence.WORKING or is_limited(child) for child in own)
        if waits or any(one.id in view.mail or one.id in mailed for one in (agent, *own)):
            return None
    return told(agent, by_id, "waiting", waiting_words(agent), waiting_hook(agent), ())


def is_early(agent: Agent, rest: float) -> bool:
    """It may be told otherwise in a moment."""
    return is_unread(agent, rest) or (fleet.is_over(agent) and rest < PATIENCE)


def is_unread(agent: Agent, rest: float) -> bool:
    """A dialog whose words nobody has read from the screen yet; or a screen, to which a hook may have more to say."""
    unread = agent.state == "waiting" and agent.reason in DIALOGS and not agent.asks
    return (unread or agent.source in UNSURE) and rest < PATIENCE


def completed(agent: Agent, own: Sequence[Agent], episode: Episode, by_id: Mapping[str, Agent]) -> Notice:
    """One whose agents still live is told so, once for the same agents; then somebody else must know."""
    names = tuple(sorted(child.id for child in own))
    if not names:
        words = f"completed{worker_of(agent)}" if agent.worker else "completed its goal"
        return told(agent, by_id, "complete", words, "just completed", ())
    listed = ", ".join(f"{child.id} ({child.state})" for child in own)
    if set(names) <= set(episode.warned):
        words = f"is waiting: it says that it is done, but its agents are still there: {listed}"
        return told(agent, by_id, "waiting", words, words, names)
    text = (
        f"[ib] You said that you have completed the goal, but your agents are still there: {listed}. Review each of "
        "them, then merge or kill it (`ib diff ID`, `ib merge ID --force`, `ib kill ID --force`); or end with WAITING."
    )
    return Notice(SYSTEM, agent.id, "letter", text, (agent.id,), False, names)


def told(agent: Agent, by_id: Mapping[str, Agent], kind: str, words: str, hook: str, warned: tuple[str, ...]) -> Notice:
    about, work = (agent.id,), agent.id if agent.reason not in DIALOGS else ""
    tail, reader = last_words(agent), reader_of(agent, by_id)
    if reader:
        text = f"[hook]: Your subtask {agent.id} {hook}{tail}"
        return Notice(agent.id, reader, "letter", text, about, False, (), work)
    counts, key = agent.reason not in DIALOGS, at_its_keys(agent)
    return Notice(agent.id, "", kind, f"{title(agent)} {agent.id} {words}{tail}{key}", about, counts, warned, work)


def of_dialog(agent: Agent, notice: Notice) -> list[Notice]:
    """Its manager can press no key."""
    if not notice.to or agent.state != "waiting" or agent.reason not in DIALOGS:
        return []
    words = f"{title(agent)} {agent.id}{worker_of(agent)} {waiting_words(agent)}{at_its_keys(agent)}"
    return [Notice(agent.id, "", "waiting", words, (), False)]


def at_its_keys(agent: Agent) -> str:
    is_asked = agent.state == "waiting" and agent.reason in DIALOGS
    return f" (the user answers it at its keys: ib attach {agent.id})" if is_asked else ""


def title(agent: Agent) -> str:
    return "Agent" if agent.worker else "Manager"


def worker_of(agent: Agent) -> str:
    return f" (worker of {agent.manager})" if agent.manager else ""


def last_words(agent: Agent) -> str:
    """What it said last, without the phrase that only says how it is."""
    said = " ".join(agent.said.split()) if agent.reason in ("", "input") else ""
    said = without_phrase(said)[-SAID:]
    return f": {said}" if said else ""


def without_phrase(said: str) -> str:
    return PHRASE.sub("", said)


def waiting_words(agent: Agent) -> str:
    if agent.state == "stopped":
        return stopped_words(agent)
    if agent.reason == evidence.UNCOMMITTED:
        return f"has ended with uncommitted work; ib resume {agent.id}"
    if agent.reason in ("", hook_events.INPUT):
        return "is waiting for input" if agent.worker else "is waiting"
    asks = " ".join(agent.asks.split())[:SAID]
    return f"is waiting ({agent.reason})" + (f": {asks}" if asks else "")


def waiting_hook(agent: Agent) -> str:
    plain = agent.state == "waiting" and agent.reason in ("", hook_events.INPUT)
    return "is now waiting for input" if plain else waiting_words(agent)


def stopped_words(agent: Agent) -> str:
    how = agent.reason.removeprefix("ended with ")
    return f"stopped ({how}); ib resume {agent.id}"


def many_stopped(crashed: Sequence[Agent], by_id: Mapping[str, Agent]) -> list[Notice]:
    """A reboot or a dead tmux server: one line for all that the same reader has."""
    found = []
    for reader in sorted({reader_of(agent, by_id) for agent in crashed}):
        names = tuple(agent.id for agent in crashed if reader_of(agent, by_id) == reader)
        if len(names) < MANY_STOPPED:
            continue
        if reader:
            text = f"[hook]: {len(names)} of your subtasks stopped ({', '.join(names)}); ib resume {' '.join(names)}"
            found.append(Notice(SYSTEM, reader, "letter", text, names, False))
        else:
            text = f"{len(names)} agents stopped ({', '.join(names)}); ib resume --all"
            found.append(Notice(SYSTEM, "", "waiting", text, names, False))
    return found


def reader_of(agent: Agent, by_id: Mapping[str, Agent]) -> str:
    """Its manager while that lives; '' is the primary."""
    manager = by_id.get(agent.manager or "")
    return manager.id if manager is not None and not fleet.is_over(manager) else ""


def is_told_by_itself(agent: Agent, notice: Notice, view: View) -> bool:
    """`ib send user-claude "DONE: …"` or `ib ask` in the same turn: the primary has heard it in the agent's words."""
    if notice.to or notice.warned or agent.silent:
        return False
    if agent.state == "complete":
        return (agent.id, "complete") in view.spoke
    asked = (agent.id, "question") in view.spoke or (agent.id, "waiting") in view.spoke
    return view.episodes[agent.id].kind == INPUT and asked


def with_work(text: str, commits: int, agent: str) -> str:
    if not commits:
        return text
    return f"{text} ({commits} commit{'' if commits == 1 else 's'}; ib diff {agent})"


def is_counted(notice: Notice) -> bool:
    return notice.counts and not notice.to


def is_quiet(notice: Notice, times: Sequence[float], most: int) -> bool:
    """Over the hourly limit: it waits in the queue for the next prompt."""
    return is_counted(notice) and len(times) >= most


def recent(times: Sequence[float], now: float) -> list[float]:
    """A clock that went back must not silence us."""
    return [at for at in times if 0 <= now - at < HOUR]


FIRST, MOST = 60.0, 5
LETTER = (
    "[ib] You ended your turn without saying how you are: go on, or end with WAITING or I HAVE COMPLETED THE GOAL, "
    "alone on the last line."
)


def pause(nudges: int) -> float:
    """After so many: 1, 2, 4, 8 and 16 minutes."""
    return FIRST * 2.0 ** min(max(nudges, 0), MOST - 1)


def is_silent(agent: Agent, episode: Episode) -> bool:
    heard = agent.silent and agent.source not in UNSURE  # after Esc nobody has said anything
    return heard and episode.kind == INPUT and not episode.left and episode.nudges < MOST


def wait(agent: Agent, episode: Episode, quiet: float) -> float | None:
    """How many seconds more; None when it is not to be nudged. `quiet`: for how long it has been silent, and since the
    last nudge, by the monotonic clock."""
    return max(0.0, pause(episode.nudges) - quiet) if is_silent(agent, episode) else None
