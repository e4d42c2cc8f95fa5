"""What a killed command has left half done is finished or rolled back, before anything else is done to agents."""

from collections.abc import Callable
from importlib import import_module

from ibstatus.errors import IbError
from ibstatus.store import home, operations, places

# kind of operation → the module whose `recover(operation, say)` knows what to do
KINDS = {
    "spawn": "spawn",
    "kill": "retire",
    "merge": "merge",
    "move": "board_queue.moving",
    "undo": "undo",
    "pause": "pause",
    "resume": "pause",
}


def everything(place: places.Place, say: Callable[[str], None] = lambda text: None) -> None:
    """One that cannot be mended now stays, and is said; the others are mended all the same. In a repository that was
    copied they name the other's sessions and checkouts until it is parted from that."""
    if home.is_elsewhere(place):
        try:
            home.enter(place)
        except IbError as error:
            say(f"{error.message}: what was cut off stays as it is" + (f" ({error.cause})" if error.cause else ""))
            return
    for operation in operations.unfinished(place):
        module = KINDS.get(operation.kind)
        if module is None:
            say(f"{operation.agent}: a newer ib has left a {operation.kind} half done; it must finish it")
            continue
        try:
            import_module(f"ibstatus.ops.{module}").recover(operation, say)
        except Exception as error:
            why = error if isinstance(error, IbError | OSError) else repr(error)
            say(f"The {operation.kind} of {operation.agent} that was cut off could not be mended: {why}")
