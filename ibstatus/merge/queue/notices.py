"""The user's Claude is told of what waits for it: a conflict, a merge that failed, a task that is given up. Once each:
the id is noted, the line written, the event left behind.

notify/board.json: up to which event of a board the user's Claude was told what waits for it.
"""

import time
from collections.abc import Callable

import msgspec

from ibstatus.board import opening
from ibstatus.board.port import Board
from ibstatus.mail import post as notices
from ibstatus.mail import queue
from ibstatus.merge.queue import resolve
from ibstatus.merge.rules import queue as rule
from ibstatus.model.board import Event
from ibstatus.project import agent_meta, agents, home, ids, logs, paths
from ibstatus.state.rules.notices import SYSTEM
from ibstatus.system import atomic, disk, locks

LONGEST = 1 << 20


class Told(msgspec.Struct, frozen=True):
    """Of one board. `item` is the id of the notice on event `at`: after a kill it may stand in the queue or not."""

    seq: int = 0
    at: int = 0
    item: str = ""


def path_of(place: paths.Place) -> str:
    return place.home + "/notify/board.json"


def lock(place: paths.Place) -> locks.Lock:
    return locks.Lock(place.lock("board-news"))


def read(place: paths.Place, mark: str) -> Told:
    """`mark` tells one board from another."""
    return everything(place).get(mark, Told())


def everything(place: paths.Place) -> dict[str, Told]:
    try:
        return msgspec.json.decode(disk.read_ours(path_of(place), LONGEST), type=dict[str, Told])
    except (OSError, ValueError, msgspec.MsgspecError):
        return {}


def write(place: paths.Place, mark: str, told: Told) -> None:
    data = msgspec.json.encode({**everything(place), mark: told}) + b"\n"
    disk.make_dirs(place.home + "/notify")
    atomic.put(path_of(place), data, durable=True)


Say = Callable[[str], None]
WRITER, KIND = "board", "waiting"
AT_ONCE = 1000


def tell(place: paths.Place, board: Board, say: Say) -> None:
    """What cannot be told now is told the next time; nothing else waits for it."""
    try:
        home.enter(place)
        with lock(place):
            catch_up(place, board)
    except OSError as error:
        say(f"The user's Claude could not be told of the merge queue: {error}")


def catch_up(place: paths.Place, board: Board) -> None:
    mark = opening.mark_of(place)
    told = read(place, mark)
    if told.seq > board.last_seq():  # made anew
        told = Told()
    before = told
    while found := board.events(told.seq, AT_ONCE, rule.CHANNELS):
        for event in found:
            text = words(place, board, event)
            if text:
                post(place, mark, told, event, text)
            told = Told(event.seq)
    if told != before:
        write(place, mark, told)


def words(place: paths.Place, board: Board, event: Event) -> str:
    """'' for what is no matter of this repository, or of nobody any more."""
    if event.queue_id is None:
        task = board.task(str(event.task_id))
        is_ours = bool(event.agent_id) and agents.exists(place, str(event.agent_id))
        return rule.of_task(event) if is_ours and task is not None and task.status == "failed" else ""
    entry = board.entry(int(event.queue_id))
    is_here = entry is not None and entry.repo == agent_meta.repo_id(place)
    if entry is None or not is_here or not rule.is_open(event, entry):
        return ""
    return rule.of_entry(entry, resolve.of(place, entry))


def post(place: paths.Place, mark: str, told: Told, event: Event, text: str) -> None:
    now, agent = time.time(), str(event.agent_id)
    sender = agent if agents.exists(place, agent) else SYSTEM
    item = told.item if told.at == event.seq else ""
    if not item:
        item = ids.take(place, "n", sender, now)
        write(place, mark, Told(told.seq, event.seq, item))
    elif queue.holds(place, item):
        return
    notices.post(place, WRITER, item, KIND, sender, True, text, now)
    logs.note(place, WRITER, now, {"kind": "notice.sent", "who": sender, "id": item})
