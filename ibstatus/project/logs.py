"""agents/<id>/agent.log: one line an entry, for people.

spool/<writer>.jsonl: where commands and hooks note what happened, cheaply. History, not truth: never in the way.
"""

from ibstatus.project import paths
from ibstatus.system import append, disk, jsonl, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def write(place: paths.Place, agent: str, text: str, now: float) -> bool:
    """False when there is no such agent (nothing is made for it) or the log cannot be written."""
    folder = place.agent_dir(agent)
    if not disk.exists(folder):
        return False
    try:
        append.line(folder + "/agent.log", timestamps.log_entry(text, now).encode("utf-8", "replace") + b"\n")
    except Exception:
        return False
    return True


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
