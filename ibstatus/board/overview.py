"""The board in a few lines, for `ib status`: nothing where there is none, a word where it cannot be reached."""

import msgspec

from ibstatus.board import opening
from ibstatus.board.rules import validation as rule
from ibstatus.errors import IbError
from ibstatus.model.board import Entry, Task
from ibstatus.project import agent_meta, paths


class Overview(msgspec.Struct, frozen=True):
    """`tasks`: how many in each status; `merges`: what is in the queue of this repository."""

    tasks: dict[str, int] = {}
    claimed: list[Task] = []
    merges: list[Entry] = []
    problem: str = ""


def seen(place: paths.Place) -> Overview | None:
    if not opening.is_there(place):
        return None
    try:
        board = opening.opened(place)
    except IbError as error:
        return Overview(problem=error.message)
    try:
        tasks = board.tasks()
        counted = {status: sum(task.status == status for task in tasks) for status in rule.STATUSES}
        claimed = [task for task in tasks if task.status == rule.CLAIMED]
        queue = board.entries(agent_meta.repo_id(place), open_only=True)
    except IbError as error:
        return Overview(problem=error.message)
    finally:
        board.close()
    return Overview({status: count for status, count in counted.items() if count}, claimed, queue)
