"""spool/<writer>.jsonl: where commands and hooks note what happened, cheaply. History, not truth: never in the way."""

from ibstatus.project import paths
from ibstatus.system import append, disk, jsonl, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FOLD_ABOVE = 1 << 20
FOLD_STEP = 1 << 16


def note(place: paths.Place, writer: str, now: float, *events: "Mapping[str, object]") -> bool:
    """Append events in one write; False when they could not be kept."""
    at = timestamps.utc_ms(now)
    data = "".join([jsonl.encode({"t": at, **event}) + "\n" for event in events]).encode()
    path = f"{place.spool}/{writer}.jsonl"
    try:
        try:
            done = append.append(path, data)
        except FileNotFoundError:
            if not disk.exists(place.home):
                return False  # a note is no reason to make it
            disk.make_dirs(place.spool)
            done = append.append(path, data)
        done.close()
        if done.end > FOLD_ABOVE and (done.end - len(data)) // FOLD_STEP != done.end // FOLD_STEP:
            from ibstatus.project import events as history

            history.fold(place, wait=False)  # the caller may hold other locks
    except Exception:  # a note that cannot be kept must not undo what it tells of
        return False
    return True
