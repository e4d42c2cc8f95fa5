"""PreToolUse of the primary, for Bash: no `cd` into an agent's worktree. Everything else passes in silence."""

from ibstatus.claude import hook_output
from ibstatus.hooks.entry import Event
from ibstatus.system import jsonl
from ibstatus.system.disk import environ


def run(event: Event) -> int:
    given = event.body.get("tool_input") if event.body else None
    command = given.get("command") if isinstance(given, dict) else None
    if event.text("tool_name") != "Bash" or not isinstance(command, str) or event.agent:
        return 0
    if "cd" not in command and "pushd" not in command:
        return 0
    from ibstatus.guard import cd
    from ibstatus.system import symlinks

    reason = cd.refusal(command, event.cwd, environ("HOME"), symlinks.Disk())
    if reason:
        event.say(hook_output.deny(jsonl.clean(reason)))
    return 0
