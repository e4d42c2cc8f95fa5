"""Locks: who holds one, who may probe, and what a removed lock file means."""

import os
import signal
import threading
import warnings
from pathlib import Path

import pytest

from ibstatus.system import disk, locks


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "locks" / "x")


def test_one_holder(path: str) -> None:
    with locks.Lock(path):
        assert not locks.Lock(path).try_take()
        assert locks.is_held(path)
    assert not locks.is_held(path)
    again = locks.Lock(path)
    assert again.try_take()
    again.release()
    again.release()
    assert os.path.exists(path), "never unlinked"


def test_nobody_holds_what_is_not_there(path: str) -> None:
    assert not locks.is_held(path)
    assert not os.path.exists(path), "a probe makes nothing"


def test_a_probe_is_waited_out(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody asks `is_held` at the very moment: that must not look like a holder."""
    with locks.Lock(path):
        pass
    probe = disk.open(path, os.O_RDONLY)
    real = disk.flock
    real(probe, disk.LOCK_SH)
    tries = []

    def flock(fd: int, how: int) -> None:
        tries.append(how)
        if len(tries) == 5:
            os.close(probe)
        real(fd, how)

    monkeypatch.setattr(disk, "flock", flock)
    lock = locks.Lock(path)
    assert lock.try_take()
    assert len(tries) >= 5
    lock.release()


def test_a_lock_file_that_was_replaced_while_waiting(path: str) -> None:
    """git clean between open and flock: the old inode protects nothing any more."""
    first = locks.Lock(path)
    assert first.try_take()
    got = threading.Event()
    second = locks.Lock(path)

    def wait() -> None:
        second.__enter__()
        got.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    os.unlink(path)
    first.release()
    assert got.wait(10)
    waiting.join()
    assert second.is_mine()
    assert not locks.Lock(path).try_take()
    second.release()


def test_what_was_begun_while_one_looked_does_not_hold_it(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    locks.Lock(path).__enter__().release()
    copies, close = list[int](), disk.close

    def copied(fd: int) -> None:
        copies.append(os.dup(fd))
        close(fd)

    with monkeypatch.context() as patch:
        patch.setattr(disk, "close", copied)
        assert not locks.is_held(path)
    try:
        with locks.Lock(path) as lock:
            assert lock.is_mine()
        lock = locks.Lock(path)
        assert lock.try_take()
        lock.release()
    finally:
        for fd in copies:
            os.close(fd)


def test_what_was_begun_meanwhile_does_not_hold_it_on(path: str) -> None:
    """Another thread of ours is just beginning a program: until that is there, it has all that we have open."""
    lock = locks.Lock(path)
    with lock:
        held = os.dup(lock.fd)
    try:
        assert not locks.is_held(path)
        assert lock.try_take()
        lock.release()
    finally:
        os.close(held)


def test_a_killed_holder_holds_nothing(path: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        locks.Lock(path).try_take()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    lock = locks.Lock(path)
    assert lock.try_take()
    lock.release()
