"""list, get, set, unset, add, remove: the settings of the project and of the user.

What a configuration file comes to, for `ib test-load-config`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ibstatus.errors import IbError, UsageError
from ibstatus.project import config, identity, paths, settings
from ibstatus.project.rules import settings_text
from ibstatus.project.settings import KEYS, LIST, PROJECT, SECTIONS, USER, Key
from ibstatus.system import jsonl
from ibstatus.system.text import json_edit


@dataclass(frozen=True)
class Row:
    """One setting as it stands."""

    key: Key
    value: Any
    source: str


@dataclass(frozen=True)
class Answer:
    """What is to be printed, and what there is to warn of."""

    value: Any
    notes: list[str] = field(default_factory=list)


def rows(place: paths.Place, only_user: bool) -> Answer:
    """Every key with its value and source, as list[Row]."""
    known = settled(place, only_user)
    return Answer([Row(key, *known.rows[key.name]) for key in settings.ALL], notes_on(known))


def settled(place: paths.Place, only_user: bool) -> settings.Settings:
    """Here, unlike for hooks, a broken file is an error: a value that it might contradict would mislead."""
    sources = (USER,) if only_user else config.sources(place)
    return settings.settled([config.read(place, source).layer() for source in sources], [])


def notes_on(known: settings.Settings) -> list[str]:
    return [text for layer in known.layers for text in settings_text.problems(layer)]


def get(place: paths.Place, name: str, only_user: bool) -> Answer:
    """The value of a key; of one that we do not know too, when a file has it."""
    known = settled(place, only_user)
    if name in KEYS:
        about = [text for text in notes_on(known) if f": {name} " in text]
        return Answer(known.value(name), about)
    if name in SECTIONS:
        raise several(name)
    for layer in known.layers:
        there, value = settings.found(layer.values, tuple(name.split(".")))
        if there:
            return Answer(value, [settings_text.unknown(name)])
    raise no_such_key(name)


def no_such_key(name: str) -> IbError:
    near = settings_text.nearest(name)
    hint = f"ib config get {near}" if near in KEYS else "ib config list"
    return IbError(f"There is no key '{jsonl.clean(name)}'", hint=hint)


def several(name: str) -> UsageError:
    inner = [key for key in KEYS if key.startswith(name + ".")]
    return UsageError(f"{name} is not one setting but holds {len(inner)}", hint=f"name one: {', '.join(inner)}")


def set_value(place: paths.Place, caller: identity.Caller, name: str, text: str, to_user: bool) -> Answer:
    """Set one key; the answer is the value."""
    may_change(caller)
    path = path_of(name)
    key = KEYS.get(name)
    if (key is not None and key.kind == LIST) or (key is None and text.lstrip().startswith("[")):
        raise UsageError(f"{name} is a list", hint=f"ib config add {name} VALUE, or ib config remove {name} VALUE")
    value = settings.meant(key, jsonl.clean(text))
    if key is None:
        notes = [settings_text.unknown(name)]
    else:
        judge(key, value)
        notes = careless(key, value, to_user)
    change(place, to_user, lambda file: json_edit.with_value(started(file), path, value))
    return Answer(value, notes + hidden(place, name, to_user))


def judge(key: Key, value: Any) -> None:
    """An empty string is legal where there is no default: it hides the user's value."""
    if value == "" and not (key.kind == settings.TEXT and key.default is None):
        raise UsageError(f"{key.name} cannot be empty", hint=f"ib config unset {key.name}")
    complaint = settings.objection(key, value) if value != "" else ""
    if complaint:
        raise UsageError(
            f"{key.name} {complaint}, and {jsonl.encode(settings_text.public(key, value))} is not", hint=example(key)
        )


def careless(key: Key, value: Any, to_user: bool) -> list[str]:
    if to_user or settings_text.shown(key, value) == settings_text.bare(value) or key.name != "board.dsn":
        return []
    return [
        "the project's file is meant to be committed, and there is a password in this; "
        "better ~/.pgpass or IB_BOARD_DSN, and --global keeps it to you"
    ]


def example(key: Key) -> str:
    if key.kind == settings.SWITCH:
        return f"ib config set {key.name} {'false' if key.default else 'true'}"
    known = (*key.choices, *key.examples)
    value = known[0] if known else key.default if key.default is not None else 80
    return f"ib config set {key.name} {value}"


def unset(place: paths.Place, caller: identity.Caller, name: str, from_user: bool) -> bool:
    """Take a key out of the file; False when it is not in there."""
    may_change(caller)
    path = path_of(name)

    def edit(file: config.File) -> str:
        if not file.values:
            return file.text
        there, _ = settings.found(file.values, path)
        return json_edit.without(file.text, path if there else (name,))

    return change(place, from_user, edit)


def add(place: paths.Place, caller: identity.Caller, name: str, item: str, to_user: bool) -> Answer:
    """Put a value at the end of a list; the answer is False when it is there already."""
    key, item = listed(caller, name, item)
    fresh = False

    def edit(file: config.File) -> str:
        nonlocal fresh
        there, now = settings.found(file.values, key.path)
        fresh = there and now is not None
        if isinstance(now, list) and item in now:
            return file.text
        return json_edit.with_item(started(file), key.path, item)

    changed = change(place, to_user, edit)
    notes = hidden(place, name, to_user)
    if changed and not fresh and not to_user:
        notes += replaced(place, key)
    return Answer(changed, notes)


def replaced(place: paths.Place, key: Key) -> list[str]:
    """Lists do not join: the first value here puts the whole list of the user out of force."""
    users = settings.row(key, [config.read(place, USER).layer()])
    if users[1] != USER or not users[0]:
        return []
    return [f"the user's list {settings_text.shown(key, users[0])} no longer counts here: the project's replaces it"]


def remove(place: paths.Place, caller: identity.Caller, name: str, item: str, from_user: bool) -> Answer:
    """Take a value out of a list; the answer is False when it is not in there."""
    key, item = listed(caller, name, item)

    def edit(file: config.File) -> str:
        return json_edit.without_item(file.text, key.path, item) if file.values else file.text

    changed = change(place, from_user, edit)
    return Answer(changed, [] if changed else elsewhere(place, key, item, from_user))


def elsewhere(place: paths.Place, key: Key, item: str, from_user: bool) -> list[str]:
    source, switch = (PROJECT, "without --global") if from_user else (USER, "with --global")
    for layer in config.load(place).layers:
        _, now = settings.found(layer.values, key.path)
        if layer.source == source and isinstance(now, list) and item in now:
            return [f"it stands in the {source}'s file: run this {switch}"]
    return []


def listed(caller: identity.Caller, name: str, item: str) -> tuple[Key, str]:
    may_change(caller)
    key = KEYS.get(name)
    item = jsonl.clean(item)
    if key is None or key.kind != LIST:
        lists = ", ".join(key.name for key in settings.ALL if key.kind == LIST)
        if key is not None:
            raise UsageError(f"{name} is not a list", hint=f"ib config set {name} VALUE")
        raise UsageError(f"There is no list '{jsonl.clean(name)}'", hint=f"these are lists: {lists}")
    if not item:
        raise UsageError("An empty value cannot stand in a list", hint=f'ib config add {name} "Bash(git:*)"')
    return key, item


def hidden(place: paths.Place, name: str, to_user: bool) -> list[str]:
    """A user setting that the project overrules would seem to do nothing."""
    if not to_user or name not in KEYS:
        return []
    known = config.load(place)
    if known.source(name) == PROJECT:
        return [f"the project's own value {settings_text.shown(KEYS[name], known.value(name))} goes before it here"]
    return []


def may_change(caller: identity.Caller) -> None:
    if caller.kind == identity.AGENT:
        raise IbError(
            f"An agent cannot change the configuration, and this is the worktree of {caller.name}",
            cause="limits and permissions of agents stand in it; only the user and the user's Claude set them",
            hint='ask for it: ib send user-claude "? May I have …"',
        )


def path_of(name: str) -> tuple[str, ...]:
    path = tuple(jsonl.clean(name).split("."))
    if not all(path):
        raise UsageError(f"'{jsonl.clean(name)}' cannot be a key", hint="ib config list")
    if name in SECTIONS:
        raise several(name)
    for known in KEYS:
        if name.startswith(known + "."):
            raise UsageError(f"{known} is a setting and holds no keys", hint=f"ib config get {known}")
    return path


def started(file: config.File) -> str:
    return file.text if file.text.strip(jsonl.BLANK) else "{}\n"


def change(place: paths.Place, of_user: bool, edit: Callable[[config.File], str]) -> bool:
    source = USER if of_user else PROJECT
    try:
        return config.change(place, source, edit)
    except json_edit.Blocked as blocked:
        path = config.path_of(place, source)
        kind = "a list" if ".".join(blocked.path) in KEYS else "an object"
        raise IbError(
            f"{'.'.join(blocked.path)} is not {kind} in {path}", hint="mend it by hand; nothing was changed"
        ) from None


ROWS = {
    "manager_allow": "permissions.manager.allow",
    "manager_deny": "permissions.manager.deny",
    "worker_allow": "permissions.worker.allow",
    "worker_deny": "permissions.worker.deny",
    "create_prs": "createPullRequests",
    "max_agents": "maxAgents",
    "model": "model",
    "fps": "fps",
    "external_diff_tool": "externalDiffTool",
    "auto_compact_threshold": "autoCompactThreshold",
}


def load_config(path: str) -> str:
    """Ten lines `name: value`; what is unset has nothing after its colon."""
    data = config.content(path)
    if data is None:
        raise IbError(f"There is no file {path}", hint="ib test-load-config .ittybitty.json")
    file = config.File(settings.PROJECT, path, data)
    known = settings.settled([file.layer()], [])
    return "".join(f"{name}: {settings_text.bare(known.value(key))}".rstrip(" ") + "\n" for name, key in ROWS.items())
