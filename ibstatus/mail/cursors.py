"""notify/cursors/<reader>: one line `done offered prompt`, written in place in one small write under its lock.

notify/base: which absolute offset the first byte of the present queue file has, and which file that is.
"""

from ibstatus.mail import delivery
from ibstatus.project import paths, safety_copy
from ibstatus.system import atomic, disk, jsonl

WIDTH = 100
LONGEST_PROMPT = 200
LONGEST_NUMBER = 18
LONGEST = 2048
OF_PERSONS = "default"
INBOX = "inbox@"


def path_of(place: paths.Place, reader: str) -> str:
    """An agent's place in its inbox lies beside it: what it has read says nothing about the queue."""
    if reader.startswith(INBOX):
        return place.agent_dir(reader[len(INBOX) :]) + "/inbox.cursor"
    return place.cursor(reader)


def read(place: paths.Place, reader: str) -> delivery.Cursor | None:
    """None when this reader has never read. A broken file offers everything again, marked."""
    try:
        data = disk.read_file(path_of(place, reader))
    except FileNotFoundError:
        if not safety_copy.restore(place, path_of(place, reader)):
            return None
        data = disk.read_file(path_of(place, reader))
    return parse(data)


def parse(data: bytes) -> delivery.Cursor:
    parts = data.partition(b"\n")[0].split()
    if len(parts) == 3 and is_offset(parts[0]) and is_offset(parts[1]):
        return delivery.Cursor(int(parts[0]), int(parts[1]), parts[2].decode("utf-8", "replace"))
    return delivery.Cursor(0, 1 << 62, delivery.UNTOLD)


def is_offset(text: bytes) -> bool:
    return text.isdigit() and len(text) <= LONGEST_NUMBER


def word(prompt: str) -> str:
    """A prompt id as a cursor file can hold it. Foreign text: what is compared must be what was written."""
    return "".join(jsonl.clean(prompt).split())[:LONGEST_PROMPT]


def form(cursor: delivery.Cursor) -> bytes:
    prompt = word(cursor.prompt) or delivery.ORPHAN
    return f"{cursor.done} {cursor.offered} {prompt}".ljust(WIDTH).encode() + b"\n"


class Held:
    """A cursor file kept open by the one who holds its lock."""

    __slots__ = ("fd",)

    def __init__(self, place: paths.Place, reader: str, start: delivery.Cursor) -> None:
        path = path_of(place, reader)
        try:
            self.fd = disk.open(path, disk.O_RDWR | disk.O_CLOEXEC)
        except FileNotFoundError:
            disk.make_dirs(path.rpartition("/")[0])
            atomic.put(path, form(start))
            self.fd = disk.open(path, disk.O_RDWR | disk.O_CLOEXEC)
        safety_copy.keep_link_of(place, path, self.fd)

    def write(self, cursor: delivery.Cursor) -> None:
        disk.pwrite(self.fd, form(cursor), 0)

    def read(self) -> delivery.Cursor:
        return parse(disk.pread(self.fd, LONGEST, 0))

    def sync(self) -> None:
        disk.fdatasync(self.fd)

    def close(self) -> None:
        disk.close(self.fd)


def all_of(place: paths.Place) -> list[tuple[delivery.Cursor, float]]:
    """Every cursor with the time of its last change."""
    return [known for name in names(place) if (known := looked_at(place, name)) is not None]


def looked_at(place: paths.Place, name: str) -> tuple[delivery.Cursor, float] | None:
    """None for what is no cursor file, whoever put it there."""
    path = place.cursor(name)
    try:
        status = disk.lstat(path)
        return (parse(disk.read_file(path)), status.st_mtime) if disk.is_file(status) else None
    except FileNotFoundError:
        return None


def names(place: paths.Place) -> list[str]:
    try:
        return [name for name in disk.listdir(place.cursors) if name[0] != "." and not name.endswith(".ib-tmp")]
    except FileNotFoundError:
        return []


def furthest(place: paths.Place) -> int:
    """The highest offset that any cursor names (a broken one names none)."""
    return max((c.offered for c, _ in all_of(place) if c.offered < 1 << 62), default=0)


def last_confirmed(place: paths.Place) -> int:
    """Where a new session starts: as far as any session confirmed. What a person read counts for that person only."""
    known = [looked_at(place, name) for name in names(place) if name != OF_PERSONS]
    return max((entry[0].done for entry in known if entry is not None), default=0)


HEAD = 128  # bytes of a file's first line, and as many of its end, where the id stands
ID = b'"id":"'


def known_base(place: paths.Place, fd: int, inode: int, size: int) -> int | None:
    try:
        text = disk.read_file(place.queue_base)
    except FileNotFoundError:
        if not safety_copy.restore(place, place.queue_base):
            return None
        text = disk.read_file(place.queue_base)
    for known in text.splitlines():
        parts = known.split()
        if len(parts) == 4 and is_offset(parts[0]) and is_offset(parts[2]):
            ours = parts[1] == b"%d" % inode or ID in unhex(parts[3])  # a copy with our first line is our file as well
            if ours and size >= int(parts[2]) and fingerprint(fd, int(parts[2])) == parts[3]:
                return int(parts[0])
    return None


def set_base(place: paths.Place, text: bytes) -> None:
    atomic.put(place.queue_base, text)
    safety_copy.relink(place.queue_base, place.safe_copy(place.queue_base))


def entry(base: int, fd: int) -> bytes:
    length = first_line(fd)
    return b"%d %d %d %s\n" % (base, disk.fstat(fd).st_ino, length, fingerprint(fd, length))


def fingerprint(fd: int, length: int) -> bytes:
    """How a first line of this length begins and ends."""
    head = disk.pread(fd, min(HEAD, length), 0)
    tail = max(len(head), length - HEAD)
    return (head + disk.pread(fd, length - tail, tail)).hex().encode() or b"-"


def first_line(fd: int) -> int:
    """Its length, as far as it is there."""
    length = 0
    while part := disk.pread(fd, 1 << 16, length):
        newline = part.find(b"\n")
        if newline >= 0:
            return length + newline + 1
        length += len(part)
    return length


def whole(fd: int, size: int) -> int:
    """The size up to and with the last newline."""
    end = size
    while end > 0:
        start = max(0, end - 4096)
        newline = disk.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def unhex(text: bytes) -> bytes:
    try:
        return bytes.fromhex(text.decode())
    except ValueError:
        return b""
