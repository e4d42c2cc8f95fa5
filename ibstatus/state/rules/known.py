"""What is known of one agent: what its hooks said last, what tmux and its screen show, and the rest of the evidence."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ibstatus.claude.screens.states import Shown
from ibstatus.state.rules.evidence import Evidence


class Sight(NamedTuple):
    """`there`: is its session there (None: tmux could not be asked), `shown`: what its screen says, and since when
    without a break (`at`), looked at last (`seen`), the screen itself changed last (`changed`); all wall clock.
    `gone`: the session is there, but no client runs in it."""

    there: bool | None
    dead: bool = False
    suspended: bool = False
    shown: Shown | None = None
    at: float = 0.0
    seen: float = 0.0
    changed: float = 0.0
    note: str = ""
    gone: bool = False


class Told(NamedTuple):
    """What an agent's hooks said last of its state, and when. `said`: the end of what it said at the end of its turn;
    `silent`: that was neither phrase. `since`: since when it is so, where a compaction came in between; `rest`: what
    it comes back to when this one is over."""

    state: str
    reason: str
    at: float
    said: str = ""
    silent: bool = False
    since: float = 0.0
    rest: "Told | None" = None


class Known(NamedTuple):
    """All evidence on one agent. `session`: is its tmux session there; None when tmux cannot be asked. `sight`: what
    tmux and its screen show. `also`: evidence that is only asked for where the rest says nothing."""

    id: str
    meta: Mapping[str, Any]
    session: bool | None
    told: Told | None
    problem: str = ""
    sight: Sight | None = None
    also: tuple[Evidence, ...] = ()
