"""Whose a process is, and whether it has lost its agent."""

import pytest

from ibstatus.system.process.classify import Home, Own, Process, Seat, owned, table, watch_of

ROOT, HOME, SAFE = "/r", "/r/.ittybitty", "/r/.git/ib"
LINE = ("tmux", "-u", "-N", "-L", "ib", "-C", "new-session", "-s", f"ib-watch-{watch_of(HOME)}-69", "-c", "/")
PLACE = Home(ROOT, HOME, SAFE, {"w": "secret", "gone": "old"}, {69: "supervisor", 70: "listener", 71: "waiter"})
LIVE, DEAD, UNASKED = Seat(True, 10, 1000.0), Seat(False, 0, 1000.0), Seat(None, 0, 1000.0)
SLEEP = ("sleep", "1000")
MARK = {"agent": "w", "token": "secret"}


def seen(one: Process, seat: Seat | None = LIVE, *others: Process) -> Own | None:
    found = owned([one, *others], PLACE, {} if seat is None else {"w": seat})
    return next((own for own in found if own.pid == one.pid), None)


@pytest.mark.parametrize(
    ("process", "agent", "what"),
    [
        (Process(5, 1, 1.0, ("/py", "-P", "-m", "ibstatus", "status-watchdog", "--repo", ROOT)), "", "supervisor"),
        (Process(5, 1, 1.0, ("/py", "-P", "-m", "ibstatus", "attend", "--repo", ROOT, "w")), "w", "attend"),
        (Process(6, 69, 1.0, LINE), "", "line to tmux"),
        (
            Process(7, 3, 1.0, ("sh", "-c", 'while kill -0 "$0" 2>/dev/null; do sleep 3; done', "69")),
            "",
            "line to tmux",
        ),
        (Process(70, 1, 1.0, ("/py", "/bin/ib", "listen")), "", "listener"),
        (Process(71, 1, 1.0, ("/py", "-S", "/x/ibstatus/hooks/stub.py", "wake"), "w", "secret"), "w", "waiter"),
        (Process(10, 2, 1001.0, ("/bin/sh", HOME + "/agents/w/start.sh")), "w", "launcher"),
        (
            Process(11, 10, 1001.0, ("claude", "--settings", HOME + "/agents/w/settings.local.json"), **MARK),
            "w",
            "client",
        ),
        (Process(11, 10, 1001.0, ("a title",), **MARK), "w", "client"),
        (Process(11, 1, 1001.0, ("claude",), **MARK), "w", "client"),
        (Process(12, 1, 1001.0, SLEEP, "w", "secret"), "w", "started by it"),
        (Process(12, 1, 1001.0, SLEEP, "w", "", HOME + "/agents/w/repo/deep"), "w", "started by it"),
    ],
)
def test_what_is_ours(process: Process, agent: str, what: str) -> None:
    own = seen(process)

    assert own is not None
    assert (own.agent, own.what, own.orphan) == (agent, what, False)


@pytest.mark.parametrize(
    "process",
    [
        Process(5, 1, 1.0, ("vi", "file")),
        Process(5, 1, 1.0, ("vi", HOME + "/agents/w/start.sh")),
        Process(5, 1, 1.0, ("tail", "-f", HOME + "/agents/w/agent.log")),
        Process(5, 1, 1.0, SLEEP, "w", "another repository's"),
        Process(5, 1, 1.0, SLEEP, "w", ""),
        Process(5, 1, 1.0, SLEEP, "w", "", "/elsewhere/.ittybitty/agents/w/repo"),
        Process(5, 1, 1.0, SLEEP, "", "", HOME + "/agents/w/repo"),
        Process(5, 1, 1.0, ("/py", "-m", "ibstatus", "status-watchdog", "--repo", "/r2")),
        Process(5, 1, 1.0, ("/py", "-m", "ibstatus", "status-watchdog", "--repo", "/r/.ittybitty")),
        Process(70, 1, 1.0, ("postgres",)),
        Process(6, 1, 1.0, ("tmux", "-C", "new-session", "-s", f"ib-watch-{watch_of('/r2/.ittybitty')}-69")),
        Process(6, 1, 1.0, ("vi", "-C", f"ib-watch-{watch_of(HOME)}-69")),
        Process(7, 3, 1.0, ("sh", "-c", 'while kill -0 "$0" 2>/dev/null; do sleep 3; done', "68")),
    ],
)
def test_what_is_not(process: Process) -> None:
    assert seen(process) is None


STRAY = Process(12, 1, 900.0, SLEEP, **MARK)


@pytest.mark.parametrize(
    ("process", "seat", "orphan"),
    [
        (STRAY, DEAD, True),
        (STRAY, None, True),
        (STRAY, LIVE, True),  # its agent was resumed since
        (STRAY._replace(started=1001.0), LIVE, False),
        (STRAY._replace(parent=10), LIVE, False),  # the clock was set: it is below the pane all the same
        (STRAY, UNASKED, False),
        (STRAY._replace(terminal="/dev/pts/3"), DEAD, False),
        (STRAY._replace(started=999.5), LIVE, False),  # of its start: the kernel counts in ticks
        (STRAY._replace(started=997.0), LIVE, True),
        (STRAY, Seat(True, 10, 0.0), False),  # nobody knows when its session began
        (STRAY._replace(argv=("tmux", "-L", "mine", "new-session")), DEAD, False),
        (STRAY._replace(argv=("tmux: server",)), LIVE, False),
        (STRAY._replace(argv=("/usr/bin/gpg-agent", "--daemon")), None, False),
        (STRAY._replace(argv=("bazel(repo)", "-Xmx1g")), DEAD, False),
        (STRAY._replace(argv=("java", "org.gradle.launcher.daemon.bootstrap.GradleDaemon")), DEAD, False),
        (STRAY._replace(argv=("vi", "tmux")), DEAD, True),
        (Process(12, 1, 900.0, ("sh", HOME + "/agents/w/start.sh", "resume")), DEAD, True),
        (Process(12, 1, 900.0, ("sh", HOME + "/agents/w/start.sh", "resume"), terminal="/dev/pts/3"), DEAD, False),
        (STRAY._replace(agent="gone", token="old"), LIVE, True),
        (STRAY._replace(agent="gone", token="", cwd=SAFE + "/undo/x/rest"), LIVE, True),
    ],
)
def test_what_has_lost_its_agent(process: Process, seat: Seat | None, orphan: bool) -> None:
    own = seen(process, seat)

    assert own is not None
    assert own.orphan is orphan


def test_parents_that_go_round_in_a_circle_come_to_an_end() -> None:
    own = seen(STRAY._replace(parent=13), LIVE, Process(13, 12, 1.0, SLEEP))

    assert own is not None
    assert own.orphan


PERSON = Process(14, 13, 950.0, ("bash",), terminal="/dev/pts/7")


@pytest.mark.parametrize("marks", [{}, MARK])
def test_what_somebody_has_a_terminal_below_is_left_alone(marks: dict[str, str]) -> None:
    own = seen(STRAY, DEAD, Process(13, 12, 900.0, ("sh",)), PERSON._replace(**marks))

    assert own is not None
    assert (own.orphan, own.why) == (False, "others may be using it")


def test_what_runs_in_a_server_that_is_left_alone_is_too() -> None:
    job = STRAY._replace(parent=13)
    own = seen(job, DEAD, Process(13, 1, 900.0, ("tmux", "new"), **MARK))
    other = seen(job, DEAD, Process(13, 1, 900.0, ("tmux", "new")))

    assert own is not None
    assert other is not None
    assert (own.orphan, other.orphan) == (False, True)


def test_a_client_that_has_lost_its_terminal_is_an_orphan_whatever_it_runs() -> None:
    client = STRAY._replace(argv=("claude",))
    own = seen(client, DEAD, PERSON._replace(parent=12))

    assert own is not None
    assert own.orphan


def test_a_table_with_a_head_that_a_terminal_has_room_for() -> None:
    owns = [Own("w", 12, 1.0, "started by it", True, "the session of w is gone", "sleep " + "9" * 60)]
    whole, narrow = table(owns), table(owns, 70)

    assert whole[0].split() == ["AGENT", "PID", "STARTED", "WHAT", "COMMAND"]
    assert whole[0].index("COMMAND") == whole[1].index("sleep")
    assert whole[1].endswith("(the session of w is gone)")
    assert narrow[0] == whole[0]
    assert (len(narrow[1]), narrow[1][-1]) == (70, "…")


def test_a_line_to_tmux_is_an_orphan_once_its_supervisor_is_gone() -> None:
    own = seen(Process(6, 1, 1.0, LINE))

    assert own is not None
    assert (own.agent, own.orphan, own.why) == ("", True, "its supervisor is gone")
