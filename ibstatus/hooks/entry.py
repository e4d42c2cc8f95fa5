"""From the command line to the hook: reads all of stdin, runs one hook, fails the way that hook must fail.

One event of Claude Code as a hook sees it: its payload, whose session it is, and where.
"""

import _signal  # type: ignore[import-not-found]  # `signal` loads enum
import posix
import time

from ibstatus.project import home, paths
from ibstatus.system import disk, jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


LARGE = 4096
WITH_CLIENT = "wait-for-news"  # its argument is the client's pid, that of the others an agent


class Event:
    """`place` is None where ib is not in use. `agent`: whose session this is, '' for the primary.
    `body` is None when the payload could not be read."""

    __slots__ = ("agent", "args", "body", "hook", "now", "place", "said")

    def __init__(self, hook: str, args: list[str], data: bytes) -> None:
        self.hook = hook
        self.args = [arg for arg in args if not arg.startswith("-")]
        self.now = time.time()
        self.body = parsed(data)
        self.place = self.found()
        given = self.args[0] if self.args and hook != WITH_CLIENT else ""
        self.agent = given or (self.place.agent if self.place else "")
        self.said = False

    def text(self, key: str) -> str:
        """A field of the payload; '' when it is missing or no text."""
        value = self.body.get(key) if self.body else None
        return value if isinstance(value, str) else ""

    @property
    def name(self) -> str:
        """Which event it is; hooks of several events look at this."""
        return self.text("hook_event_name")

    @property
    def session(self) -> str:
        return self.text("session_id") or disk.environ("CLAUDE_CODE_SESSION_ID")

    @property
    def mono(self) -> float:
        """When this process was started, in seconds since the machine was: what a hook tells of was so then."""
        try:
            fd = disk.open("/proc/self/stat", disk.O_RDONLY | disk.O_CLOEXEC)
            try:
                return int(disk.pread(fd, 1024, 0).rpartition(b")")[2].split()[19]) / posix.sysconf("SC_CLK_TCK")
            finally:
                disk.close(fd)
        except (OSError, ValueError, IndexError):
            return time.monotonic()

    @property
    def prompt(self) -> str:
        """The id of the turn."""
        return self.text("prompt_id")

    @property
    def of_subagent(self) -> bool:
        """A subagent's events carry its parent's session: they must not pass for the parent's own."""
        return bool(self.text("agent_id"))

    @property
    def cwd(self) -> str:
        """Where the session stands now; it follows its `cd`."""
        return self.text("cwd")

    @property
    def is_anothers(self) -> bool:
        """Does somebody run the hook of another agent, to read its mail or to speak for it? It may be a session of one
        that is gone with its repository, when another one has its name and its place."""
        if self.place is None:
            return False
        return self.place.agent not in ("", self.agent) or self.is_outlived

    @property
    def is_outlived(self) -> bool:
        carried = posix.environ.get(b"IB_AGENT_TOKEN", b"")
        if not carried or not self.agent or self.place is None or disk.environ("IB_AGENT_ID") != self.agent:
            return False
        try:
            return disk.read_ours(self.place.token(self.agent), LARGE).strip() not in (b"", carried)
        except OSError:  # made by hand
            return False

    @property
    def is_doubled(self) -> bool:
        """An agent's client reads the main checkout's settings too: the primary's hooks run beside the agent's own."""
        agent = disk.environ("IB_AGENT_ID") or (self.place.agent if self.place else "")
        if self.place is None or not agent or "/" in agent or self.args:
            return False
        return disk.exists(self.place.agent_dir(agent) + "/settings.local.json")

    def found(self) -> "paths.Place | None":
        """The session's repository: by its project folder, which no `cd` changes."""
        for folder in (disk.environ("CLAUDE_PROJECT_DIR"), self.cwd):
            if folder.startswith("/") and "\0" not in folder:
                try:
                    place = paths.find(folder)
                    if is_used(place):
                        return place
                except Exception:  # no repository, a broken one, or a .ittybitty of a newer ib
                    continue
        return None

    def say(self, text: str) -> None:
        """The hook's one answer."""
        self.said = True
        disk.write_all(1, text.encode("utf-8", "replace") + b"\n")

    def starts_supervisor(self) -> None:
        """Somebody has to publish what agents do. Not asked at every tool call."""
        if self.place is not None and disk.environ("IB_SUPERVISOR") != "off":
            from ibstatus.system import locks

            if not locks.is_held(self.place.lock("supervisor")):
                from ibstatus.project import supervisor_process

                supervisor_process.ensure(self.place)

    def complain(self, what: str) -> None:
        """One line in a log that nobody has to read."""
        if self.place is None:
            return
        from ibstatus.project import hook_log

        hook_log.write(self.place, self.hook, what, self.now)


def is_used(place: paths.Place) -> bool:
    """Is ib in use here? What a `git clean` took is put back; nothing is begun."""
    known = home.format_of(place)
    if not known and home.is_kept(place) and not home.is_elsewhere(place):
        home.enter(place)
        return True
    return known == home.CURRENT


def parsed(data: bytes) -> "dict[str, Any] | None":
    try:
        value = jsonl.decode(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


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
