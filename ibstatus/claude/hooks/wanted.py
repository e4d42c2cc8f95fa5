"""The hooks that a settings file is to have here, and what stands in it now."""

import sys

import ibstatus
from ibstatus.claude.hooks import command_lines, events, settings_edit, settings_file
from ibstatus.claude.hooks.events import INTERCEPT, MAIN
from ibstatus.errors import IbError, quoted
from ibstatus.project import config, paths
from ibstatus.system import jsonl

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
        return strict_values(place, settings_file.content(path))
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
    path = settings_file.path_of(place)
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
    values = values_of(place, settings_file.path_of(place))
    return events.state_of(values, wanted(place, INTERCEPT), INTERCEPT) == "installed"
