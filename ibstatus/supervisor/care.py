"""What the supervisor does about what it sees: notices, nudges, limits that are waited out, compactions."""

from collections.abc import Callable, Sequence

from ibstatus.errors import logged
from ibstatus.model.clock import Clock
from ibstatus.model.fleet import Agent
from ibstatus.project import paths
from ibstatus.supervisor.background import Errands
from ibstatus.supervisor.board_tasks import Boarding
from ibstatus.supervisor.limits import Parking
from ibstatus.supervisor.log import Log
from ibstatus.supervisor.notices import Noticing
from ibstatus.supervisor.nudge import Compacting, Nudging

SOON, AFTER_SLEEP = 0.5, 1.0


class Caring:
    """Notices are written at once; what types, or may take long, runs beside the loop."""

    def __init__(self, place: paths.Place, log: Log) -> None:
        self.place = place
        self.log = log
        self.errands = Errands(log)
        self.noticing = Noticing(place, log)
        self.nudging = Nudging(place, self.noticing, self.errands)
        self.parking = Parking(place, self.noticing, self.errands)
        self.compacting = Compacting(place, self.noticing, self.errands)
        self.boarding = Boarding(place, self.errands, log)
        self.wall = 0.0
        self.times: list[float] = []

    def look(self, agents: Sequence[Agent], now: Clock, *, slept: bool = False) -> None:
        """After every look, with what was published. After a sleep everything is looked at once more first."""
        self.wall = now.wall
        self.times = []
        if slept:
            self.times = [now.mono + AFTER_SLEEP]
            return
        self.part("noticing", lambda: self.noticing.look(agents, now.mono, now.wall))
        self.part("errands", lambda: self.nudging.collect(agents))
        self.part("parking", lambda: self.parking.look(agents, now.mono, now.wall))
        self.part("nudging", lambda: self.time(self.nudging.look(agents, now.mono)))
        self.part("compacting", lambda: self.time(self.compacting.look(agents, now.mono)))
        self.part("boarding", lambda: self.time(self.boarding.look(agents, now.mono)))

    def close(self) -> None:
        self.part("errands", self.errands.close)

    def part(self, name: str, work: Callable[[], None]) -> None:
        """One that fails does not keep the others from their turn."""
        try:
            work()
        except Exception as error:
            self.log.complain(name, f"{name}: {logged(error)}")
        else:
            self.log.complain(name, "")

    def time(self, at: float | None) -> None:
        self.times += [at] if at is not None else []

    def again(self, mono: float) -> float | None:
        """When the next look is due, of the monotonic clock; None while nothing waits."""
        times = [*self.times, *([mono + SOON] if self.errands.is_busy() else [])]
        times += [at for at in (self.noticing.again(mono), self.parking.again(mono, self.wall)) if at is not None]
        return min(times, default=None)
