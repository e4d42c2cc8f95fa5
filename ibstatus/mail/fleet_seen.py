"""notify/seen/<session>: the fleet as a session knows it, and of which snapshot that is.

Line 1: the snapshot's mark, a tab, the prompt; line 2: the fleet that a turn took in; line 3: the one told since.
"""

from ibstatus.mail import cursors
from ibstatus.project import names, paths
from ibstatus.system import atomic, disk, jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ibstatus.mail.rules.fleet_changes import Seen

HEAD = 72  # bytes of status.json that differ between any two of them: its number and time
SETTLED = "="  # instead of a prompt: nothing waits for its turn


def path_of(place: paths.Place, session: str) -> str:
    return f"{place.home}/notify/seen/{names.cursor_file(session)}"


def mark(place: paths.Place) -> str:
    """Which snapshot there is now, '' when there is none; a glance, however many agents it shows."""
    try:
        fd = disk.open(place.home + "/status.json", disk.O_RDONLY | disk.O_NONBLOCK | disk.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return disk.pread(fd, HEAD, 0).partition(b',"version"')[0].hex()
    except OSError:  # somebody put something else there
        return ""
    finally:
        disk.close(fd)


def is_current(place: paths.Place, session: str, now: str) -> bool:
    """Has this session been told everything about this snapshot, and confirmed it?"""
    try:
        fd = disk.open(path_of(place, session), disk.O_RDONLY | disk.O_NONBLOCK | disk.O_CLOEXEC)
    except OSError:
        return False
    try:
        return disk.pread(fd, 512, 0).partition(b"\n")[0] == f"{now}\t{SETTLED}".encode()
    except OSError:
        return False
    finally:
        disk.close(fd)


def load(place: paths.Place, session: str) -> "Seen":
    """A session that we do not know, or whose file is broken, has seen nothing."""
    from ibstatus.mail.rules import fleet_changes  # needed only when there is something to compare

    try:
        head, sure, told = disk.read_file(path_of(place, session)).decode().split("\n")[:3]
        mark, _, prompt = head.partition("\t")
        waits = prompt != SETTLED
        return fleet_changes.Seen(mark, prompt if waits else "", taken(sure), taken(told) if waits else None)
    except (OSError, ValueError, TypeError):
        return fleet_changes.Seen("", "", {}, None)


def taken(text: str) -> "dict[str, str]":
    value: Any = jsonl.decode(text)
    return {str(name): str(state) for name, state in value.items()} if isinstance(value, dict) else {}


def save(place: paths.Place, session: str, seen: "Seen") -> None:
    prompt = SETTLED if seen.told is None else cursors.word(seen.prompt) or "?"
    told = "" if seen.told is None else jsonl.encode(seen.told)
    path = path_of(place, session)
    data = f"{seen.head}\t{prompt}\n{jsonl.encode(seen.sure)}\n{told}\n".encode()
    try:
        atomic.put(path, data, durable=False)
    except FileNotFoundError:
        disk.make_dirs(path.rpartition("/")[0])
        atomic.put(path, data, durable=False)


def snapshot(place: paths.Place, version: str) -> "tuple[dict[str, Any], float] | None":
    """What the supervisor published and when it last looked; None when that cannot be used."""
    path = place.home + "/status.json"
    try:
        value, at = jsonl.decode(disk.read_file(path).decode("utf-8", "replace")), disk.stat(path).st_mtime
    except (OSError, ValueError):
        return None
    fine = isinstance(value, dict) and value.get("version") == version and isinstance(value.get("agents"), list)
    return (value, at) if fine and all(isinstance(agent, dict) for agent in value["agents"]) else None
