"""Run as a script: puts the simulation's clock into this process, then runs what was asked for. Imports nothing of ib.

argv: CLOCK PYTHON module|script TARGET WORD…; the clock is a file of one float, how far the simulation is ahead.
Whoever waits does so in real time; what is asked for the time is told the simulation's.
"""

import mmap
import sys
import time
from struct import unpack

ASKED = ("time", "monotonic")


def ahead(path: str) -> mmap.mmap:
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)


def put_in(shared: mmap.mmap) -> None:
    def offset() -> float:
        return float(unpack("d", shared[:8])[0])

    real_time, real_time_ns = time.time, time.time_ns
    real_mono, real_mono_ns = time.monotonic, time.monotonic_ns
    real_clock, real_clock_ns = time.clock_gettime, time.clock_gettime_ns
    real_gmtime, real_localtime = time.gmtime, time.localtime
    real_strftime = time.strftime
    own = (time.CLOCK_PROCESS_CPUTIME_ID, time.CLOCK_THREAD_CPUTIME_ID)
    time.time = lambda: real_time() + offset()
    time.time_ns = lambda: real_time_ns() + int(offset() * 1e9)
    time.monotonic = lambda: real_mono() + offset()
    time.monotonic_ns = lambda: real_mono_ns() + int(offset() * 1e9)
    time.clock_gettime = lambda which: real_clock(which) + (0.0 if which in own else offset())
    time.clock_gettime_ns = lambda which: real_clock_ns(which) + (0 if which in own else int(offset() * 1e9))
    time.strftime = lambda form, *at: real_strftime(form, *(at or (time.localtime(),)))
    time.gmtime = lambda seconds=None: real_gmtime(time.time() if seconds is None else seconds)
    time.localtime = lambda seconds=None: real_localtime(time.time() if seconds is None else seconds)


def run(argv: list[str]) -> None:
    clock, python, kind, target, *words = argv
    if kind == "module":  # what waits with a time-out keeps the real clock: it takes it at its import
        import queue  # noqa: F401
        import runpy
        import selectors  # noqa: F401
        import subprocess  # noqa: F401
        import threading  # noqa: F401
    put_in(ahead(clock))
    sys.executable = python
    sys.argv = [target, *words]
    if kind == "module":
        runpy.run_module(target, run_name="__main__", alter_sys=True)
        return
    with open(target, "rb") as file:
        code = compile(file.read(), target, "exec")
    exec(code, {"__name__": "__main__", "__file__": target})


if __name__ == "__main__":
    run(sys.argv[1:])
