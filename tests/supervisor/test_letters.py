"""Letters that nobody would read, nudges that come too late, and words that come a moment later."""

from pathlib import Path

from ibstatus.mail import inbox, messages
from ibstatus.project import home, paths
from tests.conftest import make_agent
from tests.supervisor.test_noticing import WALL, agent, at, caring, lines_of, queued, told, worker


def test_a_letter_that_its_reader_will_not_read_is_told_to_the_next(repo: paths.Place) -> None:
    home.enter(repo)
    make_agent(repo, "m")
    done = worker("w", "complete", manager="m")
    one = caring(repo)
    one.look([agent("m", "running"), done], at(1))
    one.look([agent("m", "running"), done], at(2))
    assert told(repo) == []
    one.look([agent("m", "stopped", "paused"), done], at(3))
    assert one.again(3) is not None
    one.look([agent("m", "stopped", "paused"), done], at(5))
    assert told(repo) == ["Agent w completed (worker of m)"]
    one.look([agent("m", "stopped", "paused"), done], at(6))
    assert len(told(repo)) == 1


def test_a_letter_that_was_read_dies_with_nobody(repo: paths.Place) -> None:
    home.enter(repo)
    make_agent(repo, "m")
    done = worker("w", "complete", manager="m")
    one = caring(repo)
    one.look([agent("m", "running"), done], at(1))
    Path(inbox.path_of(repo, "m")).unlink()  # as if its hook had told all of it
    one.look([agent("m", "stopped", "paused"), done], at(3))
    one.look([agent("m", "stopped", "paused"), done], at(9))
    assert told(repo) == []


def test_a_nudge_that_comes_too_late_is_none(repo: paths.Place) -> None:
    """The errand took its time; meanwhile it has gone on."""
    make_agent(repo, "w")
    one = caring(repo)
    quiet = worker("w", "waiting", "input", silent=True, said="hm")
    one.look([quiet], at(1))
    one.look([quiet], at(70))
    one.errands.wait()
    one.look([worker("w", "running", since=70)], at(71))
    assert not Path(inbox.path_of(repo, "w")).exists()


def test_what_it_asked_in_the_second_in_which_it_began_is_its_own_word(repo: paths.Place) -> None:
    one = caring(repo)
    one.look([agent("m", "running", since=1.9)], at(2))
    messages.send(repo, "m", "m", True, "question", "which?", WALL + 1.95)
    one.look([agent("m", "waiting", "input", since=2.5, said="which?")], at(3))
    assert [line["from"] for line in queued(repo)] == ["m"]


def test_a_second_wait_before_the_words_of_a_limit(repo: paths.Place) -> None:
    one = caring(repo)
    one.look([worker("w", "rate_limited")], at(1))
    assert told(repo) == []
    assert (one.again(1) or 99) < 3
    one.look([worker("w", "rate_limited", asks="resets in 2h"), worker("v", "rate_limited")], at(1.8))
    one.look([worker("w", "rate_limited", asks="resets in 2h"), worker("v", "rate_limited")], at(4))
    assert len(told(repo)) == 1
    assert "v, w will be sent on at " in told(repo)[0]


def test_workers_that_stop_one_after_the_other_are_one_letter(repo: paths.Place) -> None:
    home.enter(repo)
    make_agent(repo, "m")
    names = ["w0", "w1", "w2"]
    for name in names:
        make_agent(repo, name, "m")
    one, boss = caring(repo), agent("m", "running")
    at_work = [worker(name, "running", manager="m") for name in names]
    gone = [worker(name, "stopped", "was killed", since=2, manager="m") for name in names]
    one.look([boss, *at_work], at(1))
    for count in (1, 2, 3):
        one.look([boss, *gone[:count], *at_work[count:]], at(2 + count * 0.1))
    assert (one.again(2.3) or 99) < 5
    for later in (3.65, 4, 6):
        one.look([boss, *gone], at(later))
    assert told(repo) == []
    letters = [line["msg"] for line in lines_of(repo, "m")]
    assert letters == ["[hook]: 3 of your subtasks stopped (w0, w1, w2); ib resume w0 w1 w2"]


def test_a_reader_whose_mail_cannot_be_read_keeps_nobody_from_being_told(repo: paths.Place) -> None:
    home.enter(repo)
    for name in ("m", "w", "x"):
        make_agent(repo, name)
    one = caring(repo)
    boss, done = agent("m", "running"), worker("w", "complete", manager="m", said="done")
    one.look([boss, done], at(2))
    Path(repo.agent_dir("m"), "inbox.cursor").mkdir()

    one.look([boss, done, agent("x", "complete", since=4, said="x is done")], at(8))
    assert [text for text in told(repo) if "x is done" in text]

    waits = [agent("m", "waiting", "input", since=9), worker("w", "waiting", "input", since=9, manager="m")]
    for seconds in (10, 12, 30):
        one.look([*waits, agent("x", "complete", since=9, said="x is done again")], at(seconds))
    assert [text for text in told(repo) if "x is done again" in text]
