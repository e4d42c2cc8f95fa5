"""The clock of leases on one machine: nobody sets it, it stands still while the machine sleeps, a reboot ends it."""

import functools
import time
from collections.abc import Callable
from typing import NamedTuple

from ibstatus.system import disk, timestamps

CENTURY = 100 * 365 * 86400.0
LINUX = "/proc/sys/kernel/random/boot_id"


class Clock(NamedTuple):
    """`boot` names this run of the machine; `wall` is for people alone."""

    boot: Callable[[], str]
    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time

    def now(self) -> str:
        return timestamps.utc(self.wall())

    def lease(self, seconds: float) -> tuple[float, float, str]:
        """(how long, its end, the boot): never longer than a date can say, or the whole list could not be shown."""
        bounded = max(-CENTURY, min(seconds, CENTURY))
        return bounded, self.monotonic() + bounded, self.boot()

    def lease_until(self, end: float | None, boot: str | None) -> str | None:
        """As people read it. What another boot began ended with it."""
        if end is None:
            return None
        left = end - self.monotonic() if boot == self.boot() else 0.0
        return timestamps.utc(self.wall() + left)


@functools.cache
def boot_id() -> str:
    """Another one after each boot; the same for all processes of this machine, in containers too."""
    try:
        return disk.read_file(LINUX).decode("ascii", "replace").strip()
    except OSError:
        return booted_at()


def booted_at() -> str:
    """macOS names the boot session; where nothing does, the clock that begins anew must be enough."""
    import ctypes

    text, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
    ask = getattr(ctypes.CDLL(None), "sysctlbyname", None)
    if ask is None or ask(b"kern.bootsessionuuid", text, ctypes.byref(size), None, 0):
        return "unknown"
    return text.value.decode("ascii", "replace")


HERE = Clock(boot_id)
