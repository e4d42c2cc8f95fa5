"""What a killed command has left half done is finished or rolled back, before anything else is done to agents."""

from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any

from ibstatus.errors import IbError
from ibstatus.project import home, operations, paths

# kind of operation → the function that knows what to do; most stand above this module, so they are loaded by name
KINDS = {
    "spawn": "ibstatus.agents.spawn:recover",
    "kill": "ibstatus.agents.retire:recover",
    "merge": "ibstatus.merge.merge:recover",
    "move": "ibstatus.merge.queue.entry:recover",
    "undo": "ibstatus.agents.undo.undo:recover",
    "pause": "ibstatus.agents.pause:recover",
    "resume": "ibstatus.agents.pause:recover",
}
TAKE_BACK = "ibstatus.merge.revert:take_back"


def everything(place: paths.Place, say: Callable[[str], None] = lambda text: None) -> None:
    """One that cannot be mended now stays, and is said; the others are mended all the same. In a repository that
    lies at another path than before nothing is: what is noted may name the sessions and checkouts of the original."""
    if home.is_elsewhere(place):
        try:
            home.enter(place)
        except IbError as error:
            say(f"{error.message}: what was cut off stays as it is" + (f" ({error.cause})" if error.cause else ""))
            return
    for operation in operations.unfinished(place):
        name = KINDS.get(operation.kind)
        if name is None:
            say(f"{operation.agent}: a newer ib has left a {operation.kind} half done; it must finish it")
            continue
        try:
            resolve_name(name)(operation, say)
        except Exception as error:
            why = error if isinstance(error, IbError | OSError) else repr(error)
            say(f"The {operation.kind} of {operation.agent} that was cut off could not be mended: {why}")


def take_back_merge(place: paths.Place, facts: dict[str, Any], say: Callable[[str], None]) -> None:
    """The merge that an undo takes back first; `facts` are what the merge has noted of itself."""
    resolve_name(TAKE_BACK)(place, facts, say)
