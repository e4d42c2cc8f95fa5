"""What no hook tells of, with the real client and a running supervisor: is the published state right?"""

import os
import signal
import time
from collections.abc import Callable

import psutil
import pytest

from ibstatus.drivers import ending
from tests.peers.messages_api import MessagesApi, Turn
from tests.peers.test_fleet import Cast, fleet, says, screens, until_shown

pytestmark = pytest.mark.peer
__all__ = ["fleet"]

QUESTION = {
    "questions": [
        {
            "question": "Which port shall it take?",
            "header": "Port",
            "options": [{"label": "80", "description": "x"}, {"label": "81", "description": "y"}],
            "multiSelect": False,
        }
    ]
}


class Watched:
    """One agent, what its model does next, and how long its state took to be right."""

    def __init__(self, fleet, api: MessagesApi, repo, tmux) -> None:
        self.fleet, self.repo, self.tmux = fleet, repo, tmux
        self.cast = Cast(api)
        self.cast.scripts = {"w1": [says("WAITING")]}
        self.took: dict[str, float] = {}
        fleet("new-agent", "--name", "w1", "--yolo", "--worker", "Begin")
        self.becomes("first turn", "waiting", "input")
        self.pane = tmux("list-panes", "-a", "-F", "#{pane_id}").split()[0]
        self.pid = int(tmux("display-message", "-p", "-t", self.pane, "#{pane_pid}"))

    def now(self) -> dict:
        return next(agent for agent in self.fleet("list", "--json").json() if agent["id"] == "w1")

    def becomes(self, what: str, state: str, reason: str = "") -> dict:
        began = time.monotonic()

        def right() -> bool:
            found = self.now()
            return found["state"] == state and found["reason"].startswith(reason)

        try:
            until_shown(right, self.repo, self.tmux, 25)
        except AssertionError as failure:
            raise AssertionError(f"{what}: {failure}\n{self.took}\n{self.fleet('why', 'w1').out}") from None
        self.took[what] = time.monotonic() - began
        return self.now()

    def prompt(self, *turns: Turn) -> None:
        self.cast.scripts["w1"] = list(turns)
        self.tmux("send-keys", "-t", self.pane, "C-u")
        self.tmux("send-keys", "-t", self.pane, "-l", "go on")
        until_shown(lambda: "❯\u00a0go on" in screens(self.repo, self.tmux), self.repo, self.tmux)
        self.tmux("send-keys", "-t", self.pane, "Enter")

    def shows(self, text: str) -> None:
        until_shown(lambda: text in screens(self.repo, self.tmux), self.repo, self.tmux)

    def esc(self, what: str) -> dict:
        self.tmux("send-keys", "-t", self.pane, "Escape")
        return self.becomes(what, "waiting", "input")

    def client(self) -> int:
        return ending.clients(self.pid, ending.family(self.pid))[0].pid


@pytest.fixture
def watched(fleet: Callable, api: MessagesApi, repo, tmux, monkeypatch: pytest.MonkeyPatch) -> Watched:
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "3")
    return Watched(fleet, api, repo, tmux)


def test_states_that_no_hook_tells_of(watched: Watched) -> None:
    watched.prompt(Turn(silent=True))
    watched.becomes("a turn", "running")
    watched.shows("esc to interrupt")
    watched.esc("Esc before the first token")

    watched.prompt(Turn(words="word " * 200, pace=0.1))
    watched.shows("word word")
    assert watched.esc("Esc while it streams")["note"] == "interrupted"

    watched.prompt(Turn("Bash", {"command": "tail -f file.txt"}))
    watched.shows("tail -f file.txt")
    watched.becomes("a tool", "running")
    watched.esc("Esc in Bash")

    watched.prompt(Turn("AskUserQuestion", QUESTION))
    watched.becomes("question", "waiting", "question")
    until_shown(lambda: "Which port" in watched.now()["asks"], watched.repo, watched.tmux)
    watched.esc("Esc in a question")

    watched.prompt(*[Turn(status=529)] * 8)
    watched.becomes("retries", "running", "retrying")
    watched.becomes("529", "waiting", "error")

    watched.prompt(says("Well.\n\nI HAVE COMPLETED THE GOAL"))
    watched.becomes("complete", "complete")

    watched.prompt(Turn(silent=True))
    watched.becomes("the last turn", "running")
    os.kill(watched.client(), signal.SIGSTOP)
    watched.becomes("suspended", "waiting", "suspended")
    os.kill(watched.client(), signal.SIGCONT)
    watched.becomes("continued", "running")

    psutil.Process(watched.client()).kill()
    watched.becomes("crash", "stopped")
    print("\n".join(f"{what:<28}{seconds:6.2f} s" for what, seconds in watched.took.items()))
