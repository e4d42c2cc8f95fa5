"""Whose a process is, and whether it has lost its agent."""

import pytest

from ibstatus.rules.process_text import Home, Own, Process, Seat, owned

ROOT, HOME, SAFE = "/r", "/r/.ittybitty", "/r/.git/ib"
PLACE = Home(ROOT, HOME, SAFE, {"w": "secret", "gone": "old"}, {70: "listener", 71: "waiter"})
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
