"""The command line of Claude Code, as far as anybody starts it."""

from typing import NamedTuple

from ibstatus.errors import IbError

MODES = ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "manual", "plan")
FLAGS = {
    "-p": "print",
    "-v": "version",
    "-h": "help",
    **{
        f"--{name}": name
        for name in (
            *("print", "version", "help", "dangerously-skip-permissions", "verbose", "debug", "strict-mcp-config"),
            *("fork-session", "ide", "include-partial-messages", "allow-dangerously-skip-permissions"),
        )
    },
}
VALUES = {
    "-r": "resume",
    "-n": "name",
    **{
        f"--{name}": name
        for name in (
            *("session-id", "resume", "settings", "permission-mode", "model", "fallback-model", "effort", "name"),
            *("output-format", "input-format", "append-system-prompt", "system-prompt", "setting-sources", "agents"),
            *("agent", "max-turns", "max-budget-usd", "heard"),
        )
    },
}
LISTS = {
    "--allowedTools": "allow",
    "--allowed-tools": "allow",
    "--disallowedTools": "deny",
    "--disallowed-tools": "deny",
    "--add-dir": "add-dir",
    "--mcp-config": "mcp-config",
    "--tools": "tools",
}


class Refused(IbError):
    """The client's own words about a command line: printed bare, exit 1."""


class Options(NamedTuple):
    flags: frozenset[str]
    values: dict[str, str]
    lists: dict[str, list[str]]
    words: list[str]

    @property
    def prompt(self) -> str | None:
        return self.words[0] if self.words else None

    @property
    def is_printing(self) -> bool:
        return "print" in self.flags

    @property
    def mode(self) -> str:
        """'' when the command line leaves it to the settings."""
        chosen = self.values.get("permission-mode", "")
        if not chosen and "dangerously-skip-permissions" in self.flags:
            return "bypassPermissions"
        return "default" if chosen == "manual" else chosen


def read(argv: list[str]) -> Options:
    """A list option takes every word up to the next option, the prompt too: as in the client."""
    flags: set[str] = set()
    values: dict[str, str] = {}
    lists: dict[str, list[str]] = {}
    words: list[str] = []
    left = list(argv)
    while left:
        word = left.pop(0)
        name, equals, given = word.partition("=") if word.startswith("--") else (word, "", "")
        if word == "--":
            words += left
            break
        if word in FLAGS:
            flags.add(FLAGS[word])
        elif name in VALUES:
            values[VALUES[name]] = given if equals else taken(name, left)
        elif name in LISTS:
            lists.setdefault(LISTS[name], []).extend([given] if equals else several(left))
        elif word.startswith("-") and word != "-":
            raise Refused(f"error: unknown option '{word}'")
        else:
            words.append(word)
    return checked(Options(frozenset(flags), values, lists, words))


def taken(name: str, left: list[str]) -> str:
    if not left:
        raise Refused(f"error: option '{name} <value>' argument missing")
    return left.pop(0)


def several(left: list[str]) -> list[str]:
    found: list[str] = []
    while left and not left[0].startswith("-"):
        found.append(left.pop(0))
    return found


def checked(options: Options) -> Options:
    mode = options.values.get("permission-mode", "default")
    if mode not in MODES:
        choices = ", ".join(MODES)
        raise Refused(
            f"error: option '--permission-mode <mode>' argument '{mode}' is invalid. Allowed choices are {choices}."
        )
    for name in ("session-id", "resume"):
        if name in options.values and not is_uuid(options.values[name]):
            raise Refused("Error: Invalid session ID. Must be a valid UUID.")
    return options


def is_uuid(text: str) -> bool:
    parts = text.split("-")
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and all(
        set(part) <= set("0123456789abcdefABCDEF") for part in parts
    )


def rules(written: list[str]) -> list[str]:
    """`--allowedTools "Bash(git log:*),Edit" Read`: separated by commas or blanks outside brackets."""
    found, depth, word = [], 0, ""
    for char in " ".join(written) + " ":
        depth += (char == "(") - (char == ")")
        if depth <= 0 and char in ", ":
            found.append(word)
            word = ""
        else:
            word += char
    return [rule for rule in found if rule]
