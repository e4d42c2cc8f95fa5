"""What a file was and shall be, noted before it is resized in place; after a kill in between it is completed.

`journal-<n>`: a line of JSON, then the text before, then the text after.
"""

import time

from ibstatus.system import atomic, disk, jsonl, leases

BLOCK = 512
PATIENCE, PAUSE = 1.0, 0.005
FLAGS = disk.O_RDWR | disk.O_NOFOLLOW | disk.O_NONBLOCK | disk.O_CLOEXEC


def begin(desk: str, target: str, inode: int, before: bytes, after: bytes) -> str:
    """The path of the entry, for `end`."""
    disk.make_dirs(desk)
    path = f"{desk}/journal-{time.time_ns():x}"
    head = {"target": target, "inode": inode, "before": len(before), "after": len(after)}
    atomic.put(path, jsonl.encode(head).encode("utf-8", "surrogateescape") + b"\n" + before + after)
    return path


def end(path: str) -> None:
    atomic.forget(path)


def write_whole(fd: int, text: bytes) -> None:
    rest, at = text, 0
    while rest:
        done = disk.pwrite(fd, rest, at)
        rest, at = rest[done:], at + done
    disk.ftruncate(fd, len(text))
    disk.fsync(fd)


def recover(desk: str) -> list[str]:
    """Complete what was torn; a report for each entry that cannot be judged, which then stays."""
    said = []
    for leaf in sorted(disk.listdir(desk)):
        if leaf.startswith("journal-"):
            trouble = complete(f"{desk}/{leaf}")
            if trouble:
                said.append(trouble)
    return said


def complete(path: str) -> str:
    try:
        data = disk.read_file(path)
    except FileNotFoundError:
        return ""  # its writer lives, and has just come to the end
    head, _, rest = data.partition(b"\n")
    try:
        noted = jsonl.decode(head.decode("utf-8", "surrogateescape"))
        target, inode, cut = str(noted["target"]), int(noted["inode"]), int(noted["before"])
        before, after = rest[:cut], rest[cut : cut + int(noted["after"])]
    except (ValueError, TypeError, KeyError):
        return f"{path} cannot be read as a journal; it is left there"
    try:
        fd = opened(target)
    except BlockingIOError:
        return busy(target, path)
    except FileNotFoundError:
        return f"{target} was resized when the power or the process went, and is gone; its text is in {path}"
    try:
        return settle(fd, path, target, inode, before, after)
    finally:
        disk.close(fd)


def opened(target: str) -> int:
    """Another of us may be at it right now, under its lease."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return disk.open(target, FLAGS)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE)


def settle(fd: int, path: str, target: str, inode: int, before: bytes, after: bytes) -> str:
    answer = leases.take(fd)
    if answer == leases.REFUSED:
        return busy(target, path)
    status = disk.fstat(fd)
    now = disk.pread(fd, status.st_size, 0)
    if now != before and now != after:
        if status.st_ino != inode or not is_torn(now, before, after):
            return f"{target} was saved since its resize broke off; the texts before and after it are in {path}"
        if answer != leases.GRANTED:
            return busy(target, path)
        write_whole(fd, after)
    end(path)
    return ""


def busy(target: str, path: str) -> str:
    return f"{target} is open in a program; whether its resize must be completed ({path}) is looked at later"


def is_torn(now: bytes, before: bytes, after: bytes) -> bool:
    """Every block is that of one text or of the other, or was never written."""
    if not min(len(before), len(after)) <= len(now) <= max(len(before), len(after)):
        return False
    for at in range(0, len(now), BLOCK):
        block = now[at : at + BLOCK]
        size = len(block)
        new, old = after[at : at + size], before[at : at + size]
        if not mixed(block, new, old) and not mixed(block, old, new):
            return False
    return True


def mixed(block: bytes, one: bytes, other: bytes) -> bool:
    """The beginning of one and the rest of the other, where nothing was written zeros."""
    other = other.ljust(len(block), b"\0")
    same = 0
    while same < len(block) and same < len(one) and block[same] == one[same]:
        same += 1
    return block[same:] == other[same:] or not any(block[same:])
