"""What is done beside the loop ends with it, and one part's bug is nobody else's."""

import threading
from pathlib import Path

import pytest

from ibstatus.agents import pause, recover
from ibstatus.model.clock import Clock
from ibstatus.project import home, operations, paths
from ibstatus.supervisor import tidy
from ibstatus.supervisor.background import Done, Errands
from ibstatus.supervisor.care import Caring
from ibstatus.supervisor.log import Log
from tests.until import until


def test_at_the_end_the_one_that_runs_counts_and_no_other_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errands, go, told = Errands(Log(str(tmp_path / "log"))), threading.Event(), list[str]()

    def slow() -> Done:
        go.wait(20)
        return lambda: told.append("first")

    errands.add("first", slow)
    until(lambda: errands.running == "first")
    errands.add("second", lambda: lambda: told.append("second"))
    wait = errands.wait

    def let_go(seconds: float) -> None:
        go.set()
        wait(seconds)

    monkeypatch.setattr(errands, "wait", let_go)
    errands.close()

    assert told == ["first"]
    assert not errands.is_busy()


def test_a_bug_in_one_part_keeps_no_other_from_its_turn(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    home.enter(repo)
    log, turns = repo.home + "/log", list[str]()
    caring = Caring(repo, Log(log))

    def bug(*given: object) -> None:
        raise TypeError("a bug of ours")

    monkeypatch.setattr(caring.noticing, "look", bug)
    monkeypatch.setattr(caring.parking, "look", lambda *given: turns.append("parking"))
    monkeypatch.setattr(tidy, "fold", bug)
    monkeypatch.setattr(tidy, "mend", lambda *given: turns.append("mend"))

    caring.look([], Clock(1.0, 1.0, 1.0))
    said = tidy.tidy(repo, [], 1.0)

    assert turns == ["parking", "mend"]
    assert "TypeError: a bug of ours" in Path(log).read_text()
    assert [line for line in said if "a bug of ours" in line]


def test_an_operation_that_cannot_be_mended_keeps_no_other(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    home.enter(repo)
    mended, said = list[str](), list[str]()

    def mend(op: operations.Operation, say: object) -> None:
        if op.agent == "a":
            raise KeyError("no such field")
        mended.append(op.agent)
        op.done()

    monkeypatch.setattr(pause, "recover", mend)
    for agent in ("a", "b"):
        with operations.begin(repo, "pause", agent):
            pass  # as if it had been killed here

    recover.everything(repo, said.append)

    assert mended == ["b"]
    assert said == ["The pause of a that was cut off could not be mended: KeyError('no such field')"]


def test_a_thread_that_cannot_be_started_is_started_by_the_next_errand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errands, ran = Errands(Log(str(tmp_path / "log"))), list[str]()

    def fails(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", fails)
        with pytest.raises(RuntimeError):
            errands.add("first", lambda: ran.append("first"))
    assert not errands.is_busy()

    errands.add("first", lambda: ran.append("first"))
    errands.add("second", lambda: ran.append("second"))
    errands.wait()

    assert ran == ["first", "second"]


def test_what_one_brings_and_cannot_be_done_keeps_no_other_from_counting(tmp_path: Path) -> None:
    errands, counted = Errands(Log(str(tmp_path / "log"))), list[str]()

    def gone() -> None:
        raise FileNotFoundError("its agent was removed")

    errands.add("nudge a", lambda: gone)
    errands.add("compact b", lambda: lambda: counted.append("b"))
    errands.wait()
    errands.close()

    assert counted == ["b"]
    assert "its agent was removed" in (tmp_path / "log").read_text()


def test_a_result_that_fails_again_and_again_is_complained_of_once(repo: paths.Place) -> None:
    home.enter(repo)
    caring = Caring(repo, Log(repo.home + "/log"))

    def gone() -> None:
        raise FileNotFoundError("its agent was removed")

    for number in range(3):
        caring.errands.add("nudge a", lambda: gone)
        caring.errands.wait()
        caring.look([], Clock(float(number), float(number), 1.0))

    assert Path(repo.home, "log").read_text().count("its agent was removed") == 1
    caring.errands.add("nudge a", lambda: lambda: None)
    caring.errands.wait()
    caring.look([], Clock(9.0, 9.0, 1.0))
    assert "No longer so: what an errand brought" in Path(repo.home, "log").read_text()
