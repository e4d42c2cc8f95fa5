"""From the command line to the hook: reads all of stdin, runs one hook, fails the way that hook must fail."""

import _signal  # type: ignore[import-not-found]  # `signal` loads enum
import posix

from ibstatus.hooks.event import Event
from ibstatus.system import disk

# name → (how it fails, module, function: it takes the event and returns an exit code)
OPEN, LASTS, GUARD, REQUEST, WAITS = "open", "lasts", "guard", "request", "waits"
HOOKS = {
    "session-start": (OPEN, "ibstatus.hooks.session_start", "run"),
    "cwd-changed": (OPEN, "ibstatus.hooks.wake", "cwd_changed"),
    "inject-status": (OPEN, "ibstatus.hooks.inject_status", "run"),
    "agent-status": (OPEN, "ibstatus.hooks.agent_status", "run"),
    "notify-tmux": (LASTS, "ibstatus.titles.hook", "run"),
    "agent-path": (GUARD, "ibstatus.hooks.guard", "run"),
    "main-path": (OPEN, "ibstatus.hooks.main_path", "run"),
    "permission-request": (REQUEST, "ibstatus.hooks.permission_request", "run"),
    "intercept-task": (OPEN, "ibstatus.hooks.intercept_task", "run"),
    "queue-changed": (OPEN, "ibstatus.hooks.wake", "queue_changed"),
    "wait-for-news": (WAITS, "ibstatus.hooks.wake", "wait_for_news"),
}

PLUGIN = "--plugin"
# Seconds; a hook that is late is worth nothing. But what a title does not hear of, it shows wrong until the next event.
LIMIT = {OPEN: 1.0, LASTS: 5.0, GUARD: 5.0, REQUEST: 5.0}
BROKEN = "ib could not judge this ({}), so it is not allowed. Try again; if it stays so, say so and end with WAITING"


class NotYours(Exception):
    """The hook of another agent."""


class Late(BaseException):
    """The client waits, and would wait longer. Nothing that goes on after errors goes on after this."""


def late(number: int, frame: object) -> None:
    raise Late


def main(argv: list[str]) -> None:
    posix._exit(run(argv))


def run(argv: list[str]) -> int:
    data = disk.read_all(0)  # all of it, whatever happens: the client writes, and must not find a closed pipe
    hook = argv[0] if argv else ""
    known = HOOKS.get(hook)
    if known is None:
        return 0
    fails, module, function = known
    if fails in LIMIT:
        _signal.signal(_signal.SIGALRM, late)
        _signal.setitimer(_signal.ITIMER_REAL, LIMIT[fails])
    event = None
    try:
        event = Event(hook, argv[1:], data)
        if event.is_anothers:
            raise NotYours(event.agent)
        if event.is_doubled or (PLUGIN in argv and is_told_elsewhere(event)):
            return 0
        code: int = getattr(__import__(module, None, None, [function]), function)(event)
        return code
    except (Exception, Late) as error:
        return failed(fails, event, f"{type(error).__name__}: {error}")


def is_told_elsewhere(event: Event) -> bool:
    """The plugin's hooks have nothing to do in an agent, nor where `ib hooks install` has put the same ones. Titles are
    for every session, also where ib is not in use."""
    if event.place.agent if event.place is not None else event.hook != "notify-tmux":
        return True
    from ibstatus.claude import hooks_installed

    return hooks_installed.installed(event.hook, event.place.root if event.place is not None else "")


def failed(fails: str, event: Event | None, what: str) -> int:
    """Isolation and permissions deny what they could not judge; everything else stays silent."""
    from ibstatus.claude import hook_output
    from ibstatus.system import jsonl

    try:
        if event is not None:
            event.complain(what)
        if event is None or not event.said:
            reason = BROKEN.format(jsonl.clean(what)[:200])
            if fails == GUARD:
                disk.write_all(1, hook_output.deny(reason).encode() + b"\n")
            elif fails == REQUEST and event is not None and event.agent:
                disk.write_all(1, hook_output.refuse(reason).encode() + b"\n")
    except OSError:
        return 1  # for a guard's command line, any other code than 0 means: deny
    return 0
