"""After a command's own work: what it changed must be published, so somebody has to be there who does that."""

import posix

from ibstatus.store import disk, locks, places


def keep_watched(place: places.Place) -> None:
    """Start the supervisor if none runs. Asked by commands that change something."""
    if posix.environ.get(b"IB_SUPERVISOR") != b"off" and not locks.is_held(place.lock("supervisor")):
        from ibstatus.drivers import daemon

        daemon.ensure(place)


def keep_agents_watched(place: places.Place) -> None:
    """The same for commands that only look: without agents there is nothing to supervise."""
    try:
        if disk.listdir(place.home + "/agents"):
            keep_watched(place)
    except OSError:
        return
