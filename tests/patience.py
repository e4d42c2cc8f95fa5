"""How long our own commands hope for another program to answer: as long as the tests do. A busy machine is no reason to
say that an agent has not heard its mail."""

from ibstatus.ops import command, rouse

LONG = 20.0


def lengthen() -> None:
    """In the process that calls this, and in those that it forks."""
    rouse.SHOWS_WITHIN = rouse.TOLD_WITHIN = command.STARTS_WITHIN = LONG
