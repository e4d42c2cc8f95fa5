"""The evidence on one agent, as data and as text.

How far one piece of evidence can be trusted. `evidence.judge` asks the sure ones first, the weak ones last.
"""

import textwrap
from collections.abc import Sequence
from typing import Any

import msgspec

from ibstatus.mail.rules import listing
from ibstatus.state.rules import evidence, status_text
from ibstatus.state.rules.evidence import INTERRUPTED, Evidence, Verdict
from ibstatus.system.text import times

WIDE = 80
INDENT = " " * 14
OLD = 10.0
TITLES = f"  {'evidence':<10}  {'says':<20}  {'for':>4}  trust"


class Piece(msgspec.Struct, frozen=True):
    """One piece of evidence. `won`: it decided; otherwise `lost` says why not. `age`: how long it has been so.
    `confidence`: sure, strong, weak, '' of what says nothing."""

    source: str
    state: str
    reason: str
    at: float
    seen: float
    age: str
    note: str
    asks: str
    rule: str
    won: bool
    lost: str
    confidence: str = ""


class Place(msgspec.Struct, frozen=True):
    """Where it runs, as far as tmux answers and says so."""

    socket: str
    session: str
    pane: str = ""
    pid: int = 0
    answers: bool = True


class Why(msgspec.Struct, frozen=True):
    """Why an agent is in its state, looked at just now. `published`: what the supervisor has made of all its looks;
    `lost_worktree`: where somebody has removed it, what makes it again."""

    id: str
    state: str
    reason: str
    source: str
    since: float
    because: str
    note: str
    asks: str
    said: str
    silent: bool
    evidence: list[Piece]
    where: Place
    transcript: str
    events: list[dict[str, Any]]
    published: str = ""
    lost_worktree: str = ""


def pieces(known: Sequence[Evidence], verdict: Verdict, now: float) -> list[Piece]:
    """The winner first, those last that say nothing."""
    lost = {(one.source, one.state): why for one, why in verdict.lost}
    found = []
    for one in known:
        won = one.source == verdict.source
        why = "" if won else next((text for key, text in lost.items() if key[0] == one.source), "")
        age = times.age(now - one.at) if one.at else "?"
        found.append(
            Piece(
                one.source,
                one.state,
                one.reason,
                one.at,
                one.seen,
                age,
                one.note,
                one.asks,
                one.rule,
                won,
                why,
                of(one, now),
            )
        )
    return sorted(found, key=lambda piece: (not piece.won, not piece.state))


def text(found: Why, now: float, width: int = 0) -> str:
    """`width`: so many columns of a terminal there are for events; 0: as many as it takes."""
    decided = f"{found.source}: {found.because}"
    noted = "noted by start.sh" if author(found) != found.source else ""
    table = "\n".join([TITLES, *(line(piece, now, decided, noted) for piece in found.evidence)])
    parts = [head(found, now), table, below(found)]
    if found.events:
        parts.append("Last events:\n" + "\n".join(cut(f"  {listing.event(one)}", width) for one in found.events))
    return "\n\n".join(part for part in parts if part)


def head(found: Why, now: float) -> str:
    state = heading(found.state, found.reason, found.note)
    since = f" for {times.age(now - found.since)}" if found.since else ""
    by = f", by {author(found)}" if found.source else ""
    note = f" ({listing.shown(found.note)})" if found.note not in ("", found.because, INTERRUPTED) else ""
    asks = f"\nAsks: {listing.shown(found.asks)}" if found.asks else ""
    text = f"{listing.shown(found.id)} is {state}{since}{by}: {listing.shown(found.because)}{note}"
    return textwrap.fill(text, WIDE, break_long_words=False, break_on_hyphens=False) + asks


def author(found: Why) -> str:
    """How a session ended is noted by what had started it, where no hook can."""
    left = found.reason.startswith(("ended with", "was killed")) or found.reason == "uncommitted"
    return "start.sh" if found.source == "hooks" and left else found.source


def heading(state: str, reason: str, note: str) -> str:
    """As `ib list` says it: what was seen, where that says more than the reason."""
    return worded(state, INTERRUPTED if note == INTERRUPTED else reason)


def worded(state: str, reason: str) -> str:
    return f"{state} ({listing.shown(status_text.short(reason))})" if reason else state


def line(piece: Piece, now: float, decided: str, noted: str = "") -> str:
    """`* hooks       running               3m  strong  decides`; what does not fit goes below."""
    said = "; ".join(one for one in (remarks(piece, now, decided), noted if piece.won else "") if one)
    first = f"{'*' if piece.won else ' '} {piece.source:<10}"
    if piece.state:
        first += f"  {worded(piece.state, piece.reason):<20}  {piece.age:>4}  {piece.confidence:<6}"
    if len(first) + 2 + len(said) <= WIDE:
        return f"{first}  {said}".rstrip()
    return first.rstrip() + "\n" + textwrap.fill(said, WIDE, initial_indent=INDENT, subsequent_indent=INDENT)


def remarks(piece: Piece, now: float, decided: str) -> str:
    why = "decides" if piece.won else "overruled" if piece.lost == decided else listing.shown(piece.lost)
    found = [why] if piece.state or piece.lost != piece.note else []
    if piece.note:
        found.append(listing.shown(piece.note))
    if piece.rule and piece.rule != "none":
        found.append(f"rule {listing.shown(piece.rule)}")
    if piece.seen and piece.source != "hooks" and now - piece.seen >= OLD:
        found.append(f"looked at {times.age(now - piece.seen)} ago")
    return "; ".join(dict.fromkeys(one for one in found if one))


def cut(text: str, width: int) -> str:
    return status_text.cut(text, width) if width > 0 else text


def below(found: Why) -> str:
    where = found.where
    pane = f", pane {where.pane}, whose program is {where.pid}" if where.pane else ", not there"
    pane = pane if where.answers else ", if tmux answered"
    lines = []
    if found.published and found.published != heading(found.state, found.reason, found.note):
        lines.append(f"The supervisor, which has watched for longer, says: {found.published}")
    lines += [f"Session: {listing.shown(where.session)} on the socket {listing.shown(where.socket)}{pane}"]
    if found.lost_worktree:
        lines.append(f"Its worktree is gone: {listing.shown(found.lost_worktree)}")
    if found.transcript:
        lines.append(f"Transcript: {listing.shown(found.transcript)}")
    if found.said:
        silent = " (neither WAITING nor I HAVE COMPLETED THE GOAL)" if found.silent else ""
        lines.append(f"Said last{silent}: {listing.shown(found.said)}")
    return "\n".join(lines)


SURE, STRONG, WEAK = "sure", "strong", "weak"


def of(one: Evidence, now: float) -> str:
    """'' of what says nothing. tmux and the kernel cannot be wrong; a screen is drawn over, a hook's word grows old."""
    if not one.state:
        return ""
    if one.source in (evidence.SESSION, evidence.PROCESS):
        return SURE
    if one.source == evidence.SCREEN:
        return of_screen(one, now)
    if one.source == evidence.HOOKS:
        return WEAK if one.state in evidence.WORKING and now - one.at >= evidence.STILL else STRONG
    return WEAK


def of_screen(one: Evidence, now: float) -> str:
    """A prompt line counts once it has held; what was seen long ago, or is not known, says little."""
    if one.state == "unknown" or now - one.seen >= evidence.LONG:
        return WEAK
    return WEAK if one.idle and one.seen - one.at < evidence.HELD else STRONG
