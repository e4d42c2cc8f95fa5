"""An agent that ended its turn without saying how it is: told so, less and less often, and not for ever."""

from ibstatus.model.fleet import Agent
from ibstatus.state.rules.episodes import INPUT, UNSURE, Episode

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
