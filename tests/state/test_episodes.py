"""Which rest of an agent is another one, and whose news several readers have."""

import pytest
from msgspec.structs import replace

from ibstatus.state.rules import episodes, notices
from tests.state.test_notices import NOW, Watched, agent, words, worker


def test_a_client_that_is_begun_again_is_no_news_until_it_has_run() -> None:
    """Each `ib resume` begins one."""
    for before in (worker("w", "running", since=NOW - 9), worker("w", "waiting", "input", since=NOW - 9, said="hm")):
        watched = Watched()
        watched.look(before)
        watched.look(worker("w", "stopped", "paused"))
        watched.look(worker("w", "creating"))
        assert watched.look(worker("w", "waiting", "input", since=NOW + 9)) == []
        assert watched.look(worker("w", "waiting", "input", since=NOW + 90)) == []  # and again
        watched.look(worker("w", "running", since=NOW + 95))
        assert len(watched.look(worker("w", "waiting", "input", since=NOW + 99))) == 1


@pytest.mark.parametrize("said", ["did it", ""])
def test_a_compaction_is_no_news_though_a_look_took_it_for_work(said: str) -> None:
    for state, reason in (("complete", ""), ("waiting", "input"), ("waiting", "error: x")):
        rest = worker("w", state, reason, since=NOW - 9, said=said)
        watched = Watched()
        assert len(watched.look(rest)) == 1
        for seconds in (1, 5, 20):
            watched.look(worker("w", "compacting", since=NOW + seconds, said=said))
            watched.look(worker("w", "running", since=NOW + seconds + 1))
            assert watched.look(rest) == []
        watched.look(worker("w", "compacting", since=NOW + 30))
        watched.look(worker("w", "running", since=NOW + 31))
        assert len(watched.look(replace(rest, since=NOW + 40))) == 1  # a turn's end


def test_one_look_that_misses_an_agent_forgets_nothing() -> None:
    watched = Watched()
    done = worker("w", "complete", said="so", created=NOW - 50)
    assert len(watched.look(done)) == 1
    watched.look()
    assert watched.look(done) == []
    watched.look()
    assert len(watched.look(replace(done, created=NOW + 5, since=NOW + 9))) == 1  # another one of that name


def test_a_silent_end_after_another_prompt_is_told_again() -> None:
    watched = Watched()
    silent = worker("w", "waiting", "input", silent=True, said="one")
    assert len(watched.look(silent)) == 1
    watched.known = {"w": replace(watched.known["w"], nudges=1, nudged=NOW + 60)}
    assert watched.look(replace(silent, since=NOW + 70, said="two")) == []  # the nudge's own turn
    assert len(watched.look(replace(silent, since=NOW + 300, said="three"))) == 1
    watched.known = {"w": replace(watched.known["w"], nudges=1, nudged=NOW + 360)}
    watched.look(worker("w", "complete", since=NOW + 370, said="done"))
    assert len(watched.look(replace(silent, since=NOW + 400, said="four"))) == 1


def test_of_an_earlier_versions_record_no_nudge_of_an_earlier_rest_counts() -> None:
    watched = Watched()
    silent = worker("w", "waiting", "input", silent=True, said="one", created=NOW - 900)
    watched.look(silent)
    watched.known = {"w": replace(watched.known["w"], nudges=5, nudged=NOW - 60, created=0.0)}
    watched.look(worker("w", "running", since=NOW + 200, created=NOW - 900))  # people ask
    assert len(watched.look(replace(silent, since=NOW + 220, said="two"))) == 1
    assert watched.known["w"].nudges == 0


def test_an_end_that_is_heard_twice_makes_no_nudge_come_sooner() -> None:
    """A hook that comes again, seconds later: the one after the first nudge is still the second."""
    watched = Watched()
    silent = worker("w", "waiting", "input", silent=True)
    watched.look(silent)
    watched.known = {"w": replace(watched.known["w"], nudges=1, nudged=NOW + 60)}
    for seconds in (63, 66, 90):  # the nudge's own turn came and went between two looks
        watched.look(replace(silent, since=NOW + seconds))
        assert watched.known["w"].nudges == 1
    watched.look(worker("w", "running", since=NOW + 200))
    watched.look(replace(silent, since=NOW + 210))
    assert watched.known["w"].nudges == 0


@pytest.mark.parametrize(("said", "nudges"), [("Done.", 1), ("", 5)])
def test_an_end_in_the_same_words_is_another_one_later(said: str, nudges: int) -> None:
    """What somebody told it came and went between two looks: it is news again, and has all its nudges."""
    watched = Watched()
    silent = worker("w", "waiting", "input", silent=True, said=said)
    watched.look(silent)
    watched.known = {"w": replace(watched.known["w"], nudges=nudges, nudged=NOW + 60)}
    assert watched.look(replace(silent, since=NOW + 70)) == []  # the nudge's own turn
    assert len(watched.look(replace(silent, since=NOW + 370))) == 1
    assert watched.known["w"].nudges == 0


def test_the_session_of_one_that_was_complete_ends_without_news() -> None:
    """A server that is ended, a reboot: nobody has to act. A crash is told, and what has worked since."""
    complete, waits = worker("w", "complete", said="Done."), worker("w", "waiting", "input", said="hm")
    killed = worker("w", "stopped", "was killed", since=NOW + 60)
    for before, after, news in (
        (complete, killed, 0),
        (waits, killed, 1),
        (complete, replace(killed, said="More."), 1),
        (complete, replace(killed, reason="ended with exit code 1"), 1),
    ):
        watched = Watched()
        assert len(watched.look(before)) == 1
        assert len(watched.look(after)) == news


def test_a_manager_that_was_told_of_its_agents_is_missed() -> None:
    watched = Watched()
    child = worker("w", "running", manager="m")
    assert watched.look(agent("m", "complete"), child)[0].startswith("m<")
    assert len(watched.look(agent("m", "stopped", "was killed", since=NOW + 60), child)) == 1


def test_what_it_asks_in_between_ends_no_turn() -> None:
    watched = Watched()
    watched.look(worker("w", "running", since=NOW))
    watched.look(worker("w", "waiting", "question", since=NOW + 5, asks="Which?"))
    watched.look(worker("w", "running", since=NOW + 9))
    assert watched.known["w"].ran == NOW
    watched.look(worker("w", "waiting", "input", since=NOW + 10))
    watched.look(worker("w", "running", since=NOW + 20))
    assert watched.known["w"].ran == NOW + 20


def test_a_dialog_reaches_the_primary_too() -> None:
    boss = agent("m", "running")
    asking = worker("w", "waiting", "permission", manager="m", asks="Bash make")
    found = words(boss, asking)
    assert found == [
        "m<letter: [hook]: Your subtask w is waiting (permission): Bash make",
        "<waiting: Agent w (worker of m) is waiting (permission): Bash make"
        " (the user answers it at its keys: ib attach w)",
    ]
    due, _ = notices.due(notices.View([boss, asking], episodes.seen([boss, asking], {}, NOW, True)))
    assert not any(notice.counts for notice in due)


def test_workers_that_stop_together_are_told_to_their_manager_in_one_letter() -> None:
    gone = [worker(name, "stopped", "was killed", manager="m") for name in "abc"]
    assert words(agent("m", "running"), *gone, worker("d", "stopped", "was killed")) == [
        "m<letter: [hook]: 3 of your subtasks stopped (a, b, c); ib resume a b c",
        "<waiting: Agent d stopped (was killed); ib resume d",
    ]
    found, _ = notices.due(notices.View(gone, episodes.seen(gone, {}, NOW, True)))
    assert [notice.counts for notice in found] == [False]


def test_a_dialog_over_a_rest_that_was_told_does_not_make_it_news_again() -> None:
    watched = Watched()
    done = worker("w", "complete", said="did it")
    assert len(watched.look(done)) == 1
    for reason in ("suspended", "permission"):
        assert len(watched.look(worker("w", "waiting", reason, since=NOW + 9, asks="x"))) == 1
        assert watched.look(done) == []
    watched.look(worker("w", "running", since=NOW + 20))
    assert len(watched.look(replace(done, since=NOW + 30))) == 1
