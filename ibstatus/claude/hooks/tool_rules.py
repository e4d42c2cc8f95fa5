"""Tool rules as people write them, `Bash(npm test:*),WebFetch` or `Read, Grep`, as a list of rules."""

from collections.abc import Iterable

# What a role with a list of tools does not get, unless it is in the list: what changes files or leaves the machine.
RESTRICTED = ("Write", "Edit", "MultiEdit", "NotebookEdit", "WebFetch", "WebSearch", "Task", "Agent")


def split(text: str) -> list[str]:
    """Commas and blanks separate rules, but not within brackets."""
    found, rule, depth = [], "", 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth <= 0 and (char == "," or (char.isspace() and not rule.endswith("("))):
            found.append(rule)
            rule = ""
        else:
            rule += char
    return [one for one in [*found, rule] if one]


def is_rule(text: str) -> bool:
    """`Tool` or `Tool(what)`, in one line."""
    name, bracket, inside = text.partition("(")
    plain = name.replace("_", "").replace("-", "").replace("*", "")
    return text.isprintable() and (plain.isalnum() or name == "*") and (not bracket or inside.endswith(")"))


def left_out(tools: Iterable[str]) -> list[str]:
    """What a role is denied that may use only these tools; nothing when it names none."""
    named = {tool.partition("(")[0] for tool in tools}
    if not named or "*" in named:
        return []
    if named & {"Task", "Agent"}:
        named |= {"Task", "Agent"}
    return [tool for tool in RESTRICTED if tool not in named]
