"""One scan for all: which panes have changed, and what stands on those. A socket is asked by one open connection.

tmux's list of all panes, and what it says of each.
"""

import traceback
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ibstatus.claude.screens import user_rules
from ibstatus.model.clock import Clock
from ibstatus.model.fleet import Agent
from ibstatus.project import paths
from ibstatus.state.look import Target, parsed, text_of
from ibstatus.state.rules import screen_history, tmux_outage
from ibstatus.state.rules.fleet import is_over, is_young
from ibstatus.state.rules.known import Sight
from ibstatus.supervisor.log import Log
from ibstatus.system.process import status
from ibstatus.system.process.classify import WATCH, watch_of
from ibstatus.system.tmux.control_mode import Connection

FIELDS = ("@ib_session", "pane_id", "window_activity", "pane_dead", "pane_pid", "session_name")
LIST = 'list-panes -a -F "' + "\t".join(f"#{{{field}}}" for field in FIELDS) + '"'


class Seen(NamedTuple):
    """One pane as the list has it: equal tuples, nothing has changed. `marked`: ib has made it."""

    id: str
    activity: str
    dead: bool
    pid: int
    marked: bool = False


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
        found = Seen(pane, activity, dead == "1", int(pid) if pid.isdigit() else 0, mark != "")
        (marked if mark else others).setdefault(mark or name, found)
    return {**others, **marked}, watched


class Screen:
    """The last capture of one pane: its checksum, when (monotonic) it is taken once more, and when its processes may be
    asked for."""

    __slots__ = ("again", "ask_at", "crc", "pane")

    def __init__(self) -> None:
        self.pane: Seen | None = None
        self.crc = -1
        self.again = 0.0
        self.ask_at = 0.0


Wanted = tuple[Target, Seen, Screen]


class Server:
    """One socket: its connection and what it answered last."""

    def __init__(self, socket: str, name: str) -> None:
        self.connection = Connection(socket, name)
        self.listed = b""
        self.asked = 0.0
        self.second = ""  # of the last list, by the clock of tmux
        self.panes: dict[str, Seen] = {}
        self.blind, self.is_told = 0.0, False  # since when it does not answer, and was that said?


class Scanner:
    """Keeps the sights of all agents. `tick` says for which of them something else is seen than before."""

    def __init__(self, place: paths.Place, log: Log) -> None:
        self.place = place
        self.rules = user_rules.of(place)
        self.name = watch_of(place.home)
        self.log = log
        self.servers: dict[str, Server] = {}
        self.targets: dict[str, Target] = {}
        self.published: Mapping[str, Agent] = {}
        self.sights: dict[str, Sight] = {}
        self.screens: dict[str, Screen] = {}
        self.due = 0.0
        self.settled, self.asks = float("inf"), 0
        self.captured = 0

    def aim(self, targets: Iterable[Target], published: Mapping[str, Agent]) -> None:
        """Who is looked at from now on, by the user's rules as they are now; those that are gone are forgotten."""
        rules = user_rules.of(self.place)
        if rules != self.rules:
            self.rules = rules
            self.forget()
            self.log.complain("screen rules", "; ".join(map(str, rules.broken)))
        self.targets = {target.agent: target for target in targets}
        self.published = published
        for known in (self.sights, self.screens):
            for name in known.keys() - self.targets.keys():
                del known[name]
        used = {target.socket for target in self.targets.values()}
        for socket in self.servers.keys() - used:
            self.servers.pop(socket).connection.close()

    def follow(self, published: Mapping[str, Agent], now: Clock) -> None:
        """What is published from now on: who has just begun to work is looked at as soon as they all are."""
        self.published = published
        self.due = min(self.due, now.mono + self.rhythm(now))

    def is_new(self) -> bool:
        """Is there anybody whom no tick has seen yet?"""
        return self.targets.keys() != self.sights.keys()

    def forget(self) -> None:
        """The machine has slept: nothing that was seen before counts as seen."""
        for screen in self.screens.values():
            screen.pane, screen.crc = None, -1
        for server in self.servers.values():
            server.listed = b""

    def tick(self, now: Clock) -> bool:
        """One look at all of them; True when something else is seen, or what is at odds was seen once more. A bug of
        ours in it is said, and the sights stay as they are."""
        try:
            changed = self.ticked(now)
        except Exception:
            self.log.complain("scan", traceback.format_exc())
            self.due = now.mono + screen_history.ASLEEP
            return False
        self.log.complain("scan", "")
        return changed

    def tried(self, what: str, work: Callable[..., bool], *given: Any) -> bool:
        """What cannot be looked at is that agent's or that socket's trouble alone."""
        try:
            changed = work(*given)
        except Exception:
            self.log.complain("scan of " + what, traceback.format_exc())
            return False
        self.log.complain("scan of " + what, "")
        return changed

    def ticked(self, now: Clock) -> bool:
        by_socket: dict[str, list[Target]] = {}
        for target in self.targets.values():
            by_socket.setdefault(target.socket, []).append(target)
        changed = False
        self.settled, self.asks = float("inf"), screen_history.ASKED
        for socket, targets in by_socket.items():
            server = self.servers.get(socket)
            if server is None:
                server = self.servers[socket] = Server(socket, self.name)
            changed |= self.tried("socket " + socket, self.scan, server, targets, now)
            self.log.complain("tmux " + socket, server.connection.why)
            server.connection.sweep()
        odd = self.is_at_odds(now)
        self.due = min(now.mono + self.rhythm(now), max(self.settled, now.mono + screen_history.SOON))
        return changed or odd

    def rhythm(self, now: Clock) -> float:
        return screen_history.SOON if self.is_at_odds(now) else screen_history.pace(self.published.values())

    def again(self) -> float:
        return self.due if self.targets else float("inf")

    def is_at_odds(self, now: Clock) -> bool:
        return any(self.is_odd(name, now) for name in self.sights)

    def is_odd(self, agent: str, now: Clock) -> bool:
        sight = self.sights.get(agent)
        return sight is not None and screen_history.is_in_doubt(sight, self.published.get(agent), now.wall)

    def scan(self, server: Server, targets: Sequence[Target], now: Clock) -> bool:
        replies = server.connection.ask([LIST])
        if replies is None or (replies and not replies[0].ok):
            return self.unseen(server, targets, now)
        server.blind, server.is_told = 0.0, False
        listed = replies[0].data if replies else b""
        server.asked, server.second = now.wall, replies[0].second if replies else ""
        if listed != server.listed or not listed:
            server.panes, ours = panes_of(listed)
            server.listed = listed
            if ours and not any(name for name in server.panes):
                server.connection.close()  # nobody is left but who watches: the server may go
        return self.look(server, targets, now)

    def unseen(self, server: Server, targets: Sequence[Target], now: Clock) -> bool:
        """tmux cannot be asked: what was captured before counts no more."""
        server.listed = b""
        why = server.connection.why or screen_history.NOT_ASKED
        for target in targets:
            self.screens.pop(target.agent, None)
        changed = sum(self.note(target, Sight(None, note=why), now) for target in targets) > 0
        server.blind = server.blind or now.mono
        if not server.is_told and now.mono - server.blind >= tmux_outage.MOMENT:
            server.is_told = changed = True
        return changed

    def look(self, server: Server, targets: Sequence[Target], now: Clock) -> bool:
        wanted: list[Wanted] = []
        changed = False
        for target in targets:
            changed |= self.tried(target.agent, self.one, server, target, wanted, now)
        return self.capture(server, wanted, now) or changed

    def one(self, server: Server, target: Target, wanted: list[Wanted], now: Clock) -> bool:
        """Puts it among those that are to be captured, or takes what is known of it already."""
        pane = server.panes.get(target.session)
        if pane is not None and target.is_ours and not pane.marked and not is_young(target.meta, now.wall):
            pane = None  # ours is gone; what is left in its session is somebody else's
        if pane is None or pane.dead:
            return self.gone(target, pane, now)
        screen = self.screens.get(target.agent)
        if screen is None:
            screen = self.screens[target.agent] = Screen()
        if screen.pane != pane:
            screen.again = now.mono + screen_history.settled_in(now.wall)
            self.settled = min(self.settled, screen.again)
            wanted.append((target, pane, screen))
        elif screen.again and (now.mono >= screen.again or self.is_odd(target.agent, now)):
            # What is drawn after this list, but in the second of its activity, shows in no list.
            screen.again = now.mono + screen_history.settled_in(now.wall) if pane.activity == server.second else 0.0
            self.settled = min(self.settled, screen.again or self.settled)
            wanted.append((target, pane, screen))
        else:
            self.settled = min(self.settled, screen.again or self.settled)
            return self.ask(target, pane, screen, now)
        return False

    def gone(self, target: Target, pane: Seen | None, now: Clock) -> bool:
        self.screens.pop(target.agent, None)
        before = self.sights.get(target.agent)
        found = Sight(pane is not None, dead=pane is not None)
        if before is not None and screen_history.same(before, found):
            shown = self.published.get(target.agent)  # it may have begun anew, or spoken, after the last list
            return target.is_ours and shown is not None and not is_over(shown)
        return self.note(target, found, now)

    def ask(self, target: Target, pane: Seen, screen: Screen, now: Clock) -> bool:
        """Its processes: where there should be something new on its screen and is not, and now and then elsewhere."""
        sight = self.sights[target.agent]
        if now.mono < screen.ask_at or not self.may_ask(target, sight, now):
            return False
        screen.ask_at = now.mono + screen_history.turn(len(self.targets), is_busy=target.is_busy)
        stopped, gone = status.look(pane.pid)
        if (stopped, gone) == (sight.suspended, sight.gone):
            return False
        return self.note(target, sight._replace(suspended=stopped, gone=gone, changed=0.0), now)

    def may_ask(self, target: Target, sight: Sight, now: Clock) -> bool:
        """A few in each tick; of those that are said to work only who may not."""
        if target.is_busy and not screen_history.is_suspect(sight, now.wall):
            return False
        self.asks -= 1
        return self.asks >= 0

    def capture(self, server: Server, wanted: Sequence[Wanted], now: Clock) -> bool:
        if not wanted:
            return False
        self.captured += len(wanted)
        replies = server.connection.stream([f"capture-pane -p -t {pane.id}" for _, pane, _ in wanted])
        if not replies:
            return self.unseen(server, [target for target, _, _ in wanted], now)
        changed = False
        for (target, pane, screen), reply in zip(wanted, replies, strict=True):
            if not reply.ok:  # it went between the two requests: the next list says so
                server.listed, screen.pane = b"", None
                continue
            screen.pane = pane
            changed |= self.tried(target.agent, self.read, target, pane, screen, reply.data, now)
        return changed

    def read(self, target: Target, pane: Seen, screen: Screen, data: bytes, now: Clock) -> bool:
        crc = zlib.crc32(data)
        before = self.sights.get(target.agent)
        if crc == screen.crc and before is not None and before.shown is not None:
            self.sights[target.agent] = before._replace(seen=now.wall)
            return self.ask(target, pane, screen, now)
        screen.crc = crc
        found = parsed(target, data, now.wall, self.rules)
        if before is not None and (before.suspended or before.gone):  # a resize draws on it, too
            found = found._replace(suspended=before.suspended, gone=before.gone)
            screen.ask_at = 0.0
        changed = self.note(target, found, now)
        return self.ask(target, pane, screen, now) or changed

    def note(self, target: Target, found: Sight, now: Clock) -> bool:
        before = self.sights.get(target.agent)
        self.sights[target.agent] = screen_history.after(before, found, now.wall)
        return before is None or not screen_history.same(before, found)

    def confirmed(self) -> dict[str, Sight]:
        """All sights. The last list of panes has confirmed each whose pane is as it was, but for one that may have been
        drawn once more within the second of its capture."""
        found = dict(self.sights)
        for name, sight in self.sights.items():
            screen, target = self.screens.get(name), self.targets.get(name)
            server = self.servers.get(target.socket) if target is not None else None
            if server is not None and sight.there is not None and (screen is None or not screen.again):
                found[name] = sight._replace(seen=max(sight.seen, server.asked))
        return found

    def close(self) -> None:
        for server in self.servers.values():
            server.connection.close()
