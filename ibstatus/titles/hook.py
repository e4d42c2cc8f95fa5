"""What a session does, as the title of its tmux window. Silent outside tmux; asks tmux only when the title is another.

`--decay=FILE` is tmux's own call, half an hour after: is what the pane was at still all there is to say?
"""

import sys

from ibstatus.system import disk
from ibstatus.system.disk import environ
from ibstatus.titles import machine, pane_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from ibstatus.project import paths, settings
    from ibstatus.titles.pane_files import File, Memory

    class Event(Protocol):
        """What a title is made of; hooks.event.Event has it, and stands above this module."""

        agent: str
        body: "dict[str, object] | None"
        now: float
        place: paths.Place | None

        @property
        def cwd(self) -> str: ...
        @property
        def name(self) -> str: ...
        @property
        def of_subagent(self) -> bool: ...
        @property
        def session(self) -> str: ...
        def text(self, key: str) -> str: ...


DECAY = "--decay="
SETTLED = ("SessionStart", "UserPromptSubmit", "Stop")  # where the settings are read again
OPENS = ("SessionStart", "UserPromptSubmit")  # an interactive client begins here, or goes on
UNATTENDED = "sdk"  # `claude -p` in a session's own Bash is in that session's pane
RETRY = 5.0  # seconds in which a server that hung is left alone
LATE = 0.05


def run(event: "Event") -> int:
    for arg in sys.argv:
        if arg.startswith(DECAY):
            return decay(arg[len(DECAY) :], event.now)
    pane = pane_files.pane_of(environ("TMUX"), environ("TMUX_PANE"))
    if pane is None or event.body is None or not event.session or not pane.path:
        return 0
    with pane_files.File(pane.path) as file:
        file.memory.socket, file.memory.pane = pane.socket, pane.id
        if is_heard(event, file.memory):
            step(event, event.body, file)
        elif file.memory.due and not file.memory.session:
            give_back(file, event.now)
    if event.name == "SessionStart":
        pane_files.sweep()
    return 0


def is_heard(event: "Event", last: "Memory") -> bool:
    """Is it this session's pane? Whoever is attended takes it, and anybody takes one that nobody has."""
    if last.session == event.session:
        return True
    if last.session or last.over == event.session:
        return event.name in OPENS and not environ("CLAUDE_CODE_ENTRYPOINT").startswith(UNATTENDED)
    return event.name != "SessionEnd"


def step(event: "Event", body: "dict[str, object]", file: "File") -> None:
    memory = file.memory
    if event.name == "SessionEnd":
        if event.text("reason") != "clear":
            memory.session, memory.over = "", event.session
            give_back(file, event.now)
        return
    if memory.session != event.session:
        taken(event, memory)
    if event.name in SETTLED and not event.of_subagent:
        settle(event, memory)
    if memory.mode == machine.OFF:
        if memory.shown or memory.due:
            memory.known = machine.Known(machine.IDLE, event.now)
            give_back(file, event.now)
        file.put()
        return
    memory.known = machine.after(event.name, body, memory.known, memory.mode, is_focused(memory), event.now)
    show(file, event.now)


def is_focused(memory: "Memory") -> bool:
    return memory.known.state == machine.ACTIVE_FOCUSED


def taken(event: "Event", memory: "Memory") -> None:
    """Another session: nothing is known of it, and only tmux knows what the pane bears."""
    memory.session, memory.over = event.session, ""
    memory.known = machine.Known(machine.IDLE, event.now)
    memory.folder = folder_of(event)
    memory.project = project_of(event, memory.folder)
    settle(event, memory)


def settle(event: "Event", memory: "Memory") -> None:
    from ibstatus.project import config, settings

    if event.place is not None:
        known = config.load(event.place)
    else:
        known = settings.settled(users(), [])
    memory.mode, memory.style = known.value("tmux.titles"), known.value("tmux.glyphs")


def users() -> "list[settings.Layer]":
    """Where ib is not in use, the user's own settings alone."""
    from ibstatus.errors import IbError
    from ibstatus.project import config, settings

    path = config.user_path()
    try:
        return [config.File(settings.USER, path, config.content(path)).layer()] if path else []
    except IbError:
        return []


def folder_of(event: "Event") -> str:
    """The git root of the session's project, or the project where there is no git."""
    start = environ("CLAUDE_PROJECT_DIR")
    start = (start if start.startswith("/") else event.cwd).rstrip("/")
    folder = start
    while folder.startswith("/") and "\0" not in folder:
        if disk.exists(folder + "/.git"):
            return folder
        folder = folder.rpartition("/")[0]
    return start


def project_of(event: "Event", folder: str) -> str:
    """Whatever it is called, no control character of it reaches a terminal."""
    from ibstatus.system import jsonl

    name = jsonl.clean(event.agent or folder.rpartition("/")[2] or "/")
    return "".join([char for char in name if char >= " " and ord(char) not in jsonl.RISKY])


# What tmux is told


def show(file: "File", now: float) -> None:
    """Written down before and after: what kills this in between leaves a note that tmux is to be told."""
    memory = file.memory
    values = machine.values(memory.known, memory.style, memory.project)
    memory.due = memory.due or values != memory.shown
    if not memory.due or is_hanging(memory, now):
        file.put()
        return
    from ibstatus.titles import tmux_window

    memory.shown = values
    file.put()
    tell(file, tmux_window.shown(memory.pane, memory.window, values, timer(file, now)), now)


def is_hanging(memory: "Memory", now: float) -> bool:
    return 0 <= now - memory.tried < RETRY


def tell(file: "File", script: str, now: float) -> None:
    from ibstatus.titles import tmux_window

    told(file.memory, tmux_window.run(file.memory.socket, pane_files.server_of(file.path), script), now)
    file.put()


def told(memory: "Memory", said: str | None, now: float) -> None:
    """A server that did not answer knows of no timer either."""
    memory.tried = now if said is None else 0.0
    memory.timer = 0.0 if said is None else memory.timer
    memory.due = said is None
    window, _, state = (said or "").strip().partition(" ")
    if window:
        memory.window = window
    if memory.known.state in machine.ACTIVE and state in machine.ACTIVE:
        memory.known = machine.but(memory.known, state=state)


def give_back(file: "File", now: float) -> None:
    """The pane says nothing more; also for `ib titles` and `ib hooks uninstall`."""
    from ibstatus.titles import tmux_window

    memory = file.memory
    memory.due, memory.shown, memory.timer = True, [], 0.0
    file.put()
    if not is_hanging(memory, now):
        tell(file, tmux_window.ended(memory.pane, memory.window), now)


# Half an hour


def timer(file: "File", now: float) -> str:
    """The command for tmux that has this asked again in time; '' where it is under way already."""
    memory = file.memory
    stamp = {machine.COMPLETED: memory.known.completed, machine.BASE: memory.known.since}.get(memory.known.state)
    if stamp is None or now < memory.timer <= now + machine.DECAY + 2:
        return ""
    import ibstatus
    from ibstatus.errors import quoted
    from ibstatus.titles import tmux_window

    wait = min(max(stamp + machine.DECAY - now, 0.0), machine.DECAY) + LATE
    memory.timer = now + wait
    stub = quoted(ibstatus.__path__[0] + "/hooks/stub.py")
    asked = f"{quoted(sys.executable)} -S -E -I {stub} notify-tmux {quoted(DECAY + file.path)}"
    line = f"[ -r {stub} ] && CLAUDE_PROJECT_DIR= {asked} </dev/null >/dev/null 2>&1; exit 0"
    return tmux_window.later(memory.pane, wait, line)


def decay(path: str, now: float) -> int:
    """Called by tmux. What is not old enough yet is asked again when it will be."""
    if not disk.exists(path):
        return 0
    with pane_files.File(path) as file:
        memory = file.memory
        memory.timer = 0.0
        if memory.session and memory.mode != machine.OFF:
            memory.known = machine.decayed(memory.known, now)
            memory.due = memory.due or memory.known.state in (machine.COMPLETED, machine.BASE)
            show(file, now)
        file.put()
    return 0
