"""What an exchange swapped out is looked at again: a program may have had it open, and written to it afterwards.

A late write is merged into the file, or kept and reported. A displaced file goes only when a lease proves that nobody
can write to it any more; where there are no leases, when it has not changed for an hour.
"""

import time

from ibstatus.system import atomic, disk, leases, locks
from ibstatus.system.text.splices import Splice
from ibstatus.system.userfiles import edit, journal, text_merge
from ibstatus.system.userfiles.displaced_record import (
    FLAGS,
    KEPT,
    MARK,
    UNFINISHED,
    Displacement,
    Seen,
    all_on,
    is_open,
    load,
    seen,
)

DUE = 1.0  # an open() that had found the old file before the exchange has it in hand by then
FORGOTTEN = 3600.0
GOING = ".going"
PAUSE = 0.05


class Conflict(Exception):
    """The late write and the file changed the same lines."""


def look(desk: str, now: float) -> list[str]:
    """At every displaced file; returns what a person must hear. To be called after 20 ms, after 1 s and at a start."""
    entries = all_on(desk)
    if not entries:
        return []
    lock = locks.Lock(f"{desk}/looking")
    if not lock.try_take():
        return []
    try:
        return [said for said in (look_at(entry, now) for entry in entries) if said]
    finally:
        lock.release()


def pending(desk: str) -> bool:
    """Is there something to look at again?"""
    return bool(all_on(desk))


def settled(desk: str, patience: float) -> list[str]:
    """Look until nothing waits any more; returns the files that a program still has open after that time.

    Where the system cannot tell who has a file open, one that stayed as it was for so long counts as closed."""
    deadline = time.monotonic() + patience
    while pending(desk):
        look(desk, time.time())
        if time.monotonic() > deadline:
            return [entry.file for entry in all_on(desk) if has_writer(entry.file)]
        time.sleep(PAUSE)
    return []


def has_writer(path: str) -> bool:
    """As far as the system can tell."""
    try:
        fd = disk.open(path, FLAGS)
    except OSError:
        return False
    try:
        return leases.writers(fd) == leases.REFUSED
    finally:
        disk.close(fd)


def kept(desk: str) -> list[str]:
    """The reports of what was kept for the person, as long as it is there."""
    try:
        leaves = disk.listdir(desk)
    except FileNotFoundError:
        return []
    found = [load(f"{desk}/{leaf}") for leaf in sorted(leaves) if leaf.startswith(KEPT) and leaf.endswith(".json")]
    return [report(entry) for entry in found if entry is not None and disk.exists(entry.file)]


def recover(desk: str, now: float | None = None) -> list[str]:
    """At a start: what a killed edit left behind is completed, merged, removed or reported."""
    at = time.time() if now is None else now
    try:
        said = journal.recover(desk)
    except FileNotFoundError:
        return []
    said += look(desk, at)
    sweep(desk, at)
    return said


def look_at(entry: Displacement, now: float) -> str:
    """'' or what to tell. Asked in this order: may somebody still write to it, and then what is in it."""
    closed = not is_open(entry.file)
    there = seen(entry.file)
    if there is None:
        restore_or_forget(entry)
        return ""
    old = now - entry.at >= FORGOTTEN
    settled = closed and now - entry.at >= DUE
    if is_unchanged(entry, there):
        if settled or old:
            remove(entry, there)
        return ""
    if there.text is None:
        return keep(entry)
    if not closed and not is_resting(entry, there, now):
        return ""
    said = bring_home(entry, there.text, old)
    if said is None:
        entry.keep_base(there.text, True)
        if settled:
            remove(entry, there)
    return said or ""


def is_unchanged(entry: Displacement, there: Seen) -> bool:
    if entry.new in (UNFINISHED, there.stamp):
        return True  # it never had the name
    try:
        return there.text == disk.read_file(entry.base_file)
    except FileNotFoundError:
        return there.stamp == entry.base


def is_resting(entry: Displacement, there: Seen, now: float) -> bool:
    """Open in a program that has been still for a while: it may have saved, and just not closed the file."""
    return bool(there.text) and now - disk.lstat(entry.file).st_ctime >= DUE


def bring_home(entry: Displacement, text: bytes, last: bool) -> str | None:
    """None: the late write is in the file. '': it cannot be written now. Otherwise the report that it is kept."""
    base = entry.known_base()
    if base is None:
        return keep(entry)

    def change(now: bytes) -> Splice | None:
        whole = text_merge.around_node(base, text, now)
        if whole is None:
            raise Conflict
        return None if whole == now else Splice(0, len(now), whole)

    try:
        done = edit.edit(entry.target, change, desk=entry.desk)
    except Conflict:
        return keep(entry)
    if done.how == "gone" or (last and done.how == "busy"):
        return keep(entry)
    return "" if done.how in ("busy", "held") else None


def keep(entry: Displacement) -> str:
    """From now on it is the person's: never changed, never removed."""
    folder, _, leaf = entry.record.rpartition("/")
    disk.rename(entry.record, f"{folder}/{KEPT}{leaf.removeprefix(MARK)}")
    return report(entry)


def report(entry: Displacement) -> str:
    return f"a save of {entry.target} came too late to be merged into it; it is kept as {entry.file}"


def remove(entry: Displacement, there: Seen) -> None:
    """Only the very file that was looked at: an exchange that was asleep may put another one there this moment."""
    going = entry.file + GOING
    try:
        disk.rename(entry.file, going)
    except FileNotFoundError:
        return
    if disk.lstat(going).st_ino != there.stamp.inode:
        disk.rename(going, entry.file)
        return
    disk.unlink(going)
    entry.forget()


def restore_or_forget(entry: Displacement) -> None:
    try:
        disk.rename(entry.file + GOING, entry.file)  # killed while it was being removed
    except FileNotFoundError:
        entry.forget()


def sweep(desk: str, now: float) -> None:
    """Leftovers without a record: temps that never had the name."""
    atomic.sweep(desk, now)
    leaves = set(disk.listdir(desk))
    for leaf in leaves:
        if leaf.startswith(KEPT) and leaf.endswith(".json"):
            forget_taken(f"{desk}/{leaf}")
        stem = leaf.removesuffix(".base").removesuffix(GOING)
        if not leaf.startswith(MARK) or leaf.endswith(".json") or stem + ".json" in leaves:
            continue
        if KEPT + stem.removeprefix(MARK) + ".json" in leaves:
            continue
        if now - disk.lstat(f"{desk}/{leaf}").st_ctime > atomic.STALE_AFTER:
            disk.unlink(f"{desk}/{leaf}")


def forget_taken(record: str) -> None:
    """The person has taken away what was kept."""
    entry = load(record)
    if entry is not None and not disk.exists(entry.file):
        atomic.forget(record.replace(KEPT, MARK).removesuffix(".json") + ".base")
        atomic.forget(record)
