"""What the supervisor does besides publishing: it finishes what killed writers and edits left."""

from collections.abc import Callable, Sequence

from ibstatus.agents import recover as recovery
from ibstatus.agents import session
from ibstatus.errors import logged
from ibstatus.mail import messages, questions, queue
from ibstatus.model.fleet import Agent
from ibstatus.node import hide_from_git, node
from ibstatus.project import events, paths
from ibstatus.setup import doctor_files
from ibstatus.state import session_end
from ibstatus.system.userfiles import displaced

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


def tidy(place: paths.Place, agents: Sequence[Agent], now: float) -> list[str]:
    """Returns what there is to say. Each part stands alone: one that fails does not keep the others from their turn."""
    said: list[str] = []
    parts: tuple[Callable[[], object], ...] = (
        lambda: fold(place),
        lambda: queue.close_tail(place, now),
        lambda: mend(place, now),
        lambda: recovery.everything(place, said.append),
        lambda: said.extend(session.mend(place)),
        lambda: session_end.catch_up(place, agents),
        lambda: hide_from_git.show_text(place),
    )
    for name, part in zip(PARTS, parts, strict=True):
        try:
            part()
        except Exception as error:
            said.append(f"{name}: {logged(error)}")
    return said


def fold(place: paths.Place) -> None:
    events.fold(place, wait=False)


def mend(place: paths.Place, now: float) -> None:
    """Queue lines and answers that a killed `ib send` or `ib answer` still owes."""
    if doctor_files.unqueued(place):
        messages.mend_owed(place, WRITER, now)
        questions.mend_owed(place, WRITER, now)


def look_at_displaced(place: paths.Place, now: float) -> list[str]:
    return displaced.look(node.desk_of(place), now)


def recover(place: paths.Place) -> list[str]:
    """What a killed edit left: a person's save that was displaced, a half-made file, a lock of the index."""
    hide_from_git.recover(place)
    return displaced.recover(node.desk_of(place))
