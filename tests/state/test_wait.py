"""wait: until agents are in a state, woken by what hooks and commands write."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.claude import hook_state
from ibstatus.errors import IbError, UsageError
from ibstatus.project import home, paths
from ibstatus.state import wait
from tests.conftest import Done, git, make_agent
from tests.until import until

WAITING = {"last_assistant_message": "WAITING"}
DONE = {"last_assistant_message": "I HAVE COMPLETED THE GOAL"}


@pytest.fixture
def pair(repo: paths.Place, tmux: object) -> paths.Place:
    home.enter(repo)
    for name in ("w1", "w2"):
        make_agent(repo, name)
        hook_state.working(repo, name, "s", time.time())
    return repo


def stop(place: paths.Place, agent: str, body: dict[str, str]) -> None:
    hook_state.note(place, agent, "s", "Stop", body, time.time())


def test_one_that_is_there_already(pair: paths.Place, ib: Callable[..., Done]) -> None:
    stop(pair, "w1", DONE)

    assert ib("wait", "w1") == Done(0, "w1 complete\n", "")
    assert ib("wait", "w1", "w1", "--json").json() == [{"id": "w1", "state": "complete", "reason": ""}]


def test_time_is_over(pair: paths.Place, ib: Callable[..., Done]) -> None:
    stop(pair, "w1", WAITING)
    done = ib("wait", "w1", "w2", "--timeout", "0.2")

    assert (done.code, done.out) == (1, "w1 waiting\n")
    assert "After 0.2 s w2 is running" in done.err
    assert "Hint: ib look w2" in done.err
    assert ib("wait", "w1", "--state", "complete", "--timeout", "0").code == 1


def test_each_as_it_comes(pair: paths.Place) -> None:
    argv = [sys.executable, "-m", "ibstatus", "wait", "w1", "w2", "--timeout", "30"]
    with subprocess.Popen(argv, cwd=pair.root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        stop(pair, "w2", DONE)
        assert process.stdout.readline() == "w2 complete\n"
        stop(pair, "w1", WAITING)
        assert process.communicate(timeout=30)[0] == "w1 waiting\n"
        assert process.returncode == 0


def test_the_first_one_is_enough(pair: paths.Place, ib: Callable[..., Done]) -> None:
    stop(pair, "w2", DONE)

    assert ib("wait", "w1", "w2", "--any").out == "w2 complete\n"


def test_a_removed_one_is_an_error_unless_that_was_waited_for(
    pair: paths.Place, ib: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, looked = list[object](), set[int]()
    rest = wait.Changes.wait

    def rests(changes: wait.Changes, seconds: float) -> None:
        looked.add(threading.get_ident())
        rest(changes, seconds)

    monkeypatch.setattr(wait.Changes, "wait", rests)

    def waits(states: tuple[str, ...]) -> None:
        try:
            found.extend(wait.wait(pair, ["w1"], states, False, 30))
        except IbError as error:
            found.append(error.message)

    threads = [threading.Thread(target=waits, args=(states,)) for states in (("complete",), ("gone",))]
    for thread in threads:
        thread.start()
    until(lambda: len(looked) == 2)
    git(pair.root, "worktree", "remove", "--force", pair.agent_dir("w1") + "/repo")
    Path(pair.agent_dir("w1"), "meta.json").unlink()
    for thread in threads:
        thread.join(30)

    assert "w1 was removed" in found
    assert wait.Reached("w1", "gone") in found
    assert ib("wait", "never-there", "--state", "gone").out == "never-there gone\n"
    assert ib("wait", "never-there").code == 1


@pytest.mark.parametrize("states", ["done", "complete,", "complete, stopped", "complete,nonsense", ""])
def test_the_states(states: str) -> None:
    if states in ("done", "complete,nonsense"):
        with pytest.raises(UsageError):
            wait.states_of(states)
    else:
        assert set(wait.states_of(states)) <= set(wait.DEFAULT)


def test_bad_words(pair: paths.Place, ib: Callable[..., Done]) -> None:
    assert ib("wait").code == 2
    assert ib("wait", "w1", "--state", "done").code == 2
    assert ib("wait", "w").code == 1  # w1 or w2
    assert ib("wait", "w1", "--timeout", "-1").code == 2
