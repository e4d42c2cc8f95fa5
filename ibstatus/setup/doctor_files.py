"""Facts about our files, for `ib doctor`. A look: nothing is restored, adopted or mended."""

import os
import stat
from typing import NamedTuple

from ibstatus.mail import cursors, json_list, questions, queue_lines
from ibstatus.model import constants
from ibstatus.project import founding, originals, paths, safety_copy
from ibstatus.system import disk, locks

BROKEN_FROM = 1 << 62


class Item(NamedTuple):
    """A file or folder of ours that is not as it should be."""

    path: str
    mode: int
    owner: int


class QueueFacts(NamedTuple):
    size: int
    total: int
    garbage: int
    torn: bool


class Lag(NamedTuple):
    reader: str
    behind: int
    broken: bool
    linked: bool


def loose(place: paths.Place) -> list[Item]:
    """What others may read or write, or what belongs to somebody else. Worktrees of agents are not ours to judge."""
    found = []
    for path in ours(place.home):
        status = disk.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            continue
        if status.st_mode & founding.OPEN_TO_OTHERS or status.st_uid != os.geteuid():
            found.append(Item(path, stat.S_IMODE(status.st_mode), status.st_uid))
    return found


def ours(home: str) -> list[str]:
    """Every path in .ittybitty but the worktrees of agents."""
    found = [home]
    for folder, folders, files in os.walk(home):
        if os.path.dirname(folder) == home + "/agents" and "repo" in folders:
            folders.remove("repo")
        found += [f"{folder}/{leaf}" for leaf in (*folders, *files)]
    return found


def leftovers(place: paths.Place) -> tuple[list[str], list[str]]:
    """(files set aside as broken, temp files of killed writers)."""
    paths = [path for path in ours(place.home) if os.path.exists(path)]
    aside = [path for path in paths if ".corrupt-" in path.rpartition("/")[2]]
    return aside, [path for path in paths if path.endswith(".ib-tmp")]


def identity(place: paths.Place) -> tuple[str, str, bool, str]:
    """(repo-id, its safety copy, is it legal, the path where ib has noted the repository or '')."""
    here, copy = originals.content(place.repo_id) or b"", safety_copy.read_copy(place, place.repo_id) or b""
    legal = founding.is_repo_id(here)
    return text(here), text(copy), legal, founding.other_path(place)


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()


def writable(place: paths.Place) -> str:
    """'' when a file can be made, written, locked and removed in .ittybitty; otherwise why not."""
    probe = f"{place.home}/.probe.{os.getpid():x}.ib-tmp"
    try:
        fd = disk.open(probe, disk.O_RDWR | disk.O_CREAT | disk.O_EXCL | disk.O_CLOEXEC, 0o600)
        try:
            disk.write_all(fd, b"?")
        finally:
            disk.close(fd)
            disk.unlink(probe)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def locks_work(place: paths.Place) -> str:
    """'' when a lock that is held looks held; otherwise what happened."""
    probe = f"{place.home}/.probe-lock.{os.getpid():x}.ib-tmp"
    try:
        try:
            with locks.Lock(probe):
                return "" if locks.is_held(probe) else "a lock that is held looks free"
        finally:
            disk.unlink(probe)
    except OSError as error:
        return error.strerror or str(error)


def bells_work(place: paths.Place) -> str:
    """'' when a FIFO can be made and rung; otherwise why not."""
    probe = f"{place.home}/.probe-bell.{os.getpid():x}.ib-tmp"
    try:
        disk.mkfifo(probe, 0o600)
        try:
            disk.close(disk.open(probe, disk.O_RDWR | disk.O_NONBLOCK | disk.O_CLOEXEC))
        finally:
            disk.unlink(probe)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def unlinked(place: paths.Place) -> list[str]:
    """Files whose safety copy is missing or another file."""
    paths = [place.queue, *[place.cursor(name) for name in cursors.names(place)]]
    return [path for path in paths if disk.exists(path) and not same_file(path, place.safe_copy(path))]


def same_file(path: str, copy: str) -> bool:
    """One file with two names; or, where hard links are impossible, two files with the same bytes."""
    try:
        here, there = disk.stat(path), disk.stat(copy)
    except OSError:
        return False
    return (here.st_ino, here.st_dev) == (there.st_ino, there.st_dev) or originals.content(path) == originals.content(
        copy
    )


def uncopied(place: paths.Place) -> list[str]:
    """Arrays whose safety copy is missing or old."""
    found = []
    for path in (place.messages, place.questions):
        data = originals.content(path)
        if data is not None and data != safety_copy.read_copy(place, path):
            found.append(path)
    return found


def mail(place: paths.Place) -> tuple[json_list.Loaded, json_list.Loaded]:
    return json_list.load(place, place.messages), json_list.load(place, place.questions, questions.KEY)


def unqueued(place: paths.Place) -> list[str]:
    """Ids of items that should have woken somebody and have no queue line yet."""
    sent, asked = mail(place)
    found = [
        str(item.get("id")) for item in sent.items if item.get("type") in constants.WAKES and not item.get("queued")
    ]
    return found + [
        str(item.get("id"))
        for item in asked.items
        if item.get("status") == questions.PENDING and not item.get("queued")
    ]


def base_of(place: paths.Place) -> int:
    """The absolute offset of the queue's first byte. Only looked up: `queue.view` would adopt and restore."""
    try:
        known = [entry.split() for entry in disk.read_file(place.queue_base).splitlines()]
        inode = b"%d" % disk.stat(place.queue).st_ino
        bases = {parts[1]: int(parts[0]) for parts in known}
        return bases.get(inode, int(known[0][0]))
    except (OSError, IndexError, ValueError):
        return cursors.furthest(place)


def unread(place: paths.Place) -> int:
    """Queue lines that no reader has confirmed."""
    data = originals.content(place.queue) or b""
    done = max((cursor.done for cursor, _ in cursors.all_of(place)), default=0)
    return data[max(0, done - base_of(place)) :].count(b"\n")


def queue_facts(place: paths.Place) -> QueueFacts:
    data = originals.content(place.queue) or b""
    told = queue_lines.told(data, 0, 0)
    return QueueFacts(len(data), data.count(b"\n"), len(told.skipped), bool(data) and not data.endswith(b"\n"))


def lags(place: paths.Place) -> list[Lag]:
    """How far each reader is behind, in lines."""
    data, base = originals.content(place.queue) or b"", base_of(place)
    found = []
    for name in sorted(cursors.names(place)):
        path = place.cursor(name)
        cursor = cursors.parse(originals.content(path) or b"")
        behind = data[max(0, cursor.done - base) :].count(b"\n")
        found.append(Lag(name, behind, cursor.offered >= BROKEN_FROM, same_file(path, place.safe_copy(path))))
    return found


def space(path: str) -> tuple[int, int | None]:
    """(free bytes for us, free inodes or None where the file system has no such number)."""
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize, status.f_favail if status.f_files else None
