"""notify/rungs/<session>: what of the wake ladder is armed for a session, and when it was rung last.

One line: `watched rung_for rung_at warned_at repeats`: since when FileChanged reports the queue to it (0: it does
not), up to which offset it was rung last and when, when it was last told that nothing would wake it, and how many
rings in a row nobody has answered. Times are wall seconds.
"""

from ibstatus.mail import cursors
from ibstatus.project import names, paths
from ibstatus.system import atomic, disk, locks

WIDTH = 100
MAKE = disk.O_WRONLY | disk.O_CREAT | disk.O_NONBLOCK | disk.O_NOFOLLOW | disk.O_CLOEXEC

WAITER, WATCH, LISTENER = "waiter", "watch", "listener"


class Rungs:
    __slots__ = ("repeats", "rung_at", "rung_for", "warned_at", "watched")

    def __init__(
        self, watched: int = 0, rung_for: int = 0, rung_at: int = 0, warned_at: int = 0, repeats: int = 0
    ) -> None:
        self.watched = watched
        self.rung_for = rung_for
        self.rung_at = rung_at
        self.warned_at = warned_at
        self.repeats = repeats


def path_of(place: paths.Place, session: str) -> str:
    return f"{place.home}/notify/rungs/{names.cursor_file(session)}"


def read(place: paths.Place, session: str) -> Rungs:
    try:
        parts = disk.read_file(path_of(place, session)).split()
    except OSError:
        return Rungs()
    if len(parts) != 5 or not all(map(cursors.is_offset, parts)):
        return Rungs()
    return Rungs(*map(int, parts))


def write(place: paths.Place, session: str, rungs: Rungs) -> None:
    """One small write in place. What a race or a kill may lose here costs a turn, never a message."""
    numbers = (rungs.watched, rungs.rung_for, rungs.rung_at, rungs.warned_at, rungs.repeats)
    text = " ".join(map(str, numbers)).ljust(WIDTH).encode() + b"\n"
    path = path_of(place, session)
    try:
        try:
            fd = disk.open(path, MAKE, 0o600)
        except FileNotFoundError:
            disk.make_dirs(path.rpartition("/")[0])
            fd = disk.open(path, MAKE, 0o600)
        try:
            disk.pwrite(fd, text, 0)
        finally:
            disk.close(fd)
    except OSError:
        return


def set_watched(place: paths.Place, session: str, now: float) -> None:
    known = read(place, session)
    write(place, session, Rungs(int(now), known.rung_for, known.rung_at, 0, known.repeats))


def turn(place: paths.Place, session: str) -> str:
    """The prompt id of the turn that the session's hooks saw last."""
    try:
        return disk.read_file(turn_path(place, session)).decode("utf-8", "replace")
    except OSError:
        return ""


def set_turn(place: paths.Place, session: str, prompt: str) -> None:
    path = turn_path(place, session)
    try:
        disk.make_dirs(path.rpartition("/")[0])
        atomic.put(path, prompt.encode(), durable=False)
    except OSError:
        return  # on a full disk the mail goes on


def turn_path(place: paths.Place, session: str) -> str:
    return f"{place.home}/notify/turns/{names.cursor_file(session)}"


def waiter_lock(place: paths.Place, session: str) -> str:
    return place.lock("waiter-" + names.cursor_file(session))


def armed(place: paths.Place, session: str, besides: str = "") -> list[str]:
    """What would wake this session at once."""
    found = []
    if locks.is_held(waiter_lock(place, session)):
        found.append(WAITER)
    if read(place, session).watched:
        found.append(WATCH)
    if besides != LISTENER and is_listening(place, session):
        found.append(LISTENER)
    return found


def is_anybody_waiting(place: paths.Place) -> bool:
    """Is the Stop waiter of any session armed?"""
    try:
        leaves = disk.listdir(place.home + "/locks")
    except OSError:
        return False
    return any(leaf.startswith("waiter-") and locks.is_held(place.lock(leaf)) for leaf in leaves)


def is_listening(place: paths.Place, session: str) -> bool:
    return locks.is_held(place.lock("cursor-" + names.listener_file(session)))


def primary_path(place: paths.Place) -> str:
    return place.home + "/notify/primary"


def primary(place: paths.Place) -> str:
    """The session that last took a prompt from a person, by the name of its files; or ''."""
    try:
        return disk.read_file(primary_path(place)).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def set_primary(place: paths.Place, session: str) -> None:
    name = names.cursor_file(session)
    try:
        if primary(place) == name:
            disk.utime(primary_path(place))
        elif session:
            atomic.put(primary_path(place), name.encode() + b"\n", durable=False)
    except OSError:
        return


def disarm(place: paths.Place) -> None:
    """The hooks are taken out: nothing of them wakes any session, and who waits has nobody to ring for."""
    for name in ("rungs", "waiters"):
        folder = f"{place.home}/notify/{name}"
        try:
            leaves = disk.listdir(folder)
        except OSError:
            continue
        for leaf in leaves:
            atomic.forget(f"{folder}/{leaf}")


def leave(place: paths.Place, session: str) -> None:
    """The session ended: nothing of it is armed, its waiter goes, and it is not the one to be rung."""
    from ibstatus.mail import bells

    name = names.cursor_file(session)
    known = read(place, session)
    if known.watched:
        write(place, session, Rungs(0, known.rung_for, known.rung_at, known.warned_at, known.repeats))
    if primary(place) == name:
        atomic.forget(primary_path(place))
    atomic.forget(waiter_path(place, session))
    bells.ring(place.bells)  # its waiter looks; and what it was rung for may wake another session


def waiter_path(place: paths.Place, session: str) -> str:
    """Holds the pid of the newest waiter of this session."""
    return f"{place.home}/notify/waiters/{names.cursor_file(session)}"
