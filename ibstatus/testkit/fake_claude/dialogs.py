"""The dialogs, worded and laid out as recorded. One that is open swallows text; Enter takes what ❯ stands at."""

import math
from typing import NamedTuple

CONFIRM = " Enter to confirm · Esc to cancel"
AMEND = " Esc to cancel · Tab to amend"
SELECT = "Enter to select · ↑/↓ to navigate · Esc to cancel"
RULE, DASHES, TOP = "\0rule", "\0dashes", "\0top"  # lines as wide as the terminal
QUICK_CHECK = (
    " Quick safety check: Is this a project you created or one you trust? (Like your own code, a well-known open source"
    " project, or work from your team). If not, take a moment to review what's in this folder first."
)
ABLE = " Claude Code'll be able to read, edit, and execute files here."
BYPASS = (
    "  In Bypass Permissions mode, Claude Code will not ask for your approval before running potentially dangerous"
    " commands.",
    "  This mode should only be used in a sandboxed container/VM that has restricted internet access and can easily be"
    " restored if damaged.",
)
ACCEPT = "  By proceeding, you accept all responsibility for actions taken while running in Bypass Permissions mode."
ACCEPT_EDITS = (
    "Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session (shift+tab)"
)
EXIT, YES, NO = "No, exit", "Yes", "No"
TYPE, CHAT = "Type something.", "Chat about this"


class Option(NamedTuple):
    label: str
    below: tuple[str, ...] = ()  # lines under it
    above: tuple[str, ...] = ()


class Dialog:
    """`chosen` is None while it is open, '' after Esc. `covers`: the conversation is not to be seen behind it."""

    deadline = math.inf

    def __init__(
        self,
        head: list[str],
        options: list[Option],
        foot: str,
        *,
        numbered: bool,
        indent: int = 1,
        covers: bool = False,
    ) -> None:
        self.head = head
        self.options = options
        self.foot = foot
        self.numbered = numbered
        self.indent = indent
        self.covers = covers
        self.at = 0
        self.chosen: str | None = None

    def over(self, now: float) -> bool:
        return self.chosen is not None

    def key(self, name: str) -> None:
        if name in ("Up", "Down", "Tab"):
            self.at = (self.at + (-1 if name == "Up" else 1)) % len(self.options)
        elif name == "Enter":
            self.chosen = self.options[self.at].label
        elif name in ("Escape", "C-c"):
            self.chosen = ""
        elif self.numbered and name.isdigit() and 1 <= int(name) <= len(self.options):
            self.chosen = self.options[int(name) - 1].label

    def lines(self) -> list[str]:
        found = list(self.head)
        for place, option in enumerate(self.options):
            arrow = "❯" if place == self.at else " "
            number = f"{place + 1}. " if self.numbered else ""
            found += [*option.above, f"{' ' * self.indent}{arrow} {number}{option.label}", *option.below]
        return [*found, *(["", self.foot] if self.foot else [])]


def trust(cwd: str, *, older: bool, has_settings: bool) -> Dialog:
    """[A] stands at Yes, with digits; [B] at No, without."""
    loads = [" Trusting this folder loads .claude/settings.json (runs commands)."] if has_settings else []
    head = [RULE, " Accessing workspace:", "", f" {cwd}", "", QUICK_CHECK, "", ABLE, "", *loads, " Security guide", ""]
    options = [Option("Yes, I trust this folder"), Option(EXIT)]
    return Dialog(head, options if older else options[::-1], CONFIRM, numbered=older, covers=True)


def bypass() -> Dialog:
    warning = "  WARNING: Claude Code running in Bypass Permissions mode"
    link = "  https://code.claude.com/docs/en/security"
    head = [RULE, warning, "", BYPASS[0], BYPASS[1], "", ACCEPT, "", link, ""]
    options = [Option(EXIT), Option("Yes, I accept")]
    return Dialog(head, options, " " + CONFIRM, numbered=False, indent=2, covers=True)


def bash(command: str, description: str) -> Dialog:
    tip = ' Tip: auto mode handles these prompts for you — choose "switch to auto mode" below'
    body = [f" {line}" for line in command.splitlines()]
    head = [RULE, " Bash command", tip, f" {description}", DASHES, *body, DASHES, " This command requires approval", ""]
    options = [
        Option(YES),
        Option(f"Yes, and don’t ask again for: {command.splitlines()[0] if command else ''}"),
        Option("Yes, and switch to auto mode · auto mode handles these prompts for you"),
        Option(NO),
    ]
    return Dialog([*head, " Do you want to proceed?"], options, AMEND, numbered=True)


def write(path: str, text: str) -> Dialog:
    name = path.rpartition("/")[2]
    body = [f" {number} {line}" for number, line in enumerate(text.splitlines(), 1)]
    head = [RULE, " Create file", f" {name}", DASHES, *body[:20], DASHES, f" Do you want to create {name}?"]
    options = [
        Option(YES),
        Option(ACCEPT_EDITS),
        Option(NO),
    ]
    return Dialog(head, options, AMEND, numbered=True)


def question(header: str, text: str, answers: list[str]) -> Dialog:
    head = [RULE, f" ☐ {header}", "", text, ""]
    options = [*(Option(answer) for answer in answers), Option(TYPE), Option(CHAT, above=(RULE,))]
    return Dialog(head, options, SELECT, numbered=True, indent=0)


def plan(text: str) -> Dialog:
    body = [f"   {line}" for line in text.splitlines()]
    head = [TOP, "", "  " + RULE, "   Exit plan mode?", "", *body, "    Claude wants to exit plan mode", ""]
    options = [Option("Yes, and switch to default (ask each time) for this session"), Option(NO)]
    return Dialog(head, options, "", numbered=True, indent=4)


def limit() -> Dialog:
    options = [Option("Stop and wait for limit to reset"), Option("Upgrade your plan")]
    return Dialog([RULE, "  What do you want to do?", ""], options, " " + CONFIRM, numbered=True, indent=2)
