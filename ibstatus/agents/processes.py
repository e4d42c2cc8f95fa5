"""Which processes are of this repository, and which of them have lost their agent."""

from collections.abc import Mapping
from typing import NamedTuple

from ibstatus.agents.undo import log
from ibstatus.claude import sessions
from ibstatus.errors import IbError
from ibstatus.mail import listener_reader
from ibstatus.project import agent_meta, operations, paths, supervisor_process, tokens
from ibstatus.system import disk
from ibstatus.system.process import classify, user_processes
from ibstatus.system.process.classify import Home, Own, Seat, line_in
from ibstatus.system.tmux import connect_lock, server

PATIENCE = 2.0


class Found(NamedTuple):
    """`hidden`: how many of this user's processes could not be looked into."""

    owned: list[Own]
    hidden: int


def find(place: paths.Place) -> Found:
    """One look at all processes, one question to each tmux server; nothing is ended."""
    seen = user_processes.look()
    began = {one.pid: one.started for one in seen.found}
    return Found(classify.owned(seen.found, home_of(place), seats(place, began)), seen.hidden)


def orphans(place: paths.Place) -> list[Own]:
    return [own for own in find(place).owned if own.orphan]


def end(place: paths.Place, own: Own) -> None:
    """Looked at again right before: its agent may have been resumed, its number given to another."""
    if own not in orphans(place):
        raise IbError(f"Process {own.pid} is gone, or is no orphan any more", hint="ib list --processes")
    if own.what == classify.LINE:
        end_line(place, own)
        return
    if not user_processes.end_process(own.pid, own.started):
        raise IbError(f"Process {own.pid} was gone already", hint="ib list --processes")


def end_line(place: paths.Place, own: Own) -> None:
    """Only one whose session is gone, while nobody makes or ends one: tmux 3.3 would fall over it."""
    watch = classify.watch_of(place.home)
    known = [line for one in user_processes.look().found if one.pid == own.pid and (line := line_in(one.argv, watch))]
    for line in known:
        with connect_lock.connecting(line.socket, PATIENCE) as free:
            there = server.panes(line.socket) if free else None
            if there is None:
                raise IbError(f"tmux cannot be asked, so process {own.pid} stays for now", hint="ib gc")
            if line.session in there:
                raise IbError(f"Process {own.pid} is about to end by itself", hint="ib list --processes")
            user_processes.end_process(own.pid, own.started)


def end_clients(place: paths.Place, agent: str) -> None:
    """What has outlived its terminal would go on with the very conversation that is resumed."""
    for own in orphans(place):
        if own.agent == agent and own.what in (classify.LAUNCHER, classify.CLIENT):
            user_processes.end_process(own.pid, own.started)


def home_of(place: paths.Place) -> Home:
    known = {
        record.id: tokens.of(place.token(record.id)).decode("ascii", "replace") for record in agent_meta.records(place)
    }
    for record in log.all_of(place):
        path = f"{log.folder(place, record.name)}/{log.AGENT}/token"
        known.setdefault(record.agent, token_in(path))
    return Home(place.root, place.home, place.safe, {name: one for name, one in known.items() if one}, named(place))


def token_in(path: str) -> str:
    try:
        return disk.read_ours(path, tokens.LONGEST).strip().decode("ascii", "replace")
    except OSError:
        return ""


def named(place: paths.Place) -> dict[int, str]:
    """By the locks that they hold and the bells that they wait at. A pid alone proves nothing: its words must, too."""
    found: dict[int, str] = {}
    try:
        leaves = disk.listdir(place.bells)
    except OSError:
        leaves = []
    for leaf in leaves:
        pid = leaf.partition(".")[0]
        if pid.isdigit():
            found[int(pid)] = "waiter"
    for reader in listener_reader.listeners(place):
        pid = listener_reader.holder(place, reader)
        if pid.isdigit():
            found[int(pid)] = "listener"
    supervisor = supervisor_process.holder(place)
    return {**found, supervisor.pid: "supervisor"} if supervisor is not None else found


def seats(place: paths.Place, started: Mapping[int, float]) -> dict[str, Seat]:
    """`started`: by the kernel's own count. A clock that was set since the session began says nothing of it."""
    records = agent_meta.records(place)
    sockets = {record.id: sessions.socket_of(place, record) for record in records}
    there = {socket: server.panes(socket) for socket in set(sockets.values())}
    found: dict[str, Seat] = {}
    for record in records:
        panes = there[sockets[record.id]]
        pane = panes.get(agent_meta.session_of(place, record)) if panes is not None else None
        unknown = panes is None or (pane is None and "tmux_session" not in record.meta)  # made by hand: elsewhere
        unknown = unknown or operations.is_at_work(place, record.id)
        alive = None if unknown else pane is not None and not pane.dead
        top = pane.pid if pane is not None else 0
        found[record.id] = Seat(alive, top, started.get(top, 0.0))
    return found
