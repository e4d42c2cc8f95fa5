"""`ib list --json` while a supervisor keeps its snapshot true: read and printed, without click."""

import time

from ibstatus.errors import refused, told
from ibstatus.project import paths
from ibstatus.state import snapshot_fresh
from ibstatus.system import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.errors import IbError


def run(argv: list[str]) -> int | None:
    """The exit code; None when there is more to do than to print, or anything to say: click does all of it."""
    try:
        text = found()
    except KeyboardInterrupt:
        return 130
    except Exception:
        return None
    return None if text is None else printed(argv[0], text)


def found() -> str | None:
    import ibstatus

    place = paths.here()
    return None if place.stranger else snapshot_fresh.listed(place, ibstatus.__version__, time.time())


def printed(name: str, text: str) -> int:
    try:
        disk.write_all(1, text.encode())
    except BrokenPipeError:
        return 0
    except OSError as error:
        return fail(refused(f"finish ib {name}", error))
    except KeyboardInterrupt:
        return 130
    return 0


def fail(error: "IbError") -> int:
    try:
        disk.write_all(2, told(error).encode("utf-8", "replace"))
    except OSError:
        pass
    return error.code
