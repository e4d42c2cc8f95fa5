"""Rules about screens as they stand in a TOML file: read, checked, and put in order. `screens.toml` tells the form."""

import pkgutil
import re
import tomllib
import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

STATES = ("creating", "running", "compacting", "waiting", "complete", "rate_limited", "stopped", "unknown")
LAYOUTS = ("box", "dialog", "ended", "plain", "old", "any")
REGIONS = {
    "whole": LAYOUTS,
    "footer": ("box",),
    "above": ("box",),
    "status": ("box",),
    "turn": ("box",),
    "draft": ("box",),
    "dialog": ("dialog",),
    "which": ("dialog",),
    "choice": ("dialog",),
}
TAIL = re.compile(r"tail ([1-9]\d{0,2})")
NAME = re.compile(r"[\w.-]{1,60}")
KEYS = ("name", "state", "reason", "on", "where", "match", "unless", "without", "asks", "idle", "clients")
REGEXES = ("match", "unless", "without", "asks")
VERSION = re.compile(r"(>=|<=|==|>|<)\s*(\d+(?:\.\d+){0,3})")
GLYPH = re.compile(r"(?<!P)<([a-z]+)>")
LONGEST = 500  # characters of a regex


class Rule(NamedTuple):
    """One rule, ready to be tried. `source`: the file that it came from, '' for ours."""

    name: str
    state: str
    reason: str = ""
    on: str = "any"
    where: str = "whole"
    tail: int = 0
    match: tuple[re.Pattern[str], ...] = ()
    unless: tuple[re.Pattern[str], ...] = ()
    without: re.Pattern[str] | None = None
    asks: re.Pattern[str] | None = None
    idle: bool = False
    clients: tuple[tuple[str, tuple[int, ...]], ...] = ()
    source: str = ""


class Broken(NamedTuple):
    """Why a file, or one rule in it, is left out."""

    path: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.why}" if self.line else f"{self.path}: {self.why}"


class Refused(Exception):
    """`key`: the word in the file that is wrong."""

    def __init__(self, why: str, key: str = "") -> None:
        super().__init__(why)
        self.key = key


class Rules(NamedTuple):
    """All of them in their order, and what had to be left out. `is_picky`: some are for certain clients only."""

    rules: tuple[Rule, ...]
    broken: tuple[Broken, ...] = ()

    @property
    def is_picky(self) -> bool:
        return any(rule.clients for rule in self.rules)

    def of(self, client: str) -> tuple[Rule, ...]:
        """For this version of the client; all of them when it is not known."""
        return fitting(self.rules, client) if client else self.rules


@lru_cache(maxsize=1)
def built_in() -> Rules:
    data = pkgutil.get_data(__package__, "screens.toml") or b""
    return parsed(data, "screens.toml", ours=True)


def joined(own: Iterable[Rules]) -> Rules:
    """The user's, by rank, before ours; what has the name of one before it is replaced by that."""
    layers = [*own, built_in()]
    rules: dict[str, Rule] = {}
    for rule in (rule for layer in layers for rule in layer.rules):
        rules.setdefault(rule.name, rule)
    return Rules(tuple(rules.values()), tuple(wrong for layer in layers for wrong in layer.broken))


def parsed(data: bytes, path: str, ours: bool = False) -> Rules:
    """Never fails: a file that is no TOML has no rules, a rule that is wrong is left out, and both are told."""
    try:
        text = data.decode()
        said = tomllib.loads(text)
    except UnicodeDecodeError as error:
        return Rules((), (Broken(path, data.count(b"\n", 0, error.start) + 1, "this is not UTF-8"),))
    except tomllib.TOMLDecodeError as error:
        return Rules((), (of_toml(path, str(error), text),))
    except (ValueError, RecursionError) as error:  # an integer of 5,000 digits, a list of lists without end
        return Rules((), (Broken(path, 0, str(error).partition(";")[0]),))
    lines = text.split("\n")
    broken = [
        Broken(path, line_of(lines, key, -1), f"{key!r} is no word of this file: [[rule]] and [glyphs] are")
        for key in said
        if key not in ("rule", "glyphs")
    ]
    glyphs = glyphs_of(said.get("glyphs"), ours)
    rules: list[Rule] = []
    tables = said.get("rule", [])
    if not isinstance(tables, list):
        return Rules((), (*broken, Broken(path, line_of(lines, "rule", -1), "a rule begins with [[rule]]")))
    for number, table in enumerate(tables):
        try:
            rule = rule_of(table, glyphs, "" if ours else path)
            if any(other.name == rule.name for other in rules):
                raise Refused(f"a second rule is called {rule.name}", "name")
            rules.append(rule)
        except Refused as why:
            broken.append(Broken(path, line_of(lines, why.key, number), str(why)))
    return Rules(tuple(rules), tuple(broken))


def of_toml(path: str, why: str, text: str) -> Broken:
    found = re.search(r" \(at line (\d+), column \d+\)", why)
    if found:
        return Broken(path, int(found[1]), why[: found.start()])
    return Broken(path, text.count("\n") + 1, why.removesuffix(" (at end of document)"))


def line_of(lines: Sequence[str], key: str, number: int) -> int:
    """Where this key stands, in the `number`-th rule or, for -1, anywhere."""
    seen = -1
    begin = 0
    for at, line in enumerate(lines, 1):
        word = line.strip()
        if word.replace(" ", "").startswith("[[rule]]"):
            seen += 1
            begin = at if seen == number else begin
        here = number < 0 or seen == number
        if here and key and re.match(rf"[\[\"']*{re.escape(key)}[\"']?\s*[=.\]]", word):
            return at
    return begin or 1


def glyphs_of(said: object, ours: bool) -> dict[str, str]:
    known = {} if ours else dict(built_in_glyphs())
    if isinstance(said, dict):
        known |= {key: value for key, value in said.items() if isinstance(value, str)}
    return known


@lru_cache(maxsize=1)
def built_in_glyphs() -> dict[str, str]:
    data = pkgutil.get_data(__package__, "screens.toml") or b""
    return glyphs_of(tomllib.loads(data.decode()).get("glyphs"), ours=True)


def rule_of(table: object, glyphs: dict[str, str], source: str) -> Rule:
    if not isinstance(table, dict):
        raise Refused("a rule is a table of keys")
    for key in table:
        if key not in KEYS:
            raise Refused(f"{key!r} is no key of a rule; these are: {', '.join(KEYS)}", key)
    name = text_of(table, "name")
    if not NAME.fullmatch(name):
        raise Refused("a rule needs a name of letters, digits, dots and dashes", "name")
    state = text_of(table, "state")
    if state not in STATES:
        raise Refused(f"the state of {name} is one of {' '.join(STATES)}", "state")
    on, where, tail = place_of(table, name)
    if not isinstance(table.get("idle", False), bool):
        raise Refused("idle is true or false", "idle")
    found = {key: patterns_of(table, key, glyphs) for key in REGEXES}
    for key in ("without", "asks"):
        if len(found[key]) > 1:
            raise Refused(f"{key} is one regex", key)
    return Rule(
        name,
        state,
        text_of(table, "reason"),
        on,
        where,
        tail,
        found["match"],
        found["unless"],
        found["without"][0] if found["without"] else None,
        found["asks"][0] if found["asks"] else None,
        table.get("idle", False),
        versions_of(text_of(table, "clients")),
        source,
    )


def text_of(table: dict[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise Refused(f"{key} is a text", key)
    return value


def place_of(table: dict[str, Any], name: str) -> tuple[str, str, int]:
    on, where = text_of(table, "on") or "any", text_of(table, "where") or "whole"
    if on not in LAYOUTS:
        raise Refused(f"on is one of {' '.join(LAYOUTS)}", "on")
    tail = TAIL.fullmatch(where)
    if tail:
        return on, "tail", int(tail[1])
    if where not in REGIONS:
        raise Refused(f"where is one of {', '.join(REGIONS)}, tail 15", "where")
    if on not in REGIONS[where] and on != "any":
        raise Refused(f"{where} of {name} is only there on = {REGIONS[where][0]!r}", "where")
    return on, where, 0


def patterns_of(table: dict[str, Any], key: str, glyphs: dict[str, str]) -> tuple[re.Pattern[str], ...]:
    value = table.get(key, [])
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise Refused(f"{key} is a regex or a list of them", key)
    try:
        return tuple(compile_regex(GLYPH.sub(lambda at: glyphs.get(at[1], at[0]), text)) for text in texts)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise Refused(f"{key}: {error}", key) from None


def compile_regex(text: str) -> re.Pattern[str]:
    """Compile with ^ and $ at the ends of a line; raise ValueError when the regex is too long."""
    if len(text) > LONGEST:
        raise ValueError(f"longer than {LONGEST} characters")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(text, re.MULTILINE)


def versions_of(text: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    bounds = tuple((found[1], number_of(found[2])) for found in VERSION.finditer(text))
    if VERSION.sub("", text).strip(" ,"):
        raise Refused(f"clients is like '>=2.1.300 <2.2', not {text!r}", "clients")
    return bounds


def number_of(version: str) -> tuple[int, ...]:
    parts = tuple(int(part[:9]) for part in re.findall(r"\d+", version)[:4])
    return (*parts, *(0,) * (4 - len(parts)))


@lru_cache(maxsize=32)
def fitting(rules: tuple[Rule, ...], client: str) -> tuple[Rule, ...]:
    version = number_of(client)
    return tuple(rule for rule in rules if all(holds(sign, version, bound) for sign, bound in rule.clients))


def holds(sign: str, version: tuple[int, ...], bound: tuple[int, ...]) -> bool:
    if sign == "==":
        return version == bound
    if sign in (">=", ">"):
        return version >= bound if sign == ">=" else version > bound
    return version <= bound if sign == "<=" else version < bound
