"""What agents' hooks said last of their state: the newest `agent.state` in the history, read on from where we were."""

from collections.abc import Iterable

from ibstatus.claude import hook_state
from ibstatus.project import events, paths
from ibstatus.state.rules import compactions, fleet
from ibstatus.state.rules.known import Told
from ibstatus.system import disk

AHEAD = 2.0  # a word may be newer than the look that reads it, by as long as a look takes


class States:
    """Keeps the last word of every agent. `catch_up` reads only what is new."""

    def __init__(self, place: paths.Place) -> None:
        self.place = place
        self.inode = 0
        self.offset = 0
        self.told: dict[str, Told] = {}

    def catch_up(self, now: float | None = None, agents: Iterable[str] = ()) -> dict[str, Told]:
        """`now`: what comes from a future beyond it is from then on as old as this look. `agents`: those of whom the
        history tells nothing any more are asked for their own last word."""
        self.read_on()
        for name in agents:
            if name not in self.told:
                self.recall(name)
        if now is not None:
            late = [(name, said) for name, said in self.told.items() if said.at > now + AHEAD]
            self.told.update((name, said._replace(at=now)) for name, said in late)
        return self.told

    def recall(self, agent: str) -> None:
        last = hook_state.read(hook_state.path_of(self.place, agent, ""))
        if last.state in fleet.STATES:
            self.told[agent] = Told(last.state, last.reason, last.at)

    def read_on(self) -> None:
        try:
            events.fold(self.place)
        except OSError:
            pass  # the history is in disorder: what was said before still holds
        try:
            fd = disk.open(self.place.events, disk.O_RDONLY | disk.O_NONBLOCK | disk.O_CLOEXEC)
        except OSError:  # there is none, or it was rotated away this moment: what it said stands in the older one
            self.rest_of_rotated()
            return
        try:
            status = disk.fstat(fd)
            if status.st_ino != self.inode or status.st_size < self.offset:
                self.rest_of_rotated()
                self.inode, self.offset = status.st_ino, 0
            if disk.is_file(status):
                self.take(disk.pread(fd, max(0, status.st_size - self.offset), self.offset))
        finally:
            disk.close(fd)

    def rest_of_rotated(self) -> None:
        """What was appended to the file that we knew before it was rotated away; all of it, when we knew none."""
        older = self.place.events + ".1"
        try:
            inode = disk.stat(older).st_ino
            if self.inode in (0, inode):
                self.inode = inode
                self.take(disk.read_file(older)[self.offset :])
        except OSError:
            return

    def take(self, data: bytes) -> None:
        whole = data[: data.rfind(b"\n") + 1]
        telling = [line for line in whole.split(b"\n") if b'"agent.st' in line]
        for event in events.parsed(b"\n".join(telling)):
            said = fleet.told(event)
            if said is not None:
                self.told[said[0]] = compactions.resumed(said[1], self.told.get(said[0]))
        self.offset += len(whole)
