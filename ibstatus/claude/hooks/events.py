"""Which events of Claude Code run which hook of ours, and what a settings file has of them."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from ibstatus.claude.hooks import command_lines
from ibstatus.titles.machine import OFF, REAL_TIME, STOP_ONLY

Json = dict[str, Any]
State = Literal["installed", "partial", "not-installed", "outdated"]

MAIN, INTERCEPT = "main", "intercept"
INTERCEPTOR = "intercept-task"
TIMEOUT = 10
# Of hooks that must deny: behind it the client goes on as if they were not there, so their own alarm comes long before,
# also where the machine is so busy that python begins late.
STRICT_TIMEOUT = 600
LONGEST_WAIT = 7200

STATUS_EVENTS = (
    "Stop",
    "StopFailure",
    "SubagentStop",
    "SessionEnd",
    "PermissionRequest",
    "Notification",
    "PreCompact",
    "PostCompact",
)
# (event, matcher, hook): all that may only add. One process an event: inject-status notes what UserPromptSubmit tells
QUIET = (
    ("SessionStart", "", "session-start"),
    ("CwdChanged", "", "cwd-changed"),
    ("UserPromptSubmit", "", "inject-status"),
    ("PostToolBatch", "", "inject-status"),
    ("PreToolUse", "Bash", "main-path"),
    *((event, "", "agent-status") for event in STATUS_EVENTS),
)
TITLES = command_lines.TITLES
AT_STOPS = ("SessionStart", "PostToolBatch", "Stop", "StopFailure", "SubagentStop", "SessionEnd")
DIALOGS = ("PermissionRequest", "Notification", "Elicitation", "ElicitationResult")
AT_ONCE = ("UserPromptSubmit", "PreToolUse", *DIALOGS)
TITLE_EVENTS = {STOP_ONLY: AT_STOPS, REAL_TIME: AT_STOPS + AT_ONCE, OFF: ()}  # by what tmux.titles says
OLD_HOOKS = ("main-path", "inject-status", "session-start", "intercept-task", "agent-status", "agent-path")


class Wanted(NamedTuple):
    """One hook of ours; `value` is its object in the settings."""

    event: str
    matcher: str
    hook: str
    value: Json

    @property
    def key(self) -> tuple[str, str]:
        return self.event, self.hook

    @property
    def entry(self) -> Json:
        return {**({"matcher": self.matcher} if self.matcher else {}), "hooks": [self.value]}


class Mine(NamedTuple):
    """A hook of ours that stands in a settings file."""

    event: str
    hook: str
    value: Json


def wanted(program: command_lines.Program, kind: str = MAIN, titles: str = STOP_ONLY) -> list[Wanted]:
    """For the primary's settings file. `titles`: when window titles change."""
    if kind == INTERCEPT:
        line = command_lines.quiet(program, INTERCEPTOR)
        return [Wanted("PreToolUse", "Agent|Task", INTERCEPTOR, ordinary(line))]
    return [
        *(Wanted(event, matcher, hook, ordinary(command_lines.quiet(program, hook))) for event, matcher, hook in QUIET),
        waiter(command_lines.bell(program, "wait-for-news", client=True)),
        watcher(command_lines.bell(program, "queue-changed")),
        *of_titles(command_lines.quiet(program, TITLES), titles),
    ]


def wanted_by_plugin() -> list[Wanted]:
    """For hooks/hooks.json, which is the same on every machine and so knows no other mode of titles."""
    return [
        *(Wanted(event, matcher, hook, ordinary(command_lines.of_plugin(hook))) for event, matcher, hook in QUIET),
        waiter(command_lines.bell_of_plugin("wait-for-news", client=True)),
        watcher(command_lines.bell_of_plugin("queue-changed")),
        *of_titles(command_lines.of_plugin(TITLES), STOP_ONLY),
    ]


def of_titles(command: str, mode: str) -> list[Wanted]:
    """Behind all others, so that another mode leaves these in their places."""
    return [Wanted(event, "", TITLES, ordinary(command)) for event in TITLE_EVENTS[mode]]


def ordinary(command: str) -> Json:
    return {"type": "command", "command": command, "timeout": TIMEOUT}


def strict(command: str) -> Json:
    return {**ordinary(command), "timeout": STRICT_TIMEOUT}


def waiter(command: str) -> Wanted:
    value = {"type": "command", "command": command, "asyncRewake": True, "timeout": LONGEST_WAIT}
    return Wanted("Stop", "", "wait-for-news", value)


def watcher(command: str) -> Wanted:
    return Wanted("FileChanged", "", "queue-changed", {"type": "command", "command": command, "asyncRewake": True})


def as_values(hooks: list[Wanted]) -> Json:
    """The `hooks` object of a file that holds nothing else."""
    events: Json = {}
    for one in hooks:
        events.setdefault(one.event, []).append(one.entry)
    return events


def commands(values: object) -> Iterator[tuple[str, Json]]:
    """(event, hook object) of everything in a settings file that has the right shape."""
    events = values.get("hooks") if isinstance(values, dict) else None
    for event, entries in events.items() if isinstance(events, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            hooks = entry.get("hooks") if isinstance(entry, dict) else None
            yield from ((event, hook) for hook in hooks if isinstance(hook, dict)) if isinstance(hooks, list) else ()


def ours(values: object) -> list[Mine]:
    found = [(event, hook) for event, hook in commands(values) if command_lines.is_ours(hook.get("command"))]
    return [Mine(event, command_lines.hook_of(hook["command"]), hook) for event, hook in found]


def is_of(kind: str, hook: str) -> bool:
    return (hook == INTERCEPTOR) == (kind == INTERCEPT)


def by_hand(values: object) -> list[tuple[str, str]]:
    """(event, command) in the form of the bash tool: `ib hooks inject-status --full`."""
    found = []
    for event, hook in commands(values):
        words = str(hook.get("command")).split()
        if len(words) > 2 and words[0].rpartition("/")[2] == "ib" and words[1] == "hooks" and words[2] in OLD_HOOKS:
            found.append((event, str(hook["command"])))
    return found


def is_current(mine: Mine, want: Wanted) -> bool:
    """A time limit that the user has set is theirs."""
    return all(mine.value.get(key) == want.value.get(key) for key in ("type", "command", "asyncRewake"))


def state_of_one(values: object, want: Wanted) -> State:
    found = [mine for mine in ours(values) if (mine.event, mine.hook) == want.key]
    if not found:
        return "not-installed"
    return "installed" if all(is_current(mine, want) for mine in found) and len(found) == 1 else "outdated"


def state_of(values: object, hooks: list[Wanted], kind: str = MAIN) -> State:
    """`outdated` goes before `partial`: another version had other events, and so has another mode of titles."""
    states = {state_of_one(values, want) for want in hooks}
    missing = {want.hook for want in hooks if state_of_one(values, want) == "not-installed"}
    known = {want.key for want in hooks}
    stale = any((mine.event, mine.hook) not in known for mine in ours(values) if is_of(kind, mine.hook))
    if stale or "outdated" in states or missing == {TITLES}:
        return "outdated"
    return "partial" if len(states) > 1 else states.pop()


def are_off(values: object) -> bool:
    """Does this settings file switch all hooks off?"""
    return isinstance(values, dict) and values.get("disableAllHooks") is True


def has_plugin(values: object, name: str) -> bool:
    """Does this settings file switch our plugin on?"""
    plugins = values.get("enabledPlugins") if isinstance(values, dict) else None
    names = plugins.items() if isinstance(plugins, dict) else ()
    return any(key.partition("@")[0] == name and bool(on) for key, on in names)
