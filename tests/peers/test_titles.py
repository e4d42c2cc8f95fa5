"""The real client in a tmux window: its name follows a scripted session, and nothing else ever stands there."""

import shlex
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.project import home, paths
from tests.conftest import run_ib
from tests.peers.client import Client
from tests.peers.messages_api import MessagesApi, Turn
from tests.peers.test_fleet import Cast, fleet
from tests.peers.test_hook_answers import QUESTIONS, bash
from tests.peers.tui import Tui
from tests.until import until

pytestmark = pytest.mark.peer
__all__ = ["fleet"]

READY, RUNS, REST, ASKS = "🤖✅repo", "🤖⚙️repo", "🤖repo", "🚨repo"
BASH, READ, AGENT, EDIT = "🧪repo", "🔍repo", "🎯repo", "✏️repo"
KEPT = "set-option -gaF @names '#{hook_window}|#{hook_window_name}\n'"
SUBAGENT = {"description": "look", "prompt": "Look around", "subagent_type": "general-purpose"}


class Titled:
    """The client in the window of a project where ib's hooks are installed, and another window beside it."""

    def __init__(self, tui: Callable[..., Tui], api: MessagesApi, root: Path, mode: str) -> None:
        self.api, self.root = api, root
        self.session = tui(root, mode=mode)
        self.tmux = self.session.tmux
        self.pane = self.tmux("list-panes", "-F", "#{pane_id}").strip()
        self.tmux("new-window", "-d", "-n", "beside", "cat")

    def option(self, name: str) -> str:
        return self.tmux("show-options", "-wqv", "-t", self.pane, name).strip()

    @property
    def name(self) -> str:
        return self.tmux("display-message", "-p", "-t", self.pane, "#{window_name}").strip()

    @property
    def state(self) -> str:
        return self.option("@ib_state")

    def names(self) -> list[str]:
        """All that windows were renamed to, in their order, from the first title of ours."""
        lines = self.tmux("show-options", "-gqv", "@names").splitlines()
        known = [line.partition("|")[2] for line in lines if "|" in line]
        return known[next((at for at, name in enumerate(known) if name.endswith("repo")), 0) :]

    def becomes(self, name: str, state: str = "") -> None:
        self.session.until(lambda: self.name == name and state in ("", self.state))

    def does(self, *turns: Turn) -> None:
        self.api.turns[:] = turns
        self.session.submit("Go.")

    def answer(self, *, shown: str) -> None:
        """The first choice; keys that come before the dialog is ready are lost."""
        self.session.until(lambda: shown in self.session.screen())
        self.session.until(lambda: pressed(self, "Enter", shown))


@pytest.fixture
def titled(repo: paths.Place, tui, api, claude, monkeypatch) -> Callable[..., Titled]:
    """Every rename in its tmux is written down from the beginning on."""
    start = Tui.start

    def watched(self: Tui, *args: str) -> None:
        early = ["start-server", ";", "set-option", "-s", "exit-empty", "off", ";"]
        self.tmux("-f", "/dev/null", *early, "set-hook", "-g", "window-renamed", KEPT)
        start(self, *args)

    def open_one(titles: str, mode: str = "bypassPermissions") -> Titled:
        home.enter(repo)
        assert run_ib("config", "set", "tmux.titles", titles, cwd=repo.root).code == 0
        assert run_ib("hooks", "install", cwd=repo.root).code == 0
        return Titled(tui, api, Path(repo.root), mode)

    monkeypatch.setattr(Tui, "start", watched)
    return open_one


def leaves(at: Titled) -> None:
    """The window is the user's again, as if nobody had been there."""
    at.session.leave()
    at.session.until(lambda: not at.option("@ib_state"))
    left = at.tmux("show-options", "-w", "-t", at.pane) + at.tmux("show-options", "-p", "-t", at.pane)
    assert "@ib_" not in left, left
    assert "automatic-rename" not in left, left
    assert "repo" not in at.name, at.name
    assert at.tmux("list-windows", "-F", "#{window_name} #{automatic-rename}").splitlines()[-1] == "beside 0"


def test_stop_only_follows_a_session(titled, repo) -> None:
    at = titled("stop-only")
    at.becomes(READY, "IDLE")
    at.does(Turn("Read", {"file_path": f"{repo.root}/file.txt"}), Turn())
    at.becomes(REST, "BASE")
    at.does(edit(repo), Turn())
    at.becomes(READY, "COMPLETED")
    until_the_agent_is_done(at)
    leaves(at)

    assert at.names()[:5] == [READY, REST, READY, RUNS, READY]
    assert not any(name.endswith("repo") for name in at.names()[5:])


def edit(repo: paths.Place) -> Turn:
    """In this session it was read before."""
    return Turn("Edit", {"file_path": f"{repo.root}/file.txt", "old_string": "one", "new_string": "two"})


def until_the_agent_is_done(at: Titled) -> None:
    """The title changes with the agent's last word: the turn that it wakes is held until then."""
    may_end = threading.Event()
    at.api.subagents[:] = [bash("echo one"), Turn(words="Looked.", meanwhile=lambda: may_end.wait(20) and None)]
    at.does(Turn("Agent", SUBAGENT), Turn(), Turn(words="Heard.", meanwhile=lambda: until(lambda: at.name != RUNS)))
    at.becomes(RUNS, "WORKING")
    assert at.option("@agent_running") == "true"
    may_end.set()
    at.becomes(READY, "COMPLETED")
    at.session.until(lambda: len(at.api.turns) == 0 and "Heard." in at.session.screen())
    at.becomes(READY, "COMPLETED")
    assert at.option("@agent_running") == "false"


def test_real_time_follows_a_session(titled, repo) -> None:
    at = titled("real-time", mode="default")
    at.becomes(READY, "IDLE")
    at.does(Turn("Read", {"file_path": f"{repo.root}/file.txt"}), Turn())
    at.becomes(REST, "BASE")
    at.does(bash("touch made"), Turn())
    at.becomes(ASKS, "ALERT")
    at.answer(shown="Do you want to proceed?")
    at.becomes(READY, "COMPLETED")
    at.does(Turn("AskUserQuestion", {"questions": QUESTIONS}), Turn())
    at.becomes(ASKS, "ALERT")
    at.answer(shown="Enter to select")
    at.becomes(READY, "COMPLETED")
    until_the_agent_is_done(at)
    leaves(at)

    read = [REST, READ, REST]
    permission = [BASH, ASKS, BASH, READY]
    question = [REST, ASKS, REST, READY]
    agent = [REST, AGENT, RUNS, READY, REST, READY]
    expected = [READY, *read, *permission, *question, *agent]
    assert at.names()[: len(expected)] == expected
    assert not any(name.endswith("repo") for name in at.names()[len(expected) :])


def test_a_permission_that_is_denied_shows_until_the_next_prompt(titled) -> None:
    """No event of the client tells of it."""
    at = titled("real-time", mode="default")
    at.becomes(READY, "IDLE")
    at.does(bash("touch made"), Turn())
    at.becomes(ASKS, "ALERT")
    at.session.until(lambda: "Do you want to proceed?" in at.session.screen())
    at.session.until(lambda: pressed(at, "Escape", "Do you want to proceed?"))
    assert at.state == "ALERT"
    at.does(Turn("Read", {"file_path": f"{at.root}/file.txt"}), Turn())
    at.becomes(REST, "BASE")
    leaves(at)

    assert at.names()[:7] == [READY, REST, BASH, ASKS, REST, READ, REST]


def pressed(at: Titled, key: str, shown: str) -> bool:
    """Is it gone? Keys that come before a dialog is ready are lost; a second one too early would mean another thing."""
    at.session.keys(key)
    try:
        until(lambda: shown not in at.session.screen(), 3)
    except AssertionError:
        return False
    return True


def test_a_client_in_a_session_s_own_shell_has_no_say(titled, claude: Client) -> None:
    """`claude -p` has the pane of the session that runs it, and all of its hooks."""
    at = titled("real-time")
    at.becomes(READY, "IDLE")
    at.api.turns[:] = [bash(f"{claude.binary} -p --permission-mode bypassPermissions 'Say one.'"), Turn(), Turn()]
    at.session.submit("Go.")
    at.becomes(READY, "COMPLETED")
    at.session.until(lambda: len(at.api.shown) == 3)

    assert len({shown.session for shown in at.api.shown}) == 2
    assert at.names() == [READY, REST, BASH, READY]


def test_after_a_kill_the_next_session_has_the_pane(titled) -> None:
    at = titled("real-time")
    at.does(bash("tail -f file.txt"))
    at.becomes(BASH, "ACTIVE_UNFOCUSED")
    at.session.kill9()
    assert at.name == BASH

    program = " ".join(map(shlex.quote, [str(at.session.client.binary), "--permission-mode", "bypassPermissions"]))
    at.tmux("respawn-pane", "-k", "-t", at.pane, "-c", str(at.root), program)
    at.becomes(READY, "IDLE")
    at.session.until(at.session.is_ready)
    leaves(at)


def test_an_agents_window_bears_its_state_and_its_id(fleet, api: MessagesApi, tmux) -> None:
    cast = Cast(api)
    cast.scripts = {"w1": [Turn("Bash", {"command": "echo one > one.txt"}), Turn(words="WAITING")]}

    fleet("new-agent", "--name", "w1", "--worker", "--yolo", "Write one")

    def titles() -> list[tuple[str, str, str]]:
        return [(one["title"], one["state"], one["whose"]) for one in fleet("titles", "--json").json()]

    until(lambda: titles() == [("🤖✅w1", "COMPLETED", "agent w1")], 40)
    fleet("kill", "w1", "--force")
    assert titles() == []
