"""Making `.ittybitty/`, taking over an older one, and bringing one back that was cleaned away."""

import os
import stat
import time
from shlex import quote

from ibstatus.errors import IbError, refused
from ibstatus.model import constants
from ibstatus.project import agents, copied_repository, git_exclude, originals, paths, safety_copy
from ibstatus.system import atomic, disk, folders, locks, main_checkout

FOLDERS = ("", "/locks", "/ids", "/notify", "/notify/cursors", "/notify/bells", "/spool")
OPEN_TO_OTHERS = 0o077
CURRENT = b"%d\n" % constants.FORMAT
MOVED, COPIED = "moved", "copied"


def settle(place: paths.Place, *, gitignore: bool = False, answer: str = "") -> None:
    """Under the init lock: format checked, folders and identity made or restored. Safe to run again at any time.
    `answer`: MOVED or COPIED, what a person says of a repository that lies at another path than before."""
    if place.agent and not disk.exists(place.home):
        raise IbError("This agent's repository has lost its .ittybitty folder", hint="run ib init in the main checkout")
    check_format(place)
    if not answer:
        check_path(place)
    if not disk.exists(place.common):
        raise IbError(f"There is no repository in {place.root} any more", cause=f"{place.common} is gone")
    try:
        disk.make_dirs(place.home)
        if not disk.exists(place.home):
            raise IbError(f"{place.home} is a symlink to nowhere", hint=f"rm {quote(place.home)}")
        if not stat.S_ISDIR(disk.stat(place.home).st_mode):
            raise IbError(f"{place.home} is a file, not a folder", hint=f"mv {quote(place.home)} ittybitty.old")
        with locks.Lock(place.lock("init")):
            make(place, gitignore, answer)
    except OSError as error:
        raise refused(f"make {place.home}", error) from error


def check_format(place: paths.Place) -> None:
    """Refuse what a newer ib has written."""
    text = (originals.content(place.version) or b"").decode("ascii", "replace").strip()
    if text.isdigit() and int(text) > constants.FORMAT:
        raise newer(text)


def newer(number: str) -> IbError:
    return IbError(
        f"This repository's .ittybitty has format {number}, and this ib knows up to {constants.FORMAT}",
        hint="bring ib up to date: pipx upgrade ibstatus",
    )


def make(place: paths.Place, gitignore: bool, answer: str) -> None:
    for folder in FOLDERS:
        disk.make_dirs(place.home + folder)
    disk.make_dirs(place.safe)
    close_to_others(place)
    identify(place, answer)
    git_exclude.add_to_gitignore(place) if gitignore else git_exclude.add(place)
    for path in (place.queue, place.messages, place.questions):
        if not disk.exists(path):
            safety_copy.restore(place, path)
    restore_cursors(place)
    agents.restore(place)
    if answer == MOVED and (other := other_path(place)):
        copied_repository.follow(place, other)
    note_root(place)
    atomic.put(place.safe + "/version", CURRENT)
    atomic.put(place.version, CURRENT)  # last: until it stands, the next command does all this again


def check_path(place: paths.Place) -> None:
    """Raise when the repository lies at another path than ib has noted: nobody but a person knows whether it was moved
    or copied. The same folder by another name is noted anew."""
    other = other_path(place)
    if other:
        raise IbError(
            f"ib knows this repository at {other}, and it is at {place.root} now",
            cause="moved, it keeps its agents; a copy must not use the sessions and tasks of the other one",
            hint="if it was moved: ib init --moved; if it is a copy: ib init --copied",
        )
    try:
        note_root(place)
    except OSError:
        return  # on a medium that nobody can write to it is read all the same


def other_path(place: paths.Place) -> str:
    """Return where ib has noted the repository; '' for here, also by the name of a link or a mount."""
    noted = main_checkout.noted_root(place.common)
    if noted in ("", place.root) or is_same(place.root, noted) or is_same(place.home, noted + "/.ittybitty"):
        return ""
    return noted


def is_same(one: str, other: str) -> bool:
    try:
        here, there = disk.stat(one), disk.stat(other)
    except OSError:
        return False
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def note_root(place: paths.Place) -> None:
    if main_checkout.noted_root(place.common) != place.root:
        atomic.put(place.safe + "/root", os.fsencode(place.root) + b"\n")


def close_to_others(place: paths.Place) -> None:
    """An older tool made the folder readable to everybody; what is below is then out of reach as well."""
    mode = stat.S_IMODE(disk.stat(place.home).st_mode)
    if mode & OPEN_TO_OTHERS:
        try:
            disk.chmod(place.home, mode & ~OPEN_TO_OTHERS)
        except PermissionError:
            pass  # somebody else's folder: `ib doctor` tells


def identify(place: paths.Place, answer: str) -> None:
    """repo-id: made once, and the same one after `git clean`. A copy gets one of its own."""
    there = known = originals.content(place.repo_id) or b""
    kept = safety_copy.read_copy(place, place.repo_id)
    if not is_repo_id(known):
        if known.strip():
            disk.rename(place.repo_id, folders.free_name(f"{place.repo_id}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}"))
        known = kept or b""
    if not is_repo_id(known):
        known = fresh_id()
    elif answer == COPIED and (other := other_path(place)):
        former, known = known, fresh_id()
        copied_repository.part(place, other, former.decode().strip(), known.decode().strip())
    if kept != known:
        safety_copy.keep_copy(place, place.repo_id, known)
    if there != known:
        atomic.put(place.repo_id, known)


def fresh_id() -> bytes:
    return os.urandom(4).hex().encode() + b"\n"


def is_repo_id(data: bytes) -> bool:
    text = data.strip()
    return len(text) == 8 and frozenset(b"0123456789abcdef").issuperset(text)


def restore_cursors(place: paths.Place) -> None:
    try:
        known = disk.listdir(place.safe_copy(place.cursors))
    except OSError:
        return
    for name in known:
        if not name.endswith(".ib-tmp") and not disk.exists(place.cursor(name)):
            safety_copy.restore(place, place.cursor(name))


def sharers(place: paths.Place) -> list[str]:
    """Other git directories that use this very .ittybitty: bare repositories beside each other."""
    if disk.exists(place.root + "/.git"):
        return []
    found = []
    for leaf in sorted(disk.listdir(place.root)):
        other = f"{place.root}/{leaf}"
        if other != place.common and main_checkout.noted_root(other) == place.root:
            found.append(other)
    return found
