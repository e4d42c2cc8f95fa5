"""One open connection to tmux: replies in order, a server that hangs, ends or comes again, and no trace left."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from math import inf

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.system.process import user_processes
from ibstatus.system.tmux import connect_lock
from ibstatus.system.tmux import server as driver
from ibstatus.system.tmux.control_mode import PART, Connection, Reading, Reply
from tests.patience import LONG
from tests.until import seen_within, until

Tmux = Callable[..., str]
NAMES = 'list-panes -a -F "#{session_name}\t#{pane_id}"'


@pytest.fixture
def connection(tmux: Tmux) -> Iterator[Connection]:
    made = Connection("ib", "test")
    yield made
    made.close()


def names(connection: Connection) -> list[str]:
    replies = connection.ask([NAMES], LONG)
    assert replies is not None
    return [line.split("\t")[0] for line in replies[0].data.decode().splitlines()] if replies else []


def test_many_commands_at_once(tmux: Tmux, connection: Connection) -> None:
    tmux("new-session", "-d", "-s", "a", "printf '%%end 1 2 1\\n%%begin 1 2 1\\nünï'; exec cat")
    until(lambda: "ünï" in tmux("capture-pane", "-p", "-t", "=a:"))
    commands = [NAMES, "capture-pane -p -t =a:", "capture-pane -p -t %99", "display-message -p done"]
    replies = connection.ask(commands, LONG)

    assert replies is not None
    assert [reply.ok for reply in replies] == [True, True, False, True]
    assert replies[1].data.decode().startswith("%end 1 2 1\n%begin 1 2 1\nünï")
    assert b"can't find pane" in replies[2].data
    assert replies[3].data == b"done\n"


def test_more_than_a_pipe_holds_both_ways(tmux: Tmux, connection: Connection) -> None:
    tmux("new-session", "-d", "-s", "a", "-x", "200", "-y", "50", "seq 2000; exec cat")
    replies = connection.ask(["capture-pane -p -S - -t =a:"] * 3000, patience=30)

    assert replies is not None
    assert len(replies) == 3000


def test_its_session_is_no_agent_and_goes_with_it(tmux: Tmux, connection: Connection) -> None:
    tmux("new-session", "-d", "-s", "a", "-x", "77", "-y", "33", "exec cat")
    until(lambda: len(names(connection)) == 2)
    assert tmux("display-message", "-p", "-t", "=a:", "#{window_width}x#{window_height}") == "77x33\n"
    assert tmux("display-message", "-p", "-t", "=a:", "#{session_attached}") == "0\n"
    connection.close()

    until(lambda: driver.sessions("ib") == {"a"})


def test_it_goes_after_kill_9(tmux: Tmux) -> None:
    tmux("new-session", "-d", "-s", "a", "exec cat")
    code = (
        "from ibstatus.system.tmux.control_mode import Connection; import os;"
        f"assert Connection('ib', 'k').ask(['list-sessions'], {LONG}); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)

    assert done.returncode == -signal.SIGKILL
    until(lambda: driver.sessions("ib") == {"a"})
    user_processes.end_lines("ib", "k", {"a"})


def test_no_server_is_not_started_and_no_error(tmux: Tmux, connection: Connection) -> None:
    assert connection.ask([NAMES]) == []
    assert driver.sessions("ib") == frozenset()
    tmux("new-session", "-d", "-s", "a", "exec cat")
    assert "a" in names(connection)
    tmux("kill-server")
    until(lambda: connection.ask([NAMES]) == [])
    tmux("new-session", "-d", "-s", "b", "exec cat")
    until(lambda: "b" in names(connection))


def test_a_server_that_hangs_is_left_alone_and_asked_again(tmux: Tmux, connection: Connection) -> None:
    tmux("new-session", "-d", "-s", "a", "exec cat")
    assert connection.ask([NAMES], LONG)
    pid = int(tmux("display-message", "-p", "#{pid}"))
    os.kill(pid, signal.SIGSTOP)
    try:
        assert connection.ask([NAMES], patience=0.05) is None
        assert "has not answered" in connection.why
        connection.not_before += 60  # as if no time had gone by
        assert connection.ask([NAMES]) is None
        connection.not_before = 0.0
        assert connection.ask(["display-message -p late"], patience=0.05) is None
        assert connection.pause == 2.0
        other = Connection("ib", "other")
        assert [other.ask([NAMES], patience=0.05) for _ in range(2)] == [None, None]
        assert other.process is None
    finally:
        os.kill(pid, signal.SIGCONT)
    connection.not_before = 0.0
    assert "a" in names(connection)
    assert int(tmux("display-message", "-p", "#{pid}")) == pid  # tmux falls over clients that leave too early
    assert connection.why == ""


@given(st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")), max_size=5), st.integers(1, 9))
def test_replies_come_whole_however_they_are_cut(texts: list[bytes], size: int) -> None:
    stream = b"%begin 5 1 0\nour own start\n%end 5 1 0\n%sessions-changed\n"
    for at, text in enumerate(texts, 2):
        stream += b"%%begin 5 %d 1\n%s\n%%%s 5 %d 1\n%%window-renamed @1 x\n" % (
            at,
            text,
            (b"error", b"end")[at % 2],
            at,
        )
    reading = Reading()
    for at in range(0, len(stream), size):
        reading.take(stream[at : at + size])

    assert [reply.data for reply in reading.replies] == [text + b"\n" for text in texts]
    assert [reply.ok for reply in reading.replies] == [at % 2 == 1 for at in range(2, 2 + len(texts))]
    assert {reply.second for reply in reading.replies} <= {"5"}


def test_a_reply_has_the_second_of_tmux(tmux: Tmux, connection: Connection) -> None:
    tmux("new-session", "-d", "-s", "a", "exec cat")
    drawn = 'list-panes -a -f "#{==:#{session_name},a}" -F "#{window_activity}"'
    replies = connection.ask([drawn], LONG)

    assert replies is not None
    assert replies[0].second >= replies[0].data.decode().strip() > "1"
    assert Reply(False, b"").second == ""


def test_a_stream_that_is_left_or_cut_in_the_middle_harms_nothing(tmux: Tmux, connection: Connection) -> None:
    tmux("new-session", "-d", "-s", "a", "exec cat")
    numbered = [f"display-message -p {number}" for number in range(3 * PART + 5)]
    whole = connection.stream(numbered, LONG)
    assert whole is not None
    assert [int(reply.data) for reply in whole] == list(range(len(numbered)))

    left = connection.stream(numbered, LONG)
    assert left is not None
    for reply in left:
        assert reply.ok
        break
    del left, reply
    answered = connection.ask(["display-message -p next"], LONG)
    assert answered is not None
    assert [reply[:2] for reply in answered] == [(True, b"next\n")]

    cut = connection.stream(numbered, LONG)
    assert cut is not None
    found = [next(iter(cut))]
    tmux("kill-server")
    found += list(cut)
    assert len(found) == len(numbered)
    assert not found[-1].ok
    until(lambda: connection.ask([NAMES]) == [])
    assert connection.stream(numbered) == []


def test_a_server_survives_those_who_come_and_go(tmux: Tmux) -> None:
    """3.3 falls over a control client that comes or goes together with a session, and every agent with it."""
    driver.start("ib", "a", "/", ["cat"], "a")
    server = tmux("display-message", "-p", "#{pid}")
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            driver.start("ib", "b", "/", ["cat"], "b")
            driver.end("ib", "b")

    others = threading.Thread(target=churn)
    others.start()
    try:
        for _ in range(25):
            made = Connection("ib", "test")
            until(lambda made=made: made.ask(["list-sessions"] * 3, LONG))
            made.close()
    finally:
        stop.set()
        others.join()

    assert tmux("display-message", "-p", "#{pid}") == server
    until(lambda: driver.sessions("ib") == {"a"})


def test_one_that_was_killed_while_the_server_hung_is_ended_by_the_next(tmux: Tmux) -> None:
    tmux("new-session", "-d", "-s", "a", "exec cat")
    server = int(tmux("display-message", "-p", "#{pid}"))
    held = orphaned(server)
    following = Connection("ib", "test")
    try:
        until(lambda: names(following))
        until(lambda: swept(following) and lines_of(held.pid) == [])
        assert driver.sessions("ib") >= {"a"}
        assert int(tmux("display-message", "-p", "#{pid}")) == server
        until(lambda: swept(following) and following.sweep_at == inf)
    finally:
        following.close()
        for left in lines_of(held.pid):
            left.kill()


def orphaned(server: int) -> "subprocess.Popen[str]":
    """One whose line stays behind. Now and then tmux itself still ends that, and there is nothing to be seen."""
    for _ in range(10):
        held = held_by_another()
        os.kill(server, signal.SIGSTOP)
        held.kill()
        held.communicate()
        until(lambda: all(one.status() == psutil.STATUS_ZOMBIE for one in psutil.Process(server).children()[1:]))
        os.kill(server, signal.SIGCONT)
        if not seen_within(lambda held=held: lines_of(held.pid) == [], 1.0):
            return held
    raise AssertionError("no line stays behind")


def swept(connection: Connection) -> bool:
    connection.sweep_at = 0.0
    connection.sweep()
    return True


@pytest.mark.parametrize(
    ("argv", "there", "ended", "over"),
    [
        (("tmux", "-L", "ib", "-C", "-s", "ib-watch-test-7"), set(), True, False),
        (("tmux", "-L", "ib", "-C", "-s", "ib-watch-test-7"), {"ib-watch-test-7"}, False, False),
        (("tmux", "-L", "ib", "-C", "-s", "ib-watch-test-1"), set(), False, True),  # its holder lives
        (("tmux", "-L", "ib2", "-C", "-s", "ib-watch-test-7"), set(), False, True),
        (("tmux", "-L", "ib", "-C", "-s", "ib-watch-other-7"), set(), False, True),
        (("tmux", "-L", "ib", "new-session", "-s", "ib-watch-test-7"), set(), False, True),
        (("vi", "-L", "ib", "-C", "-s", "ib-watch-test-7"), set(), False, True),
    ],
)
def test_only_a_line_to_this_server_without_holder_and_session_is_ended(
    argv: tuple[str, ...], there: set[str], ended: bool, over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Known:
        terminated = False

        def name(self) -> str:
            return argv[0] + ": client"

        def cmdline(self) -> list[str]:
            return list(argv)

        def ppid(self) -> int:
            return 1

        def terminate(self) -> None:
            self.terminated = True

    known = Known()
    monkeypatch.setattr(psutil, "pids", lambda: [99])
    monkeypatch.setattr(psutil, "Process", lambda pid: known)

    assert user_processes.end_lines("ib", "test", there) is over
    assert known.terminated is ended


def test_a_sweep_disturbs_no_answer(tmux: Tmux, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever becomes of it: the server hangs, the line dies, somebody is making a session."""
    tmux("new-session", "-d", "-s", "a", "exec cat")
    server = int(tmux("display-message", "-p", "#{pid}"))
    until(lambda: names(connection))
    os.kill(server, signal.SIGSTOP)
    connection.sweep_at = 0.0
    connection.sweep(0.1)
    os.kill(server, signal.SIGCONT)
    commands = [f"display-message -p {number}" for number in range(150)]
    replies = connection.stream(commands, LONG)
    assert replies is not None
    assert [reply.data for reply in replies] == [b"%d\n" % number for number in range(150)]

    with connect_lock.changing("ib"):
        swept(connection)
    assert connection.sweep_at != inf
    assert connection.process is not None
    connection.process.kill()
    connection.process.wait()
    swept(connection)
    until(lambda: connection.ask(["display-message -p on"]))


def held_by_another() -> subprocess.Popen[str]:
    code = (
        "from ibstatus.system.tmux.control_mode import Connection; c = Connection('ib', 'test');"
        f"assert c.ask(['list-sessions'], {LONG}); print('there', flush=True); input()"
    )
    held = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert held.stdout is not None
    assert held.stdout.readline() == "there\n"
    return held


def lines_of(holder: int) -> list[psutil.Process]:
    found = psutil.process_iter(["cmdline"])
    return [one for one in found if f"ib-watch-test-{holder}" in (one.info["cmdline"] or []) and one.is_running()]


def test_a_server_survives_one_that_is_killed(tmux: Tmux) -> None:
    driver.start("ib", "a", "/", ["cat"], "a")
    server = tmux("display-message", "-p", "#{pid}")
    code = (
        "from ibstatus.system.tmux.control_mode import Connection; import os; c = Connection('ib', 'k');"
        "[c.ask(['list-sessions']) for _ in range(5)]; os.kill(os.getpid(), 9)"
    )
    for _ in range(8):
        subprocess.run([sys.executable, "-c", code], check=False)

    until(lambda: driver.sessions("ib") == {"a"})
    user_processes.end_lines("ib", "k", {"a"})  # now and then one is left, for which the server would wait
    assert tmux("display-message", "-p", "#{pid}") == server
