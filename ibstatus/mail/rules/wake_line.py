"""What wakes an agent whose session is idle: one line on its prompt line; and when that is tried again."""

import re

from ibstatus.model import constants

LINE = re.compile(r"\[ib\] (a message|\d{1,9} messages) for you( \(from .+\))?")
COMPACT = "/compact"  # a command of the client that ib types too
LONGEST_NAME = 40
FIRST, LONGEST = 10.0, 600.0

WHY = {
    "busy": "busy: it hears at its next step",
    "dialog": "a dialog is open: it hears once that is answered",
    "draft": "somebody is typing there: it hears at its next prompt",
    "stopped": "stopped",
}


def line(count: int, senders: list[str]) -> str:
    """No text of anybody's: the messages themselves come with the hook."""
    many = "a message" if count == 1 else f"{count} messages"
    name = senders[0] if len(senders) == 1 else ""
    plain = 0 < len(name) <= LONGEST_NAME and name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    who = f" (from {'the user' if name == constants.USER else name})" if plain else ""
    return f"[ib] {many} for you{who}"


def is_ours(draft: str) -> bool:
    """Did an earlier one of us die before it pressed Enter? However the terminal has wrapped it."""
    return LINE.fullmatch(" ".join(draft.split())) is not None


def stands(draft: str, ours: str) -> bool:
    """Exactly this on the prompt line; a narrow terminal breaks it anywhere."""
    return packed(draft) == packed(ours)


def tail(draft: str, ours: str) -> bool:
    """Does ours stand last on the line, whatever somebody typed before it?"""
    return packed(draft).endswith(packed(ours))


def packed(text: str) -> str:
    return "".join(text.split())


def rests(state: str, reason: str) -> bool:
    """Is no turn of it running or held by a dialog?"""
    ended = reason in ("", "input", "interrupted") or reason.startswith("error")
    return state == "complete" or (state == "waiting" and ended)


def pause(tries: int) -> float:
    """Before the next try, after so many in vain."""
    return min(FIRST * 2.0 ** min(tries, 10), LONGEST)
