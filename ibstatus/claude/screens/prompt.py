"""What a screen of Claude Code shows: may one type there, and what would the keys do? When in doubt: not a prompt.

One key for a dialog, and no second one before what it did was seen: a client that is slow to read would take both,
and the list goes round. What is drawn is not yet what it goes by: a key that comes at once still means the old.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ibstatus.claude.screens import dialogs
from ibstatus.claude.screens.dialogs import Dialog

Kind = Literal["prompt", "busy", "dialog", "ended", "unknown"]

PROMPT, SHELL = "❯\u00a0", "!\u00a0"  # a prompt that was sent stands behind an ordinary blank
DRAWN = "─━▔"
SPINNER = re.compile(r"[·✢✳✶✻✽*] .*(…( \(.*\)?)?|[Rr]etrying in .*)")
FOREIGN = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;:?]*[A-Za-ln-z]|\x1b[()][A-Za-z0-9]|[\x0e\x0f]")
STYLE = re.compile(r"\x1b\[([0-9;:]*)m")
PLACEHOLDER = re.compile(
    r'Try "[^"]*"|Press up to edit queued messages|Resend your message to try again|Once fixed, resend your message'
)
ABOVE = 25  # so far above the prompt line its spinner may stand: what is to be done is listed below it
FOOTER, SHORT = 11, 4
INTERRUPT = re.compile(r"(?:^ {0,4}|· )esc to (?:interrupt|(?:in[a-z]{0,7})?…)")
LIMITED = re.compile(r"^ {0,4}⚠ +Usage limit reached(?: ·|…|$)")
PANEL, NARROWEST, LOWEST = "│", 60, 8
MOST = 200_000  # characters; a screen has a hundredth of that


class Screen(NamedTuple):
    """`draft`: what stands on the prompt line, a `!` before it in shell mode; '' for an empty one."""

    kind: Kind
    draft: str = ""
    dialog: Dialog | None = None

    @property
    def takes_text(self) -> bool:
        """An idle session with nothing on its prompt line."""
        return self.kind == "prompt" and not self.draft


class Page(NamedTuple):
    """A capture, taken apart once. `box`: the numbers of the rules around the prompt line. `is_full`: its last row is
    not empty, so more may have been meant to stand below."""

    lines: list[str]
    styled: list[str]
    ended: bool
    box: tuple[int, int] | None
    dialog: Dialog | None
    is_full: bool = False

    @property
    def footer(self) -> list[str]:
        return self.lines[self.box[1] + 1 :] if self.box else []

    @property
    def is_cut(self) -> bool:
        """So small that neither a spinner nor the words on Esc need to be seen while a turn runs."""
        if self.box is None or self.box[0] >= SHORT:
            return False
        return any(line.endswith("…") for line in self.footer) or (self.is_full and not self.footer)

    @property
    def above(self) -> list[str]:
        return self.lines[max(0, self.box[0] - ABOVE) : self.box[0]] if self.box else []


def page(text: str) -> Page:
    """With or without its styles. Of a text that is no screen at all only the end is read."""
    if len(text) > MOST:
        text = text[-MOST:]
    if "\x1b" in text or "\x0e" in text or "\x0f" in text:
        text = FOREIGN.sub("", text)
    written = text.rstrip(" \r\n")  # most of a screen may be empty
    is_full = text.count("\n", len(written)) <= 1
    styled = written.split("\n")
    plain = [STYLE.sub("", line) for line in styled] if "\x1b" in text else styled
    lines = [line.rstrip(" \r") for line in plain]
    while lines and not lines[-1]:
        lines.pop()
    if lines and PANEL in lines[-1]:
        lines = without_panel(lines)
    if has_ended(lines):
        return Page(lines, styled, True, None, None)
    rules = [at for at, line in enumerate(lines) if line and line[-1] in DRAWN and is_rule(line)]
    box = box_of(lines, rules)
    if box is not None or dialogs.ARROW not in text:
        return Page(lines, styled, False, box, None, is_full)
    return Page(lines, styled, False, None, dialogs.find(lines, rules))


def read(text: str) -> Screen:
    """Of a capture, with or without its styles: with them, what is dim on the prompt line is nobody's draft."""
    return of(page(text))


def of(seen: Page) -> Screen:
    if seen.ended:
        return Screen("ended")
    if seen.box is None:
        return Screen("dialog", dialog=seen.dialog) if seen.dialog else Screen("unknown")
    top, bottom = seen.box
    if any(LIMITED.search(line) for line in seen.footer):
        return Screen("dialog", dialog=Dialog("limit", (), -1))
    draft = draft_of(seen.lines[top + 1 : bottom], seen.styled[top + 1 : bottom])
    if is_busy(seen.above, seen.footer):
        return Screen("busy", draft)
    return Screen("unknown") if seen.is_cut else Screen("prompt", draft)


def without_panel(lines: list[str]) -> list[str]:
    """Without what a wide client draws at the right, behind a line from the top of the screen to its end."""
    found = lines[-1].find(PANEL, NARROWEST) if lines else -1
    if found < 0 or len(lines) < LOWEST or any(line[found : found + 1] != PANEL for line in lines[-LOWEST:]):
        return lines
    cut = [line[:found].rstrip() if line[found : found + 1] == PANEL else line for line in lines]
    while cut and not cut[-1]:
        cut.pop()
    return cut


def is_rule(line: str) -> bool:
    """Drawn right across: it begins and ends with what is drawn, whatever is written in between."""
    if not line or line[-1] not in DRAWN:
        return False
    begin = line.lstrip(" ")
    return len(line) - len(begin) <= 4 and len(begin) > 8 and not begin[:8].strip(DRAWN)


def has_ended(lines: Sequence[str]) -> bool:
    last = [line for line in lines[-8:] if line]
    if last and last[-1].startswith("Pane is dead ("):
        return True
    words = "\n" + "\n".join(last)
    return "\nResume this session with:" in words and "\n" + PROMPT not in words


def box_of(lines: Sequence[str], rules: Sequence[int]) -> tuple[int, int] | None:
    """The two rules around the prompt line, when they are the lowest of those that begin at the left, and only a footer
    stands below them: what a user's status line draws is indented, as are the lines of a draft."""
    edges = [at for at in rules if not lines[at].startswith(" ")]
    if len(edges) < 2 or not lines[edges[-2] + 1].startswith((PROMPT, SHELL)):
        return None
    top, bottom = edges[-2:]
    below = lines[bottom + 1 :]
    if sum(map(bool, below)) > FOOTER:
        return None
    if any(dialogs.ARROW in line for line in below):
        choice = dialogs.choice_of(below)
        if choice.is_whole and len(choice.options) > 1:
            return None
    return top, bottom


def draft_of(lines: Sequence[str], styled: Sequence[str]) -> str:
    plain = "\n".join([lines[0][2:], *[line[2:] if line.startswith("  ") else line for line in lines[1:]]])
    shell = "!" if lines[0].startswith(SHELL) else ""
    if any(STYLE.search(line) for line in styled):
        dim, bright = shades(styled)
        empty = bool(dim) and not bright
    else:
        empty = PLACEHOLDER.fullmatch(plain.strip()) is not None
    return shell + ("" if empty else plain.strip())


def shades(styled: Sequence[str]) -> tuple[str, str]:
    """(what is dim on these lines, what is neither dim nor under the cursor), without the sign they begin with."""
    found = {True: "", False: ""}
    for line in styled:
        dim, inverse, at = False, False, 0
        for match in (*STYLE.finditer(line), None):
            part = line[at : match.start() if match else len(line)]
            if not inverse or dim:
                found[dim] += part
            if match:
                at, (dim, inverse) = match.end(), after(match[1], dim, inverse)
    return found[True].strip(), found[False].strip().lstrip("❯!\u00a0").strip()


def after(codes: str, dim: bool, inverse: bool) -> tuple[bool, bool]:
    words = codes.replace(":", ";").split(";")
    while words:
        word = words.pop(0)
        if word in ("38", "48", "58"):  # a colour follows, whose numbers are no styles
            del words[: 2 if words[:1] == ["5"] else 4]
        elif word in ("", "0"):
            dim, inverse = False, False
        elif word in ("2", "22"):
            dim = word == "2"
        elif word in ("7", "27"):
            inverse = word == "7"
    return dim, inverse


def is_busy(above: Sequence[str], footer: Sequence[str]) -> bool:
    return any(INTERRUPT.search(line) for line in footer) or any(SPINNER.fullmatch(line) for line in above)


LOST = 5.0  # seconds without any change on the screen; a client that has just begun throws away what it is sent
SETTLED = 0.5


class Pace:
    """What was pressed last in one session. Times are of one clock."""

    def __init__(self) -> None:
        self.seen: Dialog | None = None
        self.since = 0.0
        self.before: Dialog | None = None
        self.at = 0.0
        self.doubled = False

    def is_free(self, dialog: Dialog, now: float) -> bool:
        """May the next key be pressed into this dialog? After one that seemed lost, not until that is certain."""
        if dialog != self.seen:
            self.seen, self.since = dialog, now
        if now - self.since < SETTLED:
            return False
        if self.before is None:
            return True
        return now - self.at >= LOST or (dialog != self.before and not self.doubled)

    def pressed(self, dialog: Dialog, now: float) -> None:
        self.doubled = dialog == self.before
        self.before, self.at = dialog, now
