"""The keys of the configuration, what each may hold, and which of several files decides."""

from ibstatus.system import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Values = dict[str, Any]

PROJECT, USER, DEFAULT = "project", "user", "default"

NUMBER, SWITCH, TEXT, LIST = "number", "switch", "text", "list"

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


class Key:
    """One setting. `choices` is a closed set, `examples` only help to type; `chars` are all that a text may hold."""

    __slots__ = ("about", "chars", "choices", "default", "examples", "high", "kind", "low", "name")

    def __init__(
        self,
        name: str,
        kind: str,
        default: "Any",
        about: str,
        *,
        low: int = 0,
        high: int | None = None,
        choices: tuple[str, ...] = (),
        examples: tuple[str, ...] = (),
        chars: str = "",
    ) -> None:
        self.name = name
        self.kind = kind
        self.default = default
        self.about = about
        self.low = low
        self.high = high
        self.choices = choices
        self.examples = examples
        self.chars = frozenset(chars)

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self.name.split("."))


ALL = (
    Key("maxAgents", NUMBER, 10, "How many agents may be alive at once"),
    Key(
        "model",
        TEXT,
        None,
        "Model of new agents",
        examples=("sonnet", "opus", "haiku"),
        chars=LETTERS + "-._:/@[]",
    ),
    Key("permissions.manager.allow", LIST, (), "Tools that managers may use"),
    Key("permissions.manager.deny", LIST, (), "Tools that managers may not use"),
    Key("permissions.worker.allow", LIST, (), "Tools that workers may use"),
    Key("permissions.worker.deny", LIST, (), "Tools that workers may not use"),
    Key("allowAgentQuestions", SWITCH, True, "May agents ask the user with ib ask"),
    Key(
        "autoCompactThreshold",
        NUMBER,
        None,
        "Context use in % at which an agent gets /compact; over 100: never",
        low=1,
    ),
    Key("createPullRequests", SWITCH, False, "Do agents open a pull request for their work (not yet in use)"),
    Key("externalDiffTool", TEXT, None, "Program that shows an agent's diff", examples=("code --diff --wait",)),
    Key("fps", NUMBER, 10, "How often a second the live view looks for news (not yet in use)", low=1, high=60),
    Key("hooks.injectStatus", SWITCH, True, "Do hooks tell the primary how its agents do"),
    Key("hooks.statusVisible", SWITCH, True, "Does the user see what hooks tell"),
    Key("status_node.enabled", SWITCH, True, "Is there a status node in CLAUDE.md"),
    Key("status_node.mode", TEXT, "inline", "Where the status node stands", choices=("inline", "off")),
    Key("status_node.update_interval", NUMBER, 10, "The longest time without a look, in seconds", low=1, high=3600),
    Key("status_node.max_messages", NUMBER, 50, "How many messages the status node holds", high=1000),
    Key("status_node.include_children_count", SWITCH, True, "Does the status node count children"),
    Key(
        "tmux.titles",
        TEXT,
        "stop-only",
        "When window titles change",
        choices=("stop-only", "real-time", "off"),
    ),
    Key(
        "tmux.glyphs",
        TEXT,
        "emoji",
        "What window titles are drawn with",
        choices=("emoji", "safe", "ascii"),
    ),
    Key("tmux.socket", TEXT, "ib", "The tmux socket (tmux -L) of the agents", chars=LETTERS + "-._"),
    Key("board.dsn", TEXT, None, "Postgres of the board; unset: a file of its own"),
    Key("board.linear", SWITCH, False, "Does the merge queue keep the history of a base a line"),
    Key("board.test", TEXT, None, "Command that every merge of the queue must pass", examples=("make check",)),
    Key("notify.perHour", NUMBER, 30, "How many automatic notices an hour wake the primary"),
)
KEYS = {key.name: key for key in ALL}
SECTIONS = frozenset(name[:at] for name in KEYS for at, letter in enumerate(name) if letter == ".")


class Layer:
    """What one file says: `source` is its rank, `path` its name for people."""

    __slots__ = ("path", "source", "values")

    def __init__(self, source: str, path: str, values: "Values") -> None:
        self.source = source
        self.path = path
        self.values = values


class Settings:
    """Every key with its value and where that comes from. `broken` says which files could not be read, and why."""

    __slots__ = ("broken", "layers", "rows")

    def __init__(self, rows: "dict[str, tuple[Any, str]]", layers: list[Layer], broken: list[str]) -> None:
        self.rows = rows
        self.layers = layers
        self.broken = broken

    def value(self, name: str) -> "Any":
        return self.rows[name][0]

    def source(self, name: str) -> str:
        return self.rows[name][1]


def settled(layers: list[Layer], broken: list[str]) -> Settings:
    """The first layer that has a key decides it, whatever it holds: null, "", false and [] count too."""
    return Settings({key.name: row(key, layers) for key in ALL}, layers, broken)


def row(key: Key, layers: list[Layer]) -> "tuple[Any, str]":
    for layer in layers:
        there, raw = found(layer.values, key.path)
        if there:
            value, complaint = taken(key, raw)
            return value, DEFAULT if complaint and key.kind != LIST else layer.source
    return plain_default(key), DEFAULT


def found(values: "Any", path: tuple[str, ...]) -> "tuple[bool, Any]":
    """(is it there, what is there)."""
    for part in path:
        if not isinstance(values, dict) or part not in values:
            return False, None
        values = values[part]
    return True, values


def taken(key: Key, raw: "Any") -> "tuple[Any, str]":
    """(the value that counts, what is wrong with `raw`). Null and "" stand for the default."""
    if raw is None or raw == "":
        return plain_default(key), ""
    complaint = objection(key, raw)
    if not complaint:
        return raw, ""
    if key.kind == LIST:  # a deny list must not vanish because of one bad item
        items = raw if isinstance(raw, list) else [raw]
        return [item for item in items if isinstance(item, str) and item], complaint
    return plain_default(key), complaint


def plain_default(key: Key) -> "Any":
    return list(key.default) if key.kind == LIST else key.default


def objection(key: Key, raw: "Any") -> str:
    """Why this key cannot hold this value, as the end of a sentence; '' when it can."""
    if key.kind == NUMBER:
        number = isinstance(raw, int) and not isinstance(raw, bool)
        return "" if number and key.low <= raw and (key.high is None or raw <= key.high) else f"must be {span(key)}"
    if key.kind == SWITCH:
        return "" if isinstance(raw, bool) else "must be true or false"
    if key.kind == LIST:
        fine = isinstance(raw, list) and all(isinstance(item, str) and item for item in raw)
        return "" if fine else "must be a list of strings"
    if key.choices:
        return "" if raw in key.choices else f"must be one of {', '.join(key.choices)}"
    if not isinstance(raw, str):
        return "must be a string"
    if key.chars and (raw[:1] == "-" or not key.chars.issuperset(raw)):
        return f"must be a name of letters, digits and {' '.join(sorted(key.chars - set(LETTERS)))}"
    return "must not hold a NUL" if "\0" in raw else ""


def span(key: Key) -> str:
    if key.high is not None:
        return f"a whole number from {key.low} to {key.high}"
    return f"a whole number, {key.low} or more"


def meant(key: Key | None, text: str) -> "Any":
    """A word of the command line as the value it stands for; `objection` then judges it."""
    if key is not None and key.kind == TEXT:
        return text
    try:
        value = jsonl.decode(text)
    except ValueError:
        return text
    if key is None:  # unknown to us: as the user wrote it
        return value if isinstance(value, bool | int | float | dict) else text
    return value
