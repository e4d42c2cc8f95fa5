"""What is said of agents while tmux does not answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ibstatus.rules.evidence import Evidence, Verdict

if TYPE_CHECKING:
    from ibstatus.model.records import Agent
    from ibstatus.rules.fleet import Known
    from ibstatus.rules.sights import Sight

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


def older(found: Sequence[Evidence]) -> tuple[tuple[Evidence, str], ...]:
    """Why none of what there is now decides."""
    return tuple((one, "older than what was seen last" if one.state else one.note) for one in found)


def unseen(sight: "Sight | None", now: float) -> str:
    """What is said of it is as old as the last look, or word of its hooks; '' when that is no more than a moment's
    trouble."""
    is_blind = sight is not None and sight.there is None
    return UNSEEN if is_blind and sight is not None and (sight.note == UNSEEN or now - sight.at >= MOMENT) else ""
