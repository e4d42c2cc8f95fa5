"""When a usage limit ends, by the client's words; and who is sent on his way after it. Pure: the clock is handed in."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from ibstatus.model.records import Agent
from ibstatus.rules import episodes

CLOCK = r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]\.?m\.?)?"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DATE = (
    rf"(?:(?P<month>{'|'.join(MONTHS)})[a-z]*\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?:,? (?P<year>\d{4}))?(?:,| at)? |"
    rf"(?P<weekday>{'|'.join(DAYS)})[a-z]*(?:,| at)? |(?P<tomorrow>tomorrow)(?:,| at)? )?"
)
AT = re.compile(
    rf"(?:resets?|continuing automatically|try again|available again)(?: on)?(?: at)? {DATE}{CLOCK}\b\.?"
    r"(?: ?\((?P<zone>[A-Za-z0-9_+/-]{1,40})\)| (?P<utc>UTC|GMT)\b)?",
    re.I,
)
IN = re.compile(r"(?:resets?|try again|available again) in ((?:~?\d{1,5} ?[a-z]+,?(?: and)? ?){1,4})", re.I)
PART = re.compile(r"(\d{1,5}) ?([a-z]+)", re.I)
UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
STAMP = re.compile(r"limit reached\|(\d{10})\b", re.I)
LONGEST_TEXT = 2000
FARTHEST = 32 * 86400.0
MINUTE = 60.0
BACKOFF = (300.0, 600.0, 1200.0, 2400.0, 3600.0)
BY_ITSELF = "continuing automatically"
GRACE, LONG_GRACE = 20.0, 120.0
APART = 15.0  # between two that are sent on
STUCK = 120.0  # one that was sent on and did not begin
CALM = 600.0  # nobody was limited for so long: the next limit is another one


def reset_at(text: str, now: float) -> float | None:
    """Seconds since 1970; a time of the day is the next one. None when nothing is said, or nonsense."""
    words = " ".join(text[:LONGEST_TEXT].replace("·", " ").split())
    try:
        found = by_stamp(words) or by_span(words, now) or by_clock(words, now)
    except (ValueError, OverflowError, OSError):
        return None
    return found if found is not None and now - MINUTE <= found <= now + FARTHEST else None


def by_stamp(words: str) -> float | None:
    match = STAMP.search(words)
    return float(match[1]) if match else None


def by_span(words: str, now: float) -> float | None:
    match = IN.search(words)
    parts = PART.findall(match[1]) if match else []
    known = [int(count) * UNITS[unit[0].lower()] for count, unit in parts if unit[0].lower() in UNITS]
    return now + sum(known) if known else None


def by_clock(words: str, now: float) -> float | None:
    match = AT.search(words)
    if match is None:
        return None
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    half = (match["half"] or "")[:1].lower()
    if (half and not 1 <= hour <= 12) or (not half and not match["minute"]):
        return None
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    zone = zone_of(match["zone"] or match["utc"] or "")
    today = local(now, zone)
    wanted = datetime(*day_of(match, today), hour, minute, tzinfo=zone)
    if moment(wanted) + MINUTE > now:
        return moment(wanted)
    if match["month"]:
        return moment(wanted.replace(year=wanted.year + 1)) if not match["year"] else None
    return moment(wanted + timedelta(days=7 if match["weekday"] else 1))


def day_of(match: "re.Match[str]", today: datetime) -> tuple[int, int, int]:
    if match["month"]:
        return int(match["year"] or today.year), MONTHS.index(match["month"].lower()) + 1, int(match["day"])
    ahead = 1 if match["tomorrow"] else 0
    if match["weekday"]:
        ahead = (DAYS.index(match["weekday"].lower()) - today.weekday()) % 7
    day = today + timedelta(days=ahead)
    return day.year, day.month, day.day


def zone_of(name: str) -> tzinfo | None:
    """None, the zone of this machine, for a name that nobody knows."""
    try:
        if name.upper() in ("UTC", "GMT", "Z"):
            return UTC
        return ZoneInfo(name) if name else None
    except (OSError, ValueError, KeyError):
        return None


def local(now: float, zone: tzinfo | None) -> datetime:
    return datetime.fromtimestamp(now, zone)


def moment(at: datetime) -> float:
    return at.timestamp()


def backoff(tries: int) -> float:
    return BACKOFF[min(max(tries, 0), len(BACKOFF) - 1)]


class Park(msgspec.Struct, frozen=True):
    """The account waits. `woken`: who was sent on since the reset, and when; `calm`: since when nobody is limited."""

    until: float
    began: float
    tries: int = 0
    id: str = ""
    told: bool = False
    names: list[str] = []
    woken: dict[str, float] = {}
    calm: float = 0.0


class Step(NamedTuple):
    """`wake`: who is to be sent on now, or ''."""

    park: Park | None
    wake: str = ""


def step(agents: Sequence[Agent], park: Park | None, now: float) -> Step:
    limited = sorted(
        (agent for agent in agents if episodes.is_limited(agent)), key=lambda one: (one.since or 0, one.id)
    )
    if not limited:
        return Step(calmed(park, {agent.id for agent in agents}, now))
    names = [agent.id for agent in limited]
    if park is None:
        return Step(Park(end_of(limited, now, 0), now, names=names))
    park = msgspec.structs.replace(park, calm=0.0, names=sorted({*park.names, *names}))
    again = [agent for agent in limited if agent.id in park.woken and (agent.since or 0) > park.woken[agent.id]]
    if again or park.until > now + FARTHEST:
        end = end_of(again or limited, now, park.tries + 1)
        return Step(msgspec.structs.replace(park, until=end, tries=park.tries + 1, woken={}))
    late = [agent for agent in limited if agent.id not in park.woken and (agent.since or 0) > park.began]
    if now < park.until:
        ends = [said for agent in late if (said := said_end(agent)) is not None]
        return Step(msgspec.structs.replace(park, until=max([park.until, *ends])))
    return sent_on(limited, park, now)


def sent_on(limited: Sequence[Agent], park: Park, now: float) -> Step:
    """One first; the next only when that one runs, and one after the other."""
    last = max(park.woken.values(), default=0.0)
    if any(agent.id in park.woken and now - park.woken[agent.id] < STUCK for agent in limited):
        return Step(park)
    if 0 <= now - last < APART:
        return Step(park)
    waiting = [agent for agent in limited if agent.id not in park.woken] or limited
    for agent in waiting:
        if now >= park.until + (LONG_GRACE if BY_ITSELF in words_of(agent).lower() else GRACE):
            woken = {**park.woken, agent.id: now}
            return Step(msgspec.structs.replace(park, woken=woken), agent.id)
    return Step(park)


def calmed(park: Park | None, there: set[str], now: float) -> Park | None:
    if park is None or (park.calm and now - park.calm >= CALM) or not there:
        return None
    return park if park.calm else msgspec.structs.replace(park, calm=now)


def end_of(limited: Sequence[Agent], now: float, tries: int) -> float:
    ends = [end for agent in limited if (end := said_end(agent)) is not None and end > now - MINUTE]
    return max(ends, default=now + backoff(tries))


def said_end(agent: Agent) -> float | None:
    """By the words of the moment when it was stopped."""
    return reset_at(words_of(agent), agent.since or 0.0)


def words_of(agent: Agent) -> str:
    return f"{agent.asks} {agent.said}"


def again(park: Park | None, now: float) -> float | None:
    """In how many seconds something may be due."""
    if park is None:
        return None
    if park.calm:
        return max(1.0, park.calm + CALM - now)
    return max(1.0, park.until + GRACE - now) if now < park.until + GRACE else 5.0


def notice(park: Park, now: float) -> str:
    at = datetime.fromtimestamp(park.until).astimezone()
    when = at.strftime("%H:%M %Z" if park.until - now < 86400 / 2 else "%b %d %H:%M %Z")
    return f"Usage limit reached: {', '.join(park.names)} will be sent on at {when}; nothing to do until then"
