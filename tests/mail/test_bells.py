"""Bells: rung without blocking, never lost, and never in the way of the news itself."""

import errno
import os
import time
from pathlib import Path

import pytest

from ibstatus.mail import bells, post
from ibstatus.project import paths
from ibstatus.system import disk

LONG_AGO = 1_000_000_000


def test_a_ring_before_the_wait_is_heard(place: paths.Place) -> None:
    bell = bells.Bell(place.bells)
    assert not bell.wait(0)
    assert bells.ring(place.bells) == 1
    assert bells.ring(place.bells) == 1
    assert bell.wait(0)
    assert not bell.wait(0), "two rings are one look"
    bell.close()
    bell.close()
    assert os.listdir(place.bells) == []
    assert bells.ring(place.bells) == 0


def test_a_full_bell_blocks_nobody(place: paths.Place) -> None:
    bell = bells.Bell(place.bells)
    try:
        while True:
            os.write(bell.fd, b"!" * 4096)
    except BlockingIOError:
        pass
    assert bells.ring(place.bells) == 1
    assert bell.wait(0)
    bell.close()


def test_a_dead_bell_is_cleared_after_a_minute(place: paths.Place) -> None:
    path = place.bells + "/99"
    os.mkfifo(path)
    assert bells.ring(place.bells) == 0
    assert os.path.exists(path), "its waiter may just be opening it"
    os.utime(path, (LONG_AGO, LONG_AGO))
    assert bells.ring(place.bells) == 0
    assert not os.path.exists(path)


@pytest.mark.parametrize("error", [errno.EMFILE, errno.EIO, errno.EACCES, errno.ENOMEM])
def test_a_living_bell_is_not_cleared_by_a_failing_open(
    place: paths.Place, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    bell = bells.Bell(place.bells)
    os.utime(bell.path, (LONG_AGO, LONG_AGO))

    def refused(*args: object) -> int:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(disk, "open", refused)
    assert bells.ring(place.bells) == 0
    monkeypatch.undo()
    assert bells.ring(place.bells) == 1
    bell.close()


def test_a_failing_bell_does_not_fail_the_notice(place: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: object) -> list[str]:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(disk, "listdir", refused)
    post.notify(place, "cli", "complete", "a", True, "hello", time.time())
    assert b"hello" in Path(place.queue).read_bytes()


def test_without_fifos_the_wait_is_only_a_pause(place: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(disk, "mkfifo", refused)
    bell = bells.Bell(place.bells)
    assert bell.fd == -1
    assert not bell.wait(0.001)
    bell.close()


def test_a_leftover_of_the_same_pid_is_replaced(place: paths.Place) -> None:
    Path(f"{place.bells}/{os.getpid()}").write_text("not a pipe")
    bell = bells.Bell(place.bells)
    assert bells.ring(place.bells) == 1
    assert bell.wait(0)
    bell.close()


def test_the_notice_says_how_many_heard_it(place: paths.Place) -> None:
    bell = bells.Bell(place.bells)
    post.notify(place, "cli", "complete", "a", True, "hello", time.time())
    assert bell.wait(0)
    assert '"bells":1' in Path(place.spool + "/cli.jsonl").read_text()
    bell.close()
