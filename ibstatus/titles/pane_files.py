"""What is remembered of a tmux pane whose window bears a title: one JSON line in the user's folder for state.

`${XDG_STATE_HOME:-~/.local/state}/ib/titles/<server pid>-<pane number>-<crc32 of the socket's path>`. Locked for a
whole step: read, decide, tmux, write. What is torn counts as nothing known.
"""

import posix

from ibstatus.system import disk, jsonl
from ibstatus.titles import machine

LONGEST = 16384
FLAGS = disk.O_RDWR | disk.O_CREAT | disk.O_NOFOLLOW | disk.O_NONBLOCK | disk.O_CLOEXEC
GONE = 3  # ESRCH


class Pane:
    """A pane of one tmux server; `id` as in TMUX_PANE."""

    __slots__ = ("id", "server", "socket")

    def __init__(self, socket: str, server: int, id: str) -> None:
        self.socket = socket
        self.server = server
        self.id = id

    @property
    def path(self) -> str:
        """'' for a user without a home directory."""
        there = folder()
        sum = crc32(self.socket.encode("utf-8", "surrogateescape"))
        return there and f"{there}/{self.server}-{self.id[1:]}-{sum:08x}"


class Memory:
    """`shown`: what tmux was told last, [] when the pane bears nothing of ours. `due`: it may not have heard it.
    `tried`: when it last hung. `timer`: when it will ask for the decay. `over`: the session that has ended here."""

    __slots__ = (
        "due", "folder", "known", "mode", "over", "pane", "project", "session", "shown", "socket", "style",
        "timer", "tried", "window",
    )  # fmt: skip

    def __init__(self) -> None:
        self.session = self.over = self.project = self.folder = self.window = self.pane = self.socket = ""
        self.mode, self.style = machine.STOP_ONLY, "emoji"
        self.known = machine.Known()
        self.shown: list[str] = []
        self.due = False
        self.tried = self.timer = 0.0


PLAIN = tuple(field for field in Memory.__slots__ if field not in ("known", "shown"))


class File:
    """An open and locked one."""

    __slots__ = ("before", "fd", "memory", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.fd = opened(path)
        try:
            disk.flock(self.fd, disk.LOCK_EX)
            self.before = disk.pread(self.fd, LONGEST, 0)
        except BaseException:
            disk.close(self.fd)
            raise
        self.memory = parsed(self.before)

    def __enter__(self) -> "File":
        return self

    def __exit__(self, *ended: object) -> None:
        disk.close(self.fd)

    def put(self) -> None:
        """Nothing is written that stands there. A disk that takes nothing leaves what it had, or nothing known."""
        data = form(self.memory)
        if data == self.before:
            return
        self.before = b""
        try:
            done = disk.pwrite(self.fd, data, 0)
            disk.ftruncate(self.fd, done)
            self.before = data[:done]
        except OSError:
            pass


def pane_of(tmux: str, pane: str) -> Pane | None:
    """By the two variables that tmux gives to what runs in it; None outside, and when they are odd."""
    socket, _, server = tmux.rpartition(",")[0].rpartition(",")
    if not socket.startswith("/") or not is_number(server) or pane[:1] != "%" or not is_number(pane[1:]):
        return None
    return Pane(socket, int(server), pane)


def is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 11


def folder() -> str:
    """'' for a user without a home directory."""
    state = posix.environ.get(b"XDG_STATE_HOME", b"").decode("utf-8", "surrogateescape")
    home = posix.environ.get(b"HOME", b"").decode("utf-8", "surrogateescape")
    if not state.startswith("/"):
        if not home.startswith("/"):
            from ibstatus.project import config

            home = config.home_folder()
        state = home and home.rstrip("/") + "/.local/state"
    return state and state.rstrip("/") + "/ib/titles"


def opened(path: str) -> int:
    return disk.open_in_folder(path, FLAGS)


def form(memory: Memory) -> bytes:
    value: dict[str, object] = {field: getattr(memory, field) for field in PLAIN}
    value["known"] = machine.packed(memory.known)
    value["shown"] = memory.shown
    return jsonl.encode(value).encode("utf-8", "replace") + b"\n"


def parsed(data: bytes) -> Memory:
    new = Memory()
    head, end, _ = data.partition(b"\n")
    try:
        value = jsonl.decode(head.decode()) if end else None
    except (ValueError, RecursionError):
        return new
    if not isinstance(value, dict):
        return new
    known = machine.unpacked(value.get("known"))
    if known is None:
        return new
    for field in PLAIN:
        if type(value.get(field)) is not type(getattr(new, field)):
            return Memory()
        setattr(new, field, value[field])
    shown = value.get("shown")
    new.known = known
    new.shown = shown if isinstance(shown, list) and all(isinstance(one, str) for one in shown) else []
    return new


def read(path: str) -> Memory:
    """Without waiting for a step that is under way."""
    try:
        return parsed(disk.read_ours(path, LONGEST))
    except OSError:
        return Memory()


def paths() -> list[str]:
    """The files of all panes that are remembered, also of those that are gone."""
    there = folder()
    try:
        return [f"{there}/{name}" for name in sorted(disk.listdir(there)) if is_number(name.partition("-")[0])]
    except OSError:
        return []


def server_of(path: str) -> int:
    """The process of the tmux server of this file's pane."""
    return int(path.rpartition("/")[2].partition("-")[0])


def sweep() -> None:
    """Servers that are gone have no panes."""
    for path in paths():
        if not is_alive(server_of(path)):
            try:
                disk.unlink(path)
            except OSError:
                continue


def is_alive(pid: int) -> bool:
    try:
        posix.kill(pid, 0)
    except OSError as error:
        return error.errno != GONE
    except OverflowError:
        return False
    return True


def crc32(data: bytes) -> int:
    """As zlib's, which would have to be loaded."""
    sum = 0xFFFFFFFF
    for byte in data:
        sum ^= byte
        for _ in range(8):
            sum = sum >> 1 ^ (0xEDB88320 if sum & 1 else 0)
    return sum ^ 0xFFFFFFFF
