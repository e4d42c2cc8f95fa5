"""ib wake check: a canary, and what became of it."""

import threading
import time

import pytest

from ibstatus.mail import wake_claim, wake_state
from ibstatus.project import home, paths
from tests.conftest import make_agent
from tests.hooks.conftest import Session
from tests.until import until


def answer_as(session: Session, by: str) -> threading.Thread:
    """A client whose rung rings, and whose prompt then tells."""

    def client() -> None:
        until(lambda: wake_claim.claim(session.place, session.name, by, time.time()))
        session.prompt("<task-notification>")

    thread = threading.Thread(target=client)
    thread.start()
    return thread


@pytest.fixture
def session(repo: paths.Place) -> Session:
    home.enter(repo)
    session = Session(repo, "s1")
    session.prompt()
    return session


def test_the_rung_that_carried_it_is_named(ib, session: Session) -> None:
    wake_state.set_watched(session.place, "s1", time.time())
    client = answer_as(session, wake_state.WATCH)

    done = ib("wake", "check")

    client.join()
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "session s1; would be woken by: the FileChanged hook"
    assert lines[1].startswith("rung after 0.") or lines[1].startswith("rung after ")
    assert lines[1].endswith(" by the FileChanged hook")
    assert lines[2].startswith("told after ")


def test_as_json(ib, session: Session) -> None:
    client = answer_as(session, wake_state.WAITER)

    done = ib("wake", "check", "--json")

    client.join()
    woken = done.json()
    assert (woken["session"], woken["by"], woken["armed"]) == ("s1", "waiter", [])
    assert 0 <= woken["rung"] <= woken["told"]


def test_what_nobody_carries_in_time_is_said(ib, session: Session) -> None:
    done = ib("wake", "check", "--timeout", "0.1")

    assert done.code == 1
    assert done.out == "session s1; would be woken by: nothing\n"
    assert "nothing wakes this session. It is told with the next prompt." in done.err


def test_the_session_itself_is_told_to_look_from_outside(ib, session: Session) -> None:
    done = ib("wake", "check", "--timeout", "0.1", env={"CLAUDE_CODE_SESSION_ID": "s1"})

    assert done.code == 1
    assert "It hears with its next tool call" in done.err


def test_without_a_session_there_is_a_hint(ib, repo: paths.Place) -> None:
    done = ib("wake", "check")

    assert done.code == 1
    assert "Hint: ib hooks install" in done.err


def test_an_agent_is_refused(ib, session: Session) -> None:
    worktree = make_agent(session.place, "a")

    assert ib("wake", "check", cwd=worktree).code == 1
