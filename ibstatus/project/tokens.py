"""agents/<id>/token: what proves, wherever a process stands, that it runs in this agent's session."""

import posix

from ibstatus.project import names
from ibstatus.system import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ID, TOKEN = b"IB_AGENT_ID", b"IB_AGENT_TOKEN"
LONGEST = 200


def make(path: str) -> None:
    fd = disk.open(path, disk.O_WRONLY | disk.O_CREAT | disk.O_EXCL | disk.O_CLOEXEC, 0o600)
    try:
        disk.write_all(fd, fresh())
    finally:
        disk.close(fd)


def renew(path: str) -> None:
    """Another one, put in place of the old one in one step."""
    from ibstatus.system import atomic

    atomic.put(path, fresh())


def fresh() -> bytes:
    return posix.urandom(16).hex().encode() + b"\n"


def of(path: str) -> bytes:
    """b'' for an agent without one: made by hand, or by an older tool."""
    try:
        return disk.read_ours(path, LONGEST).strip()
    except OSError:
        return b""


def claimed() -> bool:
    """Does this process say that it runs for an agent? A script of the user's gets the name alone, without Claude."""
    return TOKEN in posix.environ or (ID in posix.environ and b"CLAUDECODE" in posix.environ)


def bearer(path_of: "Callable[[str], str]") -> str:
    """The agent whose token this process carries; '' when it carries none that is right where `path_of` has them."""
    agent = posix.environ.get(ID, b"").decode("ascii", "replace")
    carried = posix.environ.get(TOKEN, b"")
    fine = carried and names.is_agent_id(agent) and of(path_of(agent)) == carried
    return agent if fine else ""
