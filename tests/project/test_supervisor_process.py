"""A program that outlives whoever began it holds nothing of them."""

import os
import time
from pathlib import Path

import pytest

from ibstatus.project import supervisor_process
from ibstatus.system import locks
from tests.until import until


def test_who_is_begun_apart_has_no_lock_of_ours_when_we_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it takes until the program itself is there."""
    go, came = tmp_path / "go", tmp_path / "came"
    real = os.chdir

    def slowly(path: str) -> None:
        while not go.exists():
            time.sleep(0.01)
        real(path)

    with monkeypatch.context() as context, locks.Lock(str(tmp_path / "lock")) as lock:
        context.setattr(os, "chdir", slowly)
        supervisor_process.apart(["/usr/bin/env", "touch", str(came)], str(tmp_path / "log"))
        lock.release()
        try:
            assert not locks.is_held(lock.path)
        finally:
            go.touch()

    until(came.exists)
