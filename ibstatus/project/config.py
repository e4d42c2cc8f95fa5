""".ittybitty.json of the project and of the user: read, and changed without touching anything but one value.

Other code asks for one setting: `config.value(place, "maxAgents")`. It never fails: a file that cannot be read counts
as empty, and `ib config`, `ib doctor` and `problems` say so.
"""

import posix
import time

from ibstatus.errors import IbError, refused
from ibstatus.project import paths, settings
from ibstatus.system import atomic, disk, jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

NAME = "/.ittybitty.json"
MARK = "\ufeff"  # the byte order mark that some editors put first
PATIENCE = 10
TRIES = 50


class File:
    """One file as it was read. `text` is without the byte order mark; `data` is None when there is no file."""

    __slots__ = ("data", "path", "source", "text", "values")

    def __init__(self, source: str, path: str, data: bytes | None) -> None:
        self.source = source
        self.path = path
        self.data = data
        self.text = decoded(path, data or b"")
        self.values = parsed(path, self.text)

    def layer(self) -> settings.Layer:
        return settings.Layer(self.source, self.path, self.values)


def value(place: paths.Place, name: str) -> "Any":
    """What this key is set to, in the type that rules/settings gives it."""
    return load(place).value(name)


def load(place: paths.Place) -> settings.Settings:
    """For hooks and commands that must go on: a broken file counts as empty and stands in `broken`."""
    layers, broken = [], []
    for source in sources(place):
        try:
            layers.append(read(place, source).layer())
        except IbError as error:
            broken.append(f"{error.message} ({error.cause}); it is left out, the defaults are used")
    return settings.settled(layers, broken)


def sources(place: paths.Place) -> tuple[str, ...]:
    """The files by rank; only one where the repository is the home directory."""
    if joined(place):
        return (settings.PROJECT,)
    return (settings.PROJECT, settings.USER)


def joined(place: paths.Place) -> bool:
    """Are both names of one file?"""
    user = user_path()
    return bool(user) and atomic.resolved(path_of(place, settings.PROJECT)) == atomic.resolved(user)


def problems(place: paths.Place) -> list[str]:
    """What is wrong in the two files, a sentence each."""
    from ibstatus.project.rules import settings_text

    known = load(place)
    return known.broken + [text for layer in known.layers for text in settings_text.problems(layer)]


def read(place: paths.Place, source: str) -> File:
    """The file of this rank; IbError with line and column when it is broken."""
    path = path_of(place, source)
    return File(source, path, content(path) if path else None)


def path_of(place: paths.Place, source: str) -> str:
    return place.root + NAME if source == settings.PROJECT else user_path()


def user_path() -> str:
    """'' for a user without a home directory."""
    folder = home_folder()
    return folder + NAME if folder else ""


def home_folder() -> str:
    folder = posix.environ.get(b"HOME", b"").decode("utf-8", "surrogateescape")
    if not folder.startswith("/"):
        import pwd

        try:
            folder = pwd.getpwuid(posix.getuid()).pw_dir
        except KeyError:
            return ""
    return folder.rstrip("/")


def content(path: str) -> bytes | None:
    try:
        return disk.read_file(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refused(f"read {path}", error) from error


def decoded(path: str, data: bytes) -> str:
    try:
        return data.decode().removeprefix(MARK)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace").removeprefix(MARK)
        raise broken(path, before, len(before), "this is not UTF-8") from None


def parsed(path: str, text: str) -> "dict[str, Any]":
    """An empty file is an empty configuration."""
    if not text.strip(jsonl.BLANK):
        return {}
    try:
        values = jsonl.decode(text)
    except jsonl.NotJson as error:
        raise broken(path, text, error.at, error.why[:1].lower() + error.why[1:]) from None
    if not isinstance(values, dict):
        raise broken(path, text, len(text) - len(text.lstrip(jsonl.BLANK)), "an object was expected: { … }")
    return values


def broken(path: str, text: str, at: int, why: str) -> IbError:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return IbError(
        f"{path} is not valid JSON",
        cause=f"line {line}, column {column}: {why}",
        hint="mend that line by hand; nothing was changed, and until then hooks use the defaults",
    )


def change(place: paths.Place, source: str, edit: "Callable[[File], str]") -> bool:
    """Put what `edit` makes of the file's text in its place; False when that is the same. Nobody's change is lost."""
    path = path_of(place, source)
    if not path:
        raise IbError("There is no home directory to keep settings in", hint="set HOME")
    try:
        with locked(place, source):
            for _ in range(TRIES):
                file = File(source, path, content(path))
                text = edit(file)
                if text == file.text:
                    return False
                if put(file, text):
                    return True
    except OSError as error:
        raise refused(f"change {path}", error) from error
    raise IbError(f"{path} keeps changing", hint="try again when its other writer is done")


def put(file: File, text: str) -> bool:
    """False when an editor has saved the file meanwhile."""
    marked = file.data is not None and file.data.decode().startswith(MARK)
    data = ((MARK if marked else "") + text).encode()
    if not atomic.replace(file.path, data, lambda: content(file.path) == file.data):
        return False
    try:
        if file.data is None and file.source == settings.PROJECT:
            disk.chmod(file.path, 0o666 & ~umask())  # it is meant to be committed: as readable as any file here
        # temp files of a killed change would lie beside the user's own files for ever
        atomic.sweep(atomic.resolved(file.path).rpartition("/")[0], time.time())
    except OSError:
        pass  # the change itself is made
    return True


def umask() -> int:
    mask = posix.umask(0o077)
    posix.umask(mask)
    return mask


def locked(place: paths.Place, source: str) -> "AbstractContextManager[object]":
    """The lock of the file; one for both when the home directory is the repository, or a link joins the two."""
    from filelock import FileLock, Timeout

    path = user_lock() if source == settings.USER or joined(place) else project_lock(place)
    disk.make_dirs(path.rpartition("/")[0])
    lock = FileLock(path, mode=0o600)
    try:
        return lock.acquire(timeout=PATIENCE, poll_interval=0.02)
    except Timeout:
        raise IbError(f"Another ib config has held its lock for {PATIENCE} seconds", hint=f"fuser -v {path}") from None


def project_lock(place: paths.Place) -> str:
    from ibstatus.project import home

    home.enter(place)
    return place.lock("config")


def user_lock() -> str:
    """In the user's state folder, where a lock file bothers nobody; it is never removed, as no lock is."""
    state = posix.environ.get(b"XDG_STATE_HOME", b"").decode("utf-8", "surrogateescape")
    if not state.startswith("/"):
        state = home_folder() + "/.local/state"
    return state.rstrip("/") + "/ib/config.lock"
