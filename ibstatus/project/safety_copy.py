"""The safety copy under the common git directory (`ib/`): what `git clean -fdx` in the root may not take away.

Files that grow in place (queue, cursors) have a hard link there, files that are replaced a copy.
Whoever finds the original missing puts it back.
"""

import posix

from ibstatus.project import paths
from ibstatus.system import atomic, disk


def keep_link(place: paths.Place, path: str, inode: int) -> None:
    """Make sure that the copy is the same file as `path`, which has this inode."""
    if not is_linked(place, path, inode):
        relink(path, place.safe_copy(path))


def is_linked(place: paths.Place, path: str, inode: int) -> bool:
    try:
        return disk.stat(place.safe_copy(path)).st_ino == inode
    except OSError:
        return False


def keep_link_of(place: paths.Place, path: str, fd: int) -> None:
    """The same for a file that is open."""
    try:
        inode = disk.fstat(fd).st_ino
    except OSError:
        return
    keep_link(place, path, inode)


def relink(path: str, copy: str) -> None:
    """A second name for `path`, put in place of an older copy in one step. Best effort: a copy is not the truth."""
    temp = copy + ".ib-tmp"
    try:
        disk.make_dirs(copy.rpartition("/")[0])
        atomic.forget(temp)
        disk.link(path, temp)
        disk.rename(temp, copy)
        atomic.forget(temp)  # it stays where both were the same file already
    except FileNotFoundError:
        return
    except OSError:
        try:  # another file system, or one without hard links
            atomic.put(copy, disk.read_file(path), durable=False)
        except OSError:
            return


def keep_copy(place: paths.Place, path: str, data: bytes) -> None:
    """Best effort: when the copy cannot be written the original still stands."""
    copy = place.safe_copy(path)
    try:
        disk.make_dirs(copy.rpartition("/")[0])
        atomic.put(copy, data)
    except OSError:
        return


def restore(place: paths.Place, path: str) -> bool:
    """Put a missing file back from its copy; False when there is none. Never over an existing file."""
    copy = place.safe_copy(path)
    try:
        disk.stat(copy)
    except (FileNotFoundError, NotADirectoryError):
        return False
    disk.make_dirs(path.rpartition("/")[0])
    if path in (place.messages, place.questions):
        put_back(copy, path)
        return True
    try:
        disk.link(copy, path)
    except FileExistsError:
        return True
    except FileNotFoundError:
        return False
    except OSError:
        put_back(copy, path)
    return True


def put_back(copy: str, path: str) -> None:
    """A file of its own with the copy's bytes: one that is edited in place must not take its copy along."""
    folder, _, leaf = path.rpartition("/")
    temp = f"{folder}/.{leaf}.{posix.getpid():x}.ib-tmp"
    atomic.put(temp, disk.read_file(copy))
    try:
        disk.link(temp, path)
    except FileExistsError:
        pass
    except OSError:
        disk.rename(temp, path)
    finally:
        atomic.forget(temp)


def read_copy(place: paths.Place, path: str) -> bytes | None:
    """None only when there is no copy: one that cannot be read now must not count as empty."""
    try:
        return disk.read_file(place.safe_copy(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
