"""A dialog of Claude Code on a screen: what it asks, its options, and which of them the arrow stands at."""

import re
from collections.abc import Sequence
from typing import NamedTuple

ARROW = "❯"
CURSOR = re.compile(r"(\s*)❯ +(?:(\d+)\. +)?(\S.*)")
OPTION = re.compile(r"(\s*)(?:(\d+)\. +)?(\S.*)")
HIGHEST = 3  # so many rules may be drawn inside of one dialog
# (which, what stands in it, what begins one of its options); the first that is wholly there decides.
KINDS = (
    ("trust", (), "Yes, I trust this folder"),
    ("trust", ("trust the files in this folder",), "Yes, proceed"),
    ("bypass", ("Bypass Permissions mode",), "Yes, I accept"),
    ("api-key", ("custom API key",), "Yes"),
    ("imports", ("external", "import"), ""),
    ("limit", (), "Stop and wait for limit"),
    ("background-exit", ("Background work is running",), ""),
    ("plan", ("Exit plan mode?",), ""),
    ("plan", ("Would you like to proceed?", "plan"), ""),
    ("permission", ("Do you want to",), ""),
    ("permission", ("Tab to amend",), ""),
    ("question", ("Enter to select",), ""),
)


class Dialog(NamedTuple):
    """`at`: where the arrow stands among the options; -1 when it is at none that could be read."""

    which: str
    options: tuple[str, ...]
    at: int


def find(lines: Sequence[str], rules: Sequence[int]) -> Dialog | None:
    """The dialog below one of the lowest rules, which are the numbers of lines that are drawn right across."""
    for top in (*list(reversed(rules))[:HIGHEST], -1):
        region = lines[top + 1 :]
        options, at, first = options_of(region)
        if at >= 0 and first <= 1 and is_open(region, top):
            return Dialog(which_of(region, options), options, at)
    return None


def is_open(region: Sequence[str], top: int) -> bool:
    """Without a rule above it, only words on how to answer tell a dialog from a prompt that was sent."""
    below = " ".join(region[-6:])
    return top >= 0 or "Enter to " in below or "Esc to " in below


def options_of(region: Sequence[str]) -> tuple[tuple[str, ...], int, int]:
    """(the options, which one the arrow stands at, the number of the first or 0); at is -1 without an arrow."""
    found = [(number, match) for number, line in enumerate(region) if (match := CURSOR.fullmatch(line.rstrip()))]
    if not found:
        return (), -1, 0
    where, match = found[-1]
    column = len(match[1]) + 2
    numbered = int(match[2]) if match[2] else 0
    above = walk(region, where, -1, column, numbered)
    below = walk(region, where, 1, column, numbered)
    first = numbered - len(above) if numbered else 0
    return (*reversed(above), match[3].strip(), *below), len(above), first


def walk(region: Sequence[str], where: int, step: int, column: int, number: int) -> list[str]:
    """The options next to this one. Numbered ones may have text or a rule in between, the others stand together."""
    found = []
    while 0 <= (where := where + step) < len(region):
        match = OPTION.fullmatch(region[where].rstrip())
        here = match is not None and len(match[1]) == column
        if number and match is not None and here and match[2] == str(number + step):
            number += step
            found.append(match[3].strip())
        elif not number:
            if match is None or not here:
                break
            found.append(match[3].strip())
        elif number == 1 and step < 0:
            break
    return found


def which_of(region: Sequence[str], options: Sequence[str]) -> str:
    """By what can be chosen before what is said: a dialog may show somebody's text."""
    shown = " ".join(" ".join(region).split())
    for which, words, chosen in KINDS:
        if any(option.startswith(chosen) for option in options) and all(word in shown for word in words):
            return which
    return "other"


def step_to(dialog: Dialog, answer: str) -> tuple[str, ...]:
    """The keys from where the arrow stands to the option that begins so, and Enter; none when there is no such one."""
    wanted = [at for at, option in enumerate(dialog.options) if option.casefold().startswith(answer.casefold())]
    if not wanted or dialog.at < 0:
        return ()
    steps = wanted[0] - dialog.at
    return ("Down" if steps > 0 else "Up",) * abs(steps) + ("Enter",)
