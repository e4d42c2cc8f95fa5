"""The client's settings files: read, and the project's own one changed so that a save by somebody else is never lost.

<common git dir>/ib/touched/settings holds what `.claude/settings.local.json` was before our first touch.

The hooks that a settings file is to have here, and what stands in it now.
"""

import posix
import sys
import time
from collections.abc import Callable

import ibstatus
from ibstatus.claude import hooks_installed
from ibstatus.claude.hooks import command_lines, events, settings_edit
from ibstatus.claude.hooks.events import INTERCEPT, MAIN
from ibstatus.errors import IbError, quoted, refused
from ibstatus.project import config, originals, paths
from ibstatus.system import atomic, disk, jsonl
from ibstatus.system.text.splices import Splice
from ibstatus.system.userfiles import displaced
from ibstatus.system.userfiles import edit as user_file

NAME, SHARED = hooks_installed.FILES
MANAGED = ("/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json")
RECORD = "settings"
TRIES = 50
PAUSE = 0.02
SEEN_AFTER = (0.0, 0.03, 0.2)


def path_of(place: paths.Place) -> str:
    return place.root + NAME


def all_of(place: paths.Place) -> list[str]:
    """Every file that tells the client of hooks here, as far as we can see them."""
    return [path_of(place), place.root + SHARED, *filter(None, [hooks_installed.users()]), *MANAGED]


def content(path: str) -> bytes | None:
    """None when there is no such file."""
    try:
        return user_file.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refused(f"read {path}", error) from error


def known(place: paths.Place) -> originals.Touched | None:
    """What was noted. A note that cannot be read now is trouble: without it the old bytes would not come back."""
    path = originals.record(place, RECORD)
    try:
        head, _, before = disk.read_file(path).partition(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refused(f"read {path}", error) from error
    try:
        value = jsonl.decode(head.decode())
        existed, made_folder = value["existed"] is not False, value["made_folder"] is True
    except (ValueError, TypeError, KeyError):
        return None
    return originals.Touched(path_of(place), before if existed else None, b"", made_folder)


def note(place: paths.Place, before: bytes | None) -> None:
    """What the file is before the first touch. A folder that a killed install made counts as ours again."""
    noted = known(place)
    made = not disk.exists(folder_of(place)) or (noted is not None and noted.made_folder)
    value = {"existed": before is not None, "added": "", "made_folder": made}
    disk.make_dirs(place.safe + "/touched")
    atomic.put(originals.record(place, RECORD), jsonl.encode(value).encode() + b"\n" + (before or b""))


def forget(place: paths.Place, noted: originals.Touched) -> None:
    """Nothing of ours is in it any more: the folder goes if it was ours and is empty, and then the note."""
    originals.forgotten(place, RECORD, noted)


def folder_of(place: paths.Place) -> str:
    return path_of(place).rpartition("/")[0]


def change(place: paths.Place, edit: Callable[[bytes | None], bytes | None]) -> bool:
    """Put what `edit` makes of the file's bytes in their place; None is no file. False when that is the same."""
    path = path_of(place)
    try:
        bring_back(path)
        for _ in range(TRIES):
            data = content(path)
            new = edit(data)
            if new == data:
                return False
            if done(place, path, data, new, edit):
                return True
            time.sleep(PAUSE)
    except OSError as error:
        raise refused(f"change {path}", error) from error
    raise IbError(f"{path} keeps changing", hint="try again when its other writer is done")


def done(
    place: paths.Place,
    path: str,
    data: bytes | None,
    new: bytes | None,
    edit: Callable[[bytes | None], bytes | None],
) -> bool:
    """False: somebody else was there in between, look again."""
    if data is None:
        return new is not None and made(path, new)
    if new is None:
        return taken_away(path, data)
    return edited(place, path, edit)


def made(path: str, data: bytes) -> bool:
    """A new file, complete from its first moment; not over one that came meanwhile."""
    target = atomic.resolved(path)
    disk.make_dirs(path.rpartition("/")[0], 0o777)
    originals.clear_temps(target)  # those of killed ones: only one of us is here at a time
    folder, _, leaf = target.rpartition("/")
    temp = f"{folder}/.{leaf}.{posix.getpid():x}.ib-tmp"
    fd = disk.open(temp, disk.O_WRONLY | disk.O_CREAT | disk.O_EXCL | disk.O_CLOEXEC, 0o666)
    try:
        try:
            disk.write_all(fd, data)
            disk.fsync(fd)
        finally:
            disk.close(fd)
        return named(temp, target)
    finally:
        atomic.forget(temp)


def named(temp: str, target: str) -> bool:
    try:
        disk.link(temp, target)
    except FileExistsError:
        return False
    except PermissionError:  # a file system without hard links
        if disk.exists(target):
            return False
        disk.rename(temp, target)
    atomic.sync_folder(target.rpartition("/")[0])
    return True


def edited(place: paths.Place, path: str, edit: Callable[[bytes | None], bytes | None]) -> bool:
    again = False

    def splice(text: bytes) -> Splice | None:
        nonlocal again
        new = edit(text)
        again = new is None
        return None if new is None or new == text else Splice(0, len(text), new)

    desk = place.home + "/tmp"
    how = user_file.edit(path, splice, desk=desk)
    if how.how in ("busy", "held"):
        status = disk.stat(path)
        hint = f"ls -l {quoted(path)}" if status.st_mode & user_file.OWNER_WRITES else f"chmod u+w {quoted(path)}"
        raise IbError(f"{path} could not be changed", cause=how.note, hint=hint)
    if how.how == "gone" or again:
        return False
    if how.how != "same":
        touch(path)
        displaced.look(desk, time.time())
    return True


def touch(path: str) -> None:
    """An edit puts the old time back, and the client goes by that: a session would not see that its hooks are new.

    Twice, for it watches the file that was swapped out until it has heard of the first."""
    for wait in SEEN_AFTER:
        time.sleep(wait)
        try:
            disk.utime(atomic.resolved(path))
        except OSError:
            return  # somebody replaced or removed it, which is seen as well


def aside_of(path: str) -> str:
    folder, _, leaf = atomic.resolved(path).rpartition("/")
    return f"{folder}/.{leaf}.ib-aside"


def taken_away(path: str, expected: bytes) -> bool:
    """Out of the way first, then looked at: what somebody saved in between comes back."""
    aside = aside_of(path)
    try:
        disk.rename(atomic.resolved(path), aside)
    except FileNotFoundError:
        return False
    if user_file.read(aside) == expected:
        disk.unlink(aside)
        return True
    bring_back(path)
    return False


def bring_back(path: str) -> None:
    """What a killed one had moved out of the way; a file that somebody made meanwhile is newer."""
    aside = aside_of(path)
    if not disk.exists(aside):
        return
    try:
        disk.link(aside, atomic.resolved(path))
    except FileExistsError:
        pass
    except PermissionError:
        disk.rename(aside, atomic.resolved(path))
        return
    disk.unlink(aside)


BOM = "\ufeff"
TITLES_KEY = "tmux.titles"


def here() -> command_lines.Program:
    """The python that runs now, and the stub of this package."""
    stub = ibstatus.__path__[0] + "/hooks/stub.py"
    if not sys.executable.startswith("/") or not stub.startswith("/"):
        raise IbError("Python does not say where it is, so no hook could start it", hint="run ib by its full path")
    if not jsonl.is_unicode(sys.executable + stub):
        raise IbError(f"A settings file cannot name {stub}: it is not UTF-8", hint="install ib into another folder")
    return sys.executable, stub


def titles_of(place: paths.Place) -> str:
    """When window titles change here."""
    return str(config.value(place, TITLES_KEY))


def wanted(place: paths.Place, kind: str = MAIN) -> list[events.Wanted]:
    return events.wanted(here(), kind, titles_of(place))


def values_of(place: paths.Place, path: str) -> object:
    """Of a file that may be broken, or not ours to read: nothing."""
    try:
        return strict_values(place, content(path))
    except IbError:
        return None


def strict_values(place: paths.Place, data: bytes | None) -> object:
    text, _ = text_of(place, data)
    try:
        return settings_edit.values_of(text)
    except settings_edit.Unfit as unfit:
        raise refusal(place, text, unfit) from None


def text_of(place: paths.Place, data: bytes | None) -> tuple[str, str]:
    """(the text, the byte order mark before it)."""
    try:
        text = (data or b"").decode()
    except UnicodeDecodeError as error:
        before = (data or b"")[: error.start].decode("utf-8", "replace")
        raise refusal(place, before, settings_edit.Unfit("this is not UTF-8", len(before))) from None
    return text.removeprefix(BOM), BOM if text.startswith(BOM) else ""


def refusal(place: paths.Place, text: str, unfit: settings_edit.Unfit) -> IbError:
    path = path_of(place)
    line = text.count("\n", 0, unfit.at) + 1
    column = unfit.at - text.rfind("\n", 0, unfit.at)
    return IbError(
        f"{path} cannot be changed, and was left alone",
        cause=f"line {line}, column {column}: {unfit.why}",
        hint=f"mend it (Claude Code cannot read it either), then run the command again: ${{EDITOR:-vi}} +{line} "
        + quoted(path),
    )


def intercepts_tasks(place: paths.Place) -> bool:
    """Is the hook installed that makes workers of a manager's Tasks? False where the file cannot be read."""
    values = values_of(place, path_of(place))
    return events.state_of(values, wanted(place, INTERCEPT), INTERCEPT) == "installed"
