"""How the hooks stand: what the settings files say, for `ib hooks status` and `ib doctor`."""

from collections.abc import Iterator

import msgspec

from ibstatus.claude.hooks import events, settings_file
from ibstatus.claude.hooks.events import INTERCEPT, MAIN, State
from ibstatus.errors import IbError, quoted
from ibstatus.mail import listener_reader, wake_state
from ibstatus.mail.rules import listing
from ibstatus.model.fleet import Finding
from ibstatus.project import agents, hook_log, paths
from ibstatus.project.rules import findings
from ibstatus.system import disk

PLUGIN = "ib"
KINDS = (MAIN, INTERCEPT)
INSTALL = "ib hooks install"


class OneHook(msgspec.Struct, frozen=True):
    event: str
    hook: str
    state: State


class Status(msgspec.Struct, frozen=True):
    """`off_in`: a settings file that switches all hooks off; `by_hand`: entries in the form of the bash tool."""

    status: State
    intercept: State
    file: str
    events: list[OneHook]
    off_in: str = ""
    plugin: bool = False
    by_hand: list[str] = []
    problem: str = ""


def status(place: paths.Place) -> Status:
    path = settings_file.path_of(place)
    main, intercept = (settings_file.wanted(place, kind) for kind in KINDS)
    values, problem = None, ""
    try:
        values = settings_file.strict_values(place, settings_file.content(path))
    except IbError as error:
        problem = error.cause or error.message
    files = settings_file.all_of(place)
    return Status(
        events.state_of(values, main),
        events.state_of(values, intercept, INTERCEPT),
        path,
        [OneHook(want.event, want.hook, events.state_of_one(values, want)) for want in (*main, *intercept)],
        off_in(place),
        any(events.has_plugin(settings_file.values_of(place, file), PLUGIN) for file in files),
        [command for _, command in events.by_hand(values)],
        problem,
    )


def off_in(place: paths.Place) -> str:
    """The settings file that switches all hooks off, or ''."""
    files = settings_file.all_of(place)
    return next((path for path in files if events.are_off(settings_file.values_of(place, path))), "")


def hooks(place: paths.Place) -> Iterator[Finding]:
    """For `ib doctor`."""
    known = status(place)
    if known.problem:
        text = f"{known.file} cannot be read, by Claude Code neither: {known.problem}"
        yield Finding("warn", "hooks", text, f"mend {quoted(known.file)}, then {INSTALL}")
    elif known.off_in:
        yield Finding(
            "warn", "hooks", f"{known.off_in} has disableAllHooks: Claude learns of nothing", "take that line out"
        )
    elif known.status == "installed":
        yield findings.ok("hooks", f"Claude Code runs them by {known.file}")
    elif known.plugin and known.status == "not-installed":
        yield findings.ok("hooks", "Claude Code runs them by the plugin")
    elif known.status == "not-installed":
        yield Finding(
            "note",
            "hooks",
            "not installed, so your Claude hears of its agents by CLAUDE.md alone, unless this session has the plugin",
            INSTALL,
        )
    else:
        text = "of another ib, another place or another mode of window titles"
        text = text if known.status == "outdated" else "not all of them are there"
        yield Finding("warn", "hooks", f"{known.file}: {text}", INSTALL)


def trouble(place: paths.Place) -> Iterator[Finding]:
    """What went wrong inside a hook: they are silent, and this is where it is told."""
    path = hook_log.path_of(place)
    try:
        last = disk.read_file(path).rstrip(b"\n").rpartition(b"\n")[2].decode("utf-8", "replace")
    except OSError:
        return
    yield Finding(
        "note", "hooks", f"the last that went wrong in one: {listing.shown(last)[:200]}", f"tail {quoted(path)}"
    )


def guards(place: paths.Place) -> Iterator[Finding]:
    """An agent that was made by hand has no settings of its own, and so no guard."""
    for agent in agents.all_ids(place):
        if not disk.exists(place.agent_dir(agent) + "/settings.local.json"):
            text = f"agent {listing.shown(agent)} has no settings of its own, so nothing guards what it does"
            yield Finding("warn", "guard", text, f'claude --settings "$(ib hooks agent-settings {quoted(agent)})"')


def listener(place: paths.Place) -> Iterator[Finding]:
    readers = listener_reader.listeners(place)
    primary = wake_state.primary(place)
    if readers:
        yield findings.ok("listener", f"listening: {', '.join(readers)}")
    elif primary and wake_state.armed(place, primary):
        yield findings.ok("listener", f"session {listing.shown(primary)} is woken by its hooks")
    elif status(place).status == "installed":
        yield findings.ok("listener", "hooks wake the next session")
    else:
        yield Finding("note", "listener", "nobody listens now; what comes waits in the queue", "ib listen")
