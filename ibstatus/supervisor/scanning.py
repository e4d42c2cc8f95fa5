"""One scan for all: which panes have changed, and what stands on those. A socket is asked by one open connection."""

import traceback
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ibstatus.drivers import suspending
from ibstatus.drivers.tmux_control import WATCH, Connection
from ibstatus.model.records import Agent
from ibstatus.ops.sight import Target, parsed, text_of
from ibstatus.rules import sights
from ibstatus.rules.duties import Clock
from ibstatus.rules.sights import Sight
from ibstatus.store import places
from ibstatus.supervisor.log import Log

FIELDS = ("@ib_session", "pane_id", "window_activity", "pane_dead", "pane_pid", "session_name")
LIST = 'list-panes -a -F "' + "\t".join(f"#{{{field}}}" for field in FIELDS) + '"'
SUSPECT_EVERY = 5.0


class Seen(NamedTuple):
    """One pane as the list has it: equal tuples, nothing has changed."""

    id: str
    activity: str
    dead: bool
    pid: int


class Screen:
    """The last capture of one pane: its checksum, when (monotonic) it is taken once more, when it was suspected."""

    __slots__ = ("again", "crc", "pane", "suspected")

    def __init__(self) -> None:
        self.pane: Seen | None = None
        self.crc = -1
        self.again = 0.0
        self.suspected = 0.0


class Server:
    """One socket: its connection and what it answered last."""

    def __init__(self, socket: str, name: str) -> None:
        self.connection = Connection(socket, name)
        self.listed = b""
        self.panes: dict[str, Seen] = {}


class Scanner:
    """Keeps the sights of all agents. `tick` says for which of them something else is seen than before."""

    def __init__(self, place: places.Place, log: Log) -> None:
        self.name = zlib.crc32(place.home.encode("utf-8", "replace"))
        self.log = log
        self.servers: dict[str, Server] = {}
        self.targets: dict[str, Target] = {}
        self.published: Mapping[str, Agent] = {}
        self.sights: dict[str, Sight] = {}
        self.screens: dict[str, Screen] = {}
        self.due = 0.0
        self.captured = 0

    def aim(self, targets: Iterable[Target], published: Mapping[str, Agent]) -> None:
        """Who is looked at from now on; those that are gone are forgotten."""
        self.targets = {target.agent: target for target in targets}
        self.published = published
        for known in (self.sights, self.screens):
            for name in known.keys() - self.targets.keys():
                del known[name]
        used = {target.socket for target in self.targets.values()}
        for socket in self.servers.keys() - used:
            self.servers.pop(socket).connection.close()

    def is_new(self) -> bool:
        """Is there anybody whom no tick has seen yet?"""
        return self.targets.keys() != self.sights.keys()

    def forget(self) -> None:
        """The machine has slept: nothing that was seen before counts as seen."""
        for screen in self.screens.values():
            screen.pane = None
        for server in self.servers.values():
            server.listed = b""

    def tick(self, now: Clock) -> bool:
        """One look at all of them; True when something else is seen, or what is at odds was seen once more. A bug of
        ours in it is said, and the sights stay as they are."""
        try:
            return self.ticked(now)
        except Exception:
            self.log.complain("scan", traceback.format_exc())
            self.due = now.mono + sights.CALM
            return False

    def ticked(self, now: Clock) -> bool:
        by_socket: dict[str, list[Target]] = {}
        for target in self.targets.values():
            by_socket.setdefault(target.socket, []).append(target)
        changed = False
        for socket, targets in by_socket.items():
            server = self.servers.get(socket)
            if server is None:
                server = self.servers[socket] = Server(socket, f"{self.name:08x}")
            changed |= self.scan(server, targets, now)
            self.log.complain("tmux " + socket, server.connection.why)
        odd = self.at_odds(now)
        self.due = now.mono + (sights.SOON if odd else sights.pace(self.published.values()))
        return changed or bool(odd)

    def again(self) -> float:
        return self.due if self.targets else float("inf")

    def at_odds(self, now: Clock) -> list[str]:
        published = self.published
        return [
            name
            for name, sight in self.sights.items()
            if sight.shown is not None
            and now.wall - sight.at < sights.DOUBT
            and sights.is_at_odds(sight, published.get(name))
        ]

    def scan(self, server: Server, targets: Sequence[Target], now: Clock) -> bool:
        replies = server.connection.ask([LIST])
        if replies is None or (replies and not replies[0].ok):
            server.listed = b""
            why = server.connection.why or sights.NOT_ASKED
            return sum(self.note(target, Sight(None, note=why), now) for target in targets) > 0
        listed = replies[0].data if replies else b""
        if listed != server.listed or not listed:
            server.panes, ours = panes_of(listed)
            server.listed = listed
            if ours and not any(name for name in server.panes):
                server.connection.close()  # nobody is left but who watches: the server may go
        return self.look(server, targets, now)

    def look(self, server: Server, targets: Sequence[Target], now: Clock) -> bool:
        wanted: list[tuple[Target, Seen, Screen]] = []
        changed = False
        for target in targets:
            pane = server.panes.get(target.session)
            if pane is None or pane.dead:
                changed |= self.gone(target, pane, now)
                continue
            screen = self.screens.get(target.agent)
            if screen is None:
                screen = self.screens[target.agent] = Screen()
            if screen.pane != pane:
                screen.again = now.mono + sights.SETTLED
                wanted.append((target, pane, screen))
            elif screen.again and now.mono >= screen.again:
                screen.again = 0.0
                wanted.append((target, pane, screen))
            else:
                changed |= self.unchanged(target, pane, screen, now)
        return self.capture(server, wanted, now) or changed

    def gone(self, target: Target, pane: Seen | None, now: Clock) -> bool:
        self.screens.pop(target.agent, None)
        before = self.sights.get(target.agent)
        found = Sight(pane is not None, dead=pane is not None)
        if before is not None and sights.same(before, found):
            return False
        return self.note(target, found, now)

    def unchanged(self, target: Target, pane: Seen, screen: Screen, now: Clock) -> bool:
        """Nothing new on its screen; where there should be, its process is asked."""
        sight = self.sights[target.agent]
        if target.is_busy and now.mono >= screen.suspected and now.wall - sight.changed >= sights.STILL:
            screen.suspected = now.mono + SUSPECT_EVERY
            suspended = suspending.is_suspended(pane.pid)
            if suspended != sight.suspended:
                return self.note(target, sight._replace(suspended=suspended, changed=0.0), now)
        return False

    def capture(self, server: Server, wanted: Sequence[tuple[Target, Seen, Screen]], now: Clock) -> bool:
        if not wanted:
            return False
        self.captured += len(wanted)
        replies = server.connection.ask([f"capture-pane -p -t {pane.id}" for _, pane, _ in wanted])
        if not replies:
            server.listed = b""
            note = server.connection.why or sights.NOT_ASKED
            return sum(self.note(target, Sight(None, note=note), now) for target, _, _ in wanted) > 0
        changed = False
        for (target, pane, screen), reply in zip(wanted, replies, strict=True):
            if not reply.ok:  # it went between the two requests: the next list says so
                server.listed = b""
                continue
            screen.pane = pane
            changed |= self.read(target, screen, reply.data, now)
        return changed

    def read(self, target: Target, screen: Screen, data: bytes, now: Clock) -> bool:
        crc = zlib.crc32(data)
        before = self.sights.get(target.agent)
        if crc == screen.crc and before is not None and before.shown is not None:
            self.sights[target.agent] = before._replace(seen=now.wall)
            return False
        screen.crc = crc
        return self.note(target, parsed(target, data, now.wall), now)

    def note(self, target: Target, found: Sight, now: Clock) -> bool:
        before = self.sights.get(target.agent)
        self.sights[target.agent] = sights.after(before, found, now.wall)
        return before is None or not sights.same(before, found)

    def seen(self, now: Clock) -> dict[str, Sight]:
        """All sights; the last list of panes has confirmed each that could be asked for."""
        return {name: sight._replace(seen=now.wall) if sight.there else sight for name, sight in self.sights.items()}

    def close(self) -> None:
        for server in self.servers.values():
            server.connection.close()


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
        found = Seen(pane, activity, dead == "1", int(pid) if pid.isdigit() else 0)
        (marked if mark else others).setdefault(mark or name, found)
    return {**others, **marked}, watched
