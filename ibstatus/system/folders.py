"""Folders moved out of the way in one step, whatever their size, and back; another file system gets a copy."""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from typing import Any

from ibstatus.system import atomic, disk

ELSEWHERE = 18  # EXDEV


def move(source: str, target: str) -> str:
    """Where it is now; '' when there is nothing to move. Never over anything: it gets a name beside that."""
    if not is_there(source):
        return ""
    target = free_name(target)
    disk.make_dirs(target.rpartition("/")[0])
    try:
        disk.rename(source, target)
    except OSError as error:
        if error.errno != ELSEWHERE:
            raise
        copied(source, target)
        remove(source)
    atomic.sync_folder(target.rpartition("/")[0])
    return target


def free_name(path: str) -> str:
    """This path, or where something lies there already, the first of `path.2`, `path.3` … that is free."""
    number, name = 1, path
    while is_there(name):
        number += 1
        name = f"{path}.{number}"
    return name


def is_there(path: str) -> bool:
    try:
        disk.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def copied(source: str, target: str) -> None:
    """Whole or not at all: it has its name only when it is complete."""
    part = target + ".ib-tmp"
    remove(part)
    shutil.copytree(source, part, symlinks=True, ignore=special)
    disk.rename(part, target)


def special(folder: str, names: list[str]) -> list[str]:
    """Sockets and pipes mean nothing without their processes."""
    modes = {name: disk.lstat(f"{folder}/{name}").st_mode for name in names}
    return [
        name for name, mode in modes.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
    ]


def remove(path: str) -> None:
    """Off the disk, also where a folder was made read-only."""
    if not is_there(path):
        return
    if stat.S_ISDIR(disk.lstat(path).st_mode):
        shutil.rmtree(path, onerror=opened)
    else:
        disk.unlink(path)


def opened(again: Callable[..., Any], path: str, why: object) -> None:
    disk.chmod(path.rpartition("/")[0], 0o700)
    if stat.S_ISDIR(disk.lstat(path).st_mode):
        disk.chmod(path, 0o700)
        shutil.rmtree(path, ignore_errors=True)
    else:
        again(path)


def size_of(path: str) -> int:
    """Bytes on the disk, links not followed; what vanishes meanwhile does not count."""
    total = 0
    for at, folders, leaves in os.walk(os.fsencode(path)):
        for leaf in (*folders, *leaves):
            try:
                total += disk.lstat(os.fsdecode(at + b"/" + leaf)).st_blocks * 512
            except OSError:
                continue
    return total


def times_in(path: str) -> Iterator[float]:
    """When each thing in it, and itself, was changed last; what vanishes meanwhile does not count."""
    yield disk.lstat(path).st_mtime
    for at, folders, leaves in os.walk(os.fsencode(path)):
        for leaf in (*folders, *leaves):
            try:
                yield disk.lstat(os.fsdecode(at + b"/" + leaf)).st_mtime
            except OSError:
                continue


def names_in(path: str) -> list[str]:
    try:
        return sorted(disk.listdir(path))
    except OSError:
        return []
