"""When a usage limit ends, by the client's words; and who is sent on his way after it. Pure: the clock is handed in."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from ibstatus.model.fleet import Agent
from ibstatus.state.rules import episodes

CLOCK = r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?:\s*(?P<half>[ap]\.?m\.?))?"
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
UNIT = re.compile(r"(w)(?:(?:ee)?ks?)?|(d)(?:ays?)?|(h)(?:(?:ou)?rs?)?|(m)(?:in(?:ute)?s?)?|(s)(?:ec(?:ond)?s?)?", re.I)
UNITS = {"w": 7 * 86400.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
MORE = re.compile(
    rf" ?(?:\(|[A-Z]{{2,5}}\b|[+-]\d|(?i:tomorrow|on|next|in|of|every|{'|'.join(MONTHS)}|{'|'.join(DAYS)})\b)"
)  # after a clock: it says more than is understood
OFFSET = re.compile(r"(?:UTC|GMT)([+-])(\d{1,2})(?::?(\d{2}))?", re.I)
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
TOGETHER, UNSAID = 0.5, 2.0  # seconds that a notice waits: for others, and for what the client says
NEAR, FAR = 300.0, 3600.0
MOST_ENDS = 20


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
    if not parts or not all(UNIT.fullmatch(unit) for _, unit in parts):
        return None
    return now + sum(int(count) * UNITS[unit[0].lower()] for count, unit in parts)


def by_clock(words: str, now: float) -> float | None:
    whole = [match for match in AT.finditer(words) if not MORE.match(words, match.end())]
    return next((end for match in whole if (end := at_clock(match, now)) is not None), None)


def at_clock(match: "re.Match[str]", now: float) -> float | None:
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    half = (match["half"] or "")[:1].lower()
    if (half and not 1 <= hour <= 12) or (not half and not match["minute"]):
        return None
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    name = match["zone"] or match["utc"] or ""
    zone = zone_of(name)
    if zone is None and name and "/" not in name:
        return None
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
    offset = OFFSET.fullmatch(name)
    try:
        if offset is not None:
            ahead = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
            return timezone(ahead if offset[1] == "+" else -ahead)
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


class Held(msgspec.Struct, frozen=True):
    """One agent that waits: `end` by the client's words, or a guess; `noted`: when that was found."""

    end: float
    said: bool
    noted: float


class Park(msgspec.Struct, frozen=True):
    """`until`: when the first of those who wait now may be sent on. `woken`: who was sent on since the reset, and when;
    `calm`: since when nobody is limited; `ends`: what the client has said so far; `heard`: which ends were told."""

    until: float
    began: float
    tries: int = 0
    id: str = ""
    told: bool = False
    names: list[str] = []
    woken: dict[str, float] = {}
    calm: float = 0.0
    held: dict[str, Held] = {}
    ends: list[float] = []
    heard: dict[str, float] = {}
    corrected: bool = False


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
    park = msgspec.structs.replace(park, calm=0.0) if park is not None else Park(now, now)
    again = {one.id for one in limited if one.id in park.woken and (one.since or 0) > park.woken[one.id]}
    if again:
        park = msgspec.structs.replace(park, tries=park.tries + 1, woken={})
    known = {agent.id: told_end(agent, park, now) for agent in limited}
    ends = sorted({*park.ends, *(end for end in known.values() if end is not None)})[-MOST_ENDS:]
    guess = guessed([end for end in known.values() if end is not None and end > now], park, now)
    held = {agent.id: held_by(park, agent.id, known[agent.id], guess, agent.id in again, now) for agent in limited}
    if again:  # the others would hear the same
        later = now + backoff(park.tries)
        held = {name: one if one.end > now else Held(later, False, now) for name, one in held.items()}
    names = sorted({*park.names, *held})
    until = min(one.end for one in held.values())
    return sent_on(limited, msgspec.structs.replace(park, held=held, ends=ends, names=names, until=until), now)


def guessed(ends: Sequence[float], park: Park, now: float) -> float:
    """Where an agent's client says nothing: others of the same account may know."""
    return min(ends, default=now + backoff(park.tries)) if not park.tries else now + backoff(park.tries)


def held_by(park: Park, name: str, said: float | None, guess: float, again: bool, now: float) -> Held:
    """A clock that was put back since makes what was found before worthless."""
    old = park.held.get(name)
    if old is not None and (old.noted > now + MINUTE or old.end > now + FARTHEST):
        old = None
    if said is not None and (said > now or (old is None and not again and not park.tries)):
        return old if old is not None and old.said and old.end == said else Held(said, True, now)
    return Held(guess, False, now) if old is None or again else old


def told_end(agent: Agent, park: Park, now: float) -> float | None:
    """By the words of the moment when it was stopped. A time of the day that has just come is not the one of tomorrow:
    a client that was asked too early repeats it."""
    end = reset_at(words_of(agent), min(agent.since or 0.0, now))
    if end is None or end < now - MINUTE:
        return None
    return None if any(abs(end - old - 86400) < 2 * MINUTE for old in park.ends) else end


def sent_on(limited: Sequence[Agent], park: Park, now: float) -> Step:
    """One first; the next only when that one runs, and one after the other."""
    last = max(park.woken.values(), default=0.0)
    if any(agent.id in park.woken and 0 <= now - park.woken[agent.id] < STUCK for agent in limited):
        return Step(park)
    if 0 <= now - last < APART:
        return Step(park)
    ready = [agent for agent in limited if now >= park.held[agent.id].end + grace(agent)]
    for agent in [one for one in ready if one.id not in park.woken] or ready:
        woken = {**park.woken, agent.id: now}
        return Step(msgspec.structs.replace(park, woken=woken), agent.id)
    return Step(park)


def grace(agent: Agent) -> float:
    return LONG_GRACE if BY_ITSELF in words_of(agent).lower() else GRACE


def calmed(park: Park | None, there: set[str], now: float) -> Park | None:
    if park is None or not there or (park.calm and not 0 <= now - park.calm < CALM):
        return None
    return park if park.calm else msgspec.structs.replace(park, calm=now)


def words_of(agent: Agent) -> str:
    return f"{agent.asks} {agent.said}"


def again(park: Park | None, now: float) -> float | None:
    """In how many seconds something may be due."""
    if park is None:
        return None
    if park.calm:
        return max(1.0, park.calm + CALM - now)
    if not park.told:
        return 0.5
    return max(1.0, park.until + GRACE - now) if now < park.until + GRACE else 5.0


def is_news(park: Park, now: float) -> bool:
    """The words come a moment after the hook, and other agents with them. A better end is told once, a quite different
    one whenever it is."""
    if park.calm:
        return False
    if not park.told:
        complete = all(one.said for one in park.held.values())
        return not 0 <= now - park.began < (TOGETHER if complete else UNSAID)
    moved = max((distance(name, one.end, park.heard) for name, one in park.held.items()), default=0.0)
    return moved > FAR or (moved > NEAR and not park.corrected)


def distance(name: str, end: float, heard: Mapping[str, float]) -> float:
    """How far it is from what was told, of this agent or, where nothing was, of any."""
    known = [heard[name]] if name in heard else list(heard.values())
    return min((abs(end - one) for one in known), default=0.0)


def heard(park: Park) -> Park:
    """It was told as it stands."""
    ends = {**park.heard, **{name: one.end for name, one in park.held.items()}}
    return msgspec.structs.replace(park, told=True, heard=ends, corrected=park.told)


def notice(park: Park, now: float) -> str:
    times: dict[str, list[str]] = {}
    sure = {one.end for one in park.held.values() if one.said}
    for name, one in sorted(park.held.items(), key=lambda item: (item[1].end, item[0])):
        about = "" if one.end in sure else "about "
        times.setdefault(about + clock(one.end, now), []).append(name)
    parts = [(", ".join(names), when) for when, names in times.items()]
    first = " will be sent on at ".join(parts[0]) if parts else "your agents wait"
    rest = "".join(f", {names} at {when}" for names, when in parts[1:])
    return f"Usage limit reached: {first}{rest}; nothing to do until then"


def clock(end: float, now: float) -> str:
    at = datetime.fromtimestamp(end).astimezone()
    return at.strftime("%H:%M %Z" if end - now < 86400 / 2 else "%b %d %H:%M %Z")
