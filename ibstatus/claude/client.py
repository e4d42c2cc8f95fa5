"""Claude Code as ops see it. Another kind of client is a class with these names, in a package beside this one.

How Claude Code is started: which program, with which words, in which environment.

The kinds of coding agents. Ops speak to a client through here alone, whichever it is.
"""

import os
import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

from ibstatus.claude import transcript
from ibstatus.claude.hooks import agent_settings, command_lines
from ibstatus.claude.screens import dialogs, prompt, rules_file, states, user_rules
from ibstatus.claude.screens.dialogs import Dialog
from ibstatus.errors import quoted
from ibstatus.project import agent_meta, paths
from ibstatus.system.process import run

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
    return run.path_of(os.environ.get(SWITCH) or NAME)


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


class Claude:
    kind = "claude"
    left_behind = LEFT_BEHIND
    wanted = staticmethod(wanted)
    program = staticmethod(program)
    begin = staticmethod(begin)
    again = staticmethod(again)
    read = staticmethod(prompt.read)
    steps = staticmethod(dialogs.step_to)
    transcript_of = staticmethod(transcript.path_of)
    said = staticmethod(transcript.as_text)
    reader = transcript.Reader

    def __init__(self, rules: rules_file.Rules | None = None, version: str = "") -> None:
        """`rules`: about screens, the user's with ours; without them ours alone. `version`: '' when it is not known;
        then a screen that shows it tells."""
        self.rules = rules
        self.version = version

    def shown(self, text: str) -> states.Shown:
        """What one capture says of the session's state."""
        return user_rules.shown(text, self.rules or rules_file.built_in(), self.version)

    def with_rules(self, rules: rules_file.Rules) -> "Claude":
        """The same client, with the user's rules about screens."""
        return type(self)(rules, self.version)

    def answer(self, dialog: Dialog, yolo: bool) -> str:
        """What ib itself answers at a start: trust is what making an agent here has given. '' for anything else."""
        if dialog.which == "trust":
            return "Yes"
        return "Yes, I accept" if dialog.which == "bypass" and yolo else ""

    def settings(
        self,
        agent: agent_settings.Agent,
        base: str,
        program: command_lines.Program,
        *given: agent_settings.Permissions,
        path: str,
    ) -> dict[str, Any]:
        """What its session is started with; `base` is the text of the project's own, from `path`."""
        return agent_settings.build(agent, agent_settings.base_of(base, path), program, *given, path=path)

    def has_begun(self, place: paths.Place, agent: str) -> bool:
        """Has anything been said in any session of it?"""
        return any(map(transcript.is_begun, transcript.paths_of(place, agent, agent_meta.read(place, agent))))

    def session(self, known: dict[str, Any]) -> str:
        """For a beginning: the client takes no session of which there is a file already, whatever it holds."""
        return str(uuid.uuid4()) if transcript.own_paths(known) else str(known["session_id"])

    def goes_on(self, place: paths.Place, agent: str) -> bool:
        """Is there a conversation that `again` would take up?"""
        return any(map(transcript.is_begun, transcript.own_paths(agent_meta.read(place, agent))))


__all__ = ["DEFAULT", "Launch", "of"]

DEFAULT = Claude()
KINDS = {DEFAULT.kind: DEFAULT}


def of(meta: Mapping[str, Any]) -> Claude:
    """By what was written down when the agent was made."""
    return KINDS.get(str(meta.get("kind")), DEFAULT)
