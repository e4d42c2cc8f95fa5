"""What can be undone is kept for a while, and then let go."""

from collections.abc import Callable, Iterable

from ibstatus.drivers import git_index
from ibstatus.rules import removal_text
from ibstatus.store import places, undo_bulk, undo_log

Say = Callable[[str], None]


def forget_old(place: places.Place, now: float, say: Say) -> None:
    """What is older than was promised goes; of the rest only what is ignored and big."""
    forget(place, undo_log.hidden(place))
    undo_log.sweep(place, now)
    forget(place, [record.name for record in undo_log.surplus(place, now)])
    for record in undo_bulk.relieve(place):
        say(f"To save space ib undo {record.name} no longer has what git ignored: {removal_text.some(record.dropped)}")


def forget(place: places.Place, names: Iterable[str], *, keep_commits: bool = False) -> None:
    """Out of sight, then its commit, then its files: one that is cut off is still known by its hidden folder."""
    for name in names:
        undo_log.hide(place, name)
        if not keep_commits:
            git_index.asked(place.git_folder, "update-ref", "-d", undo_log.ref_of(name))
        undo_log.forget(place, [name])
