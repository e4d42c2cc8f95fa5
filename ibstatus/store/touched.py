"""Files of others that we add lines to: what they held is noted first, so that they can be given back as they were.

<common git dir>/ib/touched/<name>: a line of JSON, then the original bytes.
"""

from ibstatus.rules import lines
from ibstatus.store import atomic, disk, places

MAKE = disk.O_WRONLY | disk.O_APPEND | disk.O_CREAT | disk.O_CLOEXEC


class Touched:
    """One file: where it is, its bytes before (None: there was none), our lines, and whether its folder is ours too."""

    __slots__ = ("added", "before", "made_folder", "path")

    def __init__(self, path: str, before: bytes | None, added: bytes, made_folder: bool) -> None:
        self.path = path
        self.before = before
        self.added = added
        self.made_folder = made_folder


def record(place: places.Place, name: str) -> str:
    return f"{place.safe}/touched/{name}"


def known(place: places.Place, name: str, path: str) -> Touched | None:
    """What was noted when the file at `path` was touched."""
    try:
        head, _, before = disk.read_file(record(place, name)).partition(b"\n")
        value = lines.decode(head.decode())
        existed, made_folder = value["existed"] is not False, value["made_folder"] is True
        return Touched(path, before if existed else None, value["added"].encode(), made_folder)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def add(place: places.Place, name: str, path: str, line: str) -> None:
    """Append a line of ours; a person who saves the file at the same moment loses nothing, for it is one append."""
    before = content(path)
    ending = "\r\n" if before and b"\r\n" in before else "\n"
    added = ("" if not before or before.endswith(b"\n") else ending) + line + ending
    folder = path.rpartition("/")[0]
    value = {"existed": before is not None, "added": added, "made_folder": not disk.exists(folder)}
    disk.make_dirs(place.safe + "/touched")
    atomic.put(record(place, name), lines.encode(value).encode() + b"\n" + (before or b""))
    disk.make_dirs(folder, 0o777)
    fd = disk.open(path, MAKE, 0o666)
    try:
        disk.write_all(fd, added.encode())
        disk.fsync(fd)
    finally:
        disk.close(fd)


def give_back(place: places.Place, name: str, path: str) -> Touched | None:
    """Take our line out again; None when there was nothing of ours. What others wrote meanwhile stays."""
    noted = known(place, name, path)
    if noted is None:
        return None
    while (now := content(path)) is not None:
        rest = without(now, noted)
        if rest is None:
            disk.unlink(path)
        elif rest != now and not atomic.replace(path, rest, lambda seen=now: content(path) == seen):  # type: ignore[misc]
            continue  # somebody saved it meanwhile
        break
    clear_temps(path)
    if noted.made_folder:
        remove_empty(path.rpartition("/")[0])
    disk.unlink(record(place, name))
    return noted


def without(now: bytes, noted: Touched) -> bytes | None:
    """The file's bytes without our line; None when nothing is left of a file that we made."""
    before = noted.before or b""
    if now == before + noted.added:
        return noted.before
    ours = noted.added.strip()
    kept = now.splitlines(keepends=True)
    for at in range(len(kept) - 1, -1, -1):
        if kept[at].strip() == ours:
            del kept[at]
            break
    rest = b"".join(kept)
    return None if noted.before is None and not rest else rest


def differs(noted: Touched) -> str:
    """'' when the file has its original bytes; otherwise what is different, in words."""
    now = content(noted.path)
    if now == noted.before:
        return ""
    if now is None:
        return "it is gone, and there was one before"
    if noted.before is None:
        return "there was no such file before; others have written to it since"
    fresh, gone = changed_lines(noted.before, now), changed_lines(now, noted.before)
    parts = [
        f"{len(fresh)} added, first {fresh[0]!r}" if fresh else "",
        f"{len(gone)} missing, first {gone[0]!r}" if gone else "",
    ]
    return "lines of others: " + (
        "; ".join(part for part in parts if part) or "the same ones in another order or with other line ends"
    )


def changed_lines(old: bytes, new: bytes) -> list[str]:
    before = old.splitlines()
    return [line.decode("utf-8", "replace") for line in new.splitlines() if line not in before]


def content(path: str) -> bytes | None:
    try:
        return disk.read_file(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def clear_temps(path: str) -> None:
    """What a give-back that was killed left beside the file of the user."""
    folder, _, leaf = path.rpartition("/")
    try:
        names = disk.listdir(folder)
    except FileNotFoundError:
        return
    for name in names:
        if name.startswith(f".{leaf}.") and name.endswith(".ib-tmp"):
            atomic.forget(f"{folder}/{name}")


def remove_empty(folder: str) -> None:
    try:
        disk.rmdir(folder)
    except OSError:
        pass
