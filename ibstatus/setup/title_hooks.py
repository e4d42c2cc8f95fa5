"""When tmux.titles is changed, hooks that are installed here follow it."""

from ibstatus.claude.hooks import command_lines, events, settings_file, wanted
from ibstatus.errors import IbError
from ibstatus.project import home, paths
from ibstatus.setup import hook_status, hooks
from ibstatus.system import disk, locks
from ibstatus.titles import titles
from ibstatus.titles.machine import OFF, STOP_ONLY

KEY = wanted.TITLES_KEY
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
    mode = wanted.titles_of(place)
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
        kept = [one for one in wanted.wanted(place) if one.hook == events.TITLES or one.key in there]
        return bool(there) and hooks.put_in(place, kept, events.MAIN)


def keys(place: paths.Place) -> set[tuple[str, str]]:
    """(event, hook) of what stands in the settings. A broken file without ours is the user's own trouble."""
    data = settings_file.content(settings_file.path_of(place))
    if command_lines.STUB.encode() not in (data or b""):
        return set()
    mine = events.ours(wanted.strict_values(place, data))
    return {(one.event, one.hook) for one in mine if events.is_of(events.MAIN, one.hook)}
