"""Who is calling: decided from the place, the environment and the terminal, all handed in."""

from ibstatus.model import constants

AGENT = "agent"
PRIMARY = "primary"
PERSON = "person"
UNKNOWN = "unknown"


class Caller:
    """`name` is what stands in `from`; `kind` decides what the caller may do. `proven`: not only by where it stands."""

    __slots__ = ("kind", "name", "proven", "session")

    def __init__(self, kind: str, name: str, session: str = "", proven: bool = True) -> None:
        self.kind = kind
        self.name = name
        self.session = session
        self.proven = proven


def caller_of(agent: str, session: str, on_terminal: bool, proven: bool = True) -> Caller:
    """Inside an agent's worktree that agent; else a Claude session; else a person at a terminal; else unknown."""
    if agent:
        return Caller(AGENT, agent, session, proven)
    if session:
        return Caller(PRIMARY, constants.PRIMARY, session)
    if on_terminal:
        return Caller(PERSON, constants.USER)
    return Caller(UNKNOWN, constants.UNKNOWN)


def sender(caller: Caller, claimed: str) -> tuple[str, bool]:
    """(from, verified). Another name than one's own may be claimed, but it is stored as a claim."""
    if not claimed or claimed == caller.name:
        return caller.name, caller.proven
    return claimed, False
