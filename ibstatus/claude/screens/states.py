"""What a screen says of a session's state, and which rule said so. The rules are data: `screens.toml`.

What a screen asks of somebody, in one line that is harmless to show.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ibstatus.claude.screens import prompt, rules_file
from ibstatus.claude.screens.dialogs import CURSOR, Dialog
from ibstatus.claude.screens.rules_file import Rule, Rules

WIDEST = 600  # characters of a line that rules look at
REGION = 16_384  # characters of a region that a regex is given
MOST = 1000  # lines
RECENT = 40  # so many of the last lines tell the age of the client
LOGO = re.compile(r"Claude Code v(\d{1,4})\.(\d{1,4})\.(\d{1,6})")
ITS_LOGO = re.compile(r" *[▐▛█▜▌▝▘▀▄╭─][ ▐▛█▜▌▝▘▀▄╭─]*Claude Code v(\d{1,4}\.\d{1,4}\.\d{1,6})")
OLDEST = (2, 1, 100)
FOOTERS = ("← for agents", "· esc to interrupt", "! for shell mode", "manual mode on", "auto mode on")
SURE = ("permission", "question", "plan", "limit", "bypass", "background-exit", "api-key")
HINT = re.compile(r"\s{10,}\S.{0,60}|[·✢✳✶✻✽*] \w{1,40} for .{0,100}|❯ /[a-z-]{1,40}")


class Shown(NamedTuple):
    """`rule`: the name of the rule that decided. `asks`: what a dialog asks, or the words on when a limit ends.
    `idle`: positively an empty or drafted prompt line, and nothing runs."""

    state: str
    reason: str = ""
    rule: str = ""
    asks: str = ""
    idle: bool = False


class Tried(NamedTuple):
    """`line`: what the rule has found, '' when it has not."""

    rule: Rule
    line: str = ""
    fits: bool = False


NOTHING = Shown("unknown", rule="none")


class View:
    """A page as rules see it: its regions are made when the first rule asks for them."""

    __slots__ = ("found", "layouts", "lines", "page")

    def __init__(self, page: prompt.Page) -> None:
        self.page = page
        lines = page.lines if len(page.lines) <= MOST else page.lines[-MOST:]
        self.lines = [line[:WIDEST] for line in lines] if any(map(WIDEST.__lt__, map(len, lines))) else lines
        self.layouts = layouts_of(page, self.lines)
        self.found: dict[tuple[str, int], str] = {}

    def region(self, rule: Rule) -> str:
        key = rule.where, rule.tail
        text = self.found.get(key)
        if text is None:
            text = self.found[key] = "\n".join(self.make(*key))[-REGION:]
        return text

    def make(self, where: str, tail: int) -> Sequence[str]:
        page = self.page
        if where == "tail":
            return self.lines[-tail:]
        if where == "whole":
            return self.lines
        if page.box is not None:
            return self.of_box(where)
        if page.dialog is None:
            return ()
        if where == "which":
            return (page.dialog.which,)
        return self.cut(list(page.dialog.options)) if where == "choice" else self.lines[-LINES:]

    def of_box(self, where: str) -> Sequence[str]:
        page = self.page
        if where == "footer":
            return self.cut(page.footer)
        if where == "draft" and page.box:
            return self.cut(page.lines[page.box[0] + 1 : page.box[1]])
        if where == "above":
            return self.cut(page.above)
        lines = self.cut(page.lines[: page.box[0] if page.box else 0][-MOST:])
        return turn_of(lines) if where == "turn" else status_of(lines)

    def cut(self, lines: list[str]) -> list[str]:
        return lines if self.lines is self.page.lines else [line[:WIDEST] for line in lines]


def layouts_of(page: prompt.Page, lines: Sequence[str]) -> frozenset[str]:
    if page.ended:
        kind = "ended"
    elif page.box is not None:
        kind = "box"
    else:
        kind = "dialog" if page.dialog else "plain"
    return frozenset((kind, "any") if is_modern(page, lines) else (kind, "old", "any"))


def is_modern(page: prompt.Page, lines: Sequence[str]) -> bool:
    """Surely a client of our days: then what stands in its conversation is never taken for its state."""
    if page.ended or (page.dialog is not None and page.dialog.which in SURE):
        return True
    if page.box is not None and (is_footed(page) or is_bulleted(lines[-RECENT:])):
        return True
    logos = [found for line in lines if "Claude Code v" in line and (found := LOGO.search(line))]
    return bool(logos) and tuple(map(int, logos[-1].groups())) >= OLDEST


def is_footed(page: prompt.Page) -> bool:
    """The words around the box are those of our days."""
    around = (*page.above[-2:], *page.footer)
    return any(word in line for line in page.footer for word in FOOTERS) or any(
        line.endswith("/effort") for line in around
    )


def is_bulleted(recent: Sequence[str]) -> bool:
    if any(line.startswith("⏺") for line in recent):
        return False
    return any(line.startswith(("● ", "  esc to interrupt")) for line in recent)


def status_of(above: Sequence[str]) -> Sequence[str]:
    """The last paragraph above the box; hints at the right, finished timers and commands of the client are passed."""
    end = len(above)
    while end and (not above[end - 1] or HINT.fullmatch(above[end - 1])):
        if above[end - 1][1:].startswith(" Waiting for "):
            break
        end -= 1
    begin = end
    while begin and above[begin - 1]:
        begin -= 1
    return above[begin:end]


def turn_of(above: Sequence[str]) -> Sequence[str]:
    """What stands below the last prompt that was sent."""
    begin = len(above)
    while begin and (not above[begin - 1].startswith("❯ ") or HINT.fullmatch(above[begin - 1])):
        begin -= 1
    while begin < len(above) and above[begin].startswith("  ") and "⎿" not in above[begin][:4]:
        begin += 1
    end = len(above)
    while end > begin and (not above[end - 1] or HINT.fullmatch(above[end - 1])):
        end -= 1
    return above[begin:end]


def shown(text: str, rules: Rules | None = None, client: str = "") -> Shown:
    """Of one capture, with or without styles. `client` is its version; '' for what the screen itself says of it."""
    view = View(prompt.page(text))
    if not view.lines:
        return NOTHING
    layouts = view.layouts
    for rule in fitting(rules, client, view):
        if rule.on in layouts and (not rule.match or hit_of(rule, view.region(rule)) is not None):
            return answer(rule, view)
    return NOTHING


def fitting(rules: Rules | None, client: str, view: View) -> Sequence[Rule]:
    """Those for this client; all of them where nothing tells its version."""
    known = rules or rules_file.built_in()
    return known.of(client or (client_of(view.lines) if known.is_picky else ""))


def client_of(lines: Sequence[str]) -> str:
    """The version beside the client's own picture; what somebody writes of one is indented."""
    found = (ITS_LOGO.match(line) for line in lines if "Claude Code v" in line)
    return next((hit[1] for hit in found if hit), "")


def explained(text: str, rules: Rules | None = None, client: str = "") -> tuple[Shown, list[Tried], frozenset[str]]:
    """The same, with every rule that was tried up to the one that decided, and what kind of screen it is."""
    view = View(prompt.page(text))
    tried: list[Tried] = []
    for rule in fitting(rules, client, view) if view.lines else ():
        if rule.on not in view.layouts:
            continue
        tried.append(fits(rule, view))
        if tried[-1].fits:
            return answer(rule, view), tried, view.layouts
    return NOTHING, tried, view.layouts


def fits(rule: Rule, view: View) -> Tried:
    if not rule.match:
        return Tried(rule, "", True)
    hit = hit_of(rule, view.region(rule))
    return Tried(rule) if hit is None else Tried(rule, line_at(hit.string, hit), True)


def hit_of(rule: Rule, text: str) -> "re.Match[str] | None":
    """What its first regex has found, when all of it fits."""
    if rule.without is not None:
        text = rule.without.sub("", text)
    first = rule.match[0].search(text)
    if first is None:
        return None
    if len(rule.match) > 1 and not all(pattern.search(text) for pattern in rule.match[1:]):
        return None
    if rule.unless and any(pattern.search(text) for pattern in rule.unless):
        return None
    return first


def line_at(text: str, hit: re.Match[str]) -> str:
    """The line where it begins, past the empty ones."""
    at = hit.start() + len(hit[0]) - len(hit[0].lstrip())
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]


def answer(rule: Rule, view: View) -> Shown:
    if rule.idle and not rule.match and view.page.is_cut:
        return Shown("unknown", rule=rule.name)
    return Shown(rule.state, reason_of(rule, view), rule.name, asks_of(rule, view), rule.idle)


def reason_of(rule: Rule, view: View) -> str:
    """Its words; `{name}` is what the group of that name has found."""
    if "{" not in rule.reason:
        return rule.reason
    text, reason = view.region(rule), rule.reason
    for pattern in rule.match:
        found = pattern.search(text)
        for key, value in (found.groupdict() if found else {}).items():
            reason = reason.replace("{" + key + "}", harmless(value or ""))
    return reason


def asks_of(rule: Rule, view: View) -> str:
    if view.page.dialog is not None and rule.on == "dialog":
        return of_dialog(view.lines, view.page.dialog)
    if rule.state == "rate_limited" and rule.on == "box":
        words = limit(view.lines)
        if words:
            return words
    if rule.asks is not None and (found := rule.asks.search(view.region(rule))):
        return harmless(found[0])
    if rule.on == "old" and rule.state in ("creating", "waiting"):
        return of_dialog(view.lines, view.page.dialog) if view.page.dialog else ""
    return ""


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
