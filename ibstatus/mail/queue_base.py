"""notify/base: which absolute offset the first byte of the present queue file has, and which file that is."""

from ibstatus.mail import cursors
from ibstatus.project import paths, safety_copy
from ibstatus.system import atomic, disk

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
        if len(parts) == 4 and cursors.is_offset(parts[0]) and cursors.is_offset(parts[2]):
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
