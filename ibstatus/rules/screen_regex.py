"""A regex out of a file of rules: only such as no text can keep busy for long."""

import re
import warnings
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import sre_parse

LONGEST = 500
MANY = 20  # a repetition of more is as good as one without an end
LOOSE = 3  # so many without an end may stand in one regex: each adds a power
NESTED = "a repetition inside of a repetition can take for ever"


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
    except (re.error, OverflowError, RecursionError) as error:
        raise Unsafe(f"{error} in {text!r}") from None
    if loose(tree, False) > LOOSE:
        raise Unsafe(f"more than {LOOSE} repetitions without an end in {text!r}")
    return pattern


def loose(node: Any, inside: bool) -> int:
    """How many repetitions without an end follow each other here; Unsafe when one stands in another."""
    return sum(loose_item(str(name), value, inside) for name, value in node)


def loose_item(name: str, value: Any, inside: bool) -> int:
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        _, most, body = value
        endless = int(most) > MANY
        if endless and inside:
            raise Unsafe(NESTED)
        return int(endless) + loose(body, inside or (int(most) > 1))
    if name in ("GROUPREF", "GROUPREF_EXISTS"):
        raise Unsafe("a regex here may not look back at its groups")
    if name == "BRANCH":
        return max((loose(one, inside) for one in value[1]), default=0)
    if name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
        return loose(value[-1], inside)
    return loose(value, inside) if name == "ATOMIC_GROUP" else 0
