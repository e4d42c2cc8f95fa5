"""The rules for old clients against the same table said once more, in code."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from ibstatus.claude.screens import states

GLYPHS = "✽✶✢·✻✳"
GOAL = "I HAVE COMPLETED THE GOAL"
LIMITS = ("usage limit reached", "limit will reset at", "hit your limit", "/upgrade to increase your usage limit")
AT_WORK = ("(esc to interrupt", "(Esc to interrupt", "(ctrl+c to interrupt", "⎿  Running")
TOKENS = (
    "⏺ WAITING",
    "WAITING",
    "  WAITING ",
    "so WAITING is",
    GOAL,
    f"say '{GOAL}' when",
    "  ⎿  Running…",
    "  ⎿  Waiting…",
    "✻ Cooked for 3s",
    "✶ Doing… (esc to interrupt)",
    "✽ Foo… (3s · ↑ 3k tokens)",
    "✢ Bar… (thought for 3s)",
    "✳ Hooking… (running stop hook)",
    "✻ hook (esc to interrupt)",
    "Enter to confirm",
    "trust this folder",
    "rate_limit_error",
    "Claude usage limit reached",
    "⏵⏵ accept edits on · 3 background tasks",
    "(ctrl+b ctrl+b)",
    "Compacting conversation",
    "Claude Code v2.1.5",
    "[USER TASK]",
    "(thinking)",
    "running stop hook",
    "⏺ Bash(x)",
    "words",
    "↓",
    "",
)


def table(text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    last5, last15, last20 = ("\n".join(lines[-count:]) for count in (5, 15, 20))
    if not ("Claude Code v" in text or "[USER TASK]" in text) and asks_for_trust(text):
        return "creating"
    if "Compacting conversation" in last5:
        return "compacting"
    if re.search(r"⎿\s*Waiting", last15):
        return "waiting"
    if any(words in last5 for words in AT_WORK):
        return "running"
    if "rate_limit_error" in last15 or any(words in last15.lower() for words in LIMITS):
        return "rate_limited"
    if GOAL in last15.replace(f"'{GOAL}'", ""):
        return "complete"
    if re.search(r"(^|\n)\s*WAITING\s*(\n|$)|⏺\s*WAITING\s*(\n|$)", last15):
        return "running" if "⏺" in last15[last15.rindex("WAITING") :] else "waiting"
    if "ctrl+b ctrl+b" in last15 or "thinking)" in last15 or spins(without_hooks(last15)):
        return "running"
    if asks_for_trust(last15):
        return "creating"
    if re.search(rf"(^|\n)[{GLYPHS}] .*(esc|ctrl\+c) to interrupt", without_hooks(last20)):
        return "running"
    if re.search(r"⏵⏵(.|\n)*· \d+ ", last15):
        return "running"
    return "creating" if "running stop hook" in last15 and "⏺" not in last15 else "unknown"


def asks_for_trust(text: str) -> bool:
    return "Enter to confirm" in text and "trust this folder" in text


def without_hooks(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not (line[:1] and line[:1] in GLYPHS and "hook" in line))


def spins(text: str) -> bool:
    if not re.search(rf"(^|\n)[{GLYPHS}] ", text):
        return False
    if re.search(r"(esc|ctrl\+c) to interrupt", text) or re.search(rf"(^|\n)[{GLYPHS}](.|\n)*[↑↓]", text):
        return True
    return not re.search(rf"(^|\n)[{GLYPHS}] \w+ for|(^|\n)[{GLYPHS}](.|\n)*thought for", text)


@given(st.lists(st.sampled_from(TOKENS), max_size=40))
@settings(deadline=None, max_examples=300)
def test_rules_and_table_agree(lines: list[str]) -> None:
    text = "\n".join(lines)

    assert states.shown(text).state == table(text)
