"""hooks: put ours into the project's settings of Claude Code, and take them out again.

When tmux.titles is changed, hooks that are installed here follow it.

Which ib the plugin's hooks run: two lines, python and stub, in the user's folder for state.

`${XDG_STATE_HOME:-~/.local/state}/ib/program`, written by `ib init` and `ib hooks install`, read by hooks/run.
"""

import os
import posix
import sys
from shlex import quote

import msgspec

import ibstatus
from ibstatus.claude import hooks_installed
from ibstatus.claude.hooks import command_lines, events, settings_edit, settings_file
from ibstatus.claude.hooks.events import MAIN, Wanted
from ibstatus.claude.hooks.settings_file import BOM, here, refusal, strict_values, text_of, values_of
from ibstatus.errors import IbError
from ibstatus.mail import bells, wake_state
from ibstatus.project import config, git_exclude, home, identity, originals, paths
from ibstatus.setup import hook_status
from ibstatus.setup.hook_status import KINDS, off_in
from ibstatus.system import atomic, disk, locks
from ibstatus.system.git import run
from ibstatus.titles import titles
from ibstatus.titles.machine import OFF, STOP_ONLY


class Installed(msgspec.Struct, frozen=True):
    """What an install or uninstall did. `found`: was there a file; `kept_out_by`: what we had to tell git for that."""

    file: str
    changed: bool
    found: bool = True
    removed_file: bool = False
    kept_out_by: str = ""
    notes: list[str] = []


def install(place: paths.Place, caller: identity.Caller, kind: str = MAIN) -> Installed:
    """Once more is fine: what is missing comes in, what is of another version is brought up to date."""
    refuse_agent(place, caller)
    here()  # what has no place is refused before anything is made
    home.enter(place)
    remember()
    compiled()
    with locks.Lock(place.lock("setup")):
        changed = put_in(place, settings_file.wanted(place, kind), kind)
        kept_out_by, notes = out_of_sight(place)
    path = settings_file.path_of(place)
    notes += doubts(place, values_of(place, path))
    return Installed(path, changed, kept_out_by=kept_out_by, notes=notes)


def put_in(place: paths.Place, wanted: list[Wanted], kind: str) -> bool:
    """What the file was is noted first, and again when somebody saved it in between."""
    before = before_of(place)
    seen = based = settings_file.content(settings_file.path_of(place))
    if renewed(place, seen, wanted, kind, before)[1]:
        settings_file.note(place, seen)

    def edit(data: bytes | None) -> bytes | None:
        nonlocal based
        new, bare = renewed(place, data, wanted, kind, before)
        based = data if bare else based
        return new

    changed = settings_file.change(place, edit)
    if based != seen:
        settings_file.note(place, based)
    return changed


def renewed(
    place: paths.Place, data: bytes | None, wanted: list[Wanted], kind: str, before: str | None
) -> tuple[bytes | None, bool]:
    """(the file's new bytes, was there nothing of ours in it before)."""
    text, mark = text_of(place, data)
    try:
        bare = not events.ours(settings_edit.values_of(text))
        made = settings_edit.with_hooks(text, wanted, kind, text if bare else before or "")
    except settings_edit.Unfit as unfit:
        raise refusal(place, text, unfit) from None
    return (data if made == text else (mark + made).encode()), bare


def remember() -> None:
    """Which ib the plugin is to run. Not worth a failure."""
    try:
        write(here())
    except IbError:
        return


def compiled() -> None:
    """So that no hook has to compile what it imports; where that is not allowed, each does so."""
    import compileall

    prefix, sys.pycache_prefix = sys.pycache_prefix, None  # hooks run isolated, and look beside the source
    try:
        compileall.compile_dir(ibstatus.__path__[0], quiet=2)
    except OSError:
        return
    finally:
        sys.pycache_prefix = prefix


def uninstall(place: paths.Place, caller: identity.Caller, kind: str = MAIN) -> Installed:
    refuse_agent(place, caller)
    path = settings_file.path_of(place)
    data, noted = settings_file.content(path), settings_file.known(place)
    if noted is None and (data is None or not events.ours(strict_values(place, data))):
        done = Installed(path, False, found=data is not None, notes=old_entries(values_of(place, path)))
    else:
        home.enter(place)
        with locks.Lock(place.lock("setup")):
            done = taken_out(place, (kind,))
    if kind == MAIN:
        titles.give_back(place.root)  # in any case: the one before may have been killed right here
    return done


def taken_out(place: paths.Place, kinds: tuple[str, ...]) -> Installed:
    """Under the setup lock."""
    path = settings_file.path_of(place)
    noted, before = settings_file.known(place), before_of(place)

    def edit(data: bytes | None) -> bytes | None:
        text, mark = text_of(place, data)
        rest: str | None = text
        try:
            for kind in kinds if data is not None else ():
                rest = rest if rest is None else settings_edit.without_hooks(rest, kind, before)
        except settings_edit.Unfit as unfit:
            raise refusal(place, text, unfit) from None
        return data if rest == text else None if rest is None else (mark + rest).encode()

    changed = settings_file.change(place, edit)
    left = settings_file.content(path)
    values = values_of(place, path)
    if changed and MAIN in kinds:
        wake_state.disarm(place)
        bells.ring(place.bells)  # a waiter looks, and leaves
    if noted is not None and not events.ours(values):
        settings_file.forget(place, noted)
        git_exclude.remove_settings(place)
    gone = changed and left is None
    return Installed(path, changed, left is not None or changed, gone, notes=old_entries(values))


def take_out(place: paths.Place) -> originals.Touched | None:
    """For `ib uninstall`: all of ours. None: nothing of this file was ours. A broken file that names us is an error."""
    noted = settings_file.known(place)
    data = settings_file.content(settings_file.path_of(place))
    if noted is None and command_lines.STUB.encode() not in (data or b""):
        return None
    if data is not None and command_lines.STUB.encode() not in data and is_broken(place, data):
        return None  # the user's own trouble: nothing of ours is in it
    taken_out(place, KINDS)
    return noted


def is_broken(place: paths.Place, data: bytes) -> bool:
    try:
        strict_values(place, data)
    except IbError:
        return True
    return False


def before_of(place: paths.Place) -> str | None:
    """The text from before the first touch; None when there was no file."""
    noted = settings_file.known(place)
    if noted is None:
        return settings_edit.UNKNOWN
    return None if noted.before is None else noted.before.decode("utf-8", "replace").removeprefix(BOM)


def out_of_sight(place: paths.Place) -> tuple[str, list[str]]:
    """git should not show a file that is for this machine alone; what is committed is another matter.

    (where a line of ours keeps it out, what there is to warn of)."""
    name, where = settings_file.NAME[1:], git_exclude.path_of(place)
    if run.tracks(place.root, name):
        return "", [f"git tracks {name} and will show this change; what stands in it is for this machine alone"]
    if run.ignores(place.root, name) is not False:
        return (where if git_exclude.has_settings(place) else ""), []
    if not git_exclude.add_settings(place):
        return "", [f"{where} could not be written, so git shows {name} as untracked"]
    return where, []


def agent_here() -> str:
    try:
        return paths.here().agent
    except IbError:
        return ""


def runs_anyway(hook: str) -> bool:
    """Does the client that calls this by an entry of the bash tool run our own entry for it too?"""
    try:
        place = paths.find(os.environ.get("CLAUDE_PROJECT_DIR", ""))
    except IbError:
        return False
    return not place.agent and hooks_installed.installed(hook, place.root)


def doubts(place: paths.Place, values: object) -> list[str]:
    off = off_in(place)
    said = [f"{off} has disableAllHooks, so none of them runs"] if off else []
    return said + old_entries(values)


def old_entries(values: object) -> list[str]:
    """Entries that somebody else wrote are theirs, but two of a kind run twice."""
    old = events.by_hand(values)
    if not old:
        return []
    return ["the entries of the bash tool stay: " + "; ".join(f"{event}: {command}" for event, command in old)]


def refuse_agent(place: paths.Place, caller: identity.Caller) -> None:
    if caller.kind == identity.AGENT:
        raise IbError(
            f"An agent cannot change the hooks of its repository, and this is the worktree of {caller.name}",
            hint=f"in the main checkout: cd {quote(place.root)} && ib hooks status",
        )


KEY = settings_file.TITLES_KEY
ELSEWHERE = f"In a repository with hooks, they follow it by: {hook_status.INSTALL}"
NONE_YET = f"No title changes before hooks are installed: {hook_status.INSTALL}"
PLUGIN_ONLY = f"The plugin's hooks know no other mode than {STOP_ONLY}: {hook_status.INSTALL}"


def follow(place: paths.Place, for_all: bool) -> str:
    """What there is to say, or ''. `for_all`: it was changed in all repositories of the user; `place` may be none."""
    if not disk.exists(place.common):
        return ELSEWHERE
    try:
        changed = brought_up(place)
    except IbError as error:
        return f"The hooks here could not follow: {error.message}. Then: {hook_status.INSTALL}"
    mode = settings_file.titles_of(place)
    windows = titles.give_back(place.root) if mode == OFF else 0
    said = [f"The hooks in {settings_file.path_of(place)} follow it"] if changed else lacking(place, mode)
    said += [f"{windows} window{'s have' if windows > 1 else ' has'} the old name back"] if windows else []
    said += [f"in other repositories: {hook_status.INSTALL}"] if for_all and changed else []
    return "; ".join(said)


def lacking(place: paths.Place, mode: str) -> list[str]:
    """What keeps titles from changing as this mode wants it."""
    known = hook_status.status(place)
    if mode == OFF or known.status != "not-installed":
        return []
    if known.plugin:
        return [] if mode == STOP_ONLY else [PLUGIN_ONLY]
    return [NONE_YET]


def brought_up(place: paths.Place) -> bool:
    """Under the lock the mode is read once more: of two changes at once the later one counts. What the user took out
    of our hooks stays out."""
    if not keys(place):
        return False
    home.enter(place)
    with locks.Lock(place.lock("setup")):
        there = keys(place)
        kept = [one for one in settings_file.wanted(place) if one.hook == events.TITLES or one.key in there]
        return bool(there) and put_in(place, kept, events.MAIN)


def keys(place: paths.Place) -> set[tuple[str, str]]:
    """(event, hook) of what stands in the settings. A broken file without ours is the user's own trouble."""
    data = settings_file.content(settings_file.path_of(place))
    if command_lines.STUB.encode() not in (data or b""):
        return set()
    mine = events.ours(settings_file.strict_values(place, data))
    return {(one.event, one.hook) for one in mine if events.is_of(events.MAIN, one.hook)}


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
