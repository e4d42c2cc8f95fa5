"""Who is calling: decided from the place, the environment and the terminal, all handed in."""

from ibstatus.model import words

AGENT = "agent"
PRIMARY = "primary"
PERSON = "person"
UNKNOWN = "unknown"


class Caller:
    """`name` is what stands in `from`; `kind` decides what the caller may do."""

    __slots__ = ("kind", "name", "session")

    def __init__(self, kind: str, name: str, session: str = "") -> None:
        self.kind = kind
        self.name = name
        self.session = session


def caller_of(agent: str, session: str, on_terminal: bool) -> Caller:
    """Inside an agent's worktree that agent; else a Claude session; else a person at a terminal; else unknown."""
    if agent:
        return Caller(AGENT, agent, session)
    if session:
        return Caller(PRIMARY, words.PRIMARY, session)
    if on_terminal:
        return Caller(PERSON, words.USER)
    return Caller(UNKNOWN, words.UNKNOWN)


def sender(caller: Caller, claimed: str) -> tuple[str, bool]:
    """(from, verified). Another name than one's own may be claimed, but it is stored as a claim."""
    if not claimed or claimed == caller.name:
        return caller.name, True
    return claimed, False
