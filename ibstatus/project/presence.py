"""What a long-lived process stands on. The folder may be gone under it: taken by `git clean`, or on its way out with
all of the repository, which nobody can remove when something is in it again."""

import os
import time

from ibstatus.project import paths
from ibstatus.system import disk

REST, STEP = 3.0, 0.1  # who removes a repository has come to the end of it by then, or to a file that git knows


class Ground:
    def __init__(self, place: paths.Place) -> None:
        self.place = place
        try:
            self.fd = os.open(place.common, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            self.fd = -1

    def is_there(self) -> bool:
        """Still the same repository. As long as we have it open, no other one is given its number."""
        try:
            return os.path.samestat(os.fstat(self.fd), os.stat(self.place.common))
        except OSError:
            return False

    def stays(self) -> bool:
        """Only the folder was taken away. At once where somebody else has put it back; who removes all of it may have
        begun here."""
        missing, until = self.missing(), time.monotonic() + REST
        while self.is_there() and not disk.exists(self.place.version) and time.monotonic() < until:
            time.sleep(STEP)
        return self.is_there() and (disk.exists(self.place.version) or self.missing() <= missing)

    def missing(self) -> int:
        """How much of what git knows; a clean takes nothing of that."""
        from ibstatus.system.git import refs

        return refs.asked(self.place.root, "ls-files", "--deleted", "-z").out.count(b"\0")

    def close(self) -> None:
        if self.fd >= 0:
            fd, self.fd = self.fd, -1
            os.close(fd)
