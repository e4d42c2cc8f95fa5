"""What the settings files say: hooks, permissions, the mode. Read anew at each event, as the client does."""

import json
import os
from typing import Any, NamedTuple

from ibstatus.testkit.fake_claude.arguments import Refused

Json = dict[str, Any]
DEFAULT_TIMEOUT = 60.0
LONGEST_WAIT = 600.0


class Hook(NamedTuple):
    command: str
    timeout: float
    is_async: bool
    rewakes: bool


def config_folder() -> str:
    return os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")


def given(value: str) -> Json:
    """`--settings`: a file, or the JSON itself."""
    if value.lstrip().startswith("{"):
        return parsed(value)
    try:
        with open(value, encoding="utf-8") as file:
            return parsed(file.read())
    except OSError:
        raise Refused(f"Error: Settings file not found: {value}") from None


def parsed(text: str) -> Json:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def of_file(path: str) -> Json:
    try:
        with open(path, encoding="utf-8") as file:
            return parsed(file.read())
    except (OSError, ValueError):
        return {}


class Settings:
    """All files together; what stands in `--settings` counts first."""

    def __init__(self, cwd: str, value: str | None) -> None:
        self.value = value
        folders = dict.fromkeys([main_checkout(cwd), cwd])  # in a linked worktree the main checkout's count as well
        self.files = [f"{config_folder()}/settings.json"]
        self.files += [
            f"{folder}/.claude/{name}" for folder in folders for name in ("settings.json", "settings.local.json")
        ]
        if value is not None:
            given(value)

    def all(self) -> list[Json]:
        own = [] if self.value is None else [given(self.value)]
        return [*own, *(of_file(path) for path in reversed(self.files))]

    def hooks(self, event: str, subject: str) -> list[Hook]:
        """Each command once, whatever the number of files that name it."""
        found: dict[str, Hook] = {}
        for settings in self.all():
            for entry in as_list(as_dict(settings.get("hooks")).get(event)):
                if isinstance(entry, dict) and matches(str(entry.get("matcher") or ""), subject):
                    for hook in as_list(entry.get("hooks")):
                        if isinstance(hook, dict) and hook.get("command"):
                            found.setdefault(str(hook["command"]), hook_of(hook))
        return list(found.values())

    def rules(self, kind: str) -> list[str]:
        """`kind`: allow, deny or ask."""
        return [
            str(rule) for settings in self.all() for rule in as_list(as_dict(settings.get("permissions")).get(kind))
        ]

    def mode(self) -> str:
        for settings in self.all():
            if mode := as_dict(settings.get("permissions")).get("defaultMode"):
                return str(mode)
        return "auto"


def main_checkout(cwd: str) -> str:
    """Of a linked worktree; `cwd` itself otherwise."""
    try:
        with open(f"{cwd}/.git", encoding="utf-8", errors="surrogateescape") as file:
            folder = file.read().partition("gitdir:")[2].strip()
    except OSError:
        return cwd
    head, found, _ = os.path.join(cwd, folder).rpartition("/.git/worktrees/")
    return head if found else cwd


def hook_of(value: Json) -> Hook:
    rewakes = value.get("asyncRewake") is True
    limit = value.get("timeout")
    seconds = float(limit) if isinstance(limit, (int, float)) else LONGEST_WAIT if rewakes else DEFAULT_TIMEOUT
    return Hook(str(value["command"]), seconds, rewakes or value.get("async") is True, rewakes)


def matches(matcher: str, subject: str) -> bool:
    """'' and * are everything; else names with | between them, or a pattern that the whole name must be."""
    if matcher in ("", "*"):
        return True
    if all(char.isalnum() or char in "_|-" for char in matcher):
        return subject in matcher.split("|")
    import re

    try:
        return re.fullmatch(matcher, subject) is not None
    except re.error:
        return False


def as_dict(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
