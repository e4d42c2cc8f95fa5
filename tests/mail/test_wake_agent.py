"""An agent that has mail is woken when it is idle, and only then: fake-claude in a real tmux, its real hooks."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.claude import client, hook_state
from ibstatus.mail import inbox, wake_agent
from ibstatus.mail.rules import wake_line
from ibstatus.project import agent_meta, events, paths
from ibstatus.system import disk
from ibstatus.system.tmux import typing
from tests.conftest import make_agent
from tests.living import ORDERS, Living
from tests.until import until

Start = Callable[..., Living]
RECORDED = ("42", "46", "49", "69", "72")
DIALOGS = (
    *(f"dialog {name}" for name in ("trust", "trust-a", "bypass")),
    *(f"screen {version}/{number} 600" for version in ("2.1.197", "2.1.326") for number in RECORDED),
)


@pytest.fixture
def start(repo: paths.Place, tmux: Callable[..., str], tmp_path: Path) -> Start:
    def begin(name: str = "w1", script: str = "") -> Living:
        return Living(repo, tmux, tmp_path / "claude", name, script)

    return begin


def post(place: paths.Place, text: str, to: str = "w1") -> None:
    inbox.put(place, "cli", to, "lead", True, text, time.time())


def test_an_idle_one_is_woken_and_hears_it_once(repo: paths.Place, start: Start) -> None:
    agent = start().idle()
    post(repo, "first")
    post(repo, "second")

    assert wake_agent.rouse(repo, "w1").state == "delivered"

    agent.idle()
    assert agent.hears("[sent by agent lead]: first") == 1
    assert agent.hears("[sent by agent lead]: second") == 1
    assert agent.prompts() == ["[ib] 2 messages for you (from lead)"]
    events.fold(repo)
    kinds = [event["kind"] for event in events.read(repo) if event["kind"].startswith("message.")]
    assert kinds[:4] == ["message.queued", "message.queued", "message.rung", "message.offered"]


def test_without_mail_nothing_is_typed(repo: paths.Place, start: Start) -> None:
    agent = start().idle()

    assert wake_agent.rouse(repo, "w1").state == "delivered"
    assert agent.screen.takes_text
    assert agent.prompts() == []


def test_one_at_work_hears_it_by_itself(repo: paths.Place, start: Start) -> None:
    agent = start(script=ORDERS).idle().held()
    post(repo, "while you work")

    assert wake_agent.rouse(repo, "w1").state == "busy"

    agent.order("run echo one", "wait")
    agent.until(lambda: agent.has_heard("while you work"))
    agent.idle()
    assert agent.hears("while you work") == 1
    assert agent.prompts() == ["go"]


def test_what_comes_after_the_last_tool_is_heard_at_the_end_of_the_turn(repo: paths.Place, start: Start) -> None:
    agent = start(script=ORDERS).idle().held()
    post(repo, "late")

    agent.order("wait", "say again", "wait")
    agent.until(lambda: agent.has_heard("late"))
    agent.idle()

    assert agent.hears("[sent by agent lead]: late") == 1
    assert agent.prompts() == ["go"]


def test_a_draft_stays_as_it_is_and_is_never_sent(repo: paths.Place, start: Start) -> None:
    agent = start().idle()
    agent.type("half a thought")
    post(repo, "mail")

    assert wake_agent.rouse(repo, "w1").state == "draft"
    assert agent.screen.draft == "half a thought"

    agent.keys("C-u")
    agent.idle()
    assert wake_agent.rouse(repo, "w1").state == "delivered"
    agent.idle()
    assert agent.hears("mail") == 1
    assert not agent.has_heard("half a thought")


@pytest.mark.parametrize("dialog", DIALOGS)
def test_no_dialog_is_ever_answered(repo: paths.Place, start: Start, dialog: str) -> None:
    agent = start(script=f"{dialog}\nwait\n")
    if dialog.startswith("screen"):
        agent.idle().submit("go")
    agent.until(lambda: agent.screen.kind == "dialog")
    shown = typing.styled("ib", agent.pane)
    post(repo, "mail")

    assert wake_agent.rouse(repo, "w1").state in ("dialog", "busy")
    hook_state.note(repo, "w1", "s", "PermissionRequest", {"tool_name": "Bash"}, time.time())
    assert wake_agent.rouse(repo, "w1").state == "dialog"

    assert typing.styled("ib", agent.pane) == shown
    assert [prompt for prompt in agent.prompts() if prompt != "go"] == []


def test_one_that_has_ended_is_let_be(repo: paths.Place, start: Start) -> None:
    agent = start().idle()
    agent.end()
    post(repo, "mail")

    assert wake_agent.rouse(repo, "w1").state == "stopped"


def test_one_that_never_had_a_session_of_ours(repo: paths.Place, tmux: object, agent: Callable[..., Path]) -> None:
    agent(repo, "w1")
    post(repo, "mail")

    assert wake_agent.rouse(repo, "w1").state == "unknown"


def test_never_the_one_with_the_longer_name(repo: paths.Place, start: Start) -> None:
    other = start("foo-bar").idle()
    make_agent(repo, "foo")
    agent_meta.change(repo, "foo", tmux_session=other.where.name.removesuffix("-bar"))
    post(repo, "for foo", "foo")

    assert wake_agent.rouse(repo, "foo").state == "stopped"
    assert other.screen.takes_text
    assert other.prompts() == []


def test_after_esc_the_screen_decides(repo: paths.Place, start: Start) -> None:
    agent = start(script="say begun\nhang\n").idle()
    agent.submit("go")
    agent.until(lambda: "begun" in agent.shown() and agent.screen.kind == "busy")
    agent.keys("Escape")
    agent.until(lambda: agent.screen.kind == "prompt")
    agent.keys("C-u")
    agent.idle()
    assert hook_state.read(hook_state.path_of(repo, "w1", "")).state == "running"
    post(repo, "mail")

    until(lambda: wake_agent.rouse(repo, "w1").state == "delivered")

    assert agent.hears("mail") == 1


def test_in_copy_mode_nothing_is_typed(repo: paths.Place, start: Start) -> None:
    agent = start().idle()
    agent.tmux("copy-mode", "-t", agent.pane.id)
    post(repo, "mail")

    assert wake_agent.rouse(repo, "w1").state == "unknown"
    agent.tmux("send-keys", "-t", agent.pane.id, "-X", "cancel")
    assert agent.screen.takes_text


def test_many_at_once_wake_it_once(repo: paths.Place, start: Start) -> None:
    agent = start().idle()
    post(repo, "mail")
    states: list[str] = []
    threads = [threading.Thread(target=lambda: states.append(wake_agent.rouse(repo, "w1").state)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(states) == {"delivered"}
    agent.idle()
    assert agent.prompts() == ["[ib] a message for you (from lead)"]
    assert agent.hears("[sent by agent lead]: mail") == 1


def test_what_a_killed_one_left_on_the_prompt_line_is_sent_by_the_next(repo: paths.Place, start: Start) -> None:
    agent = start().idle()
    post(repo, "mail")
    assert typing.paste("ib", agent.pane, wake_line.line(1, ["lead"]))
    agent.until(lambda: wake_line.is_ours(agent.screen.draft))

    assert wake_agent.rouse(repo, "w1").state == "delivered"

    agent.idle()
    assert agent.prompts() == ["[ib] a message for you (from lead)"]


def test_killed_at_any_moment_and_tried_again(repo: paths.Place, start: Start) -> None:
    """kill -9 between any two steps: the mail arrives, the line stands nowhere."""
    agent = start().idle()
    code = "import sys\nfrom ibstatus.mail import wake_agent as rouse\nfrom ibstatus.project import paths as places\n"
    code += "rouse.rouse(places.find(sys.argv[1]), 'w1')"
    for number in range(8):
        post(repo, f"mail {number}.")
        process = subprocess.Popen([sys.executable, "-c", code, repo.root])
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGCONT)
        deadline = time.monotonic() + 0.06 + number * 0.025
        until(lambda deadline=deadline: time.monotonic() > deadline)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        until(lambda: wake_agent.rouse(repo, "w1").state == "delivered")
        agent.idle()

    assert [agent.hears(f"mail {number}.") for number in range(8)] == [1] * 8
    assert all(wake_line.is_ours(prompt) for prompt in agent.prompts())


def test_what_a_person_types_meanwhile_is_theirs(repo: paths.Place, start: Start) -> None:
    """Their text and ours on one line: ours goes, theirs stays, nothing is sent."""
    agent = start().idle()
    post(repo, "mail")
    line = wake_line.line(1, ["lead"])
    agent.type("mine")
    assert typing.paste("ib", agent.pane, line)
    agent.until(lambda: line in agent.screen.draft)

    assert wake_agent.taken_back(wake_agent.Seat("ib", agent.pane, client.DEFAULT), line) == "draft"

    agent.until(lambda: agent.screen.draft == "mine")
    assert agent.prompts() == []


@pytest.mark.parametrize("width", ["60", "80", "200"])
def test_in_a_terminal_of_any_width(repo: paths.Place, start: Start, width: str) -> None:
    agent = start().idle()
    agent.tmux("resize-window", "-t", agent.pane.id, "-x", width, "-y", "30")
    agent.idle()
    inbox.put(repo, "cli", "w1", "a-manager-with-a-name-of-forty-characters", True, "mail", time.time())

    assert wake_agent.rouse(repo, "w1").state == "delivered"
    agent.idle()
    assert agent.hears("mail") >= 1


def test_where_no_tmux_can_be_asked(repo: paths.Place, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = start().idle()
    post(repo, "mail")
    monkeypatch.setenv("PATH", "/nowhere")

    assert wake_agent.rouse(repo, "w1").state == "unknown"
    monkeypatch.undo()
    assert disk.exists(agent.worktree.as_posix())


def test_a_compaction_that_was_cut_off_leaves_nobody_deaf(repo: paths.Place, start: Start) -> None:
    """Esc ends it without a word of the hooks; after a moment the screen decides."""
    agent = start().idle()
    hook_state.note(repo, "w1", "s", "PreCompact", {}, time.time() - 60)
    post(repo, "mail")

    until(lambda: wake_agent.rouse(repo, "w1").state == "delivered")

    assert agent.hears("mail") == 1


def test_a_pane_that_a_person_has_split_off_is_never_typed_into(
    repo: paths.Place, start: Start, tmux: Callable[..., str]
) -> None:
    agent = start().idle()
    agent_meta.change(repo, "w1", started=1.0)
    own = tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", agent.pane.id, "exec cat").strip()
    tmux("kill-pane", "-t", agent.pane.id)
    post(repo, "hello")

    assert wake_agent.rouse(repo, "w1").state == "stopped"
    assert tmux("capture-pane", "-p", "-t", own).strip() == ""
