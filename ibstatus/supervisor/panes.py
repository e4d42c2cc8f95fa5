"""tmux's list of all panes, and what it says of each."""

from typing import NamedTuple

from ibstatus.state.look import text_of
from ibstatus.system.process.classify import WATCH

FIELDS = ("@ib_session", "pane_id", "window_activity", "pane_dead", "pane_pid", "session_name")
LIST = 'list-panes -a -F "' + "\t".join(f"#{{{field}}}" for field in FIELDS) + '"'


class Seen(NamedTuple):
    """One pane as the list has it: equal tuples, nothing has changed. `marked`: ib has made it."""

    id: str
    activity: str
    dead: bool
    pid: int
    marked: bool = False


def panes_of(listed: bytes) -> tuple[dict[str, Seen], bool]:
    """By the name that each session was given, and is any of them only a watch?"""
    marked: dict[str, Seen] = {}
    others: dict[str, Seen] = {}
    watched = False
    for line in text_of(listed).split("\n"):
        parts = line.split("\t", len(FIELDS) - 1)
        if len(parts) < len(FIELDS):
            continue
        mark, pane, activity, dead, pid, name = parts
        if name.startswith(WATCH):
            watched = True
            continue
        found = Seen(pane, activity, dead == "1", int(pid) if pid.isdigit() else 0, mark != "")
        (marked if mark else others).setdefault(mark or name, found)
    return {**others, **marked}, watched
