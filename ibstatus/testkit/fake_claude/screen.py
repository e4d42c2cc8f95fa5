"""The screen as 2.1.326 draws it: the conversation above, the prompt line between its two rules at the bottom."""

import time
from functools import lru_cache
from unicodedata import east_asian_width

from ibstatus.testkit.fake_claude.dialogs import DASHES, RULE, TOP
from ibstatus.testkit.fake_claude.state import State
from ibstatus.testkit.fake_claude.transcript import VERSION

NBSP, HANGS = "\u00a0", "⎿"
CURSOR = "\x1b[7m \x1b[27m"
LOGO = (" ▐▛███▛█ ", "▝▜██████▀", " ▝▝   ▝▝ ")
GLYPHS = "·✢*✶✻✽"
MODES = {
    "default": "⏸ manual mode on",
    "plan": "⏸ plan mode on (shift+tab to cycle)",
    "acceptEdits": "⏵⏵ accept edits on (shift+tab to cycle)",
    "bypassPermissions": "⏵⏵ bypass permissions on (shift+tab to cycle)",
    "auto": "⏵⏵ auto mode on (shift+tab to cycle)",
    "dontAsk": "⏵⏵ don't ask on (shift+tab to cycle)",
}


def frame(state: State, width: int, height: int) -> list[str]:
    """Exactly so many lines."""
    if state.picture is not None:
        return fitted(state.picture.splitlines(), height)
    if state.dialog is not None:
        asked = laid_out(state.dialog.lines(), width)
        above = [""] if state.dialog.covers else conversation(state, width)
        return fitted((above + asked)[-height:], height)
    bottom = [*at_work(state, width), *box(state, width)]
    room = height - len(bottom)
    above = conversation(state, width)[-room:] if room > 0 else []
    return (fitted(above, max(room, 0)) + bottom)[-height:]


def fitted(lines: list[str], height: int) -> list[str]:
    return (lines + [""] * height)[:height]


def conversation(state: State, width: int) -> list[str]:
    lines = ["", *logo(state), "", ""]
    for block in state.shown:
        if block.startswith(HANGS):
            lines[-1:] = []
            block = f"  {block}"
        lines += [*wrapped(block, width), ""]
    return lines


def at_work(state: State, width: int) -> list[str]:
    """What stands right above the prompt line while a turn runs."""
    if not state.spinner:
        return []
    lines: list[str] = []
    for item in state.queue:
        lines += [*wrapped(f"❯ {item.text}", width), f"  {HANGS} {NBSP}Queued · ctrl+x ctrl+s to send now", ""]
    return [*lines, spinner(state)]


def logo(state: State) -> list[str]:
    beside = (f"Claude Code v{VERSION}", f"{state.model} · fake-claude, no model", state.cwd)
    return [f"{mark}  {text}" for mark, text in zip(LOGO, beside, strict=True)]


def spinner(state: State) -> str:
    seconds = int(time.monotonic() - state.turn_began)
    if state.trouble:
        return f"✻ {state.trouble} · retrying in {10 - seconds % 10}s · attempt {min(seconds // 10 + 1, 10)}/10"
    return (
        f"{GLYPHS[int(time.monotonic() * 4) % len(GLYPHS)]} {state.spinner}… ({seconds}s · ↓ {7 + 3 * seconds} tokens)"
    )


def box(state: State, width: int) -> list[str]:
    rule = "─" * width
    hint = state.hint or "◐ medium · /effort"
    return [hint.rjust(width - 2)[:width], rule, *prompt(state, width), rule, *footer(state)]


def prompt(state: State, width: int) -> list[str]:
    mark = "!" if state.line.is_shell else "❯"
    text = state.line.shown
    if not text:
        faint = "Press up to edit queued messages" if state.queue else state.placeholder
        return [f"{mark}{NBSP}" + (f"\x1b[2m{faint}\x1b[22m" if faint else CURSOR)]
    lines = wrapped(f"{mark}{NBSP}{text}", width - 1)[-12:]
    return [*lines[:-1], lines[-1] + CURSOR]


def footer(state: State) -> list[str]:
    if state.line.is_shell:
        return ["  ! for shell mode"]
    if state.warning:
        return [f"  {state.warning[0]}", *state.warning[1:], *mode_line(state)]
    if state.line.pastes and state.line.shown.endswith("]") and "[Pasted text" in state.line.shown:
        return ["  paste again to expand"]
    return mode_line(state)


def mode_line(state: State) -> list[str]:
    text = MODES.get(state.mode, MODES["default"])
    if state.line.is_empty:
        more = "esc to interrupt" if state.is_busy else "? for shortcuts" if state.mode == "default" else ""
        text += f" · {more}" * bool(more) + " · ← for agents"
    return [f"  {text}"]


def laid_out(lines: list[str], width: int) -> list[str]:
    found: list[str] = []
    for line in lines:
        for mark, char in ((RULE, "─"), (DASHES, "╌"), (TOP, "▔")):
            if line.endswith(mark):
                head = line.removesuffix(mark)
                found.append(head + char * (width - len(head)))
                break
        else:
            indent = len(line) - len(line.lstrip(" "))
            found += wrapped(line, width - indent, " " * indent)
    return found


@lru_cache(512)
def wrapped(text: str, width: int, hanging: str = "  ") -> tuple[str, ...]:
    """Later lines are indented; nothing in it can steer the terminal."""
    found: list[str] = []
    for number, line in enumerate(text.split("\n")):
        rest = visible(line)
        indent = hanging if number and rest else ""
        start = 0
        while True:
            end = fitting(rest, start, width - len(indent))
            if end < len(rest) and (blank := rest.rfind(" ", start, end)) > start + width // 2:
                end = blank + 1
            found.append(indent + (rest[start:end].rstrip(" ") if end < len(rest) else rest[start:end]))
            start, indent = end, hanging
            if start >= len(rest):
                break
    return tuple(found)


def visible(text: str) -> str:
    """What cannot be seen is shown escaped; the blanks of the client's own marks stay."""
    if text.isprintable():
        return text
    return "".join(
        [char if char.isprintable() or char == NBSP else char.encode("unicode_escape").decode() for char in text]
    )


def cells(text: str) -> int:
    return len(text) if text.isascii() else sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def fitting(text: str, start: int, width: int) -> int:
    """Up to which character so many cells reach; one character at least."""
    used = 0
    for place in range(start, len(text)):
        used += cells(text[place])
        if used > width and place > start:
            return place
    return len(text)
