"""The clocks of the machine, in one place so that a simulation can put its own in."""

import time

from ibstatus.model.clock import Clock

BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> Clock:
    return Clock(time.monotonic(), time.clock_gettime(BOOT), time.time())
