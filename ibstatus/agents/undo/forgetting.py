"""What can be undone is kept for a while, and then let go."""

from collections.abc import Callable, Iterable

from ibstatus.agents.undo import log, undo_bulk
from ibstatus.project import paths
from ibstatus.project.rules import counts
from ibstatus.system.git import index

Say = Callable[[str], None]


def forget_old(place: paths.Place, now: float, say: Say) -> None:
    """What is older than was promised goes; of the rest only what is ignored and big."""
    forget(place, log.hidden(place))
    log.sweep(place, now)
    forget(place, [record.name for record in log.surplus(place, now)])
    for record in undo_bulk.relieve(place):
        say(f"To save space ib undo {record.name} no longer has what git ignored: {counts.some(record.dropped)}")


def forget(place: paths.Place, names: Iterable[str], *, keep_commits: bool = False) -> None:
    """Out of sight, then its commit, then its files: one that is cut off is still known by its hidden folder."""
    for name in names:
        log.hide(place, name)
        if not keep_commits:
            index.asked(place.git_folder, "update-ref", "-d", log.ref_of(name))
        log.forget(place, [name])
