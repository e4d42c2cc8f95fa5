"""An agent of ib and the task it was spawned for: taken under its name, kept while it lives, over when it is done."""

from collections.abc import Callable, Iterator

from ibstatus.board import holdings, opening
from ibstatus.board.port import Board, Lost
from ibstatus.board.rules import prompt
from ibstatus.board.rules import validation as rule
from ibstatus.errors import IbError
from ibstatus.model.board import Claimer, Fence, Task
from ibstatus.project import agent_meta, names, paths
from ibstatus.system import disk

GONE, MERGED = "its agent was removed", "merged by hand"


def prepared(board: Board, given: str, words: str) -> tuple[Task, str]:
    """The task, if it can be taken, and what its agent is told; `words` are what the caller adds."""
    id = rule.meant(given, board.ids(given) if rule.is_prefix(given) else [])
    task = board.task(id)
    if task is None or task.status != rule.READY:
        status = rule.told(task.status) if task is not None else "gone"
        raise IbError(f"The task {id} is {status}, and only a ready one can be taken", hint=rule.shown(id))
    told = prompt.text(task, board.context(id), spawned=True)
    return task, f"{told}\n{words}\n" if words else told


def name_for(place: paths.Place, task: Task) -> str:
    """The agent is called like its task; in later attempts with their number."""
    base, number = task.id[: names.LONGEST - 5].rstrip("-"), task.attempt + 1
    name = base if number == 1 else f"{base}-{number}"
    while disk.exists(place.agent_dir(name)):
        number += 1
        name = f"{base}-{number}"
    return name


def take(place: paths.Place, agent: str, id: str) -> None:
    """Who comes second gets nothing: the claim is of the board, not of what was seen before."""
    board = opening.opened(place)
    try:
        task = board.claim_task(id, Claimer(agent, holdings.LEASE))
    finally:
        board.close()
    agent_meta.change(place, agent, task={"id": id, "attempt": task.attempt, "board": opening.mark_of(place)})
    holdings.watch_here(place)


def left(place: paths.Place, agent: str, merged: bool = False, reason: str = GONE) -> Iterator[str]:
    """What becomes of its tasks at its end, and what to say of each; what is finished by now stays finished. `merged`:
    by hand; that says nothing of what it has claimed by itself."""
    own, others = holdings.fence_of(place, agent), holdings.of(place, agent)
    if (own is None and not others) or not opening.is_there(place):
        return
    board = opening.opened(place)
    try:
        if own is not None and merged and ended(board, own, lambda: board.done([own], MERGED)[0]):
            yield f"The task {own.task_id} is done"
        elif own is not None and not merged:
            yield from released(board, own, reason)
        for one in others:
            yield from released(board, one.fence, reason)
    finally:
        board.close()


def released(board: Board, mine: Fence, reason: str) -> Iterator[str]:
    task = ended(board, mine, lambda: board.release(mine, reason))
    if task is not None:
        yield f"The task {task.id} is {rule.told(task.status)} again"


def ended(board: Board, mine: Fence, end: Callable[[], Task]) -> Task | None:
    """None: it is not held by this agent, in this attempt."""
    try:
        known = board.task(mine.task_id)
        return end() if known is not None and known.status == rule.CLAIMED else None
    except Lost:
        return None
