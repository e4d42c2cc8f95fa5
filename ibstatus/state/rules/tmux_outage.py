"""What was seen last and still holds: while tmux does not answer, and where a screen is seen for the first time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ibstatus.state.rules.evidence import DIALOGS, HOOKS, SCREEN, Evidence, Verdict

if TYPE_CHECKING:
    from ibstatus.model.fleet import Agent
    from ibstatus.state.rules.known import Known, Sight

UNSEEN = "tmux does not answer"
MOMENT = 2.0  # seconds; for so long it is no more than a moment's trouble
LAST = "tmux does not answer, so it is as it was seen last"


def kept(one: "Known", old: "Agent | None") -> Verdict | None:
    """While tmux does not answer, what was so last stays so, until its hooks say something newer."""
    if old is None or old.since is None or one.sight is None or one.sight.there is not None:
        return None
    if one.told is not None and one.told.at > old.since:
        return None
    return Verdict(old.state, old.reason, old.since, old.source, old.asks, why=LAST)


def still(found: Verdict, one: "Known", old: "Agent | None") -> Verdict:
    """A new supervisor has not seen for how long a screen is idle. Where the one before it has, after the last word of
    the hooks, that holds."""
    shown = one.sight.shown if one.sight is not None else None
    if found.source != HOOKS or shown is None or not shown.idle or old is None or old.since is None:
        return found
    if (old.source, old.state) != (SCREEN, "waiting") or old.reason in DIALOGS:
        return found
    if one.told is None or one.told.at > old.since:
        return found
    return Verdict(old.state, old.reason, old.since, old.source, old.asks, note=old.note, why="as it was seen last")


def older(found: Sequence[Evidence]) -> tuple[tuple[Evidence, str], ...]:
    """Why none of what there is now decides."""
    return tuple((one, "older than what was seen last" if one.state else one.note) for one in found)


def unseen(sight: "Sight | None", now: float) -> str:
    """What is said of it is as old as the last look, or word of its hooks; '' when that is no more than a moment's
    trouble."""
    is_blind = sight is not None and sight.there is None
    return UNSEEN if is_blind and sight is not None and (sight.note == UNSEEN or now - sight.at >= MOMENT) else ""
