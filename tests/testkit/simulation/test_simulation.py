"""`ib sim`: its plan, its clock, its judges (each with a record that breaks the promise), and one small run."""

import json
import struct
import subprocess
import sys
from math import inf
from pathlib import Path

import pytest

from ibstatus.mail import inbox
from ibstatus.mail import post as queued
from ibstatus.project import home, paths
from ibstatus.testkit.simulation import clocked, observe, plan, promises
from ibstatus.testkit.simulation.records import Clock, Episode, Limit, Notice, Record, Sent, Wrong
from ibstatus.testkit.simulation.world import processes_in
from tests.conftest import make_agent
from tests.until import until


def test_the_same_seed_is_the_same_course_of_events() -> None:
    assert plan.drawn(50, 24, 7) == plan.drawn(50, 24, 7)
    assert plan.drawn(50, 24, 7) != plan.drawn(50, 24, 8)


def test_nobody_does_two_things_at_once_and_everything_that_begins_ends() -> None:
    drawn = plan.drawn(20, 12, 3)
    open_acts: dict[str, int] = {}
    for moment in drawn.moments:
        for act in moment.acts:
            if act.ends:
                assert open_acts.pop(act.who) == act.number
            else:
                assert act.who not in open_acts
                if act.fate in plan.LASTING:
                    open_acts[act.who] = act.number
    assert open_acts == {}


def test_a_long_plan_has_every_fate_in_it() -> None:
    fates = {act.fate for moment in plan.drawn(50, 24, 1).moments for act in moment.acts}

    assert fates == set(plan.FATES)


def test_a_limit_holds_the_account_until_one_time_for_all() -> None:
    limits = [
        (moment.slot, act.until)
        for moment in plan.drawn(50, 48, 5).moments
        for act in moment.acts
        if act.fate == "limit" and not act.ends
    ]

    for began, end in limits:
        assert {other for start, other in limits if began <= start <= end} == {end}


def test_every_fate_has_a_truth() -> None:
    for fate in plan.FATES:
        begun = observe.after(plan.Act(1, "a", fate), observe.DONE, observe.DONE)
        states = ("",) if fate in plan.REMOVALS else ("running", "waiting", "complete", "rate_limited", "stopped")
        assert begun.state in states


BROKEN = {
    "message": Record(sent=[Sent("m1x1", "a", 0.0)]),
    "once": Record(sent=[Sent("m1x1", "a", 0.0, heard=3, again=1)]),
    "state": Record(wrong=[Wrong("a", 0.0, "waiting", "running", 61.0)]),
    "orphan": Record(orphans=["process 1: x"]),
    "notice": Record(notices=[Notice("a", "n-1", 5.0), Notice("a", "n-2", 6.0)], episodes=[Episode("a", 1.0, 9.0)]),
    "nudge": Record(nudges=[Notice("a", "x", 70.0), Notice("a", "x", 130.0)], quiet=[Episode("a", 1.0, 999.0)]),
    "limit": Record(limits=[Limit("a", 100.0, None)]),
    "supervisor": Record(outages=[inf]),
    "commit": Record(lost_commits=["abc of a is gone"]),
    "outside": Record(outside="changed"),
    "command": Record(failures=["ib send a: no"]),
}
KEPT = {
    "message": Record(sent=[Sent("m1x1", "a", 0.0, heard=1)]),
    "once": Record(sent=[Sent("m1x1", "a", 0.0, heard=3, again=2)]),
    "state": Record(wrong=[Wrong("a", 0.0, "waiting", "running", 59.0)]),
    "notice": Record(
        notices=[Notice("a", "n-1", 5.0), Notice("a", "n-2", 12.0)],
        episodes=[Episode("a", 1.0, 9.0), Episode("a", 9.0, inf)],
    ),
    "nudge": Record(nudges=[Notice("a", "x", 70.0), Notice("a", "x", 190.0)], quiet=[Episode("a", 1.0, 999.0)]),
    "limit": Record(limits=[Limit("a", 100.0, 130.0)]),
    "supervisor": Record(outages=[5.0]),
}


def broken(record: Record) -> list[str]:
    return [one.name for one in promises.judged(record) if one.broken]


@pytest.mark.parametrize("name", BROKEN)
def test_a_promise_can_be_broken(name: str) -> None:
    assert broken(BROKEN[name]) == [name]


@pytest.mark.parametrize("name", KEPT)
def test_a_promise_can_be_kept(name: str) -> None:
    assert broken(KEPT[name]) == []


RESTS, ASKS = Episode("a", 1.0, 9.0), Episode("a", 1.0, 9.0, asks=True)


@pytest.mark.parametrize(
    ("episode", "readers", "holds"),
    [
        (ASKS, ("lead", ""), True),  # the manager has to know, the primary has the keys
        (ASKS, ("lead",), True),
        (ASKS, ("", ""), False),
        (ASKS, ("lead", "lead"), False),
        (ASKS, ("lead", "boss"), False),
        (ASKS, ("lead", "", ""), False),
        (RESTS, ("lead", ""), False),
        (RESTS, ("lead",), True),
    ],
)
def test_only_a_dialog_is_told_to_two_each_once(episode: Episode, readers: tuple[str, ...], holds: bool) -> None:
    notices = [Notice("a", f"n-{number}", 5.0 + number, to) for number, to in enumerate(readers)]

    assert (broken(Record(notices=notices, episodes=[episode])) == []) == holds


def test_a_letter_that_its_reader_did_not_live_to_read_is_told_to_the_next_and_to_nobody_twice() -> None:
    unread = Notice("a", "in-1", 5.0, "lead", vain=True)

    assert broken(Record(notices=[unread, Notice("a", "n-2", 6.0)], episodes=[RESTS])) == []
    assert broken(Record(notices=[unread, unread._replace(text="in-2")], episodes=[RESTS])) == ["notice"]
    assert broken(Record(notices=[unread, *[Notice("a", "n", 6.0)] * 2], episodes=[RESTS])) == ["notice"]


def happened(kind: str, who: str, second: float, **more: object) -> dict[str, object]:
    return {"kind": kind, "who": who, "t": f"1970-01-01T00:{second // 60:02.0f}:{second % 60:02.0f}.000Z", **more}


@pytest.mark.parametrize(("ended", "vain"), [(30, True), (50, False), (10, False)])
def test_who_was_over_before_it_read_its_letter(repo: paths.Place, ended: float, vain: bool) -> None:
    home.enter(repo)
    make_agent(repo, "lead")
    inbox.put(repo, "supervisor", "lead", "w", True, "[hook]: Your subtask w just completed", 20.0, "in-1-w")
    told = observe.Told(repo)
    told.read_inboxes(["lead"])
    history = [happened("notice.sent", "w", 20, id="in-1-w"), happened("agent.stopped", "lead", ended)]
    history.append(happened("message.offered", "lead", 40, ids=["in-1-w"]))

    assert [one.vain for one in told.notices(history, 0.0)] == [vain]


def test_an_agent_is_quiet_while_it_hears_nothing_but_nudges(repo: paths.Place) -> None:
    home.enter(repo)
    make_agent(repo, "a")
    for item, text in (("in-1", observe.NUDGE), ("in-2", "a letter"), ("in-3", observe.NUDGE)):
        inbox.put(repo, "supervisor", "a", "system", True, text, 20.0, item)
    history = [
        happened("message.queued", "system", 21, id="in-1", to="a"),
        happened("message.offered", "a", 22, ids=["in-1"]),
        happened("message.offered", "b", 25, ids=["in-9"]),
        happened("message.offered", "a", 30, ids=["in-2", "in-3"]),
        happened("agent.state", "a", 31, state="running"),
        happened("agent.stopped", "a", 40),
        happened("agent.state", "a", 50, state="creating"),
    ]
    nudges = observe.nudges(repo, "a", history, 10.0)

    assert {item: one.at for item, one in nudges.items()} == {"in-1": 11.0, "in-3": 10.0}
    assert observe.quiet(history, "a", nudges, 10.0) == [
        Episode("a", *times) for times in ((0.0, 20.0), (20.0, 30.0), (30.0, 40.0), (40.0, inf))
    ]


def test_a_notice_of_what_no_hook_has_told_of_is_counted() -> None:
    assert broken(Record(notices=[Notice("a", "n-1", 5.0), Notice("a", "n-2", 6.0)])) == ["notice"]


def test_episodes_are_the_words_of_hooks_and_dialogs_are_known_by_their_reason() -> None:
    history = [
        happened("agent.state", "a", 2, reason="question"),
        happened("agent.state", "b", 3, reason="input"),
        happened("agent.state", "a", 5, reason="input"),
        happened("notice.sent", "a", 6),
    ]

    assert observe.episodes(history, 1.0) == [
        Episode("a", 1.0, 4.0, asks=True),
        Episode("a", 4.0, inf),
        Episode("b", 2.0, inf),
    ]


def test_every_promise_has_a_record_that_breaks_it() -> None:
    assert set(BROKEN) == {name for name, *_ in promises.TABLE}


def test_a_limit_that_is_resumed_too_early_is_no_promise_kept() -> None:
    assert broken(Record(limits=[Limit("a", 100.0, 50.0)])) == ["limit"]


def test_marks_are_counted_once_a_line_and_repeats_apart() -> None:
    ears = observe.Ears("/nonexistent")

    ears.hear('{"id":"in-1","msg":"m1x1"}\n{"id":"in-1","again":true,"msg":"m1x1 m1x2"}\nm12x1')

    assert ears.heard == {"m1x1": 2, "m1x2": 1, "m12x1": 1}
    assert ears.again == {"m1x1": 1, "m1x2": 1}


def test_a_notice_that_left_no_event_is_counted(repo: paths.Place) -> None:
    home.enter(repo)
    make_agent(repo, "lead")
    inbox.put(
        repo, "supervisor", "lead", "w", True, "[hook]: Your subtask w is now waiting for input", 1000.0, "in-1-w"
    )
    inbox.put(repo, "cli", "lead", "w", True, "a letter of its own", 1000.0, "in-2-w")
    for item in ("n-1-w", "q-1"):
        queued.post(repo, "supervisor", item, "waiting", "w", True, "Agent w is waiting", 1000.0)
    told = observe.Told(repo)
    told.read_inboxes(["lead", "gone"])
    told.read_queue()
    told.read_queue()

    found = told.notices([{"kind": "notice.sent", "id": "n-1-w", "t": "1970-01-01T00:16:41.500Z"}], 1000.0)

    known = sorted((one.text, round(one.at, 3), one.to) for one in found)
    assert known == [("in-1-w", 0.999, "lead"), ("n-1-w", 1.5, "")]


def test_only_workers_are_removed_in_the_middle_and_all_of_them_come_back() -> None:
    drawn = plan.drawn(50, 24, 2)
    workers = {who.name for who in drawn.agents if who.is_worker}
    acts = [act for moment in drawn.moments for act in moment.acts if act.fate in plan.REMOVALS]

    assert acts
    assert {act.who for act in acts} <= workers
    assert {act.number for act in acts if act.ends} == {act.number for act in acts if not act.ends}


ASK = "import json, time; print(json.dumps([time.time(), time.monotonic(), time.time_ns(), time.gmtime()[0]]))"


def asked(tmp_path: Path, ahead: float) -> list[float]:
    target = tmp_path / "ask.py"
    target.write_text(ASK)
    (tmp_path / "clock").write_bytes(struct.pack("d", ahead))
    argv = [sys.executable, "-S", "-E", "-I", clocked.__file__, str(tmp_path / "clock"), "python", "script", target]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def test_every_clock_of_a_process_is_ahead_by_the_same(tmp_path: Path) -> None:
    now, later = asked(tmp_path, 0.0), asked(tmp_path, 1e9)

    for place, unit in ((0, 1.0), (1, 1.0), (2, 1e9)):
        assert (later[place] - now[place]) / unit / 1e9 == pytest.approx(1.0, abs=1e-6)
    assert later[3] - now[3] in (31, 32)


def test_what_waits_with_a_time_out_keeps_the_real_clock(tmp_path: Path) -> None:
    """A leap in the middle of `subprocess.run(timeout=…)` is no time-out."""
    (tmp_path / "waits.py").write_text(
        "import struct, subprocess, time\n"
        "began = time.time()\n"
        f"leap = \"import struct; open('{tmp_path}/clock', 'r+b').write(struct.pack('d', 1e6))\"\n"
        f"subprocess.run([{sys.executable!r}, '-c', leap], timeout=60, check=True)\n"
        "print(time.time() - began > 9e5)\n"
    )
    (tmp_path / "clock").write_bytes(struct.pack("d", 0.0))
    argv = [sys.executable, clocked.__file__, str(tmp_path / "clock"), "python", "module", "waits"]

    done = subprocess.run(argv, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(tmp_path)})

    assert done.stdout == "True\n"


def test_the_clock_never_goes_back(tmp_path: Path) -> None:
    clock = Clock(str(tmp_path / "clock"))
    clock.leap(clock.now() + 1000)
    there = clock.now()

    clock.leap(there - 500)

    assert clock.now() >= there
    clock.close()


def test_what_a_killed_simulation_leaves_is_cleared_away(tmp_path: Path) -> None:
    code = (
        "import os, subprocess\n"
        "from ibstatus.testkit.simulation.world import World\n"
        "world = World(1)\n"
        "subprocess.Popen(['sleep', '600'], env=world.env)\n"
        "print(world.folder, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False, cwd=tmp_path)

    folder = done.stdout.strip()
    assert Path(folder).name.startswith("ib-sim-")
    until(lambda: not Path(folder).exists() and not list(processes_in(folder)))


def test_a_small_fleet_keeps_every_promise(ib, tmp_path: Path) -> None:
    done = ib("sim", "--agents", "4", "--hours", "0.7", "--seed", "9", "--json", cwd=tmp_path)

    report = json.loads(done.out)
    assert [one for one in report["promises"] if one["broken"]] == []
    assert done.code == 0
    assert sum(report["acts"].values()) > 2


def test_a_simulation_needs_a_number_of_agents(ib, tmp_path: Path) -> None:
    assert ib("sim", "--agents", "0", cwd=tmp_path).code == 2
