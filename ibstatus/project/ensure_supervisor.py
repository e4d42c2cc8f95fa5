"""After a command's own work: what it changed must be published, so somebody has to be there who does that."""

import posix

from ibstatus.project import paths
from ibstatus.system import disk, locks


def keep_watched(place: paths.Place) -> None:
    """Start the supervisor if none runs. Asked by commands that change something."""
    if posix.environ.get(b"IB_SUPERVISOR") != b"off" and not locks.is_held(place.lock("supervisor")):
        from ibstatus.project import supervisor_process

        supervisor_process.ensure(place)


def keep_agents_watched(place: paths.Place) -> None:
    """The same for commands that only look: without agents there is nothing to supervise."""
    try:
        if disk.listdir(place.home + "/agents"):
            keep_watched(place)
    except OSError:
        return
