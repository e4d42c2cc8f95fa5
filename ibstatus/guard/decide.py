"""May an agent make this tool call? The decision of the agents' PreToolUse hook; what is not understood is denied."""

from ibstatus.guard.isolation import READ, WRITE, Grounds, absolute, short
from ibstatus.guard.permissions import EDITORS, PATH_KEYS, READERS, SHELLS, Rules, path_fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ibstatus.guard.shell_flow import Disk

ALLOW, DENY, NONE = "allow", "deny", "none"
LONGEST = 480
# What the PermissionRequest hook answers.
ASKED_LATER = frozenset(("AskUserQuestion", "ExitPlanMode"))
# Tools whose words are for people and models; only what is named a path is one.
TALKS = frozenset(
    (
        "Agent", "Task", "WebSearch", "TodoWrite", "TaskUpdate", "TaskGet", "TaskList", "TaskOutput", "TaskStop",
        "Skill", "SendMessage", "ScheduleWakeup", "ToolSearch", "ReportFindings", "BashOutput",
        "KillShell", "CronCreate", "CronDelete", "CronList", "Workflow", "StructuredOutput",
    )
)  # fmt: skip
CHANGES = ("write", "edit", "create", "delete", "remove", "move", "rename", "save", "append", "update", "put", "mkdir")
NO_PLAN = "Agents do not use plan mode. Make the plan in your answer, or ask with ib send or ib ask"
NO_TREE = "Agents stay in their own worktree; ib makes and removes worktrees"
NO_SESSIONS = "SendMessage is for your own subagents, by their id. To anybody else: ib send NAME '…'"
WORKER_TASK = "Workers do not create tasks. Do the task you were given, and report when it is done"
MANAGER_TASK = "Tasks are not kept here: do it yourself, or say that one more agent is needed (ib send, ib ask)"
DEEPEST = 12


class Policy:
    """What holds for one agent, read from where it cannot write."""

    __slots__ = ("agent", "agents", "allow", "deny", "folder", "home", "manager", "root", "safe", "worktree", "yolo")

    def __init__(
        self,
        agent: str,
        *,
        allow: list[str],
        deny: list[str],
        worktree: str,
        root: str,
        agents: str,
        folder: str,
        home: str,
        manager: bool,
        yolo: bool = False,
        safe: str = "",
    ) -> None:
        self.agent = agent
        self.allow = Rules(allow)
        self.deny = Rules(deny, deny=True)
        self.worktree = worktree
        self.root = root
        self.agents = agents
        self.folder = folder
        self.home = home
        self.manager = manager
        self.yolo = yolo
        self.safe = safe


class Verdict:
    """`path` is the path that was the reason, '' for any other; `kind` whose it is: agent, root, '', or cd into one."""

    __slots__ = ("decision", "kind", "path", "reason")

    def __init__(self, decision: str, reason: str = "", path: str = "", kind: str = "") -> None:
        self.decision = decision
        self.reason = reason
        self.path = path
        self.kind = kind


def judge(tool: str, given: "dict[str, Any]", cwd: str, policy: Policy, disk: "Disk") -> Verdict:
    """`cwd` is where the session stands. Never fails: what goes wrong is denied."""
    try:
        return judged(tool, given, cwd, policy, disk)
    except RecursionError:
        return Verdict(DENY, "This is nested too deeply to be judged. Do it in smaller steps")


def judged(tool: str, given: "dict[str, Any]", cwd: str, policy: Policy, disk: "Disk") -> Verdict:
    if policy.deny.names(tool):
        return Verdict(DENY, f"A deny rule forbids {short(tool)}. Do without it, or ask with ib send or ib ask")
    if tool in ASKED_LATER:
        return Verdict(NONE)
    if tool == "EnterPlanMode":
        return Verdict(DENY, NO_PLAN)
    if tool == "TaskCreate":
        return Verdict(DENY, MANAGER_TASK if policy.manager else WORKER_TASK)
    if tool in ("EnterWorktree", "ExitWorktree"):
        return Verdict(DENY, NO_TREE)
    if tool == "ListAgents" or (tool == "SendMessage" and not is_subagent(given.get("to"))):
        return Verdict(DENY, NO_SESSIONS)
    try:
        grounds = Grounds(
            policy.worktree, policy.root, policy.agents, policy.folder, policy.agent, policy.home, disk.resolve,
            policy.safe, disk.entries,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        return Verdict(DENY, f"Your worktree cannot be found ({short(str(error))}), so nothing can be judged. Say so")
    command = given.get("command")
    if tool in SHELLS and isinstance(command, str):
        return of_shell(tool, command, cwd, policy, grounds, disk)
    return of_tool(tool, given, cwd, policy, grounds)


def is_subagent(name: object) -> bool:
    """As the client makes the ids of subagents (a0123456789abcdef, areview-0123456789abcdef), and gives no name of that
    shape to anything; other sessions hear under any other. `main`: what a subagent calls the session that made it."""
    if not isinstance(name, str) or name == "main":
        return name == "main"
    label, end = name[1:-16], name[-16:]
    shaped = len(end) == 16 and all(letter in "0123456789abcdef" for letter in end)
    plain = label.replace("-", "").replace("_", "")
    return name[:1] == "a" and shaped and (not label or (label[-1] == "-" and plain.isalnum() and plain.isascii()))


def of_shell(tool: str, command: str, cwd: str, policy: Policy, grounds: Grounds, disk: "Disk") -> Verdict:
    """Every command of the line must be allowed; the tool itself need not be listed."""
    if tool == "Bash" and not (policy.allow.has_shell or policy.yolo):
        return unlisted(tool)
    from ibstatus.guard import commands, shell_parse
    from ibstatus.guard.shell_words import Unreadable

    course = commands.Judged(policy, grounds, disk)
    states = ((cwd or grounds.worktree, "", ()),)
    try:
        script = shell_parse.read(command)
        course.computes = script.arithmetic
        course.script(script, states)
        course.uncalled(states)
        if course.unpacked and not is_in_order(command):
            course.functions.clear()
            course.seq(script.seq, states)
    except Unreadable as error:
        if policy.yolo:
            return Verdict(ALLOW)
        return Verdict(DENY, cut(f"This command cannot be read: {error}. Type it in a simpler way, in several steps"))
    except commands.Refused as refused:
        kind = grounds.kind_of(refused.path) if refused.path else ""
        kind = "cd" if kind == "agent" and refused.who == "cd" else kind
        loop = refused.who == "cd" and ("for " in command or "while " in command)
        hint = 'In a loop write (cd "$d" && …). ' if loop else ""
        return Verdict(DENY, cut(hint + refused.reason), refused.path, kind)
    return Verdict(ALLOW)


def is_in_order(command: str) -> bool:
    """Does what stands first run first, and once?"""
    for joint in ("&&", "||", ">&", "&>"):
        command = command.replace(joint, "")
    return not any(mark in command for mark in ("|", "&", "done", "()", "trap"))


def of_tool(tool: str, given: "dict[str, Any]", cwd: str, policy: Policy, grounds: Grounds) -> Verdict:
    seen = given
    paths = list(paths_of(tool, given))
    for access, path, whole in paths:
        full = absolute(path, cwd or grounds.worktree, policy.home)
        objection = grounds.objection(access, full, whole=whole)
        if objection:
            return Verdict(DENY, cut(objection), full, grounds.kind_of(full))
        real = grounds.real(full)
        if tool in READERS or tool in EDITORS:
            seen = {**given, "file_path": real}
        if any(path_fits(rule, real, (grounds.worktree, grounds.home)) for rule in policy.deny.paths(access)):
            return Verdict(DENY, cut(f"A deny rule forbids {tool} of {short(path)}. Do without it, or ask"))
    folders = (grounds.worktree, grounds.home)
    if policy.deny.fits(tool, seen, folders, deny=True):
        return Verdict(DENY, f"A deny rule forbids this use of {short(tool)}. Do without it, or ask")
    if policy.yolo or policy.allow.names(tool) or policy.allow.fits(tool, seen, folders):
        return Verdict(ALLOW)
    return unlisted(tool)


def unlisted(tool: str) -> Verdict:
    return Verdict(
        DENY,
        f"No rule allows {short(tool)}. Use a tool of permissions.allow, or ask with ib send or ib ask",
    )


def paths_of(tool: str, given: "dict[str, Any]") -> "list[tuple[str, str, bool]]":
    """(access, path, with all below it) of everything in the input that is a path."""
    access = WRITE if tool in EDITORS else READ
    searches = tool in ("Grep", "Glob", "LS")
    named = [(access, given[key], searches) for key in PATH_KEYS if isinstance(given.get(key), str) and given[key]]
    if searches:
        pattern = given.get("pattern") if tool == "Glob" else given.get("glob")
        if not named and not (tool == "Glob" and isinstance(pattern, str) and pattern):
            named.append((READ, "", True))
        if isinstance(pattern, str) and pattern:
            named += pattern_paths(pattern, given.get("path"))
        return named
    if tool in READERS or tool in EDITORS:
        return named or [(access, "", False)]
    if tool == "WebFetch":
        url = given.get("url")
        return [(READ, url[7:], False)] if isinstance(url, str) and url[:7].lower() == "file://" else []
    if tool in TALKS:
        return named
    if any(word in tool.lower() for word in CHANGES):
        access = WRITE
    found: list[str] = []
    strings(given, found, 0)
    return [(access, text, False) for text in found]


def pattern_paths(pattern: str, folder: object) -> "list[tuple[str, str, bool]]":
    """The folder in which a pattern searches, and any `..` in it."""
    known: list[str] = []
    for part in pattern.split("/"):
        if any(mark in part for mark in "*?[{"):
            break
        known.append(part)
    base = "/".join(known) or ("/" if pattern.startswith("/") else "")
    start = f"{folder}/{base}" if isinstance(folder, str) and folder and not base.startswith(("/", "~")) else base
    climbs = (
        [(READ, "/..", True)]
        if ".." in pattern.split("/")[len(known) :] or "{.." in pattern or ",.." in pattern
        else []
    )
    return [(READ, start, True), *climbs]


def strings(value: object, found: list[str], depth: int) -> None:
    """Every text of a foreign tool's input that is a path: absolute, from the home, or with `..`."""
    if depth > DEEPEST:
        found.append("/..")  # nobody nests a path so deeply to be read
    elif isinstance(value, str):
        text = value[7:] if value[:7].lower() == "file://" else value
        path = text.startswith(("/", "~/", "../")) or text in ("~", "..") or "/../" in text or text.endswith("/..")
        if path and len(text) <= 4096 and "\n" not in text:
            found.append(text)
    elif isinstance(value, dict):
        for one in value.values():
            strings(one, found, depth + 1)
    elif isinstance(value, list):
        for one in value:
            strings(one, found, depth + 1)


def cut(reason: str) -> str:
    return reason if len(reason) <= LONGEST else reason[: LONGEST - 1] + "…"
