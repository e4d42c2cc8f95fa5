"""tmux."""

from ibstatus.drivers import installed


def version() -> str:
    """As in `tmux 3.4`; '' when there is no tmux."""
    return installed.first_line(["tmux", "-V"])
