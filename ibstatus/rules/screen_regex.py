"""A regex out of a file of rules: only such as no text can keep busy for long."""

import re
import warnings
from typing import Any

from ibstatus.rules import regex_classes
from ibstatus.rules.regex_classes import Items

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import sre_parse

LONGEST = 500
LINE, REGION = 600, 16_384  # characters of a line and of a region that a regex is given
FAST = 16  # so many characters are passed in one step where nothing but one kind of them is
MOST = 100_000_000  # steps
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
NESTED = "a choice inside of a repetition can take for ever"
SLOW = r"too slow for some texts: begin it with ^, say [^x\n]* for .* and [ ]* for \s*, or make a list of it"


class Unsafe(Exception):
    """It is no regex, or one that some text would keep busy."""


def compiled(text: str) -> re.Pattern[str]:
    if len(text) > LONGEST:
        raise Unsafe(f"longer than {LONGEST} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pattern = re.compile(text, re.MULTILINE)
            tree: Any = sre_parse.parse(text, re.MULTILINE)
        if pattern.flags & re.DOTALL:
            raise Unsafe(r"(?s) is not for here: say [\s\S]")
        if steps(items_of(tree)) > MOST:
            raise Unsafe(f"{SLOW}: {text!r}")
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise Unsafe(f"{error} in {text!r}") from None
    return pattern


def items_of(tree: Any) -> Items:
    return tuple((str(name), value) for name, value in tree)


def steps(items: Items) -> int:
    """At most, of one search in any region: at each place where it can begin, all the ways to go on from there."""
    return starts(items, crosses(items)) * ways(items, (), 1)


def starts(items: Items, is_crossing: bool) -> int:
    anchor = anchor_of(items)
    if anchor == "AT_BEGINNING_STRING":
        return 1
    if anchor == "AT_BEGINNING" and not is_crossing:
        return REGION // LINE
    word = regex_classes.prefix(items[1:] if anchor else items)
    return REGION // next((at for at in range(1, len(word)) if word.startswith(word[at:])), max(len(word), 1))


def anchor_of(items: Items) -> str:
    if not items:
        return ""
    name, value = items[0]
    if name == "AT" and str(value).startswith("AT_BEGINNING"):
        return str(value)
    return anchor_of(items_of(value[-1])) if name == "SUBPATTERN" else ""


def ways(items: Items, after: Items, rest: int) -> int:
    """How many steps these and what follows can take; `rest`: of what follows alone."""
    for at in reversed(range(len(items))):
        rest = min(ways_of(*items[at], (*items[at + 1 :], *after), rest), MOST * MOST)
    return rest


def ways_of(name: str, value: Any, after: Items, rest: int) -> int:
    if name in REPEATS:
        return ways_of_repeat(int(value[0]), int(value[1]), items_of(value[2]), after, rest)
    if name in ("GROUPREF", "GROUPREF_EXISTS"):
        raise Unsafe("a regex here may not look back at its groups")
    if name == "BRANCH":
        return sum(ways(items_of(one), after, rest) for one in value[1])
    if name == "SUBPATTERN":
        if value[1] & re.DOTALL:
            raise Unsafe(r"(?s) is not for here: say [\s\S]")
        return ways(items_of(value[-1]), after, rest)
    if name in ("ASSERT", "ASSERT_NOT"):
        return ways(items_of(value[-1]), (), 1) + rest
    return ways(items_of(value), after, rest) if name == "ATOMIC_GROUP" else rest


def ways_of_repeat(least: int, most: int, body: Items, after: Items, rest: int) -> int:
    if most > 1 and is_open(body):
        raise Unsafe(NESTED)
    inner = ways(body, after, rest)
    if most <= 1:
        return inner if least == most else inner + rest
    length = min(most, REGION if regex_classes.has_newline(body) else LINE)
    if least == most or regex_classes.is_definite(body, after):
        return length // FAST + 1 + rest
    return (length - min(least, length) + 1) * rest if rest > 1 else length // FAST + 1


def is_open(items: Items) -> bool:
    """It can match the same text in more than one way, or texts of several lengths."""
    for name, value in items:
        if name == "BRANCH" or (name in REPEATS and int(value[0]) != int(value[1])):
            return True
        inner = regex_classes.inner(name, value)
        if inner is not None and is_open(items_of(inner)):
            return True
    return False


def crosses(items: Items) -> bool:
    """Some repetition in it can go past the end of a line."""
    for name, value in items:
        if name in REPEATS and int(value[1]) > 1 and regex_classes.has_newline(items_of(value[2])):
            return True
        parts = value[1] if name == "BRANCH" else [regex_classes.inner(name, value)]
        if any(crosses(items_of(part)) for part in parts if part is not None):
            return True
    return False
