"""`.ittybitty/` itself: is it there, and is it of a format that we understand?"""

from ibstatus.model import constants
from ibstatus.project import paths
from ibstatus.system import disk

CURRENT = b"%d\n" % constants.FORMAT


def format_of(place: paths.Place) -> bytes:
    """What .ittybitty/version says; empty when there is none."""
    try:
        return disk.read_file(place.version)
    except (FileNotFoundError, NotADirectoryError):
        return b""


def enter(place: paths.Place) -> None:
    """Called before anything is written: makes the folder on first use, refuses one of a newer ib, and a repository
    that lies at another path than before."""
    if format_of(place) != CURRENT:
        from ibstatus.project import founding

        founding.settle(place)
    elif is_elsewhere(place):
        from ibstatus.project import founding

        founding.check_path(place)
    if place.agent:
        from ibstatus.project import agents

        agents.keep(place, place.agent)


def is_elsewhere(place: paths.Place) -> bool:
    """Has the repository been moved or copied since somebody looked?"""
    try:
        return disk.read_file(place.safe + "/root") != place.root.encode("utf-8", "surrogateescape") + b"\n"
    except OSError:
        return False


def look(place: paths.Place) -> bool:
    """Called before anything is read: False when there is nothing here yet; nothing is made."""
    if disk.exists(place.home) or is_kept(place):
        enter(place)
        return True
    return False


def is_kept(place: paths.Place) -> bool:
    """Is there a copy of what `git clean` may take away? This repository uses ib, then."""
    return disk.exists(place.safe + "/version")
