"""Whether a tool call may go ahead without anybody being asked."""

from typing import Any

Json = dict[str, Any]
READ_ONLY = frozenset(
    [
        "cat",
        "cd",
        "date",
        "echo",
        "file",
        "find",
        "grep",
        "head",
        "ls",
        "pwd",
        "sort",
        "stat",
        "tail",
        "true",
        "type",
        "uname",
        "wc",
        "which",
    ]
)
READ_ONLY_GIT = frozenset(["blame", "diff", "log", "rev-parse", "show", "status"])
SEPARATORS = ("&&", "||", ";", "|", "\n")
FILES = ("Write", "Edit")


def verdict(mode: str, tool: str, given: Json, allow: list[str], deny: list[str], ask: list[str]) -> str:
    """'allow', 'deny' or 'ask'."""
    if any(covers(rule, tool, given, any_part=True) for rule in deny):
        return "deny"
    if tool in ("AskUserQuestion", "ExitPlanMode"):
        return "ask"
    if any(covers(rule, tool, given, any_part=True) for rule in ask):
        return "ask"
    if mode in ("bypassPermissions", "auto") or any(covers(rule, tool, given, any_part=False) for rule in allow):
        return "allow"
    if tool in FILES:
        return "allow" if mode == "acceptEdits" else "ask"
    if tool == "Bash" and is_covered(given, allow):
        return "allow"
    return "deny" if mode == "dontAsk" else "ask"


def is_covered(given: Json, allow: list[str]) -> bool:
    """Each part of the command line by a rule, or harmless."""
    parts = parts_of(str(given.get("command", "")))
    return all(
        is_harmless(part) or any(covers(rule, "Bash", {"command": part}, any_part=False) for rule in allow)
        for part in parts
    )


def is_harmless(part: str) -> bool:
    words = part.split()
    if not words or any(char in part for char in "><$`&"):
        return not words
    return words[0] in READ_ONLY or (words[0] == "git" and len(words) > 1 and words[1] in READ_ONLY_GIT)


def parts_of(command: str) -> list[str]:
    for separator in SEPARATORS:
        command = command.replace(separator, "\0")
    return [part.strip() for part in command.split("\0")]


def covers(rule: str, tool: str, given: Json, *, any_part: bool) -> bool:
    """`Bash`, `Bash(git log:*)`, `Bash(make *)`, `Write(/tmp/**)`."""
    name, bracket, spec = rule.partition("(")
    if name != tool and not (name == "Edit" and tool == "Write"):
        return False
    if not bracket or spec in (")", "*)"):
        return True
    spec = spec.removesuffix(")")
    if tool != "Bash":
        return is_path_of(str(given.get("file_path", "")), spec)
    command = str(given.get("command", ""))
    return any(is_command_of(part, spec) for part in (parts_of(command) if any_part else [command]))


def is_command_of(command: str, spec: str) -> bool:
    for end in (":*", " *"):
        if spec.endswith(end):
            stem = spec[: -len(end)]
            is_one = not any(separator in command for separator in SEPARATORS)
            return is_one and (command == stem or command.startswith(stem + " "))
    return command == spec


def is_path_of(path: str, spec: str) -> bool:
    from fnmatch import fnmatchcase

    pattern = spec[1:] if spec.startswith("//") else spec
    return fnmatchcase(path, pattern.replace("**", "*")) or fnmatchcase(
        path, "*/" + pattern.lstrip("./").replace("**", "*")
    )
