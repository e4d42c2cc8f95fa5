"""Which ib the plugin's hooks run: two lines, python and stub, in the user's folder for state.

`${XDG_STATE_HOME:-~/.local/state}/ib/program`, written by `ib init` and `ib hooks install`, read by hooks/run.
"""

import posix

from ibstatus.project import config
from ibstatus.system import atomic, disk

Program = tuple[str, str]


def path() -> str:
    """'' for a user without a home directory."""
    state = posix.environ.get(b"XDG_STATE_HOME", b"").decode("utf-8", "surrogateescape")
    if not state.startswith("/"):
        home = config.home_folder()
        state = home and home + "/.local/state"
    return state and state.rstrip("/") + "/ib/program"


def read() -> Program | None:
    """None when nothing is written down that exists."""
    try:
        python, stub, *rest = disk.read_file(path()).decode("utf-8", "surrogateescape").split("\n")
    except (OSError, ValueError):
        return None
    good = rest == [""] and all(one.startswith("/") and disk.exists(one) for one in (python, stub))
    return (python, stub) if good else None


def write(program: Program) -> bool:
    """Best effort: without it the plugin says how to install, and everything else works."""
    if not path() or any(not one.startswith("/") or "\n" in one for one in program):
        return False
    if read() == program:
        return True
    try:
        disk.make_dirs(path().rpartition("/")[0])
        atomic.put(path(), "".join(f"{one}\n" for one in program).encode("utf-8", "surrogateescape"))
    except OSError:
        return False
    return True
