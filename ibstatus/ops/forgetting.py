"""What can be undone is kept for a while, and then let go."""

from collections.abc import Iterable

from ibstatus.drivers import git_index, git_worktree
from ibstatus.store import places, undo_log


def forget_old(place: places.Place, now: float) -> list[str]:
    """Too old, too many or too big: see `undo_log.surplus`."""
    undo_log.sweep(place, now)
    return forget(place, [record.name for record in undo_log.surplus(place, now)])


def forget(place: places.Place, names: Iterable[str], *, keep_commits: bool = False) -> list[str]:
    gone = list(names)
    for name in gone:
        undo_log.forget(place, [name])
        if not keep_commits:
            git_index.asked(git_worktree.seat(place), "update-ref", "-d", undo_log.ref_of(name))
    return gone
