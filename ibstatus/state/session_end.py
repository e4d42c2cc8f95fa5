"""A client has ended: its exit code is written down, and work that lies uncommitted is reported, never asked about."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ibstatus.claude import client, hook_state
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_meta, logs, operations, paths
from ibstatus.state import fleet as sights
from ibstatus.state.rules import evidence, session_end
from ibstatus.system import disk
from ibstatus.system.git import run, worktrees

LONGEST = 200
PAUSED = "paused"
AT_ONCE = 20  # of a round; each is a few writes that reach the platter
ENDINGS = ("pause", "kill", "merge")  # operations that end a session; nobody needs to be told that it has ended
MANY = 3  # so many at once: the server died, or the machine; nobody waits for as many looks at worktrees


def note(
    place: paths.Place, agent: str, code: int | None, *, look: bool = True, seen: Mapping[str, Any] | None = None
) -> None:
    """`code` is None when nobody saw it end: it was killed, or its tmux server was. Without `look` its worktree is
    not asked for uncommitted work. `seen`: its meta.json as it was before its session was found gone; one that has
    begun again since has not ended."""
    now = hook_state.not_before(hook_state.read(hook_state.path_of(place, agent, "")), time.time())
    known = agent_meta.read(place, agent)
    ended = known.get("ended")
    if not known or (isinstance(ended, dict) and ended.get("why") == PAUSED):  # too late: it is known why
        return
    ender = ended_by(place, agent)
    looks = look and not ender and known.get("worktree") is not False
    left = uncommitted(place, agent) if looks else []
    noted = {"code": code, "at": now, "left": len(left), **({"why": PAUSED} if ender == "pause" else {})}
    facts = {"ended": noted, "prompted": was_prompted(place, agent, known)}

    def unless_begun(now_known: dict[str, Any]) -> dict[str, Any]:
        is_same = seen is None or (now_known.get("started"), now_known.get("ended")) == (seen.get("started"), None)
        return facts if is_same else {}

    if agent_meta.rework(place, agent, unless_begun).get("ended") != noted or ender:
        return
    how = session_end.how_ended(code)
    said = last_words(place, agent) if code else ""
    uncommitted_too = f"; {len(left)} uncommitted change{'' if len(left) == 1 else 's'}" if left else ""
    logs.write(place, agent, f"Session {how}{uncommitted_too}" + (f": {said}" if said else ""), now)
    if left:
        event = {"kind": "agent.state", "who": agent, "state": "waiting", "reason": evidence.UNCOMMITTED}
    else:
        event = {"kind": "agent.stopped", "who": agent, "reason": "" if code == 0 else how}
    logs.note(place, agent, now, event)


def was_prompted(place: paths.Place, agent: str, known: dict[str, Any]) -> bool:
    """Has it got its task? Kept in meta.json, where neither a lost transcript nor a trimmed history takes it away."""
    return known.get("prompted") is True or client.of(known).has_begun(place, agent)


def ended_by(place: paths.Place, agent: str) -> str:
    """What of ours is ending it; '' when it ends of itself."""
    kind = str(operations.read(place, agent).get("kind", ""))
    return kind if kind in ENDINGS else ""


def last_words(place: paths.Place, agent: str) -> str:
    """The last line that stood on its screen: why it ended, for most clients."""
    lines = [line.strip() for line in last_screen(place, agent).splitlines() if line.strip()]
    return lines[-1][:LONGEST] if lines else ""


def last_screen(place: paths.Place, agent: str) -> str:
    """What start.sh kept of the terminal; '' when it kept nothing."""
    try:
        data = disk.read_ours(place.agent_dir(agent) + "/last-screen", 1 << 20)
    except OSError:
        return ""
    return data.decode("utf-8", "replace")


def uncommitted(place: paths.Place, agent: str) -> list[str]:
    """What git says of its worktree; of one that is none any more, git would speak of the user's own."""
    if not worktrees.admin_of(place.common, place.agent_dir(agent) + "/repo"):
        return []
    return run.run(place.agent_dir(agent) + "/repo", "status", "--porcelain").out.splitlines()


def catch_up(place: paths.Place, seen: Sequence[Agent]) -> None:
    """Sessions that are gone without a word: what their start.sh would have said. Never one of which nobody can say
    that it is gone."""
    silent = [record for agent in seen if agent.state == "stopped" and (record := unsaid(place, agent.id)) is not None]
    if not silent:
        return
    living = sights.sessions(place, silent)
    gone = [record for record in silent if living[record.id] is False]
    for record in gone[:AT_ONCE]:
        note(place, record.id, None, look=len(gone) <= MANY, seen=record.meta)


def unsaid(place: paths.Place, agent: str) -> agent_meta.Record | None:
    """Its record, where nobody has written down how its session ended, and nobody is about to."""
    record = agent_meta.record_of(place, agent)
    if record is None or "tmux_session" not in record.meta or record.meta.get("ended", "") is not None:
        return None
    return None if is_changing(place, agent) else record


def is_changing(place: paths.Place, agent: str) -> bool:
    return operations.is_at_work(place, agent) or bool(operations.read(place, agent))
