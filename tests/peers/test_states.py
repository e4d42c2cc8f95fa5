"""Every state of the real client under a running supervisor: is what is published right, and what `ib list` says?

How fast is measured by `python -m bench states`; here it is only printed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import make_agent
from tests.peers import messages_api, states
from tests.peers.client import Client
from tests.peers.messages_api import MessagesApi
from tests.peers.states import Model, Watched
from tests.peers.test_fleet import fleet

pytestmark = pytest.mark.peer
__all__ = ["fleet"]


@pytest.fixture(autouse=True)
def limiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the API begins to serve."""
    monkeypatch.setattr(messages_api, "Handler", states.Limiting)


@pytest.fixture
def watched(limiting: None, fleet: Callable, api: MessagesApi, repo, tmux, monkeypatch) -> Watched:
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "3")
    return Watched(fleet, Model(api), repo, tmux)


def tell(at: Watched) -> None:
    print("\n".join(f"{what:<28}{seconds:6.2f} s{'  > 2 s' * (seconds > 2)}" for what, seconds in at.took))


def test_states_that_no_hook_tells_of(watched: Watched) -> None:
    watched.begin("w1")
    try:
        states.interrupted(watched)
        states.failing(watched)
        states.compacting(watched)
        states.stopped(watched)
        states.crashed(watched)
    finally:
        tell(watched)


def test_a_dialog_that_nobody_answers(watched: Watched, repo, claude: Client) -> None:
    watched.begin_asking("w2", Path(make_agent(repo, "w2")), str(claude.binary))
    try:
        states.asking(watched)
    finally:
        tell(watched)
