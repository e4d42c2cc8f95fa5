"""What the screens of the real client are taken for, while it goes through a turn."""

import time
from collections.abc import Callable

import pytest

from ibstatus.claude.screens import states as screen_states
from ibstatus.claude.screens.states import Shown
from ibstatus.state.rules import limits
from tests.peers import messages_api, states
from tests.peers.hooks import Hooks
from tests.peers.messages_api import MessagesApi, Turn
from tests.peers.test_hook_answers import QUESTIONS, bash
from tests.peers.tui import Tui

pytestmark = pytest.mark.peer
SUBSCRIBER = {"CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-of-nobody-at-all", "ANTHROPIC_API_KEY": ""}


@pytest.fixture
def limiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the API begins to serve: with a 429 it says until when."""
    monkeypatch.setattr(messages_api, "Handler", states.Limiting)


@pytest.fixture
def begin(tui, api: MessagesApi, hooks: Hooks) -> Callable[..., Tui]:
    def session(*turns: Turn, mode: str = "default", **options: dict[str, str]) -> Tui:
        hooks.write()
        api.turns[:] = turns
        opened: Tui = tui(hooks.project, mode=mode, **options)
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


def test_a_subscribers_limit_says_until_when(limiting, begin) -> None:
    session = begin(*[Turn(status=429)] * 4, env=SUBSCRIBER)
    session.until(lambda: see(session).state == "rate_limited" and see(session).asks)

    end = limits.reset_at(see(session).asks, time.time())
    assert end == pytest.approx(time.time() + states.RESET, abs=300.0), session.screen()
    session.keys("Escape")
    session.until(lambda: "continue cancelled" in session.screen())
    assert see(session).state == "rate_limited"
