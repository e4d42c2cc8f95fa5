"""The numbered .sql files of a store: which are there, and which of them a database still lacks."""

import hashlib
import re
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.system import disk

FILE = re.compile(r"\d{3}_\w+\.sql")


class Migration(NamedTuple):
    filename: str
    sql: str
    checksum: str


def of(folder: str) -> list[Migration]:
    """In the order in which they are applied."""
    names = sorted(name for name in disk.listdir(folder) if FILE.fullmatch(name))
    return [read(name, disk.read_file(f"{folder}/{name}")) for name in names]


def read(filename: str, data: bytes) -> Migration:
    return Migration(filename, data.decode(), hashlib.sha256(data).hexdigest())


def missing(ours: list[Migration], applied: dict[str, str]) -> list[Migration]:
    """What is to be applied now. A database that went another way than this version is refused; nothing is guessed."""
    known = {one.filename: one.checksum for one in ours}
    unknown = sorted(set(applied) - set(known))
    if unknown:
        raise IbError(
            "The board is of a newer version of ib",
            cause=f"it has {unknown[0]}, which this one does not know",
            hint="update ib on this machine, too: pip install -U ibstatus",
        )
    changed = [name for name, checksum in applied.items() if known[name] != checksum]
    if changed:
        raise IbError(
            "The board was made by another build of ib",
            cause=f"{changed[0]} was another text when it was applied",
            hint="use the ib that made it; that one also shows what it holds: ib board list --all --json",
        )
    return [one for one in ours if one.filename not in applied]
