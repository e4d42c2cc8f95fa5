"""How a turn ends: with words, with an error of the API, at a limit."""

from typing import NamedTuple

from ibstatus.testkit.fake_claude import dialogs
from ibstatus.testkit.fake_claude.script import Step
from ibstatus.testkit.fake_claude.state import State
from ibstatus.testkit.fake_claude.tools import HANG
from ibstatus.testkit.fake_claude.waits import Course, Nap

WAITING, COMPLETED = "WAITING", "I HAVE COMPLETED THE GOAL"
RESEND, FIXED = "Resend your message to try again", "Once fixed, resend your message"
OVERLOADED = "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment."
ERRORS = {
    "rate_limit": ("● ", "API Error: Request rejected (429) · Usage limit", RESEND),
    "server_error": ("● ", OVERLOADED, RESEND),
    "authentication_failed": (HANG, "Invalid API key · Fix external API key", FIXED),
    "billing_error": (HANG, "Please run /login · API Error: 403", FIXED),
    "invalid_request": (HANG, "Prompt is too long · /clear to start fresh", FIXED),
}


class End(NamedTuple):
    """How the turn ended: with words, or with an error of the API."""

    words: str = ""
    error: str = ""


def closing(state: State, text: str, phrase: str) -> End:
    words = "\n\n".join(part for part in (text, phrase) if part) or "Done."
    state.say(words)
    return End(words)


def failing(state: State, word: str) -> End:
    mark, text, state.placeholder = ERRORS.get(word, ("● ", f"API Error: {word}", RESEND))
    state.show(text, mark)
    return End(text, word)


def limit(state: State, step: Step) -> Course[End | None]:
    """rate: refused; usage: the older client's menu; wait: the newer one's promise to go on by itself."""
    yield Nap(0)
    kind, _, until = step.rest.partition(" ")
    resets = until or "8:28am"
    if kind not in ("usage", "wait"):
        return failing(state, "rate_limit")
    hit = f"You've hit your 5-hour limit · resets {resets} (UTC)"
    state.show(hit, HANG)
    if kind == "wait":
        state.show(f"Usage limit reached · continuing automatically at {resets} · esc to cancel", "● ")
        reached = f"⚠ Usage limit reached · limit resets {resets}"
        state.warning = [reached, f"    Continuing automatically at {resets} · Esc to cancel"]
    else:
        state.after_turn = dialogs.limit()
    return End(hit, "rate_limit")


def wait(state: State, step: Step) -> Course[End | None]:
    yield Nap(0)
    return closing(state, step.rest, WAITING)


def finish(state: State, step: Step) -> Course[End | None]:
    yield Nap(0)
    return closing(state, step.rest, COMPLETED)


def end(state: State, step: Step) -> Course[End | None]:
    yield Nap(0)
    return closing(state, step.rest, "")


def error(state: State, step: Step) -> Course[End | None]:
    yield Nap(0)
    return failing(state, step.rest or "server_error")
