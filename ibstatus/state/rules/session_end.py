"""How a session ended, as meta.json has it: while that stands, nothing that a hook says is of now. Pure."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ibstatus.claude import hook_events
from ibstatus.state.rules import evidence

if TYPE_CHECKING:
    from ibstatus.state.rules.known import Known, Told

ALIVE = 10.0  # seconds after its end was noted; a session that is there and has a client then was begun by somebody


def stands(meta: Mapping[str, Any]) -> float | None:
    """When its session ended; None while it runs, or has begun again since."""
    ended, started = meta.get("ended"), meta.get("started")
    at = ended.get("at") if isinstance(ended, Mapping) else None
    if not isinstance(at, int | float) or isinstance(at, bool):
        return None
    return None if isinstance(started, int | float) and started > at else float(at)


def noted(meta: Mapping[str, Any], now: float) -> tuple[str, float]:
    """Why and when, as it was written down when its client ended: a hook that comes later does not take that away."""
    ended = meta.get("ended")
    if not isinstance(ended, Mapping) or not isinstance(ended.get("left"), int) or ended.get("why"):
        return "", now
    code, at = ended.get("code"), ended.get("at")
    reason = evidence.UNCOMMITTED if ended["left"] else "" if code == 0 else how_ended(code)
    return reason, float(at) if isinstance(at, int | float) else now


def heeded(known: "Known") -> "Known":
    """With the end of its session as the last word, whatever a hook has said after that, or was late to say."""
    at = stands(known.meta)
    told = known.told
    if at is None or told is None or is_alive(known, at):
        return known
    if is_end(told) and told.reason and (told.at <= at or told.reason not in hook_events.ENDED.values()):
        return known  # it says more than the exit code
    return known._replace(told=last_word(told, known.meta, at))


def how_ended(code: int | None) -> str:
    """`code`: None when nobody saw it end: it was killed, or its tmux server was."""
    return "was killed" if code is None else f"ended with exit code {code}" if code else "ended"


def is_end(told: "Told") -> bool:
    return told.state == "stopped" or (told.state, told.reason) == ("waiting", evidence.UNCOMMITTED)


def is_alive(known: "Known", ended: float) -> bool:
    sight = known.sight
    return sight is not None and bool(sight.there) and not (sight.dead or sight.gone) and sight.seen - ended >= ALIVE


def last_word(told: "Told", meta: Mapping[str, Any], at: float) -> "Told":
    reason = str(meta["ended"].get("why") or "") or noted(meta, at)[0]
    state = "waiting" if reason in evidence.ENDS else "stopped"
    return told._replace(state=state, reason=reason, at=at, said="", silent=False)
