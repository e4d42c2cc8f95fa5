"""What tells one board from another, and the queue of this repository from that of the one that it was copied from."""

import hashlib

from ibstatus.project import paths
from ibstatus.system import atomic, disk, folders


def of(where: str) -> str:
    """A DSN, or the path of a board's file; says nothing of what is in a DSN."""
    return hashlib.sha256(where.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def folder(place: paths.Place) -> str:
    """A file for each id that this repository had as a copy: in the board's file its queue has that one still."""
    return place.safe + "/formerly"


def note_former(place: paths.Place, ident: str) -> None:
    disk.make_dirs(folder(place))
    atomic.put(f"{folder(place)}/{ident}", b"")


def formers(place: paths.Place) -> list[str]:
    return [name for name in folders.names_in(folder(place)) if "." not in name]


def forget_former(place: paths.Place, ident: str) -> None:
    atomic.forget(f"{folder(place)}/{ident}")
