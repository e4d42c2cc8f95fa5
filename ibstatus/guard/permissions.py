"""Tool patterns of allow and deny lists: `Read`, `Bash(git log:*)`, `Edit(src/**)`, `mcp__fs`, `WebFetch(domain:…)`."""

from ibstatus.system import wildcards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHELLS = frozenset(("Bash", "Monitor"))
READERS = frozenset(("Read", "Grep", "Glob", "LS", "NotebookRead"))
EDITORS = frozenset(("Edit", "Write", "MultiEdit", "NotebookEdit"))
PATH_KEYS = ("file_path", "notebook_path", "path")
# Names that the client has given to one tool.
NAMES = {"Task": "Agent", "KillShell": "TaskStop", "KillBash": "TaskStop", "BashOutput": "TaskOutput"}


class Rules:
    """The rules of one list, those for the shell apart: `shell` holds what stands in their parentheses."""

    __slots__ = ("all_shell", "others", "shell", "tools")

    def __init__(self, patterns: list[str], *, deny: bool = False) -> None:
        self.tools: list[str] = []
        self.shell: list[str] = []
        self.others: list[tuple[str, str]] = []
        for pattern in patterns:
            name, bracket, inside = pattern.strip().partition("(")
            if not bracket:
                self.tools.append(NAMES.get(name, name))
            elif not inside.endswith(")") and not deny:
                continue  # half a pattern allows nothing
            elif name in SHELLS:
                self.shell.append(inside.removesuffix(")").strip())
            else:
                self.others.append((NAMES.get(name, name), inside.removesuffix(")")))
        self.all_shell = any(is_all(tool, "Bash") for tool in self.tools) or any(
            bool(rule) and not rule.strip("*: ") for rule in self.shell
        )

    @property
    def has_shell(self) -> bool:
        return self.all_shell or bool(self.shell)

    def names(self, tool: str) -> bool:
        """Is the tool listed as a whole?"""
        tool = NAMES.get(tool, tool)
        return tool in self.tools or any(is_all(pattern, tool) for pattern in self.tools)

    def runs(self, texts: list[str]) -> bool:
        """Does a rule for the shell match one of these forms of a command?"""
        return self.all_shell or any(command_matches(rule, text) for rule in self.shell for text in texts)

    def fits(self, tool: str, given: "dict[str, Any]", folders: tuple[str, str], *, deny: bool = False) -> bool:
        """Does `Tool(…)` match this call? `folders`: the worktree and the home."""
        tool = NAMES.get(tool, tool)
        return any(rule_fits(name, inside, tool, given, folders, deny) for name, inside in self.others)

    def paths(self, access: str) -> list[str]:
        """The path patterns that hold for reading or for writing."""
        tools = EDITORS if access == "write" else READERS
        return [inside for name, inside in self.others if name in tools]


def is_all(pattern: str, tool: str) -> bool:
    """`*`, `mcp__fs`, `mcp__fs__*` and the like."""
    if "*" in pattern:
        return wildcards.matches(pattern, tool)
    return pattern == tool or (
        pattern.startswith("mcp__") and pattern.count("__") == 1 and tool.startswith(pattern + "__")
    )


def command_matches(rule: str, text: str) -> bool:
    """`prefix:*` and `prefix *` need a blank or the end after the prefix; `a*b` is any text between; else exact."""
    if rule.endswith(":*") or (rule.endswith(" *") and "*" not in rule[:-1]):
        prefix = rule[:-2].rstrip()
    elif "*" in rule:
        return wildcards.matches(rule, text)
    else:
        return text == rule
    if "*" in prefix:
        return wildcards.matches(prefix, text) or wildcards.matches(prefix + " *", text)
    return text == prefix or text.startswith((prefix + " ", prefix + "\t", prefix + "\n"))


def could_match(rule: str, argv: list[str], unknown: str) -> bool:
    """Might a command whose words are not all known be what this rule denies? Words that are known must agree."""
    words = rule.removesuffix(":*").removesuffix("*").split()
    if len(argv) < len(words) and not any(unknown in word for word in argv):
        return False
    for word, given in zip(words, argv, strict=False):
        if unknown in given:
            return True
        if word != given:
            return False
    return False


def rule_fits(name: str, inside: str, tool: str, given: "dict[str, Any]", folders: tuple[str, str], deny: bool) -> bool:
    reads, edits = name in READERS, name in EDITORS
    if (reads and tool in READERS) or (edits and tool in EDITORS):
        path = next((given[key] for key in PATH_KEYS if isinstance(given.get(key), str) and given[key]), folders[0])
        return path_fits(inside, path, folders)
    if name != tool and not is_all(name, tool):
        return False
    if inside == "*":
        return True
    if inside.startswith("domain:"):
        return domain_fits(inside[len("domain:") :], given.get("url"), deny)
    texts = [value for value in given.values() if isinstance(value, str)]
    key, colon, value = inside.partition(":")
    if colon and key in given and isinstance(given[key], str):
        return wildcards.matches(value, given[key])
    keys = ("subagent_type", "skill", "command", "query", "name")
    named = [given[key] for key in keys if isinstance(given.get(key), str)]
    return any(command_matches(inside, text) for text in (texts if deny else named))


def path_fits(pattern: str, path: str, folders: tuple[str, str]) -> bool:
    """`//` from the root of the disk, `~/` from the home, else from the project; one name alone is at any depth.

    `path` is resolved and absolute. `/etc/**` is taken both ways: people write it for the disk."""
    worktree, home = folders
    if pattern.startswith("//"):
        return wildcards.path_matches(pattern[1:], path)
    if pattern.startswith("~/"):
        return wildcards.path_matches(home + pattern[1:], path)
    if pattern.startswith("/") and wildcards.path_matches(pattern, path):
        return True
    if path != worktree and not path.startswith(worktree + "/"):
        return pattern in ("*", "**")
    inside = path[len(worktree) + 1 :]
    pattern = pattern.removeprefix("./")
    if "/" not in pattern.rstrip("/"):
        pattern = "**/" + pattern
    return wildcards.path_matches(pattern, inside)


def domain_fits(domain: str, url: "Any", deny: bool) -> bool:
    host = host_of(url) if isinstance(url, str) else ""
    domain = domain.lower().strip()
    if not host:
        return deny
    return host == domain or wildcards.matches(domain, host) or (deny and host.endswith("." + domain))


def host_of(url: str) -> str:
    """'' for what cannot be read in one way only."""
    scheme, mark, rest = url.strip().partition("://")
    if not mark:
        scheme, rest = "https", url.strip()
    for end in "/?#":
        rest = rest.partition(end)[0]
    if "\\" in url or "@" in rest or scheme.lower() not in ("http", "https") or any(c.isspace() for c in rest):
        return ""
    return rest.partition(":")[0].rstrip(".").lower()
