"""Times and ages as text. The clock itself is always handed in."""

import time

from ibstatus.system import jsonl

STEPS = ((60, 1, "s"), (3600, 60, "m"), (86400, 3600, "h"))


def utc(now: float) -> str:
    """2026-01-11T15:30:00Z: JSON files."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))


def utc_ms(now: float) -> str:
    """2026-01-11T15:30:00.123Z: events, whose order within a second is read."""
    millis = int(now * 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(millis // 1000)) + f".{millis % 1000:03d}Z"


def queue(now: float) -> str:
    """2026-02-17T14:30:05-0600: the queue's `ts`, as seed 000 writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(now))


def age(seconds: float) -> str:
    """Whole units, rounded down; the future counts as now."""
    past = max(0, int(seconds))
    for limit, unit, letter in STEPS:
        if past < limit:
            return f"{past // unit}{letter}"
    return f"{past // 86400}d"


def log(now: float) -> str:
    """2026-01-10T01:13:39-06:00: agent.log."""
    text = queue(now)
    return f"{text[:-2]}:{text[-2:]}"


CONTROL = {code: f"\\x{code:02x}" for code in range(0x20)} | jsonl.RISKY | {0x09: "\t", 0x0A: "\\n", 0x0D: "\\r"}


def log_entry(text: str, now: float) -> str:
    """`[2026-01-10T01:13:39-06:00] text`, a line: nothing in the text can forge an entry or steer a terminal."""
    return f"[{log(now)}] {text.translate(CONTROL)}"
