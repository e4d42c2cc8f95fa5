"""Making `.ittybitty/`, taking over an older one, and bringing one back that was cleaned away."""

import os
import stat
import time
from shlex import quote

from ibstatus.errors import IbError, refused
from ibstatus.model import words
from ibstatus.store import (
    agents,
    atomic,
    checkouts,
    disk,
    exclude,
    locks,
    moving,
    parting,
    places,
    safety,
    touched,
)

FOLDERS = ("", "/locks", "/ids", "/notify", "/notify/cursors", "/notify/bells", "/spool")
OPEN_TO_OTHERS = 0o077
CURRENT = b"%d\n" % words.FORMAT


def settle(place: places.Place, *, gitignore: bool = False) -> None:
    """Under the init lock: format checked, folders and identity made or restored. Safe to run again at any time."""
    if place.agent and not disk.exists(place.home):
        raise IbError("This agent's repository has lost its .ittybitty folder", hint="run ib init in the main checkout")
    check_format(place)
    if not disk.exists(place.common):
        raise IbError(f"There is no repository in {place.root} any more", cause=f"{place.common} is gone")
    try:
        disk.make_dirs(place.home)
        if not disk.exists(place.home):
            raise IbError(f"{place.home} is a symlink to nowhere", hint=f"rm {quote(place.home)}")
        if not stat.S_ISDIR(disk.stat(place.home).st_mode):
            raise IbError(f"{place.home} is a file, not a folder", hint=f"mv {quote(place.home)} ittybitty.old")
        with locks.Lock(place.lock("init")):
            make(place, gitignore)
    except OSError as error:
        raise refused(f"make {place.home}", error) from error


def check_format(place: places.Place) -> None:
    """Refuse what a newer ib has written."""
    text = (touched.content(place.version) or b"").decode("ascii", "replace").strip()
    if text.isdigit() and int(text) > words.FORMAT:
        raise newer(text)


def newer(number: str) -> IbError:
    return IbError(
        f"This repository's .ittybitty has format {number}, and this ib knows up to {words.FORMAT}",
        hint="bring ib up to date: pipx upgrade ibstatus",
    )


def make(place: places.Place, gitignore: bool) -> None:
    for folder in FOLDERS:
        disk.make_dirs(place.home + folder)
    disk.make_dirs(place.safe)
    close_to_others(place)
    identify(place)
    exclude.add_to_gitignore(place) if gitignore else exclude.add(place)
    for path in (place.queue, place.messages, place.questions):
        if not disk.exists(path):
            safety.restore(place, path)
    restore_cursors(place)
    agents.restore(place)
    note_root(place)
    atomic.put(place.safe + "/version", CURRENT)
    atomic.put(place.version, CURRENT)  # last: until it stands, the next command does all this again


def arrive(place: places.Place) -> None:
    """At another path than before. A copy gets a name of its own before it does anything with the other's agents."""
    if copy_of(place):
        settle(place)
        return
    try:
        if inode_of(other := checkouts.noted_root(place.common)) != inode_of(place.root):  # else by another name
            parting.follow(place, other)
        note_root(place)
    except OSError:
        return  # on a medium that nobody can write to it is read all the same


def note_root(place: places.Place) -> None:
    """Which folder it is, then where: the path is what everybody looks at."""
    atomic.put(inode_file(place), inode_of(place.root))
    atomic.put(place.safe + "/root", os.fsencode(place.root) + b"\n")
    atomic.forget(parting_file(place))


def parting_file(place: places.Place) -> str:
    """There while it is being parted: who is killed, or copied, in the middle of that is parted once more."""
    return place.safe + "/parting"


def note_folder(place: places.Place) -> None:
    """Which folder it is by now, at the place that is noted: an older ib has not noted it, a backup brought it back, a
    mount has another device since the last start."""
    own = inode_of(place.root)
    if checkouts.noted_root(place.common) == place.root and touched.content(inode_file(place)) != own:
        atomic.put(inode_file(place), own)


def inode_file(place: places.Place) -> str:
    return place.safe + "/root-inode"


def inode_of(path: str) -> bytes:
    """A folder that is moved keeps it, a copy has another one; b'' when there is no such folder."""
    try:
        status = disk.stat(path)
    except OSError:
        return b""
    return b"%d %d\n" % (status.st_dev, status.st_ino)


def close_to_others(place: places.Place) -> None:
    """An older tool made the folder readable to everybody; what is below is then out of reach as well."""
    mode = stat.S_IMODE(disk.stat(place.home).st_mode)
    if mode & OPEN_TO_OTHERS:
        try:
            disk.chmod(place.home, mode & ~OPEN_TO_OTHERS)
        except PermissionError:
            pass  # somebody else's folder: `ib doctor` tells


def identify(place: places.Place) -> None:
    """repo-id: made once, and the same one after `git clean`."""
    there = known = touched.content(place.repo_id) or b""
    kept = safety.read_copy(place, place.repo_id)
    if not is_repo_id(known):
        if known.strip():
            disk.rename(place.repo_id, moving.free_name(f"{place.repo_id}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}"))
        known = kept or b""
    if not is_repo_id(known):
        known = fresh_id()
    elif other := copied_from(place, known):
        former, known = known, fresh_id()
        atomic.put(parting_file(place), b"")
        parting.part(place, other, former.decode().strip(), known.decode().strip())
    if kept != known:
        safety.keep_copy(place, place.repo_id, known)
    if there != known:
        atomic.put(place.repo_id, known)


def fresh_id() -> bytes:
    return os.urandom(4).hex().encode() + b"\n"


def is_repo_id(data: bytes) -> bool:
    text = data.strip()
    return len(text) == 8 and frozenset(b"0123456789abcdef").issuperset(text)


def copy_of(place: places.Place) -> str:
    """The repository that this one was copied from, as long as it has that one's id; else ''."""
    try:
        return copied_from(place, disk.read_file(place.repo_id))
    except OSError:
        return ""


def copied_from(place: places.Place, known: bytes, acts: bool = True) -> str:
    """Where the repository was of which this one, with this id, is a copy: tmux names would clash. Else ''. Whoever is
    parted by mistake loses the agents that live: what is in doubt was moved. `acts`: a file may be written for it."""
    other = checkouts.noted_root(place.common)
    if not other or other == place.root:
        return ""
    if disk.exists(parting_file(place)):
        return other
    try:
        has_same_id = disk.read_file(other + "/.ittybitty/repo-id") == known
    except OSError:
        return other if is_another(touched.content(inode_file(place)), inode_of(place.root)) else ""
    return other if has_same_id and not is_same_folder(place, other, acts) else ""


def is_another(noted: bytes | None, own: bytes) -> bool:
    """The old place is gone, or not to be seen from here. What is moved keeps its inode; with another device nobody
    knows: that of a mount changes, and in a container it is another one."""
    before, now = (noted or b"").split(), own.split()
    return len(before) == len(now) == 2 and before[0] == now[0] and before[1] != now[1]


def is_same_folder(place: places.Place, other: str, acts: bool) -> bool:
    """The .ittybitty of `other` is ours, by another path: a link, a mount."""
    theirs = other + "/.ittybitty"
    mine = inode_of(place.home)
    if mine and mine == inode_of(theirs):
        return True
    if not acts:
        return False
    name = f"/here-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        atomic.put(place.home + name, b"")
        return disk.exists(theirs + name)
    except OSError:
        return False
    finally:
        atomic.forget(place.home + name)


def restore_cursors(place: places.Place) -> None:
    try:
        known = disk.listdir(place.safe_copy(place.cursors))
    except OSError:
        return
    for name in known:
        if not name.endswith(".ib-tmp") and not disk.exists(place.cursor(name)):
            safety.restore(place, place.cursor(name))


def sharers(place: places.Place) -> list[str]:
    """Other git directories that use this very .ittybitty: bare repositories beside each other."""
    if disk.exists(place.root + "/.git"):
        return []
    found = []
    for leaf in sorted(disk.listdir(place.root)):
        other = f"{place.root}/{leaf}"
        if other != place.common and checkouts.noted_root(other) == place.root:
            found.append(other)
    return found
