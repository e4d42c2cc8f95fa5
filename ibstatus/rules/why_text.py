"""The evidence on one agent, as data and as text."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ibstatus.rules import ages, listing
from ibstatus.rules.evidence import Evidence, Verdict


class Piece(msgspec.Struct, frozen=True):
    """One piece of evidence. `won`: it decided; otherwise `lost` says why not. `age`: how long it has been so."""

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


class Place(msgspec.Struct, frozen=True):
    """Where it runs, as far as tmux says so."""

    socket: str
    session: str
    pane: str = ""
    pid: int = 0


class Why(msgspec.Struct, frozen=True):
    """Why an agent is in its state, looked at just now. `published`: what the supervisor has made of all its looks."""

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


def pieces(known: Sequence[Evidence], verdict: Verdict, now: float) -> list[Piece]:
    """The winner first."""
    lost = {(one.source, one.state): why for one, why in verdict.lost}
    found = []
    for one in known:
        won = one.source == verdict.source
        why = "" if won else next((text for key, text in lost.items() if key[0] == one.source), "")
        age = ages.age(now - one.at) if one.at else "?"
        found.append(
            Piece(one.source, one.state, one.reason, one.at, one.seen, age, one.note, one.asks, one.rule, won, why)
        )
    return sorted(found, key=lambda piece: not piece.won)


def text(found: Why, now: float) -> str:
    parts = [head(found, now), "\n".join(line(piece, now) for piece in found.evidence), below(found)]
    if found.events:
        parts.append("Last events:\n" + "\n".join(f"  {listing.event(one)}" for one in found.events))
    return "\n\n".join(part for part in parts if part)


def head(found: Why, now: float) -> str:
    state = worded(found.state, found.reason)
    since = f" for {ages.age(now - found.since)}" if found.since else ""
    by = f", by {found.source}" if found.source else ""
    note = f" ({listing.shown(found.note)})" if found.note else ""
    asks = f"\nAsks: {listing.shown(found.asks)}" if found.asks else ""
    return f"{listing.shown(found.id)} is {state}{since}{by}: {listing.shown(found.because)}{note}{asks}"


def worded(state: str, reason: str) -> str:
    return f"{state} ({listing.shown(reason)})" if reason else state


def line(piece: Piece, now: float) -> str:
    """`* hooks      running              3m   won`."""
    mark = "*" if piece.won else " "
    state = worded(piece.state, piece.reason) if piece.state else "-"
    rule = f"[{listing.shown(piece.rule)}] " if piece.rule else ""
    seen = f"seen {ages.age(now - piece.seen)} ago" if piece.seen else "never seen"
    why = "decides" if piece.won else listing.shown(piece.lost)
    note = f"; {listing.shown(piece.note)}" if piece.note and piece.note not in why else ""
    return f"{mark} {piece.source:<10}  {state:<24}  {piece.age:>4}  {seen:<14}  {rule}{why}{note}".rstrip()


def below(found: Why) -> str:
    where = found.where
    pane = f", pane {where.pane}, pid {where.pid}" if where.pane else ", not there"
    lines = []
    if found.published and found.published != worded(found.state, found.reason):
        lines.append(f"The supervisor, which has watched for longer, says: {found.published}")
    lines += [f"Session: {listing.shown(where.session)} on the socket {listing.shown(where.socket)}{pane}"]
    if found.transcript:
        lines.append(f"Transcript: {listing.shown(found.transcript)}")
    if found.said:
        silent = " (neither WAITING nor I HAVE COMPLETED THE GOAL)" if found.silent else ""
        lines.append(f"Said last{silent}: {listing.shown(found.said)}")
    return "\n".join(lines)
