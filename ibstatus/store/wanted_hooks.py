"""The hooks that a settings file is to have here, and what stands in it now."""

import sys

import ibstatus
from ibstatus.errors import IbError, quoted
from ibstatus.rules import hook_commands, hook_edits, hook_settings, lines
from ibstatus.rules.hook_settings import INTERCEPT, MAIN
from ibstatus.store import client_settings, config, places

BOM = "\ufeff"
TITLES_KEY = "tmux.titles"


def here() -> hook_commands.Program:
    """The python that runs now, and the stub of this package."""
    stub = ibstatus.__path__[0] + "/hooks/stub.py"
    if not sys.executable.startswith("/") or not stub.startswith("/"):
        raise IbError("Python does not say where it is, so no hook could start it", hint="run ib by its full path")
    if not lines.is_unicode(sys.executable + stub):
        raise IbError(f"A settings file cannot name {stub}: it is not UTF-8", hint="install ib into another folder")
    return sys.executable, stub


def titles_of(place: places.Place) -> str:
    """When window titles change here."""
    return str(config.value(place, TITLES_KEY))


def wanted(place: places.Place, kind: str = MAIN) -> list[hook_settings.Wanted]:
    return hook_settings.wanted(here(), kind, titles_of(place))


def values_of(place: places.Place, path: str) -> object:
    """Of a file that may be broken, or not ours to read: nothing."""
    try:
        return strict_values(place, client_settings.content(path))
    except IbError:
        return None


def strict_values(place: places.Place, data: bytes | None) -> object:
    text, _ = text_of(place, data)
    try:
        return hook_edits.values_of(text)
    except hook_edits.Unfit as unfit:
        raise refusal(place, text, unfit) from None


def text_of(place: places.Place, data: bytes | None) -> tuple[str, str]:
    """(the text, the byte order mark before it)."""
    try:
        text = (data or b"").decode()
    except UnicodeDecodeError as error:
        before = (data or b"")[: error.start].decode("utf-8", "replace")
        raise refusal(place, before, hook_edits.Unfit("this is not UTF-8", len(before))) from None
    return text.removeprefix(BOM), BOM if text.startswith(BOM) else ""


def refusal(place: places.Place, text: str, unfit: hook_edits.Unfit) -> IbError:
    path = client_settings.path_of(place)
    line = text.count("\n", 0, unfit.at) + 1
    column = unfit.at - text.rfind("\n", 0, unfit.at)
    return IbError(
        f"{path} cannot be changed, and was left alone",
        cause=f"line {line}, column {column}: {unfit.why}",
        hint=f"mend it (Claude Code cannot read it either), then run the command again: ${{EDITOR:-vi}} +{line} "
        + quoted(path),
    )


def intercepts_tasks(place: places.Place) -> bool:
    """Is the hook installed that makes workers of a manager's Tasks? False where the file cannot be read."""
    values = values_of(place, client_settings.path_of(place))
    return hook_settings.state_of(values, wanted(place, INTERCEPT), INTERCEPT) == "installed"
