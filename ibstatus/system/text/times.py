"""Ages as people read them (`5s 3m 2h 1d`), and times from every writer that we or older tools have had."""

import re
from datetime import UTC, datetime

from ibstatus.system.timestamps import age as age

MINUTES = (0, 1, 5, 15, 30)
STAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?",
)


def bucket(seconds: float) -> str:
    """`0m 1m 5m 15m 30m 1h 2h … 23h 1d …`: an age that seldom changes."""
    minutes = max(0, int(seconds)) // 60
    if minutes < 60:
        return f"{max(step for step in MINUTES if step <= minutes)}m"
    return age(seconds)


def epoch(text: str) -> float | None:
    """Seconds since 1970 of `2026-01-11T15:30:00Z`, `…-0600`, `…-06:00`, the local `2026-01-11 15:30:00`; or None."""
    match = STAMP.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction, zone = match.group(7), match.group(8)
    try:
        moment = datetime(year, month, day, hour, minute, min(second, 59))
        if zone == "Z":
            moment = moment.replace(tzinfo=UTC)
        elif zone:
            moment = datetime.strptime(f"{moment:%Y-%m-%dT%H:%M:%S}{zone.replace(':', '')}", "%Y-%m-%dT%H:%M:%S%z")
        return moment.timestamp() + float(fraction or 0)
    except (ValueError, OverflowError):
        return None


def age_of(stamp: str, now: float) -> str:
    """The age of a stored time; `?` when nobody can read it."""
    then = epoch(stamp)
    return "?" if then is None else age(now - then)
