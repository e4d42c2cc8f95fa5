"""The transcript that the client keeps of a session: where it is, and what it says as text."""

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from ibstatus.claude import transcript_text
from ibstatus.project import agent_meta, paths
from ibstatus.system.text import terminal

SESSION = 36  # a uuid; other files beside it are of subagents
LONGEST_LINE = 64 << 20
TAIL, FURTHER = 64 << 10, 1 << 20


def folder(config: str, cwd: str) -> str:
    """Where the client keeps the sessions that were begun in this directory."""
    return f"{config}/projects/{''.join(char if char.isascii() and char.isalnum() else '-' for char in cwd)}"


def configs(known: dict[str, Any]) -> list[str]:
    """The client's own folder, as the agent was started with; else as it is for us."""
    given = (known.get("config_dir"), os.environ.get("CLAUDE_CONFIG_DIR"), os.path.expanduser("~/.claude"))
    return list(dict.fromkeys(path for path in given if isinstance(path, str) and path.startswith("/")))


def path_of(place: paths.Place, agent: str) -> str:
    """The newest transcript of this agent, '' when there is none: `/clear` goes on in a new one."""
    return max(paths_of(place, agent, agent_meta.read(place, agent)), key=changed, default="")


def paths_of(place: paths.Place, agent: str, known: dict[str, Any]) -> list[str]:
    """All that were begun in its worktree, and that of its own session."""
    found: list[str] = []
    if known.get("worktree") is not False:
        for config in configs(known):
            found += sessions_in(folder(config, os.path.realpath(place.agent_dir(agent) + "/repo")))
    return found + own_paths(known)


def own_paths(known: dict[str, Any]) -> list[str]:
    """Of the session that it was started with, and would be taken up again."""
    session = known.get("session_id")
    if not isinstance(session, str) or not session or "/" in session:
        return []
    paths = [f"{each}/{session}.jsonl" for config in configs(known) for each in folders(config)]
    return [path for path in paths if os.path.isfile(path)]


def is_begun(path: str) -> bool:
    """Has anything been said in it? Killed at its start, a client leaves a file that tells of nothing but itself. One
    that cannot be read may hold anything."""
    try:
        with opened(path) as file:
            return any(transcript_text.is_said(raw) for raw in iter(lambda: file.readline(LONGEST_LINE), b""))
    except FileNotFoundError:
        return False
    except OSError:
        return True


def opened(path: str) -> BinaryIO:
    """Whatever an agent has put in its place: nobody waits for a pipe."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is no file")
    return os.fdopen(fd, "rb")


def folders(config: str) -> list[str]:
    try:
        return [entry.path for entry in os.scandir(config + "/projects") if entry.is_dir()]
    except OSError:
        return []


def sessions_in(path: str) -> list[str]:
    try:
        names = os.listdir(path)
    except OSError:
        return []
    return [f"{path}/{name}" for name in names if name.endswith(".jsonl") and len(name) == SESSION + len(".jsonl")]


def changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


class Reader:
    """Reads on from where it was; a last line that is still being written waits."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.offset = 0

    def lines(self) -> Iterator[bytes]:
        try:
            with opened(self.path) as file:
                file.seek(self.offset)
                while (raw := file.readline(LONGEST_LINE)).endswith(b"\n"):
                    self.offset = file.tell()
                    yield raw
        except OSError:
            return

    def text(self) -> Iterator[str]:
        """What each line says, where it says anything; a blank line stands between two."""
        for raw in self.lines():
            said = transcript_text.text_of(raw)
            if said:
                yield terminal.harmless(said)


def as_text(path: str, last: int | None = None) -> str:
    """The conversation; `last`: so many lines from its end."""
    kept: deque[str] = deque(maxlen=None if last is None else last + 2)
    for said in Reader(path).text():
        if said.startswith(transcript_text.UNDER) and kept:
            kept.pop()
        kept.extend([*said.rstrip("\n").split("\n"), ""])
    return terminal.last("\n".join(kept), last)


class Tail(NamedTuple):
    """The end of a transcript and when it was last written to; `why` it could not be read."""

    data: bytes
    changed: float
    why: str = ""


def tail(path: str) -> Tail:
    """Its last 64 KiB; more where nothing of the conversation stands in them: the client writes a whole prompt on one
    line between what is said."""
    try:
        with opened(path) as file:
            status = os.fstat(file.fileno())
            data = os.pread(file.fileno(), TAIL, max(0, status.st_size - TAIL))
            if status.st_size > TAIL and transcript_text.ending(data) is None:
                data = os.pread(file.fileno(), FURTHER, max(0, status.st_size - FURTHER))
            return Tail(data, status.st_mtime)
    except OSError as error:
        return Tail(b"", 0.0, f"the transcript cannot be read: {error.strerror}")
