"""/tmp/ib-<agent>/message-<id>.txt: a message that is too long for a hook, where its agent may read it."""

import posix
import time

from ibstatus.project import names
from ibstatus.system import disk

FOLDER = disk.O_RDONLY | disk.O_NOFOLLOW | disk.O_CLOEXEC | posix.O_DIRECTORY
MAKE = disk.O_WRONLY | disk.O_CREAT | disk.O_EXCL | disk.O_NOFOLLOW | disk.O_CLOEXEC
TRIES = 20


def put(agent: str, item: str, text: str) -> str:
    """Its path; '' when it could not be written. Nothing goes through a link or into a folder of somebody else."""
    leaf = f"message-{''.join([char if char in names.FILE else '-' for char in item])[:80]}.txt"
    try:
        path, folder = opened(f"/tmp/ib-{agent}")
    except OSError:
        return ""
    temp = f".{leaf}.{posix.getpid():x}.{time.time_ns():x}"
    try:
        fd = disk.open(temp, MAKE, 0o600, dir_fd=folder)
        try:
            disk.write_all(fd, text.encode("utf-8", "replace"))
        finally:
            disk.close(fd)
        disk.rename(temp, leaf, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        forget(temp, folder)
        return ""
    finally:
        disk.close(folder)
    return f"{path}/{leaf}"


def opened(path: str) -> tuple[str, int]:
    """(the folder, its descriptor). Where somebody else has taken the name, another one beside it."""
    for number in range(TRIES):
        name = f"{path}-{number}" if number else path
        try:
            disk.mkdir(name, 0o700)
        except FileExistsError:
            pass
        try:
            fd = disk.open(name, FOLDER)
        except OSError:
            continue
        status = disk.fstat(fd)
        if status.st_uid == posix.geteuid():
            if status.st_mode & 0o077:
                disk.fchmod(fd, 0o700)
            return name, fd
        disk.close(fd)
    raise OSError(17, "Somebody else has all these folders", path)


def forget(temp: str, folder: int) -> None:
    try:
        disk.unlink(temp, dir_fd=folder)
    except OSError:
        return
