"""Which names are legal: for agents, for senders, for the files of cursors."""

from ibstatus.model import constants

LOWER = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
LOOSE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
FILE = LOOSE | {"."}
LONGEST = 40
LONGEST_FILE = 80
TEMPORARY = ".ib-tmp"


def is_agent_id(name: str) -> bool:
    """An id that a new agent may have: [a-z0-9][a-z0-9-]{0,39}, and no reserved word."""
    return 0 < len(name) <= LONGEST and name[0] != "-" and LOWER.issuperset(name) and name not in constants.RESERVED


def is_sender(name: str) -> bool:
    """A name that may stand in `from`: ids of older tools and reserved words too. No dot, so ids stay unique."""
    return 0 < len(name) <= LONGEST and name[0] not in "-_" and LOOSE.issuperset(name)


def in_id(name: str) -> str:
    """A name as it stands in an id: an older tool's agent may hold a dot, which would pass for our `.2`."""
    return name if LOOSE.issuperset(name) else "".join([char if char in LOOSE else "-" for char in name])


def cursor_file(session: str) -> str:
    """The file name of a session's cursor; a session id is foreign text and may hold anything."""
    plain = 0 < len(session) <= LONGEST_FILE and session[0] != "." and FILE.issuperset(session)
    if plain and session != constants.DEFAULT_READER and not session.endswith(TEMPORARY):
        return session
    data = session.encode("utf-8", "surrogatepass")
    return "x@" + (data.hex() if len(data) <= LONGEST_FILE else f"{data[:64].hex()}-{mixed(data):016x}")


def mixed(data: bytes) -> int:
    """64-bit FNV-1a: keeps long session ids with the same beginning apart."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def listener_file(session: str) -> str:
    """The cursor of `ib listen` in a session without a voice: `@` keeps it apart from the voice's own."""
    return "listen@" + cursor_file(session)


def meant(given: str, known: "list[str]") -> "list[str]":
    """Which of the known ids an id, or the beginning of one, can mean; an exact match wins."""
    return [given] if given in known else [name for name in known if given and name.startswith(given)]
