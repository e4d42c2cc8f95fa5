"""hooks: put ours into the project's settings of Claude Code, and take them out again."""

import os
import sys
from shlex import quote

import msgspec

import ibstatus
from ibstatus.drivers import git
from ibstatus.errors import IbError
from ibstatus.ops import titles
from ibstatus.ops.hook_status import KINDS, off_in
from ibstatus.rules import hook_commands, hook_edits, hook_settings, identity
from ibstatus.rules.hook_settings import MAIN, Wanted
from ibstatus.store import (
    bells,
    client_settings,
    exclude,
    home,
    hook_marks,
    locks,
    places,
    program,
    rungs,
    touched,
    wanted_hooks,
)
from ibstatus.store.wanted_hooks import BOM, here, refusal, strict_values, text_of, values_of


class Installed(msgspec.Struct, frozen=True):
    """What an install or uninstall did. `found`: was there a file; `kept_out_by`: what we had to tell git for that."""

    file: str
    changed: bool
    found: bool = True
    removed_file: bool = False
    kept_out_by: str = ""
    notes: list[str] = []


def install(place: places.Place, caller: identity.Caller, kind: str = MAIN) -> Installed:
    """Once more is fine: what is missing comes in, what is of another version is brought up to date."""
    refuse_agent(place, caller)
    here()  # what has no place is refused before anything is made
    home.enter(place)
    remember()
    compiled()
    with locks.Lock(place.lock("setup")):
        changed = put_in(place, wanted_hooks.wanted(place, kind), kind)
        kept_out_by, notes = out_of_sight(place)
    path = client_settings.path_of(place)
    notes += doubts(place, values_of(place, path))
    return Installed(path, changed, kept_out_by=kept_out_by, notes=notes)


def put_in(place: places.Place, wanted: list[Wanted], kind: str) -> bool:
    """What the file was is noted first, and again when somebody saved it in between."""
    before = before_of(place)
    seen = based = client_settings.content(client_settings.path_of(place))
    if renewed(place, seen, wanted, kind, before)[1]:
        client_settings.note(place, seen)

    def edit(data: bytes | None) -> bytes | None:
        nonlocal based
        new, bare = renewed(place, data, wanted, kind, before)
        based = data if bare else based
        return new

    changed = client_settings.change(place, edit)
    if based != seen:
        client_settings.note(place, based)
    return changed


def renewed(
    place: places.Place, data: bytes | None, wanted: list[Wanted], kind: str, before: str | None
) -> tuple[bytes | None, bool]:
    """(the file's new bytes, was there nothing of ours in it before)."""
    text, mark = text_of(place, data)
    try:
        bare = not hook_settings.ours(hook_edits.values_of(text))
        made = hook_edits.with_hooks(text, wanted, kind, text if bare else before or "")
    except hook_edits.Unfit as unfit:
        raise refusal(place, text, unfit) from None
    return (data if made == text else (mark + made).encode()), bare


def remember() -> None:
    """Which ib the plugin is to run. Not worth a failure."""
    try:
        program.write(here())
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


def uninstall(place: places.Place, caller: identity.Caller, kind: str = MAIN) -> Installed:
    refuse_agent(place, caller)
    path = client_settings.path_of(place)
    data, noted = client_settings.content(path), client_settings.known(place)
    if noted is None and (data is None or not hook_settings.ours(strict_values(place, data))):
        done = Installed(path, False, found=data is not None, notes=old_entries(values_of(place, path)))
    else:
        home.enter(place)
        with locks.Lock(place.lock("setup")):
            done = taken_out(place, (kind,))
    if kind == MAIN:
        titles.give_back(place.root)  # in any case: the one before may have been killed right here
    return done


def taken_out(place: places.Place, kinds: tuple[str, ...]) -> Installed:
    """Under the setup lock."""
    path = client_settings.path_of(place)
    noted, before = client_settings.known(place), before_of(place)

    def edit(data: bytes | None) -> bytes | None:
        text, mark = text_of(place, data)
        rest: str | None = text
        try:
            for kind in kinds if data is not None else ():
                rest = rest if rest is None else hook_edits.without_hooks(rest, kind, before)
        except hook_edits.Unfit as unfit:
            raise refusal(place, text, unfit) from None
        return data if rest == text else None if rest is None else (mark + rest).encode()

    changed = client_settings.change(place, edit)
    left = client_settings.content(path)
    values = values_of(place, path)
    if changed and MAIN in kinds:
        rungs.disarm(place)
        bells.ring(place.bells)  # a waiter looks, and leaves
    if noted is not None and not hook_settings.ours(values):
        client_settings.forget(place, noted)
        exclude.remove_settings(place)
    gone = changed and left is None
    return Installed(path, changed, left is not None or changed, gone, notes=old_entries(values))


def take_out(place: places.Place) -> touched.Touched | None:
    """For `ib uninstall`: all of ours. None: nothing of this file was ours. A broken file that names us is an error."""
    noted = client_settings.known(place)
    data = client_settings.content(client_settings.path_of(place))
    if noted is None and hook_commands.STUB.encode() not in (data or b""):
        return None
    if data is not None and hook_commands.STUB.encode() not in data and is_broken(place, data):
        return None  # the user's own trouble: nothing of ours is in it
    taken_out(place, KINDS)
    return noted


def is_broken(place: places.Place, data: bytes) -> bool:
    try:
        strict_values(place, data)
    except IbError:
        return True
    return False


def before_of(place: places.Place) -> str | None:
    """The text from before the first touch; None when there was no file."""
    noted = client_settings.known(place)
    if noted is None:
        return hook_edits.UNKNOWN
    return None if noted.before is None else noted.before.decode("utf-8", "replace").removeprefix(BOM)


def out_of_sight(place: places.Place) -> tuple[str, list[str]]:
    """git should not show a file that is for this machine alone; what is committed is another matter.

    (where a line of ours keeps it out, what there is to warn of)."""
    name, where = client_settings.NAME[1:], exclude.path_of(place)
    if git.tracks(place.root, name):
        return "", [f"git tracks {name} and will show this change; what stands in it is for this machine alone"]
    if git.ignores(place.root, name) is not False:
        return (where if exclude.has_settings(place) else ""), []
    if not exclude.add_settings(place):
        return "", [f"{where} could not be written, so git shows {name} as untracked"]
    return where, []


def agent_here() -> str:
    try:
        return places.here().agent
    except IbError:
        return ""


def runs_anyway(hook: str) -> bool:
    """Does the client that calls this by an entry of the bash tool run our own entry for it too?"""
    try:
        place = places.find(os.environ.get("CLAUDE_PROJECT_DIR", ""))
    except IbError:
        return False
    return not place.agent and hook_marks.installed(hook, place.root)


def doubts(place: places.Place, values: object) -> list[str]:
    off = off_in(place)
    said = [f"{off} has disableAllHooks, so none of them runs"] if off else []
    return said + old_entries(values)


def old_entries(values: object) -> list[str]:
    """Entries that somebody else wrote are theirs, but two of a kind run twice."""
    old = hook_settings.by_hand(values)
    if not old:
        return []
    return ["the entries of the bash tool stay: " + "; ".join(f"{event}: {command}" for event, command in old)]


def refuse_agent(place: places.Place, caller: identity.Caller) -> None:
    if caller.kind == identity.AGENT:
        raise IbError(
            f"An agent cannot change the hooks of its repository, and this is the worktree of {caller.name}",
            hint=f"in the main checkout: cd {quote(place.root)} && ib hooks status",
        )
