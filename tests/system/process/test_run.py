"""What runs on this machine."""

import os

from ibstatus.system.process import run


def test_each_is_looked_at_anew() -> None:
    """One that is remembered may be another one by now, who was given its number."""
    first, second = ({one.pid: one for one in run.running()} for _ in range(2))

    assert first[os.getpid()] == second[os.getpid()]
    assert first[os.getpid()] is not second[os.getpid()]
