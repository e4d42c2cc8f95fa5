"""status.json: what the supervisor publishes for everybody else. Its time of change is the supervisor's last look."""

import msgspec

from ibstatus.model.fleet import Snapshot
from ibstatus.project import paths
from ibstatus.state import snapshot_fresh
from ibstatus.state.snapshot_fresh import path_of as path_of
from ibstatus.system import atomic, disk, jsonl
from ibstatus.system.text import times


def write(place: paths.Place, snapshot: Snapshot) -> None:
    text = jsonl.encode(msgspec.to_builtins(snapshot)).encode("utf-8", "replace")
    atomic.put(path_of(place), text + b"\n", durable=False)
    touch(place, int(times.epoch(snapshot.at) or 0) * 1_000_000_000)  # until the look is over: not after it began


def touch(place: paths.Place, began: int) -> None:
    """What it shows was true when the look at it began (nanoseconds); what changed during the look may be missing."""
    try:
        disk.utime(path_of(place), ns=(began, began))
    except FileNotFoundError:
        return  # the next look publishes it again


def distrust(place: paths.Place) -> None:
    """What it shows may be over, and cannot be replaced: whoever reads it looks for himself."""
    try:
        disk.utime(path_of(place), ns=(0, 0))
    except OSError:
        return


def is_there(place: paths.Place) -> bool:
    return disk.exists(path_of(place))


def read(place: paths.Place, version: str) -> tuple[Snapshot, float] | None:
    """The snapshot and when it was true; None when there is none, or it is of another version of ib."""
    try:
        data, at = snapshot_fresh.read(place)
        found = msgspec.json.decode(data, type=Snapshot)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None
    return (found, at) if found.version == version else None
