"""What a process says of itself → is it ours, whose, what for, and has it lost its agent. Pure."""

import time
import zlib
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple

SERVICES = {"status-watchdog": "supervisor", "attend": "attend", "session-ended": "session-ended"}
LAUNCHER, CLIENT, LINE = "launcher", "client", "line to tmux"
WATCH = "ib-watch-"  # the session in which a supervisor's line to tmux stands
KEEPER = ("sh", "-c", 'while kill -0 "$0" 2>/dev/null; do sleep 3; done')  # its program: as long as that process lives
TITLES = ("claude",)
LAUNCHERS = ("start.sh", "resume.sh")
BEFORE = 2.0  # the kernel's clock and ours are not quite the same
LONGEST = 60
HIGHEST = 64
# What others may be at work with, whoever was first to need it: its first one is its only one.
SHARED = (
    *("tmux", "screen", "zellij", "dtach", "abduco", "gpg-agent", "ssh-agent", "keyboxd", "dirmngr", "scdaemon"),
    *("dbus-daemon", "watchman", "adb", "dockerd", "containerd"),
)
DAEMONS = ("GradleDaemon", "KotlinCompileDaemon", "bazel(", "nailgun")  # in the title or the words of a build's server
USED = "others may be using it"


class Process(NamedTuple):
    """`agent` and `token` from its environment."""

    pid: int
    parent: int
    started: float
    argv: tuple[str, ...]
    agent: str = ""
    token: str = ""
    cwd: str = ""
    terminal: str = ""


class Home(NamedTuple):
    """The repository: where its main checkout, its .ittybitty and its folder under .git are; the token of every agent
    that there is or can be brought back; pid → what the locks and bells say that it is."""

    root: str
    home: str
    safe: str
    tokens: Mapping[str, str]
    named: Mapping[int, str]


class Seat(NamedTuple):
    """Of an agent that there is. `there` None: nobody can say now whether its session is there. `pane`: the process
    that was started in it; `started`: when, as the kernel tells it of all processes: no clock that was set since."""

    there: bool | None
    pane: int = 0
    started: float = 0.0


class Own(NamedTuple):
    """`agent` is '' for what serves all. `why`: what makes it an orphan, or why it is none though it seems so."""

    agent: str
    pid: int
    started: float
    what: str
    orphan: bool
    why: str
    command: str


def owned(found: Sequence[Process], home: Home, seats: Mapping[str, Seat]) -> list[Own]:
    """Those of this repository, by agent and age."""
    parents = {one.pid: one.parent for one in found}
    used = in_use(found, parents)
    ours = [own for one in found if (own := owned_one(one, home, seats, parents, used)) is not None]
    return sorted(ours, key=lambda own: (own.agent, own.started, own.pid))


def in_use(found: Sequence[Process], parents: Mapping[int, int]) -> set[int]:
    """Those that others may be using: what is made for many, whatever it has started that bears the same mark, and
    what has somebody below it on a terminal of his own."""
    known = {one.pid: one for one in found}
    used = {one.pid for one in found if is_shared(one.argv)}
    for one in found:
        marks = (one.agent, one.token)
        for pid in above(one.pid, parents):
            if pid in known and one.terminal and known[pid].terminal != one.terminal and not is_ours(known[pid].argv):
                used.add(pid)
            if pid in known and is_shared(known[pid].argv) and any(marks) and marks == marks_of(known[pid]):
                used.add(one.pid)
    return used


def marks_of(one: Process) -> tuple[str, str]:
    return one.agent, one.token


def is_shared(argv: Sequence[str]) -> bool:
    leaf = argv[0].rpartition("/")[2].removeprefix("-") if argv else ""
    words = (leaf, *argv[1:])
    return leaf.partition(":")[0].lower() in SHARED or any(mark in word for mark in DAEMONS for word in words)


def is_ours(argv: Sequence[str]) -> bool:
    """By its words a launcher or a client: who stands below it is its own."""
    leaf = argv[0].rpartition("/")[2] if argv else ""
    return "--settings" in argv or leaf in TITLES or any(word.endswith(LAUNCHERS) for word in argv[1:2])


def above(pid: int, parents: Mapping[int, int]) -> Iterator[int]:
    """Its parents, the next first; some are not known."""
    for _ in range(HIGHEST):
        pid = parents.get(pid, 0)
        if not pid:
            return
        yield pid


def owned_one(
    one: Process, home: Home, seats: Mapping[str, Seat], parents: Mapping[int, int], used: Container[int]
) -> Own | None:
    line = line_of(one, home)
    if line is not None:
        return line
    command = " ".join(one.argv)[:LONGEST]
    service = service_of(one, home)
    if service:
        return Own(
            of_words(one, home) if service != "supervisor" else "", one.pid, one.started, service, False, "", command
        )
    agent = agent_of(one, home)
    if not agent:
        return None
    orphan, why = lost(one, agent, seats.get(agent), parents)
    if orphan and one.pid in used:
        orphan, why = False, USED
    return Own(agent, one.pid, one.started, what(one, agent, home, seats.get(agent), parents), orphan, why, command)


def watch_of(home: str) -> str:
    """How the lines to tmux of the repository with this .ittybitty are called; the pid of who holds one follows."""
    return f"{zlib.crc32(home.encode('utf-8', 'replace')):08x}"


class Line(NamedTuple):
    """A line to tmux: to which server, in which session it stands, who has opened it."""

    socket: str
    session: str
    holder: int


def line_in(argv: Sequence[str], watch: str) -> Line | None:
    """By its words, when it is one that is called so."""
    if not argv or not argv[0].rpartition("/")[2].startswith("tmux") or "-C" not in argv or "-L" not in argv[:-1]:
        return None
    session = next((word for word in argv if word.startswith(f"{WATCH}{watch}-")), "")
    holder = pid_in(session.rpartition("-")[2])
    return Line(argv[argv.index("-L") + 1], session, holder) if holder else None


def line_of(one: Process, home: Home) -> Own | None:
    """A supervisor's connection, and the program of the session in which it stands."""
    line = line_in(one.argv, watch_of(home.home))
    why = "its supervisor is gone" if line is not None and line.holder != one.parent else ""
    kept = one.argv[: len(KEEPER)] == KEEPER and home.named.get(pid_in(one.argv[-1])) == "supervisor"
    if line is None and not kept:
        return None
    return Own("", one.pid, one.started, LINE, bool(why), why, " ".join(one.argv)[:LONGEST])


def pid_in(word: str) -> int:
    return int(word) if word.isdecimal() else 0


def service_of(one: Process, home: Home) -> str:
    """A process of ib itself that serves this repository."""
    if "ibstatus" in " ".join(one.argv[:6]) or any(word.endswith("/ib") for word in one.argv[:2]):
        for word, name in SERVICES.items():
            if word in one.argv and home.root in one.argv:
                return name
        return home.named.get(one.pid, "")
    return ""


def of_words(one: Process, home: Home) -> str:
    """Which agent a service is for: the word that follows, or the mark that it bears."""
    known = [word for word in one.argv if word in home.tokens]
    return known[0] if known else agent_of(one, home)


def agent_of(one: Process, home: Home) -> str:
    """Its name alone proves nothing: another repository may have an agent that is called the same."""
    if one.token and one.agent and home.tokens.get(one.agent) == one.token:
        return one.agent
    if not one.agent:
        return launched(one, home)
    inside = (f"{home.home}/agents/{one.agent}/", f"{home.safe}/undo/")
    return one.agent if f"{one.cwd}/".startswith(inside) else ""


def launched(one: Process, home: Home) -> str:
    """The shell that runs an agent's start.sh, which gives the mark to others only. A person's editor is none."""
    if len(one.argv) < 2 or one.argv[0].rpartition("/")[2] != "sh":
        return ""
    folder, _, leaf = one.argv[1].rpartition("/")
    above, _, agent = folder.rpartition("/")
    return agent if leaf in LAUNCHERS and above == home.home + "/agents" else ""


def what(one: Process, agent: str, home: Home, seat: Seat | None, parents: Mapping[int, int]) -> str:
    if launched(one, home):
        return LAUNCHER
    if is_client(one, f"{home.home}/agents/{agent}/", seat):
        return CLIENT
    return "shell of a person" if one.terminal and not is_below(one.pid, seat, parents) else "started by it"


def is_client(one: Process, folder: str, seat: Seat | None) -> bool:
    """By how start.sh has called it, by its parent, or by the title that it gives itself, which hides its words."""
    called = "--settings" in one.argv and any(word.startswith(folder) for word in one.argv)
    return called or one.argv[0].rpartition("/")[2] in TITLES or (seat is not None and 0 < seat.pane == one.parent)


def lost(one: Process, agent: str, seat: Seat | None, parents: Mapping[int, int]) -> tuple[bool, str]:
    if one.terminal and (seat is None or not is_below(one.pid, seat, parents)):
        return False, f"it has the terminal {one.terminal}: somebody may be using it"
    if seat is None:
        return True, f"there is no agent {agent} any more"
    if seat.there is None:
        return False, "nobody can say now whether its agent runs"
    if not seat.there:
        return True, f"the session of {agent} is gone"
    if seat.started and one.started < seat.started - BEFORE and not is_below(one.pid, seat, parents):
        return True, f"left over from an earlier session of {agent}"
    return False, ""


def is_below(pid: int, seat: Seat | None, parents: Mapping[int, int]) -> bool:
    """Was it started, at whatever remove, by what runs in the agent's pane?"""
    return seat is not None and any(one == seat.pane for one in (pid, *above(pid, parents)))


HEAD = ("AGENT", "PID", "STARTED", "WHAT", "", "COMMAND")


def table(owned: Sequence[Own], width: int = 0) -> list[str]:
    """`width`: of the terminal; 0 cuts nothing."""
    cells = [HEAD, *(row(own) for own in owned)]
    wide = [max(len(one[at]) for one in cells) for at in range(len(HEAD) - 1)]
    return [cut("  ".join([*map(str.ljust, one, wide), one[-1]]).rstrip(), width) for one in cells]


def row(own: Own) -> tuple[str, ...]:
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(own.started))
    tail = f"  ({own.why})" if own.why else ""
    return own.agent or "-", str(own.pid), began, own.what, "orphan" if own.orphan else "", own.command + tail


def cut(text: str, width: int) -> str:
    return text if not width or len(text) <= width else text[: max(width - 1, 0)] + "…"


NONE = "No processes of this repository are running."
