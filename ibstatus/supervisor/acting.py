"""What the supervisor does besides publishing: it finishes what killed writers and edits left."""

from collections.abc import Callable, Sequence

from ibstatus.errors import logged
from ibstatus.model.records import Agent
from ibstatus.ops import agent_files, hide, node, session_end
from ibstatus.ops import recover as recovery
from ibstatus.store import checkup, displaced, events, messages, places, questions, queue

WRITER = "supervisor"
PARTS = (
    "the history",
    "the queue",
    "the mail",
    "what was cut off",
    "agents' files",
    "ended sessions",
    "git's exclude file",
)


def tidy(place: places.Place, agents: Sequence[Agent], now: float) -> list[str]:
    """Returns what there is to say. Each part stands alone: one that fails does not keep the others from their turn."""
    said: list[str] = []
    parts: tuple[Callable[[], object], ...] = (
        lambda: fold(place),
        lambda: queue.close_tail(place, now),
        lambda: mend(place, now),
        lambda: recovery.everything(place, said.append),
        lambda: said.extend(agent_files.mend(place)),
        lambda: session_end.catch_up(place, agents),
        lambda: hide.show_text(place),
    )
    for name, part in zip(PARTS, parts, strict=True):
        try:
            part()
        except Exception as error:
            said.append(f"{name}: {logged(error)}")
    return said


def fold(place: places.Place) -> None:
    events.fold(place, wait=False)


def mend(place: places.Place, now: float) -> None:
    """Queue lines and answers that a killed `ib send` or `ib answer` still owes."""
    if checkup.unqueued(place):
        messages.mend_owed(place, WRITER, now)
        questions.mend_owed(place, WRITER, now)


def look_at_displaced(place: places.Place, now: float) -> list[str]:
    return displaced.look(node.desk_of(place), now)


def recover(place: places.Place) -> list[str]:
    """What a killed edit left: a person's save that was displaced, a half-made file, a lock of the index."""
    hide.recover(place)
    return displaced.recover(node.desk_of(place))
