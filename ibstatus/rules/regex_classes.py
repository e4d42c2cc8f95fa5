"""What one character of a regex can be: where a repetition must end, there is but one way through it."""

import re
from typing import Any

Items = tuple[tuple[str, Any], ...]

SINGLE = ("LITERAL", "NOT_LITERAL", "ANY", "IN")
ORDINARY = "".join(map(chr, range(32, 127))) + "\n\t\u00a0é…·●⏺⎿❯✻─"
KINDS = {"DIGIT": re.compile(r"\d"), "SPACE": re.compile(r"\s"), "WORD": re.compile(r"\w")}


def has(item: tuple[str, Any], char: str) -> bool:
    """In whichever case."""
    return any(matches(str(item[0]), item[1], one) for one in {char, char.lower(), char.upper()})


def matches(name: str, value: Any, char: str) -> bool:
    if name == "LITERAL":
        return chr(value) == char
    if name == "NOT_LITERAL":
        return chr(value) != char
    if name == "RANGE":
        return bool(value[0] <= ord(char[0]) <= value[1])
    if name == "CATEGORY":
        kind = str(value).removeprefix("CATEGORY_")
        return bool(KINDS[kind.removeprefix("NOT_")].match(char)) != kind.startswith("NOT_")
    if name == "IN":
        is_negated = str(value[0][0]) == "NEGATE"
        return any(matches(str(one), inner, char) for one, inner in value[is_negated:]) != is_negated
    return name == "ANY" and char != "\n"


def samples(name: str, value: Any) -> list[str]:
    """The characters at which it may differ from another."""
    if name in ("LITERAL", "NOT_LITERAL"):
        return [chr(value)]
    if name == "RANGE":
        return [chr(value[0]), chr(value[1])]
    return [char for one, inner in value for char in samples(str(one), inner)] if name == "IN" else []


def overlap(one: tuple[str, Any], other: tuple[str, Any]) -> bool:
    return any(has(one, char) and has(other, char) for char in {*ORDINARY, *samples(*one), *samples(*other)})


def inner(name: str, value: Any) -> Any:
    """What stands in it, None for what is no more than itself."""
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return value[2]
    if name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
        return value[-1]
    return value if name == "ATOMIC_GROUP" else None


def has_newline(items: Items) -> bool:
    for item in items:
        name, value = str(item[0]), item[1]
        if name in SINGLE and has((name, value), "\n"):
            return True
        parts = value[1] if name == "BRANCH" else [inner(name, value)]
        if any(has_newline(tuple(part)) for part in parts if part is not None):
            return True
    return False


def is_definite(body: Items, after: Items) -> bool:
    """It is of one kind of character, with which nothing can begin that follows: it ends where these end."""
    while len(body) == 1 and body[0][0] == "SUBPATTERN":
        body = tuple((str(name), value) for name, value in body[0][1][-1])
    if len(body) != 1 or body[0][0] not in SINGLE:
        return False
    heads = heads_of(after)
    return heads is not None and not any(overlap(body[0], head) for head in heads)


def heads_of(items: Items) -> list[tuple[str, Any]] | None:
    """What may come first; None when that is not plain to see."""
    if not items:
        return []
    name, value, rest = str(items[0][0]), items[0][1], items[1:]
    if name in SINGLE:
        return [(name, value)]
    if name == "AT":
        return heads_of(rest)
    if name == "SUBPATTERN":
        return heads_of((*value[-1], *rest))
    if name == "BRANCH":
        return joined([heads_of((*one, *rest)) for one in value[1]])
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        first = heads_of((*value[2], *rest))
        return first if int(value[0]) > 0 else joined([first, heads_of(rest)])
    return None


def joined(found: list[list[tuple[str, Any]] | None]) -> list[tuple[str, Any]] | None:
    return None if any(one is None for one in found) else [head for one in found if one for head in one]


def prefix(items: Items) -> str:
    """The characters that it begins with in any case."""
    word = ""
    for name, value in items:
        if name != "LITERAL":
            break
        word += chr(value).lower()
    return word
