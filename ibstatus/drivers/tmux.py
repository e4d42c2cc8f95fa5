"""tmux: asked as one server on a socket of its own; what the caller's terminal runs in does not count."""

import os
import subprocess

from ibstatus.drivers import installed, processes

PATIENCE = 10.0
NO_SERVER = ("no server running", "error connecting", "server exited", "No such file or directory")


def version() -> str:
    """As in `tmux 3.4`; '' when there is no tmux."""
    return installed.first_line(["tmux", "-V"])


def sessions(socket: str) -> frozenset[str] | None:
    """The names of all sessions; None when tmux cannot be asked."""
    env = {key: value for key, value in os.environ.items() if key not in ("TMUX", "TMUX_PANE")}
    try:
        done = subprocess.run(
            ["tmux", "-L", socket, "list-sessions", "-F", "#{session_name}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
            env=env,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode == 0:
        return frozenset(processes.text(done.stdout).splitlines())
    return frozenset() if any(words in processes.text(done.stderr) for words in NO_SERVER) else None
