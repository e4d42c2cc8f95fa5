"""Ids that are never used twice: `<kind>-<epoch>-<name>`, the second one in a second with `.2`, and so on.

A ledger per kind remembers the names of its latest second. That second never goes back, whatever the clock does:
while the clock is behind it, ids go on in the ledger's second, and in the next one when that has become crowded.
"""

from ibstatus.project import names, paths, safety_copy
from ibstatus.system import disk

CROWDED = 64
LONGEST_NUMBER = 12
FLAGS = disk.O_RDWR | disk.O_CLOEXEC


def take(place: paths.Place, kind: str, name: str, now: float) -> str:
    """The next id; safe against every other taker."""
    name = names.in_id(name)
    fd = opened(place, f"{place.home}/ids/{kind}")
    try:
        disk.flock(fd, disk.LOCK_EX)
        data = disk.read_all(fd)
        last = latest(data)
        epoch = max(int(now), last)
        if int(now) < last and data.count(b"\n") >= CROWDED:
            epoch += 1
        line = f"{epoch} {name}\n".encode()
        if epoch > last:  # written over the old ones before those are cut off: killed here, nothing is forgotten
            disk.pwrite(fd, line, 0)
            disk.ftruncate(fd, len(line))
            return f"{kind}-{epoch}-{name}"
        seen = data.split(b"\n").count(line[:-1])
        disk.pwrite(fd, line if data.endswith(b"\n") else b"\n" + line, len(data))
        return f"{kind}-{epoch}-{name}" + (f".{seen + 1}" if seen else "")
    finally:
        disk.close(fd)


def opened(place: paths.Place, path: str) -> int:
    """The ledger, with a second name where `git clean` does not reach it."""
    try:
        return disk.open(path, FLAGS)
    except FileNotFoundError:
        disk.make_dirs(path.rpartition("/")[0])
        safety_copy.restore(place, path)
        fd = disk.open(path, FLAGS | disk.O_CREAT, 0o600)
        safety_copy.keep_link_of(place, path, fd)
        return fd


def latest(data: bytes) -> int:
    number = data.partition(b" ")[0]
    return int(number) if number.isdigit() and len(number) <= LONGEST_NUMBER else -1
