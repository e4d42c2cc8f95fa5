"""The bells as processes: FileChanged looks and leaves, the Stop waiter waits; nothing of them is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from ibstatus.claude.hooks import command_lines
from ibstatus.mail import bells, post, wake_state
from ibstatus.model import constants
from ibstatus.project import paths
from ibstatus.system import locks
from tests.conftest import make_agent
from tests.hooks.conftest import STUB, Session, run_hook
from tests.until import until

PROGRAM = (sys.executable, str(STUB))


def notify(place: paths.Place, text: str = "news") -> None:
    post.notify(place, "cli", "complete", "a", True, text, time.time())


def changed(session: Session, **env: str) -> int:
    payload = session.payload("FileChanged", file_path=session.place.queue, event="change")
    return run_hook(session.place, "queue-changed", payload, **env).code


def test_file_changed_rings_for_news_only(session: Session) -> None:
    assert changed(session) == 0
    notify(session.place)
    assert changed(session) == constants.RING
    assert changed(session) == 0  # on its way
    session.prompt()
    assert changed(session) == 0


def test_file_changed_in_an_agent_is_silent(entered: paths.Place) -> None:
    worktree = make_agent(entered, "a")
    notify(entered)
    payload = Session(entered, "s").payload("FileChanged")

    assert run_hook(entered, "queue-changed", payload, project=worktree).code == 0


def test_a_new_directory_is_given_the_same_watch(session: Session) -> None:
    answer = run_hook(session.place, "cwd-changed", session.payload("CwdChanged", new_cwd="/"))

    assert answer.json["hookSpecificOutput"] == {"hookEventName": "CwdChanged", "watchPaths": [session.place.queue]}
    assert wake_state.read(session.place, "s1").watched


class Client:
    """Stands for the client: a process that runs the Stop hook's command line as its child, with its stdin."""

    def __init__(self, place: paths.Place, session: str, **env: str) -> None:
        line = command_lines.bell(PROGRAM, "wait-for-news", client=True)
        payload = f'{{"session_id":"{session}","hook_event_name":"Stop","cwd":"{place.root}"}}'
        script = (
            "import subprocess, sys, time\n"
            f"done = subprocess.run(['sh', '-c', {line!r}], input={payload!r}.encode(), stderr=subprocess.PIPE)\n"
            "print(done.returncode, done.stderr.decode().strip(), flush=True)\n"
            "time.sleep(600)\n"
        )
        self.place = place
        self.session = session
        self.process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "CLAUDE_PROJECT_DIR": place.root,
                "CLAUDE_CODE_ENTRYPOINT": "cli",
                **env,
            },
        )

    def is_armed(self) -> bool:
        return locks.is_held(wake_state.waiter_lock(self.place, self.session))

    def answer(self) -> str:
        """Exit code and stderr of the hook, when it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def waiter(self) -> int:
        return int(Path(self.place.home, "notify", "waiters", self.session).read_text())

    def end(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)
        self.process.wait()


@pytest.fixture
def client(entered: paths.Place) -> Iterator[Callable[..., Client]]:
    made: list[Client] = []

    def start(session: str = "s1", **env: str) -> Client:
        made.append(Client(entered, session, **env))
        return made[-1]

    yield start
    for one in made:
        one.process.kill()
        one.process.wait()
        if one.process.stdout:
            one.process.stdout.close()
    for one in made:
        until(lambda one=one: not one.is_armed())


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_waiter_rings_when_news_comes(client) -> None:
    one = client()
    until(one.is_armed)
    notify(one.place)

    assert one.answer() == f"2 {command_lines.RUNG}\n"


def test_the_waiter_rings_at_once_for_what_came_meanwhile(client, entered: paths.Place) -> None:
    notify(entered)

    assert client().answer().startswith("2 ")


def test_the_newest_wins_and_the_older_leaves_in_silence(client) -> None:
    first = client()
    until(first.is_armed)
    old = first.waiter()
    second = client()

    assert first.answer() == "0 \n"
    until(second.is_armed)
    assert second.waiter() != old
    assert not is_alive(old)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP], ids=lambda number: number.name)
def test_no_waiter_outlives_its_client(client, number: int) -> None:
    one = client()
    until(one.is_armed)
    pid = one.waiter()

    one.end(number)

    until(lambda: not is_alive(pid))
    assert not one.is_armed()
    assert list(Path(one.place.bells).iterdir()) == []


def test_two_sessions_wait_beside_each_other(client) -> None:
    one, two = client("one"), client("two")
    until(one.is_armed)
    until(two.is_armed)
    notify(one.place)

    assert one.answer().startswith("2 ")
    assert two.answer().startswith("2 ")


def test_only_an_interactive_client_is_waited_for(client) -> None:
    """`claude -p` does not end before its hooks have."""
    assert client(CLAUDE_CODE_ENTRYPOINT="sdk-cli").answer() == "0 \n"


def test_an_agent_has_no_waiter(client, entered: paths.Place) -> None:
    worktree = make_agent(entered, "a")

    assert client(CLAUDE_PROJECT_DIR=str(worktree)).answer() == "0 \n"


def test_a_waiter_survives_a_clean_repository(client) -> None:
    """It leaves, for nobody knows its name any more; the next turn's end arms another."""
    import shutil

    one = client()
    until(one.is_armed)
    shutil.rmtree(one.place.home)

    assert one.answer() == "0 \n"


def test_the_ladder_carries_each_message_once(client, session: Session) -> None:
    """All rungs for one session: the first rings, and the voice tells; then nothing is left to ring for."""
    session.prompt()
    one = client()
    until(one.is_armed)
    notify(one.place)

    assert one.answer().startswith("2 ")
    assert changed(session) == 0
    assert "news" in session.prompt("<task-notification>").context
    assert changed(session) == 0


def test_a_session_that_was_cleared_leaves_no_waiter(client, session: Session) -> None:
    """The client lives on under another session id; nobody is told by the old one any more."""
    one = client()
    until(one.is_armed)

    run_hook(session.place, "agent-status", session.payload("SessionEnd", reason="clear"))

    assert one.answer() == "0 \n"


def test_what_a_killed_session_would_have_heard_wakes_another(client, session: Session) -> None:
    other = Session(session.place, "other")
    other.prompt()
    session.prompt()
    one, two = client("s1"), client("other")
    until(one.is_armed)
    until(two.is_armed)
    one.end()
    notify(session.place)

    assert two.answer().startswith("2 ")


def test_when_the_hooks_are_taken_out_the_waiter_goes(client, entered: paths.Place) -> None:
    one = client()
    until(one.is_armed)

    wake_state.disarm(entered)
    bells.ring(entered.bells)

    assert one.answer() == "0 \n"
