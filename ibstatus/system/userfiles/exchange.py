"""Changing a user's file by swapping its name with a finished new file, and looking at what came out.

What comes out must be the text that the new one is based on. If it is not, a person saved in between: their file goes
back on the name at once, and what comes out then must be ours. In the end the newest file of a person has the name,
and every other one is in a `displacement`, where it is looked at again (`displaced.look`).
"""

import errno
import time

from ibstatus.system import atomic, disk
from ibstatus.system.text.splices import Splice, applied, inverse
from ibstatus.system.userfiles.displaced_record import (
    MARK,
    OUT_AGAIN,
    UNFINISHED,
    Displacement,
    Seen,
    Stamp,
    holds,
    is_open,
    seen,
)
from ibstatus.system.userfiles.result import Edited, Reading, Stuck, Wish, is_change, of

IMPOSSIBLE = Stuck("it cannot be exchanged (a mount point)")
UNKNOWN = Stuck("this file system cannot exchange names")
FOREIGN = Stuck("its owner cannot be kept")
TORN_PAUSE = 0.02
HELD, SAVED = -1, -2  # beside the numbers of the system


def edit(target: str, wish: Wish, known: Reading | None = None) -> Edited | Stuck | None:
    """None: it was saved meanwhile, or is being saved. `known`: it was read just now, and need not be again."""
    try:
        reading = known or of(target)
    except (FileNotFoundError, BlockingIOError):
        return None
    try:
        splice = wish.change(reading.text)
    except Exception:
        if not reading.quiet and is_moving(target, reading):
            return None
        raise
    if splice is None or not is_change(reading.text, splice):
        return Edited("same")
    return exchanged(target, wish, reading, splice)


def is_moving(target: str, reading: Reading) -> bool:
    """A text that makes no sense may be half of a save."""
    time.sleep(TORN_PAUSE)
    now = seen(target)
    return now is None or now.text != reading.text


def exchanged(target: str, wish: Wish, reading: Reading, splice: Splice) -> Edited | Stuck | None:
    disk.make_dirs(wish.desk)
    entry = prepared(target, wish, reading, splice, beside=disk.stat(wish.desk).st_dev != reading.status.st_dev)
    if isinstance(entry, Stuck):
        return entry
    number = tried(entry, wish, reading)
    if number == errno.EXDEV:  # another mount of the same device
        entry = prepared(target, wish, reading, splice, beside=True)
        if isinstance(entry, Stuck):
            return entry
        number = tried(entry, wish, reading)
    if number == HELD:
        return Edited("held")
    if number in (SAVED, errno.ENOENT):
        return None
    if number:
        return stuck(number, target)
    if not settled(entry, reading.text, splice, wish.durable):
        return None
    return Edited("exchanged", resized=not splice.fits)


def tried(entry: Displacement, wish: Wish, reading: Reading) -> int:
    """0: the names are swapped. Otherwise why not, and nothing of this try is left."""
    try:
        number = HELD if not wish.may_go_on() else SAVED if is_other(entry.target, reading) else 0
    except BaseException:
        entry.forget()
        raise
    try:
        if not number:
            disk.exchange(entry.file, entry.target)
    except OSError as error:  # and nothing else: after a Ctrl-C the names may be swapped
        number = error.errno or errno.EIO
    if number:
        entry.forget()
    return number


def stuck(number: int, target: str) -> Stuck:
    if number == errno.EBUSY:
        return IMPOSSIBLE
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return UNKNOWN
    if number in (errno.EXDEV, errno.EACCES, errno.EPERM, errno.EROFS):
        return Stuck("nothing can be put beside it")
    raise OSError(number, "exchange refused", target)


def is_other(target: str, reading: Reading) -> bool:
    """A cheap look: it saves most exchanges that would have to be taken back."""
    try:
        now = disk.lstat(target)
    except FileNotFoundError:
        return True
    then = reading.status
    return (now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns) != (
        then.st_ino,
        then.st_size,
        then.st_mtime_ns,
        then.st_ctime_ns,
    )


def prepared(target: str, wish: Wish, reading: Reading, splice: Splice, *, beside: bool) -> Displacement | Stuck:
    """The new file, complete and dressed as the old one, and the record of what is about to happen."""
    name = f"{MARK}{time.time_ns():x}"
    folder, _, leaf = target.rpartition("/")
    file = f"{folder}/.{leaf}.ib-{name}" if beside else f"{wish.desk}/{name}"
    record = f"{wish.desk}/{name}.json"
    undo = inverse(reading.text, splice)
    entry = Displacement(record, file, target, time.time(), reading.stamp, UNFINISHED, undo)
    try:
        if beside:
            entry.save(wish.durable)
        new = written(file, splice, reading, wish.durable)
        if new is None:
            entry.forget()
            return FOREIGN
        entry = entry._replace(new=new)
        if not reading.quiet:
            entry.keep_base(reading.text, wish.durable)
        entry.save(wish.durable)
    except BaseException:
        entry.forget()
        raise
    return entry


def written(file: str, splice: Splice, reading: Reading, durable: bool) -> Stamp | None:
    """None: it cannot be given to the owner of the old one."""
    like = reading.status
    fd = disk.open(file, disk.O_WRONLY | disk.O_CREAT | disk.O_EXCL | disk.O_CLOEXEC, atomic.FALLBACK_MODE)
    try:
        old = memoryview(reading.text)  # in pieces: to join a large text costs more than to write it
        for piece in (old[: splice.start], splice.data, old[splice.end :]):
            disk.write_all(fd, piece)
        if not dressed(fd, reading):
            return None
        disk.utime(fd, ns=(like.st_atime_ns, like.st_mtime_ns))
        if durable:
            disk.fsync(fd)
        status = disk.fstat(fd)
    finally:
        disk.close(fd)
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns)


def dressed(fd: int, reading: Reading) -> bool:
    """Mode, owner and attributes of the old file."""
    like = reading.status
    atomic.dress(fd, like)
    for name, value in reading.xattrs:
        try:
            disk.setxattr(fd, name, value)
        except OSError:
            continue  # the system's own (security.*) are not ours to give
    status = disk.fstat(fd)
    return (status.st_uid, status.st_gid, status.st_mode) == (like.st_uid, like.st_gid, like.st_mode)


def settled(entry: Displacement, base: bytes, splice: Splice, durable: bool) -> bool:
    """The names are swapped. True: what came out is the base. Otherwise the newest save is back on the name."""
    quiet = not is_open(entry.file)
    if holds(entry.file, base):
        if durable:
            atomic.sync_folder(entry.target.rpartition("/")[0])
        if not quiet:
            entry.keep_base(base, durable)
        return True
    out = seen(entry.file)
    placed: tuple[int, bytes | None] | None = None
    while out is not None:
        try:
            disk.exchange(entry.file, entry.target)
        except FileNotFoundError:  # the person removed the file after saving it
            break
        back, out = (out.stamp.inode, out.text), seen(entry.file)
        if placed is None:
            placed = (entry.new.inode, applied(base, splice))
        if out is None or (out.stamp.inode, out.text) == placed:
            break
        placed = back
    put_down(entry, out, base, splice, durable)
    return False


def put_down(entry: Displacement, out: Seen | None, base: bytes, splice: Splice, durable: bool) -> None:
    """What is in our hand now: our own text, which somebody may have opened meanwhile, or an older save of a person."""
    is_ours = out is not None and out.stamp.inode == entry.new.inode
    entry.keep_base(applied(base, splice) if is_ours else base, durable)
    if is_ours:
        entry._replace(new=OUT_AGAIN).save(durable)
