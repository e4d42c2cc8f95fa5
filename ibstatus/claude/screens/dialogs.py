"""A dialog of Claude Code on a screen: what it asks, its options, and which of them the arrow stands at."""

import re
from collections.abc import Sequence
from typing import NamedTuple

ARROW = "❯"
CURSOR = re.compile(r"(\s*)❯ +(?:(\d+)\. +)?(\S.*)")
OPTION = re.compile(r"(\s*)(?:(\d+)\. +)?(\S.*)")
HIGHEST = 3  # so many rules may be drawn inside of one dialog
DOTTED = "╌"
FEW = 4  # lines of a paragraph that count
WORDY = 2000  # characters of options that are looked at
# Dialogs that ib may answer are known by all of their options, without the numbers.
TRUST = ("Yes, I trust this folder No, exit", "No, exit Yes, I trust this folder", "Yes, proceed No, exit")
BYPASS = ("No, exit Yes, I accept", "Yes, I accept No, exit")
LIMIT = "Stop and wait for limit to reset"
LIMIT_OPTIONS = f"{LIMIT} Upgrade your plan"
LIMIT_ASKED, API_KEY_ASKED = "What do you want to do?", "Do you want to use this API key?"
AMEND, SELECT, CONFIRM = "Esc to cancel · Tab to amend", "Enter to select", "Enter to confirm"
# (which, what stands all in its title); the title is the first paragraph below the rule.
TITLES = (
    ("imports", ("Allow external", "import")),
    ("background-exit", ("Background work is running",)),
    ("plan", ("Exit plan mode?",)),
)
NAMES = ("trust", "bypass", "api-key", "imports", "limit", "background-exit", "plan", "permission", "question", "other")


class Dialog(NamedTuple):
    """`at`: where the arrow stands among the options; -1 when it is at none that could be read."""

    which: str
    options: tuple[str, ...]
    at: int


class Choice(NamedTuple):
    """Options on a screen. `at`: which one the arrow stands at, -1 without one; `first`: the number of the first, 0
    when they have none; `top` and `bottom`: the lines of the first and the last."""

    options: tuple[str, ...] = ()
    at: int = -1
    first: int = 0
    top: int = 0
    bottom: int = 0

    @property
    def is_whole(self) -> bool:
        """The arrow stands at one of them, and none is missing before the first."""
        return self.at >= 0 and self.first <= 1


def find(lines: Sequence[str], rules: Sequence[int]) -> Dialog | None:
    """The dialog below one of the lowest rules, which are the numbers of lines that are drawn right across."""
    for top in (*list(reversed(rules))[:HIGHEST], -1):
        region = lines[top + 1 :]
        choice = choice_of(region)
        if choice.is_whole and is_open(region, top):
            return Dialog(which_of(region, choice, top >= 0), choice.options, choice.at)
    return None


def is_open(region: Sequence[str], top: int) -> bool:
    """Without a rule above it, only words on how to answer tell a dialog from a prompt that was sent."""
    below = " ".join(region[-6:])
    return top >= 0 or "Enter to " in below or "Esc to " in below


def choice_of(region: Sequence[str]) -> Choice:
    """The lowest options with an arrow."""
    found = [(number, match) for number, line in enumerate(region) if (match := CURSOR.fullmatch(line.rstrip()))]
    if not found:
        return Choice()
    where, match = found[-1]
    column = len(match[1]) + 2
    numbered = int(match[2][:9]) if match[2] else 0
    above = walk(region, where, -1, column, numbered)
    below = walk(region, where, 1, column, numbered)
    texts = (*(text for _, text in reversed(above)), match[3].strip(), *(text for _, text in below))
    top, bottom = above[-1][0] if above else where, below[-1][0] if below else where
    return Choice(texts, len(above), numbered - len(above) if numbered else 0, top, bottom)


def walk(region: Sequence[str], where: int, step: int, column: int, number: int) -> list[tuple[int, str]]:
    """The options next to this one. Numbered ones may have text or a rule in between, the others stand together."""
    found = []
    while 0 <= (where := where + step) < len(region):
        match = OPTION.fullmatch(region[where].rstrip())
        here = match is not None and len(match[1]) == column
        if number and match is not None and here and match[2] == str(number + step):
            number += step
            found.append((where, match[3].strip()))
        elif not number:
            if match is None or not here:
                break
            found.append((where, match[3].strip()))
        elif number == 1 and step < 0:
            break
    return found


def which_of(region: Sequence[str], choice: Choice, has_title: bool) -> str:
    """By its keys and by what can be chosen before what is said: in a dialog may stand anybody's text."""
    keys = keys_of(region, choice.bottom)
    if keys.startswith(AMEND):
        return "permission"
    if keys.startswith(SELECT):
        return "question"
    asked = paragraph(region[: choice.top][::-1], up=True)
    chosen = " ".join(choice.options)[:WORDY]
    if is_limit(choice.options, chosen, asked, keys):
        return "limit"
    if chosen in TRUST:
        return "trust"
    if chosen in BYPASS:
        return "bypass"
    if asked.endswith(API_KEY_ASKED):
        return "api-key"
    return "permission" if "Do you want to" in asked else of_words(paragraph(region) if has_title else "", asked)


def is_limit(options: Sequence[str], chosen: str, asked: str, keys: str) -> bool:
    """All that is known of it, or its question and the option that ib takes."""
    if chosen == LIMIT_OPTIONS and keys.startswith(CONFIRM):
        return True
    return asked == LIMIT_ASKED and options[0] == LIMIT and len(options) <= 3


def of_words(title: str, asked: str) -> str:
    for which, words in TITLES:
        if all(word in title for word in words):
            return which
    return "plan" if "Would you like to proceed?" in asked and "plan" in asked else "other"


def paragraph(lines: Sequence[str], up: bool = False) -> str:
    """The first words of these lines up to an empty or a dotted line; `up`: the lines stand in reverse."""
    begin = next((at for at, line in enumerate(lines) if line.strip(f" {DOTTED}")), len(lines))
    found = []
    for line in lines[begin : begin + FEW]:
        if not line.strip(f" {DOTTED}"):
            break
        found.append(line)
    return " ".join(" ".join(reversed(found) if up else found).split())


def keys_of(region: Sequence[str], bottom: int) -> str:
    """The last paragraph below the options, which says how to answer."""
    below = list(region[bottom + 1 :])
    while below and not below[-1].strip():
        below.pop()
    begin = len(below)
    while begin and below[begin - 1].strip():
        begin -= 1
    return " ".join(" ".join(below[begin:]).split())


def step_to(dialog: Dialog, answer: str) -> tuple[str, ...]:
    """The keys from where the arrow stands to the option that begins so, and Enter; none when there is no such one."""
    wanted = [at for at, option in enumerate(dialog.options) if option.casefold().startswith(answer.casefold())]
    if not wanted or dialog.at < 0:
        return ()
    steps = wanted[0] - dialog.at
    return ("Down" if steps > 0 else "Up",) * abs(steps) + ("Enter",)
