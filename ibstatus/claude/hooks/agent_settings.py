"""The settings file of an agent: the project's own, what every agent needs, what the config gives its role, our hooks.

Whatever stands in the project's file, what comes out has the guard: a file that cannot be read that way is refused.

Tool rules as people write them, `Bash(npm test:*),WebFetch` or `Read, Grep`, as a list of rules.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ibstatus.claude.hooks import command_lines
from ibstatus.claude.hooks import events as hook_settings
from ibstatus.errors import IbError
from ibstatus.system import jsonl
from ibstatus.titles.machine import STOP_ONLY

Json = dict[str, Any]

ROLES = ("manager", "worker")
GIT = (
    "status", "add", "commit", "diff", "show", "log", "ls-files", "grep", "rm", "merge", "rebase", "checkout",
    "restore", "reset",
)  # fmt: skip
SHELL = ("ib", *(f"git {word}" for word in GIT), "pwd", "ls", "head", "tail", "cat", "grep")
# The client's names of today and of the versions before: an unknown one does no harm. What runs a command or opens a
# file is judged by the guard all the same.
TOOLS = (
    "Read", "Write", "Edit", "MultiEdit", "Glob", "Grep", "LS", "NotebookEdit", "TodoWrite", "WebFetch", "WebSearch",
    "Task", "Agent", "TaskOutput", "TaskStop", "TaskGet", "TaskList", "TaskUpdate", "BashOutput", "KillShell",
    "Monitor", "AskUserQuestion", "Skill", "ToolSearch", "SendMessage", "ReportFindings", "ScheduleWakeup",
)  # fmt: skip
MANDATORY = (*(f"Bash({command}:*)" for command in SHELL), *TOOLS)
# Nobody is there to approve a plan, and other sessions are reached with `ib send`. SendMessage stays, for the agent's
# own subagents; the guard judges to whom.
NEVER = ("EnterPlanMode", "ListAgents")
# Inbound: what other sessions of the user say comes by `ib send`. The view moves a session into the client's daemon. A
# command in a skill's text is run without any hook.
SWITCHES = {"crossSessionInbound": "refuse", "disableAgentView": True, "disableSkillShellExecution": True}
DECIDING = ("settings.local.json", "meta.json", "token", "start.sh", "prompt.txt")
WHAT_IT_DOES = (
    "Stop", "StopFailure", "SubagentStop", "SessionEnd", "Notification", "PreCompact", "PostCompact",
)  # fmt: skip


class Permissions(NamedTuple):
    """Tool rules from one source: the config, or a role file."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class Agent(NamedTuple):
    """For whom it is. `root`: the main checkout; `common`: its git directory; `intercepts`: Tasks become agents;
    `titles`: when its window's title changes; `keys`: what it must not read; `others`: the ids of all agents;
    `tree`: it has a worktree of its own."""

    id: str
    role: str
    root: str
    common: str
    yolo: bool = False
    intercepts: bool = False
    titles: str = STOP_ONLY
    keys: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    tree: bool = True

    @property
    def folder(self) -> str:
        return f"{self.root}/.ittybitty/agents/{self.id}"


def base_of(text: str, path: str = ".claude/settings.local.json") -> Json:
    """The project's settings; an empty file has none. Refused when it cannot be read: its deny rules would be lost."""
    if not text.strip(jsonl.BLANK + "\ufeff"):
        return {}
    try:
        value = jsonl.decode(text.removeprefix("\ufeff"))
    except jsonl.NotJson as error:
        raise refused(path, f"it is not valid JSON: {error.why}") from None
    if not isinstance(value, dict):
        raise refused(path, "it holds no object")
    return value


def build(
    agent: Agent, base: Json, program: command_lines.Program, *given: Permissions, path: str = "the base"
) -> Json:
    """`given`: what the config says for this role, and a role file."""
    if agent.role not in ROLES:
        raise IbError(f"There is no role {agent.role}", hint="manager or worker")
    settings = {**base, **SWITCHES, "disableAllHooks": False}
    settings["permissions"] = permissions(base, given, path)
    settings["hooks"] = hooks(base, wanted(agent, program), path)
    settings["sandbox"] = sandbox(agent, base, program, path)
    return settings


def permissions(base: Json, given: tuple[Permissions, ...], path: str) -> Json:
    """Everything that somebody allows or denies, each once; the client and the guard let deny win."""
    known = section(base, "permissions", path)
    if known.get("defaultMode") == "plan":
        known = {key: value for key, value in known.items() if key != "defaultMode"}  # nobody would approve the plan
    allow = [*rules(known, "allow", path), *MANDATORY, *(rule for one in given for rule in one.allow)]
    deny = [*rules(known, "deny", path), *NEVER, *(rule for one in given for rule in one.deny)]
    return {**known, "allow": list(dict.fromkeys(allow)), "deny": list(dict.fromkeys(deny))}


def wanted(agent: Agent, program: command_lines.Program) -> Json:
    """Our hooks, an event each with its entries."""
    status = quiet(program, "agent-status", agent.id)
    inject = quiet(program, "inject-status", agent.id)
    guard = hook_settings.strict(command_lines.guard(program, "agent-path", agent.id))
    request = hook_settings.strict(command_lines.request(program, "permission-request", agent.id))
    before = [{"matcher": "*", "hooks": [guard]}]
    if agent.intercepts and agent.role == "manager":
        before.append({"matcher": "Agent|Task", "hooks": [quiet(program, "intercept-task", agent.id)]})
    events: Json = {
        "PreToolUse": before,
        "PermissionRequest": [{"matcher": "*", "hooks": [status if agent.yolo else request]}],
        "SessionStart": [{"hooks": [quiet(program, "session-start", agent.id)]}],
        "UserPromptSubmit": [{"hooks": [inject]}],
        "PostToolBatch": [{"hooks": [inject]}],
        **{event: [{"hooks": [status]}] for event in WHAT_IT_DOES},
    }
    title = quiet(program, hook_settings.TITLES, agent.id)
    for event in hook_settings.TITLE_EVENTS[agent.titles]:
        events[event] = [*events.get(event, ()), {"hooks": [title]}]
    return events


def quiet(program: command_lines.Program, hook: str, agent: str) -> Json:
    return hook_settings.ordinary(command_lines.quiet(program, hook, agent))


def hooks(base: Json, ours: Json, path: str) -> Json:
    """The user's own hooks stay, on the same events too; those of ib for the primary are not for agents."""
    known = section(base, "hooks", path)
    found = {event: kept(entries, event, path) for event, entries in known.items()}
    for event, entries in ours.items():
        found[event] = [*found.get(event, []), *entries]
    return {event: entries for event, entries in found.items() if entries}


def kept(entries: object, event: str, path: str) -> list[Json]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise refused(path, f"hooks.{event} is no list of objects")
    return [new for entry in entries if (new := without_ours(entry)) is not None]


def without_ours(entry: Json) -> Json | None:
    """None when nothing of the user's is left in it."""
    hooks = entry.get("hooks")
    if not isinstance(hooks, list):
        return entry
    rest = [hook for hook in hooks if not is_ours(hook)]
    return {**entry, "hooks": rest} if rest or not hooks else None


def is_ours(hook: object) -> bool:
    """Written by `ib hooks install`, or in the form of the older tool: `ib hooks main-path`."""
    command = hook.get("command") if isinstance(hook, dict) else None
    words = command.split() if isinstance(command, str) else []
    by_hand = len(words) > 1 and words[0].rpartition("/")[2] == "ib" and words[1] == "hooks"
    return command_lines.is_ours(command) or by_hand


def sandbox(agent: Agent, base: Json, program: command_lines.Program, path: str) -> Json:
    """For the client's sandbox, where the user has it on: an agent's `ib send` must reach the root and other agents'
    inboxes; their worktrees, its own rules, the main checkout and keys are out of its reach. No wins over yes for
    writing, the user's yes over our no for reading."""
    known = section(base, "sandbox", path)
    files = section(known, "filesystem", path)
    ours = {
        "allowWrite": [f"/tmp/ib-{agent.id}", f"{agent.root}/.ittybitty", f"{agent.common}/ib"],
        "denyWrite": unwritable(agent),
        "denyRead": [*([agent.root] if agent.tree else []), *agent.keys],
        "allowRead": readable(agent, program) if agent.tree else [],
    }
    merged = {name: list(dict.fromkeys([*rules(files, name, path), *more])) for name, more in ours.items()}
    filesystem = {**files, **{name: value for name, value in merged.items() if value}}
    return {**known, "allowUnsandboxedCommands": False, "filesystem": filesystem}


def unwritable(agent: Agent) -> list[str]:
    """What decides over agents and how they begin, its copies under the git directory, which may be the same files, the
    worktrees of others, and what the user's shell runs."""
    home = f"{agent.root}/.ittybitty"
    everybody = [agent.id, *(other for other in agent.others if other != agent.id)]
    folders = [f"{where}/agents/{one}" for one in everybody for where in (home, f"{agent.common}/ib")]
    worktrees = [f"{home}/agents/{one}/repo" for one in everybody[1:]]
    return [*(f"{folder}/{leaf}" for folder in folders for leaf in DECIDING), *worktrees, f"{home}/hooks"]


def readable(agent: Agent, program: command_lines.Program) -> list[str]:
    """Of the main checkout: the worktree, git's folder, ib's own files, and ib itself where it is installed there."""
    python, stub = program
    ib = (python.rpartition("/")[0].rpartition("/")[0], stub.removesuffix("/hooks/stub.py"))
    inside = [folder for folder in ib if folder.startswith(agent.root + "/")]
    return [agent.folder + "/repo", agent.common, f"{agent.root}/.ittybitty", f"{agent.root}/.ittybitty.json", *inside]


def section(values: Json, name: str, path: str) -> Json:
    value = values.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise refused(path, f"{name} is no object")
    return value


def rules(values: Json, name: str, path: str) -> list[str]:
    """A rule that nobody can read may be one that forbids."""
    value = values.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise refused(path, f"{name} is no list of strings")
    return value


def refused(path: str, why: str) -> IbError:
    return IbError(f"No agent is made from {path}", cause=why, hint="mend that file: the rules in it would be lost")


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
