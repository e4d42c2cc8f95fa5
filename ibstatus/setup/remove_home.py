"""Taking `.ittybitty/` away again: into a tar file first, then off the disk, the user's files given back."""

import os
import shutil
import stat
import tarfile
import time
from collections.abc import Callable
from contextlib import ExitStack

from ibstatus.errors import refused
from ibstatus.mail import messages, questions
from ibstatus.project import git_exclude, originals, paths
from ibstatus.system import disk, folders, locks

UNDO = ".ittybitty/undo"
BOARD = ".ittybitty/board.db"
IN_ORDER = ("init", "fold", "messages", "questions", "queue")


def is_there(place: paths.Place) -> bool:
    return disk_has(place.home) or disk_has(place.safe)


def disk_has(path: str) -> bool:
    """Also true for a symlink to nowhere."""
    try:
        disk.lstat(path)
    except OSError:
        return False
    return True


def is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(disk.lstat(path).st_mode)
    except OSError:
        return False


def worktrees(place: paths.Place) -> list[str]:
    """Agents whose worktree is still there, by what lies on the disk."""
    folder = place.home + "/agents"
    return [name for name in folders.names_in(folder) if disk_has(f"{folder}/{name}/repo")]


def open_items(place: paths.Place) -> tuple[int, int]:
    """(unacknowledged messages, open questions)."""
    return len(messages.open_ones(place).items), len(questions.pending(place))


def remove(
    place: paths.Place, once_kept: Callable[[], list[str]] = list
) -> tuple[list[str], str, list[originals.Touched]]:
    """Returns (what was removed, the tar file that keeps it, what was noted of the touched files).

    Killed anywhere, the next `ib uninstall` goes on; before the tar file is whole nothing is gone.
    `once_kept` takes away what lies elsewhere and is in that file too.
    """
    try:
        with ExitStack() as held:
            if disk.exists(place.home):
                for name in IN_ORDER:
                    held.enter_context(locks.Lock(place.lock(name)))
            if disk.exists(place.board):
                held.enter_context(locks.Lock(place.safe + "/locks/board"))  # who writes to it waits there
            kept = keep(place)
            return [*once_kept(), *take_home(place), *take_safe(place)], kept, give_back(place)
    except OSError as error:
        raise refused(f"remove {place.home}", error) from error


def keep(place: paths.Place) -> str:
    """Everything of .ittybitty in a tar file in the system's folder for temporary files; '' when there is nothing."""
    import tempfile

    if not disk.exists(place.home):
        return ""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    fd, kept = tempfile.mkstemp(prefix=f"ib-uninstalled-{stamp}-", suffix=".tar.gz")
    try:
        with os.fdopen(fd, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz") as tar:
                tar.add(place.home, arcname=".ittybitty", filter=kept_member)
                for member, name in beside(place):
                    tar.add(member, arcname=name, filter=kept_member)
            file.flush()
            disk.fsync(file.fileno())
    except BaseException:
        disk.unlink(kept)
        raise
    return kept


def beside(place: paths.Place) -> list[tuple[str, str]]:
    """What lies under .git and is nowhere else: (its path, its name in the tar file). SQLite's -wal holds what was
    written last, and comes first: who closes the board meanwhile puts it into the file, which may have it twice."""
    found = [(place.safe + "/undo", UNDO), (place.board + "-wal", BOARD + "-wal"), (place.board, BOARD)]
    return [(path, name) for path, name in found if disk.exists(path)]


def kept_member(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Links are kept as links, never followed; bells and locks mean nothing without their process."""
    if member.name.startswith((".ittybitty/locks/", ".ittybitty/notify/bells/")):
        return None
    if member.name == BOARD and member.issym():  # the file itself stands under that name
        return None
    return member if member.isreg() or member.isdir() or member.issym() or member.islnk() else None


def take_home(place: paths.Place) -> list[str]:
    """Out of the way in one step, so that no command sees half of it; then off the disk. Links are not followed."""
    trash = place.safe + "/removed"
    leftovers = [path for path in (trash, place.home + ".removed") if disk_has(path)]
    for path in leftovers:
        shutil.rmtree(path)
    if not disk.exists(place.home):
        return []
    forget_restoring(place)
    try:
        disk.rename(place.home, trash)
    except OSError:  # the git directory is on another file system
        trash = place.home + ".removed"
        disk.rename(place.home, trash)
    shutil.rmtree(trash)
    return [place.home]


def forget_restoring(place: paths.Place) -> None:
    """Without its version the safety copy brings nothing back."""
    try:
        disk.unlink(place.safe + "/version")
    except FileNotFoundError:
        return


def take_safe(place: paths.Place) -> list[str]:
    """The safety copy, but for the notes on the touched files, which are needed to the last."""
    if not disk.exists(place.safe):
        return []
    for leaf in disk.listdir(place.safe):
        path = f"{place.safe}/{leaf}"
        if leaf != "touched":
            shutil.rmtree(path) if not is_link(path) and stat.S_ISDIR(disk.lstat(path).st_mode) else disk.unlink(path)
    return [place.safe]


def give_back(place: paths.Place) -> list[originals.Touched]:
    noted = git_exclude.remove(place)
    if disk.exists(place.safe):
        shutil.rmtree(place.safe)
    return noted
