""".ittybitty/archive/<time>-<agent>/: what people may want to read of an agent that is gone."""

import shutil
import time

from ibstatus.project import names, paths
from ibstatus.system import atomic, disk, folders

AS_THEY_ARE = ("prompt.txt", "agent.log", "meta.json", "settings.local.json", "start.sh")
LOGS = "debug-logs"
MOST_LOGS = 20


def name_for(place: paths.Place, agent: str, now: float) -> str:
    """The folder that it will be; nothing is made yet."""
    stem = f"{place.home}/archive/{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{names.in_id(agent)}"
    number, path = 1, stem
    while folders.is_there(path):
        number += 1
        path = f"{stem}.{number}"  # no id holds a dot
    return path


def keep(place: paths.Place, agent: str, path: str, texts: dict[str, bytes], files: dict[str, str]) -> str:
    """Copy what is there, whole or not at all; once more is fine. Returns the folder.

    `texts`: what is written as it is given, by name; `files`: what is copied from elsewhere."""
    if folders.is_there(path):
        return path
    part = f"{place.home}/archive/.{path.rpartition('/')[2]}.ib-tmp"
    folders.remove(part)
    disk.make_dirs(part)
    home = place.agent_dir(agent)
    for leaf in AS_THEY_ARE:
        copy(f"{home}/{leaf}", f"{part}/{leaf}")
    for leaf, source in files.items():
        copy(source, f"{part}/{leaf}")
    for leaf, data in texts.items():
        put(f"{part}/{leaf}", data)
    keep_logs(f"{home}/{LOGS}", f"{part}/{LOGS}")
    target = folders.free_name(path)
    disk.rename(part, target)
    atomic.sync_folder(place.home + "/archive")
    return target


def copy(source: str, target: str) -> None:
    """A file that is there, and no link; the clients' own files may grow meanwhile."""
    try:
        if not disk.is_file(disk.lstat(source)):
            return
        shutil.copyfile(source, target)
        sync(target)
    except (FileNotFoundError, PermissionError):
        return


def put(target: str, data: bytes) -> None:
    fd = disk.open(target, disk.O_WRONLY | disk.O_CREAT | disk.O_EXCL | disk.O_CLOEXEC, 0o600)
    try:
        disk.write_all(fd, data)
        disk.fsync(fd)
    finally:
        disk.close(fd)


def sync(path: str) -> None:
    fd = disk.open(path, disk.O_RDONLY | disk.O_CLOEXEC)
    try:
        disk.fsync(fd)
    finally:
        disk.close(fd)


def keep_logs(source: str, target: str) -> None:
    """The newest of them."""
    try:
        leaves = [(disk.lstat(f"{source}/{leaf}").st_mtime, leaf) for leaf in disk.listdir(source)]
    except OSError:
        return
    disk.make_dirs(target)
    for _, leaf in sorted(leaves)[-MOST_LOGS:]:
        copy(f"{source}/{leaf}", f"{target}/{leaf}")


def expired(place: paths.Place, now: float, days: float) -> list[str]:
    """Folders older than this, by what their name says."""
    limit = time.strftime("%Y%m%d-%H%M%S", time.localtime(now - days * 86400))
    try:
        leaves = disk.listdir(place.home + "/archive")
    except OSError:
        return []
    return sorted(leaf for leaf in leaves if leaf[:8].isdigit() and leaf[8:9] == "-" and leaf[:15] < limit)
