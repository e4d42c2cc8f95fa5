"""Notices are noted, written and done, once each, whatever dies in between; the hourly cap; letters to managers."""

import errno
import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from ibstatus.mail import inbox, listener_reader, messages, queue, queue_lines, wake_claim
from ibstatus.model.clock import Clock
from ibstatus.model.fleet import Agent
from ibstatus.project import home, paths
from ibstatus.state import episode_file
from ibstatus.supervisor.care import Caring
from ibstatus.supervisor.log import Log
from tests.conftest import git, make_agent
from tests.faults import Faults

WALL = 1_800_000_000.0


def at(mono: float) -> Clock:
    return Clock(mono, mono, WALL + mono)


def agent(name: str, state: str, reason: str = "", since: float = 0.0, **more: object) -> Agent:
    return Agent(name, state, "1m", "task", reason=reason, since=WALL + since, source="hooks", **more)  # type: ignore[arg-type]


def worker(name: str, state: str, reason: str = "", since: float = 0.0, **more: object) -> Agent:
    return agent(name, state, reason, since, worker=True, **more)


def caring(place: paths.Place) -> Caring:
    home.enter(place)
    return Caring(place, Log(place.home + "/log"))


def told(place: paths.Place) -> list[str]:
    return [str(line["msg"]) for line in queued(place)]


def queued(place: paths.Place) -> Sequence[dict[str, object]]:
    seen = queue.view(place)
    try:
        return queue_lines.told(seen.read(seen.base, seen.end)[1], seen.base, 0).values
    finally:
        seen.close()


def test_once_and_by_a_new_supervisor_never_again(repo: paths.Place) -> None:
    done = [worker("w", "complete", said="did it")]
    first = caring(repo)
    first.look(done, at(1))
    first.look(done, at(2))
    caring(repo).look(done, at(3))

    lines = queued(repo)
    assert [line["msg"] for line in lines] == ["Agent w completed: did it"]
    assert (lines[0]["from"], lines[0]["type"]) == ("w", "complete")
    assert re.fullmatch(r"n-\d+-w", str(lines[0]["id"]))


def test_a_kill_at_any_operation_loses_none_and_doubles_none(repo: paths.Place, faults: Faults) -> None:
    """Each operation in turn is the last one that this supervisor does."""
    home.enter(repo)
    make_agent(repo, "m")
    boss = agent("m", "running")
    number = 0
    while True:
        number += 1
        turn = [boss, worker("w", "complete", since=number, said=f"turn {number}", manager="m")]
        turn.append(agent("x", "complete", since=number, said=f"round {number}"))
        dying = caring(repo)
        faults.arm(number, errno.EIO, keep=True)
        dying.look(turn, at(number))
        died = faults.seen >= number
        faults.disarm()
        for again in range(2):
            caring(repo).look(turn, at(number + again))
        assert told(repo).count(f"Manager x completed its goal: round {number}") == 1
        letters = [line["msg"] for line in lines_of(repo, "m")]
        assert letters.count(f"[hook]: Your subtask w just completed: turn {number}") == 1
        if not died:
            break
    assert number > 20


def lines_of(place: paths.Place, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(inbox.path_of(place, name)).read_text().splitlines()]


def test_the_managers_letter_comes_with_the_commits(repo: paths.Place) -> None:
    home.enter(repo)
    make_agent(repo, "m")
    tree = make_agent(repo, "w", "m")
    base = git(repo.root, "rev-parse", "HEAD").strip()
    path = Path(repo.agent_dir("w")) / "meta.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "base_commit": base}))
    git(tree, "commit", "-q", "--allow-empty", "-m", "one")

    caring(repo).look([agent("m", "running"), worker("w", "complete", manager="m", said="did it")], at(1))

    assert told(repo) == []
    assert [line["msg"] for line in lines_of(repo, "m")] == [
        "[hook]: Your subtask w just completed: did it (1 commit; ib diff w)"
    ]


def test_over_the_cap_it_rings_nobody_and_is_told_with_the_next(repo: paths.Place) -> None:
    home.enter(repo)
    Path(repo.root, ".ittybitty.json").write_text('{"notify": {"perHour": 2}}')
    one = caring(repo)
    for number in range(4):
        one.look([worker(f"w{at_}", "complete") for at_ in range(number + 1)], at(1 + number))
    quiet = [line.get("quiet", False) for line in queued(repo)]
    assert quiet == [False, False, True, True]
    asking = [*[worker(f"w{n}", "complete") for n in range(4)], worker("q", "waiting", "question", asks="Which?")]
    one.look(asking, at(9))
    assert "quiet" not in queued(repo)[-1]


def test_quiet_lines_alone_ring_no_bell_and_end_no_listening(repo: paths.Place) -> None:
    from ibstatus.mail import post

    home.enter(repo)
    post.post(repo, "t", "n-1-a", "complete", "a", True, "quiet one", WALL, True)
    assert wake_claim.unheard(repo, "s") == (0, b"")
    assert not wake_claim.claim(repo, "s", "waiter", WALL)
    poured: list[bytes] = []
    reading = listener_reader.Tap(repo, "default")
    try:
        assert reading.pour(poured.append).values == []
        post.post(repo, "t", "n-2-a", "complete", "a", True, "loud one", WALL)
        assert [value["msg"] for value in reading.pour(poured.append).values] == ["quiet one", "loud one"]
        post.post(repo, "t", "n-3-a", "complete", "a", True, "quiet again", WALL, True)
        assert [value["msg"] for value in reading.pour(poured.append, quiet=True).values] == ["quiet again"]
    finally:
        reading.close()
    assert wake_claim.unheard(repo, "s")[0] > 0


def test_what_the_agent_told_itself_is_not_told_again(repo: paths.Place) -> None:
    one = caring(repo)
    one.look([agent("m", "running", since=1)], at(2))
    messages.send(repo, "m", "m", True, "complete", "all done", WALL + 5)
    one.look([agent("m", "complete", since=6, said="all done")], at(7))
    assert [line["from"] for line in queued(repo)] == ["m"]
    one.look([agent("m", "running", since=10)], at(11))
    one.look([agent("m", "complete", since=12, said="more")], at(13))
    assert told(repo)[-1] == "Manager m completed its goal: more"


def test_after_a_sleep_it_looks_again_first(repo: paths.Place) -> None:
    one = caring(repo)
    one.look([worker("w", "complete")], at(1), slept=True)
    assert told(repo) == []
    assert one.again(1) == 2
    one.look([worker("w", "complete")], at(2))
    assert len(told(repo)) == 1


def test_a_full_disk_delays_and_doubles_nothing(repo: paths.Place, faults: Faults) -> None:
    one = caring(repo)
    done = [worker("w", "complete")]
    one.look([worker("w", "running")], at(0))
    faults.arm(1, errno.ENOSPC)
    one.look(done, at(1))
    faults.disarm()
    one.look(done, at(2))
    one.look(done, at(3))
    assert told(repo) == ["Agent w completed"]


def test_nothing_changed_writes_nothing(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    one = caring(repo)
    fleet = [worker(f"w{number}", "complete") for number in range(20)]
    one.look(fleet, at(1))
    monkeypatch.setattr(episode_file, "write", lambda *a, **k: pytest.fail("written"))
    one.look(fleet, at(2))
    assert one.again(2) is None


def test_a_limit_of_the_account_is_one_notice_over_restarts(repo: paths.Place) -> None:
    held = [worker(name, "rate_limited", asks="resets in 2h") for name in "abc"]
    caring(repo).look(held, at(1))
    caring(repo).look(held, at(2))
    assert len(told(repo)) == 1
    assert "a, b, c" in told(repo)[0]
    assert queued(repo)[0]["from"] == "system"


def test_an_odd_entry_of_what_is_owed_silences_nobody(repo: paths.Place) -> None:
    home.enter(repo)
    path = Path(episode_file.path_of(repo))
    path.parent.mkdir(exist_ok=True)
    whole = {"agent": "y", "to": "", "kind": "waiting", "text": "Agent y is waiting", "about": "y"}
    path.write_text(json.dumps({"agents": {}, "pending": {"n-1-x": {"agent": "x"}, "n-2-y": whole}}))

    found = episode_file.read(repo)

    assert found is not None
    assert found.pending == {"n-2-y": whole}


def test_a_broken_record_is_begun_anew(repo: paths.Place) -> None:
    home.enter(repo)
    Path(episode_file.path_of(repo)).parent.mkdir(exist_ok=True)
    Path(episode_file.path_of(repo)).write_text("{")
    one = caring(repo)
    one.look([worker("old", "complete", since=-5000), worker("w", "complete")], at(1))
    assert told(repo) == ["Agent w completed"]


def test_nudges_back_off_also_where_their_turns_are_not_seen(repo: paths.Place) -> None:
    """A turn that comes and goes between two looks leaves an agent as it was: `since` and all."""
    make_agent(repo, "w")
    quiet, seen = worker("w", "waiting", "input", silent=True, said="hm"), caring(repo)
    times, mail = [], Path(inbox.path_of(repo, "w"))
    for minute in range(0, 200, 1):
        for _ in range(2):
            seen.look([quiet], at(minute * 60.0 + 1))
            seen.errands.wait()
        if mail.exists() and mail.read_text():
            times.append(minute)
            mail.unlink()  # it was told, and said no more about it

    assert [later - earlier for earlier, later in pairwise(times)] == [2, 4, 8, 16]


def test_one_operation_that_fails_delays_and_loses_nothing(repo: paths.Place, faults: Faults) -> None:
    """Each in turn; those behind it work again."""
    home.enter(repo)
    make_agent(repo, "m")
    boss, number = agent("m", "running"), 0
    one = caring(repo)
    while True:
        number += 1
        began = number * 1000.0
        one.look([boss, worker("w", "running"), worker("v", "running", manager="m")], at(began))
        done = [boss, worker("w", "complete", since=began, said=f"w {number}")]
        done.append(worker("v", "complete", since=began, said=f"v {number}", manager="m"))
        faults.arm(number, errno.ENOSPC)
        one.look(done, at(began + 1))
        failed = faults.seen >= number
        faults.disarm()
        for later in range(2, 5):
            one.look(done, at(began + 10 * later))
        assert told(repo).count(f"Agent w completed: w {number}") == 1
        letters = [str(line["msg"]) for line in lines_of(repo, "m")]
        assert letters.count(f"[hook]: Your subtask v just completed: v {number}") == 1
        if not failed:
            break
    assert number > 10
