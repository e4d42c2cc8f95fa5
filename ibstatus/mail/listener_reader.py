"""A listener's reading of the queue: offered, printed and flushed, done. Its lock is held for its life."""

import time

from ibstatus.mail import cursors, delivery, queue, queue_lines, session_reader
from ibstatus.project import logs, paths
from ibstatus.system import disk, folders, locks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


LOCK = "cursor-"  # how the lock of a reader is called, before its name


class Tap:
    """One reader's place in the queue. Made while its lock is held: nobody else moves this cursor."""

    __slots__ = ("cursor", "held", "look", "place", "reader", "seen")

    def __init__(self, place: paths.Place, reader: str, begin: int | None = None) -> None:
        """`begin`: what lies before this offset was told to the same session in another way."""
        self.place = place
        self.reader = reader
        known = cursors.read(place, reader)
        if known is None:
            known = self.first() if begin is None else delivery.first(begin)
        self.cursor = known
        self.held = cursors.Held(place, reader, known)
        if begin is not None and known.done < begin:
            self.move(delivery.Cursor(begin, max(begin, known.offered)))
        self.look = (-1, 0, 0)
        self.seen: queue.View | None = None

    def first(self) -> delivery.Cursor:
        """A person begins at the first line that there is; a session where the repo's sessions were."""
        if self.reader == cursors.OF_PERSONS:
            return delivery.first(0)
        return delivery.first(cursors.last_confirmed(self.place))

    def changed(self) -> bool:
        """Cheap enough for every second: has anything been written since the last look?"""
        now = state_of(self.place.queue)
        if now == self.look:
            return False
        self.look = now
        return True

    def pour(self, out: "Callable[[bytes], None]", quiet: bool = False) -> queue_lines.Told:
        """Hand every line that is due to `out`, which flushes. After a kill, what may be unseen comes again, marked.
        `quiet`: those that ring nobody too."""
        self.changed()
        return self.poured(out, quiet)

    def poured(self, out: "Callable[[bytes], None]", quiet: bool = False) -> queue_lines.Told:
        """The same, right after `changed`."""
        seen = self.seen = queue.fresh(self.place, self.seen, self.look[0], self.look[1])
        self.cursor = self.held.read()  # after a `git clean` another listener may hold a new lock, and this cursor
        cursor = seen.fitted(self.cursor)
        if seen.end <= cursor.done:
            return queue_lines.Told()
        at, data = seen.read(cursor.done, seen.end)
        if not quiet and queue_lines.is_quiet(data):
            return queue_lines.Told()
        told = queue_lines.told(data, at, cursor.offered)
        self.move(delivery.Cursor(cursor.done, seen.end, delivery.UNTOLD))
        if told.values:
            out(told.text().encode("utf-8", "replace"))
        disk.fdatasync(seen.fd)  # in a power cut the queue must not fall behind the cursor
        self.move(delivery.Cursor(seen.end, seen.end))
        self.held.sync()
        self.note(told)
        return told

    def note(self, told: queue_lines.Told) -> None:
        ids = told.again + told.fresh
        if ids:
            session_reader.note(self.place, "cli", self.reader, told)
            confirmed = {"kind": "message.confirmed", "who": self.reader, "ids": ids}
            logs.note(self.place, "cli", time.time(), confirmed)

    def move(self, cursor: delivery.Cursor) -> None:
        self.held.write(cursor)
        self.cursor = cursor

    def close(self) -> None:
        self.held.close()
        if self.seen is not None:
            self.seen.close()
            self.seen = None


def state_of(path: str) -> tuple[int, int, int]:
    """Another one whenever the file was written or replaced."""
    try:
        status = disk.stat(path)
    except FileNotFoundError:
        return 0, 0, 0
    return status.st_ino, status.st_size, status.st_mtime_ns


def lock_of(place: paths.Place, reader: str) -> locks.Lock:
    return locks.Lock(place.lock(LOCK + reader))


def holder(place: paths.Place, reader: str) -> str:
    """The pid that a reader's listener wrote into its lock file; for people."""
    try:
        return disk.read_file(place.lock(LOCK + reader)).partition(b"\n")[0].decode("ascii", "replace")
    except OSError:
        return ""


def listeners(place: paths.Place) -> list[str]:
    """Readers whose lock is held: somebody waits there for news."""
    ours = (LOCK + "listen@", LOCK + cursors.OF_PERSONS)  # not the moment in which a session's voice speaks
    names = [name for name in folders.names_in(place.home + "/locks") if name.startswith(ours)]
    return [name.removeprefix(LOCK) for name in names if locks.is_held(place.lock(name))]
