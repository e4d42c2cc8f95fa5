"""agents/<id>/agent.log: one line an entry, for people."""

from ibstatus.project import paths
from ibstatus.system import append, disk, timestamps


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
