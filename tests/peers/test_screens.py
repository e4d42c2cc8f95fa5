"""What the screens of the real client are taken for, while it goes through a turn."""

from collections.abc import Callable

import pytest

from ibstatus.rules import screen_states
from ibstatus.rules.screen_states import Shown
from tests.peers.hooks import Hooks
from tests.peers.messages_api import MessagesApi, Turn
from tests.peers.test_hook_answers import QUESTIONS, bash
from tests.peers.tui import Tui

pytestmark = pytest.mark.peer


@pytest.fixture
def begin(tui, api: MessagesApi, hooks: Hooks) -> Callable[..., Tui]:
    def session(*turns: Turn, mode: str = "default") -> Tui:
        hooks.write()
        api.turns[:] = turns
        opened: Tui = tui(hooks.project, mode=mode)
        opened.until(lambda: see(opened).idle)
        opened.submit("Begin.")
        return opened

    return session


def see(session: Tui) -> Shown:
    return screen_states.shown(session.screen())


def test_esc_is_seen_without_a_hook(begin) -> None:
    session = begin(Turn(silent=True))
    session.until(lambda: see(session).state == "running")
    session.keys("Escape")
    session.until(lambda: see(session).idle)

    assert see(session)[:2] == ("waiting", "input")


def test_a_permission_says_what_for(begin) -> None:
    session = begin(bash("touch a-file; python3 -c 'print(1)'"), Turn())
    session.until(lambda: see(session).reason == "permission")

    assert see(session).asks.startswith("Bash command: touch a-file; python3")


def test_a_question_is_told(begin) -> None:
    session = begin(Turn("AskUserQuestion", {"questions": QUESTIONS}), Turn())
    session.until(lambda: see(session).reason == "question")

    assert see(session).asks == QUESTIONS[0]["question"]


def test_a_retry_is_no_end(begin) -> None:
    session = begin(*[Turn(status=529)] * 4, Turn())
    session.until(lambda: see(session).reason.startswith("retrying"))

    assert see(session).state == "running"
