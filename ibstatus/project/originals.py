"""Files of others that we add lines to: what they held is noted first, so that they can be given back as they were.

<common git dir>/ib/touched/<name>: a line of JSON, then the original bytes.
"""

from ibstatus.project import paths
from ibstatus.system import atomic, disk, jsonl
from ibstatus.system.git.lock import GitLock

CLAUDE_MD = "claude-md"
MAKE = disk.O_WRONLY | disk.O_APPEND | disk.O_CREAT | disk.O_CLOEXEC


class Touched:
    """One file: where it is, its bytes before (None: there was none), our lines, and whether its folder is ours too."""

    __slots__ = ("added", "before", "made_folder", "path")

    def __init__(self, path: str, before: bytes | None, added: bytes, made_folder: bool) -> None:
        self.path = path
        self.before = before
        self.added = added
        self.made_folder = made_folder


def record(place: paths.Place, name: str) -> str:
    return f"{place.safe}/touched/{name}"


def known(place: paths.Place, name: str, path: str) -> Touched | None:
    """What was noted when the file at `path` was touched."""
    try:
        head, _, before = disk.read_file(record(place, name)).partition(b"\n")
        value = jsonl.decode(head.decode())
        existed, made_folder = value["existed"] is not False, value["made_folder"] is True
        return Touched(path, before if existed else None, value["added"].encode(), made_folder)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def add(place: paths.Place, name: str, path: str, text: str) -> None:
    """Append lines of ours; a person who saves the file at the same moment loses nothing, for it is one append."""
    folder = path.rpartition("/")[0]
    added = noted_first(place, name, path, text, content(path))
    disk.make_dirs(folder, 0o777)
    fd = disk.open(path, MAKE, 0o666)
    try:
        disk.write_all(fd, added)
        disk.fsync(fd)
    finally:
        disk.close(fd)


def add_in_gits_way(place: paths.Place, name: str, path: str, text: str) -> None:
    """The same for a file that git replaces under a lock: an append could land in the one that it throws away."""
    with GitLock(path) as lock:
        before = content(path)
        atomic.put(lock.target, (before or b"") + noted_first(place, name, path, text, before))


def noted_first(place: paths.Place, name: str, path: str, text: str, before: bytes | None) -> bytes:
    """What is to be appended, in the file's own line ends; it is on the disk what that file was."""
    ending = "\r\n" if before and b"\r\n" in before else "\n"
    added = "" if not before or before.endswith(b"\n") else ending
    added += "".join(line + ending for line in text.split("\n"))
    made_folder = not disk.exists(path.rpartition("/")[0])
    value = {"existed": before is not None, "added": added, "made_folder": made_folder}
    disk.make_dirs(place.safe + "/touched")
    atomic.put(record(place, name), jsonl.encode(value).encode() + b"\n" + (before or b""))
    return added.encode()


def give_back(place: paths.Place, name: str, path: str) -> Touched | None:
    """Take our lines out again; None when there was nothing of ours. What others wrote meanwhile stays."""
    noted = known(place, name, path)
    if noted is None:
        return None
    while not taken_out(path, noted):
        pass  # somebody saved it meanwhile
    return forgotten(place, name, noted)


def give_back_in_gits_way(place: paths.Place, name: str, path: str) -> Touched | None:
    noted = known(place, name, path)
    if noted is None:
        return None
    with GitLock(path):
        taken_out(path, noted)
    return forgotten(place, name, noted)


def taken_out(path: str, noted: Touched) -> bool:
    """False when somebody saved the file between our look and our rename."""
    now = content(path)
    rest = None if now is None else without(now, noted)
    if now is not None and rest is None:
        disk.unlink(path)
    return now is None or rest is None or rest == now or atomic.replace(path, rest, lambda: content(path) == now)


def forgotten(place: paths.Place, name: str, noted: Touched) -> Touched:
    """All is as it was: the note has done its work."""
    clear_temps(noted.path)
    if noted.made_folder:
        remove_empty(noted.path.rpartition("/")[0])
    disk.unlink(record(place, name))
    return noted


def without(now: bytes, noted: Touched) -> bytes | None:
    """The file's bytes without our lines; None when nothing is left of a file that we made."""
    before = noted.before or b""
    if now == before + noted.added:
        return noted.before
    ours = [line.strip() for line in noted.added.strip().split(b"\n")]
    kept = now.split(b"\n")
    for at in range(len(kept) - len(ours), -1, -1):
        if [line.strip() for line in kept[at : at + len(ours)]] == ours:
            ended = kept[at + len(ours) :]
            kept = kept[: at + heads_others(ours, ended)] + (ended or [b""])
            break
    rest = b"\n".join(kept)
    return None if noted.before is None and not rest else rest


def heads_others(ours: list[bytes], after: list[bytes]) -> bool:
    """Somebody added a line to our section: its head then stays, or the line would fall to the section before."""
    following = after[0].strip() if after else b""
    return ours[0].startswith(b"[") and following != b"" and not following.startswith(b"[")


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
