"""How long our own commands hope for another program to answer: as long as the tests do. A busy machine is no reason to
say that an agent has not heard its mail."""

from ibstatus.mail import type_command, wake_agent

LONG = 20.0


def lengthen() -> None:
    """In the process that calls this, and in those that it forks."""
    wake_agent.SHOWS_WITHIN = wake_agent.TOLD_WITHIN = type_command.STARTS_WITHIN = LONG
