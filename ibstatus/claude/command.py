"""How Claude Code is started: which program, with which words, in which environment."""

import os
from typing import NamedTuple

from ibstatus.errors import quoted
from ibstatus.system.process import installed

SWITCH = "IB_CLAUDE"
NAME = "claude"
# What a session leaves in the environment of what it starts: an agent is a session of its own. The last one would go
# before SHELL, which start.sh sets.
LEFT_BEHIND = (
    "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_PROJECT_DIR",
    "CLAUDE_ENV_FILE", "CLAUDE_EFFORT", "CLAUDE_PID", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SHELL",
)  # fmt: skip


class Launch(NamedTuple):
    """What one session is started with; the same words start it again."""

    program: str
    session: str
    settings: str
    model: str = ""
    yolo: bool = False
    printing: bool = False


def wanted() -> str:
    """What is looked for, in words."""
    named = os.environ.get(SWITCH)
    return f"{quoted(named)} ({SWITCH})" if named else f"`{NAME}`"


def program() -> str:
    """The client: IB_CLAUDE, else `claude` as a shell would find it; '' when there is none."""
    return installed.path_of(os.environ.get(SWITCH) or NAME)


def begin(launch: Launch) -> list[str]:
    """A new session; the prompt follows as one more word."""
    return [launch.program, "--session-id", launch.session, *settled(launch), "--"]


def again(launch: Launch) -> list[str]:
    """The same session, where it was."""
    return [launch.program, "--resume", launch.session, *settled(launch)]


def settled(launch: Launch) -> list[str]:
    """A permission mode is always named: the client's own default differs by version and by the user's settings."""
    mode = "bypassPermissions" if launch.yolo else "default"
    model = ["--model", launch.model] if launch.model else []
    printing = ["--print"] if launch.printing else []
    return ["--settings", launch.settings, "--permission-mode", mode, *model, *printing]
