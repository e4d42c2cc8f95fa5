"""What the supervisor does besides publishing: it finishes what killed writers and edits left."""

from ibstatus.errors import IbError
from ibstatus.ops import hide, node
from ibstatus.store import checkup, displaced, events, messages, places, questions, queue

WRITER = "supervisor"


def tidy(place: places.Place, now: float) -> list[str]:
    """Returns what there is to say. Each part stands alone: one that fails does not keep the others from their turn."""
    said = []
    for part in (fold, close_tail, mend):
        try:
            part(place, now)
        except (OSError, IbError) as error:
            said.append(f"{part.__name__}: {getattr(error, 'message', '') or error}")
    return said


def fold(place: places.Place, now: float) -> None:
    events.fold(place, wait=False)


def close_tail(place: places.Place, now: float) -> None:
    queue.close_tail(place, now)


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
