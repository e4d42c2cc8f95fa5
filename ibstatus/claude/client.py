"""Claude Code as ops see it. Another kind of client is a class with these names, in a package beside this one."""

import uuid
from typing import Any

from ibstatus.claude import command, transcript
from ibstatus.claude.hooks import agent_settings, command_lines
from ibstatus.claude.screens import dialogs, prompt, rules_file, states, user_rules
from ibstatus.claude.screens.dialogs import Dialog
from ibstatus.project import agent_meta, paths


class Claude:
    kind = "claude"
    left_behind = command.LEFT_BEHIND
    wanted = staticmethod(command.wanted)
    program = staticmethod(command.program)
    begin = staticmethod(command.begin)
    again = staticmethod(command.again)
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
