"""notify/queue: what there is to say, in order. One JSON object a line, append only.

Offsets are absolute: `notify/base` says which absolute offset the first byte of the present file has, and which file
that is (inode, and how its first line begins and ends), so that trimming, removal and replacement are told apart.
"""

from ibstatus.mail import cursors, delivery
from ibstatus.project import paths, safety_copy
from ibstatus.system import append, disk, jsonl, locks

TRIM_ABOVE = 1 << 20
TRIM_STEP = 1 << 16
OPEN_TAIL_SECONDS = 2.0


def add(place: paths.Place, line: str) -> append.Appended:
    """Append and ring, under the queue lock, which the caller holds; who then syncs and closes."""
    from ibstatus.mail import bells  # who only reads needs none

    data = line.encode() + b"\n"
    try:
        done = append.guarded(place.queue, data)
    except FileNotFoundError:
        begin(place)
        done = append.guarded(place.queue, data)
    done.heard = bells.ring(place.bells)  # at once: a reader needs the line, not the platter
    if not safety_copy.is_linked(place, place.queue, done.inode):
        link(place, done.inode)
    if done.end > TRIM_ABOVE and (done.end - len(data)) // TRIM_STEP != done.end // TRIM_STEP:
        from ibstatus.mail import cleanup

        try:
            cleanup.trim(place)
        except OSError:
            pass  # the line is written; the next one tries again
    return done


def begin(place: paths.Place) -> None:
    """The queue is missing: its copy takes the name back, or a new one begins."""
    disk.make_dirs(place.home + "/notify")
    if not safety_copy.restore(place, place.queue):
        disk.close(disk.open(place.queue, disk.O_WRONLY | disk.O_CREAT | disk.O_CLOEXEC, 0o600))


def link(place: paths.Place, inode: int) -> None:
    """The queue is not its own safety copy: new, or not ours."""
    from ibstatus.mail import cleanup

    try:
        if not cleanup.rejoin(place):
            safety_copy.keep_link(place, place.queue, inode)
    except OSError:
        pass  # the line is written; the next one tries again


class View:
    """The queue as one reader sees it now: an open descriptor with its absolute offsets. While it is open its inode
    cannot be given to another file, so that `fresh` may go on with it."""

    __slots__ = ("base", "end", "fd", "inode", "size", "tail", "tail_at")

    def __init__(self, fd: int, inode: int, base: int, size: int) -> None:
        self.fd = fd
        self.inode = inode
        self.base = base
        self.size = size
        self.end = base + (cursors.whole(fd, size) if fd >= 0 else 0)  # after the last newline
        self.tail_at = self.end  # `tail` holds the bytes from here on, as `grew` has read them
        self.tail = b""

    def close(self) -> None:
        if self.fd >= 0:
            disk.close(self.fd)
            self.fd = -1

    def grew(self, inode: int, size: int) -> bool:
        """Still the same file, longer than before: look at what was added. False: open it anew."""
        if self.fd < 0 or inode != self.inode or size <= self.size or self.end == self.base:
            return False
        known = self.end - self.base
        added = disk.pread(self.fd, size - known + 1, known - 1)
        if not added.startswith(b"\n"):
            return False  # emptied in place and filled again
        self.size = size
        self.tail_at, self.tail = self.end, added[1 : added.rfind(b"\n") + 1]
        self.end += len(self.tail)
        return True

    def fitted(self, cursor: delivery.Cursor) -> delivery.Cursor:
        """The cursor inside what there is. One that stands behind the end or within a line says that the queue lost
        its tail, and perhaps grew again: nobody knows from where, so all that there is comes again, marked."""
        if self.fd < 0:
            return cursor
        fit = delivery.fitted(cursor, self.base, self.end)
        if cursor.offered <= self.end and self.starts_line(fit.done) and self.starts_line(fit.offered):
            return fit
        return delivery.Cursor(self.base, fit.offered, delivery.UNTOLD)

    def starts_line(self, at: int) -> bool:
        return at in (self.base, self.tail_at, self.end) or disk.pread(self.fd, 1, at - 1 - self.base) == b"\n"

    def read(self, start: int, end: int) -> tuple[int, bytes]:
        """(where they begin, the bytes up to `end`), whole lines: a start inside a line moves back to its beginning."""
        if self.fd < 0:
            return start, b""
        if start == self.tail_at and end == start + len(self.tail):
            return start, self.tail
        start = max(start, self.base)
        while start > self.base and disk.pread(self.fd, 1, start - 1 - self.base) != b"\n":
            start -= 1
        data = b""
        while len(data) < end - start:
            more = disk.pread(self.fd, end - start - len(data), start - self.base + len(data))
            if not more:
                break
            data += more
        return start, data


def view(place: paths.Place) -> View:
    """Open the queue; an empty view when there is none. The caller closes it."""
    while True:
        try:
            fd = disk.open(place.queue, disk.O_RDONLY | disk.O_NONBLOCK | disk.O_CLOEXEC)
        except FileNotFoundError:
            if not safety_copy.restore(place, place.queue):
                return View(-1, 0, 0, 0)  # no cursor moves for it: the queue may be there the next moment
            fd = disk.open(place.queue, disk.O_RDONLY | disk.O_NONBLOCK | disk.O_CLOEXEC)
        try:
            status = disk.fstat(fd)
            base = cursors.known_base(place, fd, status.st_ino, status.st_size)
            if base is None:
                base = adopt(place, fd)
            if base is not None:
                return View(fd, status.st_ino, base, status.st_size)
        except BaseException:
            disk.close(fd)
            raise
        disk.close(fd)


def view_of(path: str) -> View:
    """Another file of lines that only grows, such as an inbox."""
    try:
        fd = disk.open(path, disk.O_RDONLY | disk.O_NONBLOCK | disk.O_NOFOLLOW | disk.O_CLOEXEC)
    except FileNotFoundError:
        return View(-1, 0, 0, 0)
    status = disk.fstat(fd)
    return View(fd, status.st_ino, 0, status.st_size if disk.is_file(status) else 0)


def fresh(place: paths.Place, old: View | None, inode: int, size: int) -> View:
    """The view of a queue that was just seen with this inode and size, going on with an old view where it fits."""
    if old is not None:
        if old.grew(inode, size):
            return old
        old.close()
    return view(place)


def adopt(place: paths.Place, fd: int) -> int | None:
    """A queue file that we do not know: new, or put there by somebody. No cursor may stand past its first byte.

    None when it lost the name meanwhile: to a trimmed one that is known, or to the one that it had pushed out."""
    with locks.Lock(place.lock("queue")):
        if not disk.has_name(disk.fstat(fd), place.queue):
            return None
        status = disk.fstat(fd)
        base = cursors.known_base(place, fd, status.st_ino, status.st_size)
        if base is None:
            from ibstatus.mail import cleanup

            if cleanup.rejoin(place):
                return None
            base = cursors.furthest(place)
            if status.st_size:
                cursors.set_base(place, cursors.entry(base, fd))
        return base


def close_tail(place: paths.Place, now: float) -> bool:
    """End a last line that a foreign writer left without a newline, once it has stopped growing.

    Where that fails (a full disk) the listener that asks for it must live on: False."""
    try:
        status = disk.stat(place.queue)
        if status.st_size == 0 or now - status.st_mtime < OPEN_TAIL_SECONDS:
            return False
        with locks.Lock(place.lock("queue")):
            return closed(place)
    except OSError:
        return False


def closed(place: paths.Place) -> bool:
    fd, size, _ = append.opened(place.queue)
    try:
        if size == 0 or disk.pread(fd, 1, size - 1) == b"\n":
            return False
        disk.write(fd, b"\n")
        return True
    finally:
        disk.close(fd)


def holds(place: paths.Place, item: str) -> bool:
    """Is there a line with this id? For mending after a crash, so that no line is written twice."""
    from ibstatus.mail import queue_lines

    seen = view(place)
    try:
        needle = f'"id":{jsonl.encode(item)}'.encode()
        data = seen.read(seen.base, seen.end)[1]
        # Looked at closely: a line torn by a kill or a full disk may hold the id, and was never told.
        return needle in data and item in queue_lines.told(data, seen.base, 0).fresh
    finally:
        seen.close()
