"""What a screen asks of somebody, in one line that is harmless to show."""

import re
from collections.abc import Iterable, Sequence

from ibstatus.claude.screens import prompt
from ibstatus.claude.screens.dialogs import CURSOR, Dialog

LONGEST = 200
LINES = 60
TABS = re.compile(r"\s*←.*→\s*|\s*[☐☒✔].*")
KEYS = re.compile(r"Tip: .*|.*(?:Esc to cancel|Enter to (?:select|confirm)|Tab to amend).*")
LIMIT = re.compile(r"(?:You've hit your .*limit|[Uu]sage limit reached).*")
RESET = re.compile(r"\bresets? ")
QUESTIONS = ("question", "plan")


def harmless(text: str) -> str:
    """One line of printable characters, cut to 200."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * LONGEST]).split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def of_dialog(lines: Sequence[str], dialog: Dialog) -> str:
    """Its question; for a permission the tool and what it is to do; for a limit the words on when it ends."""
    if dialog.which == "limit":
        return limit(lines)
    asking = region(lines, dialog)
    command = framed(asking)
    if dialog.which == "permission" and command and asking and "Bash" in " ".join(asking)[:80]:
        return harmless("Bash command: " + command)
    said = blocks(asking)
    if not said:
        return ""
    if dialog.which in QUESTIONS:
        asked = [line for block in said for line in block if line.rstrip().endswith("?")]
        return harmless(asked[-1] if asked and dialog.which == "plan" else " ".join(said[-1]))
    first = [line for block in said for line in block]
    words = first[:1] + (said[0][1:] or (said[1] if len(said) > 1 else []))
    title = words[0].rstrip(":")
    return harmless(f"{title}: {' '.join(words[1:])}" if len(words) > 1 else title)


def framed(lines: Sequence[str]) -> str:
    """What stands between two dotted lines: the command, where there are such."""
    drawn = [at for at, line in enumerate(lines) if line.strip().startswith("╌╌╌╌")]
    return " ".join(lines[drawn[0] + 1 : drawn[1]]) if len(drawn) > 1 else ""


def region(lines: Sequence[str], dialog: Dialog) -> list[str]:
    """The lines between the rule over a dialog and the first of its options."""
    at = len(lines) - 1
    while at >= 0 and not CURSOR.fullmatch(lines[at][: 2 * LONGEST]):
        at -= 1
    found: list[str] = []
    while (at := at - 1) >= 0 and len(found) < LINES and not prompt.is_rule(lines[at]):
        found.append(lines[at])
    if at < 0 and dialog.which == "other":  # where it begins is not known
        return []
    return [line for line in reversed(found) if not TABS.fullmatch(line[:LONGEST])]


def blocks(lines: Iterable[str]) -> list[list[str]]:
    """Paragraphs, without options, hints on keys and drawn lines."""
    found: list[list[str]] = [[]]
    for line in lines:
        word = line.strip(" │╭╮╰╯")
        if not word or not word.strip("╌─━▔"):
            found.append([])
        elif not re.match(r"(?:❯ *)?\d+\. ", word) and not KEYS.fullmatch(word[: 2 * LONGEST]):
            found[-1].append(word)
    return [block for block in found if block]


def limit(lines: Sequence[str]) -> str:
    """The lowest words on a limit; such with the time of its end before others."""
    found = [hit[0] for line in reversed(lines[-LINES:]) if (hit := LIMIT.search(line[: 2 * LONGEST]))]
    timed = [words for words in found if RESET.search(words)]
    zoned = [words for words in timed if "(" in words]
    return harmless((zoned or timed or found or [""])[0])
