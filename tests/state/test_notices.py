"""What is told of an agent, to whom, once an episode."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ibstatus.model.fleet import Agent
from ibstatus.state.rules import episodes, notices
from ibstatus.state.rules.episodes import Episode

NOW = 10_000.0


def agent(name: str, state: str, reason: str = "", **more: object) -> Agent:
    return Agent(name, state, "1m", "task", reason=reason, **{"since": NOW, "source": "hooks", **more})  # type: ignore[arg-type]


def worker(name: str, state: str, reason: str = "", **more: object) -> Agent:
    return agent(name, state, reason, worker=True, **more)


class Watched:
    """A supervisor's memory; what it is told is said at once."""

    def __init__(self) -> None:
        self.known: Mapping[str, Episode] = {}
        self.first = True

    def look(self, *agents: Agent, **view: object) -> list[str]:
        self.known = episodes.seen(agents, self.known, NOW, self.first)
        self.first = False
        found, settled = notices.due(notices.View(agents, self.known, **view))  # type: ignore[arg-type]
        done = {name: notice.warned for notice in found for name in notice.about} | dict.fromkeys(settled, ())
        for name, warned in done.items():
            self.known = {
                **self.known,
                name: replace(self.known[name], told=True, warned=list(warned) or self.known[name].warned),
            }
        return [f"{notice.to}<{notice.kind}: {notice.text}" for notice in found]


def words(*agents: Agent, **view: object) -> list[str]:
    return Watched().look(*agents, **view)


def test_the_words() -> None:
    assert words(agent("m", "complete")) == ["<complete: Manager m completed its goal"]
    assert words(agent("m", "waiting", "input")) == ["<waiting: Manager m is waiting"]
    assert words(worker("w", "complete")) == ["<complete: Agent w completed"]
    assert words(worker("w", "waiting", "input")) == ["<waiting: Agent w is waiting for input"]
    boss = agent("m", "stopped")
    assert words(boss, worker("w", "complete", manager="m")) == ["<complete: Agent w completed (worker of m)"]


def test_who_was_told_something_just_now_is_not_told_of_as_waiting() -> None:
    """Its worker's end woke it a moment ago: it is about to work on that."""
    boss, hand = agent("m", "waiting", "input"), worker("w", "complete", manager="m")
    watched = Watched()
    assert watched.look(boss, hand, hears={"m"}) == ["m<letter: [hook]: Your subtask w just completed"]
    assert watched.look(boss, hand, hears={"m"}) == []
    assert watched.look(boss, hand) == ["<waiting: Manager m is waiting"]
    assert words(agent("m", "waiting", "permission"), hears={"m"}, rests={"m": 2.0})


def test_what_it_said_stands_behind_without_its_phrase() -> None:
    said = "All tests pass.\nI HAVE COMPLETED THE GOAL"
    assert words(agent("m", "complete", said=said)) == ["<complete: Manager m completed its goal: All tests pass."]
    assert words(agent("m", "waiting", "input", said="Which one?  **WAITING**")) == [
        "<waiting: Manager m is waiting: Which one?"
    ]


def test_a_worker_tells_its_living_manager() -> None:
    boss = agent("m", "running")
    assert words(boss, worker("w", "complete", manager="m", said="did it")) == [
        "m<letter: [hook]: Your subtask w just completed: did it"
    ]
    assert words(boss, worker("w", "waiting", "input", manager="m")) == [
        "m<letter: [hook]: Your subtask w is now waiting for input"
    ]


def test_dialogs_and_ends() -> None:
    asking = worker("w", "waiting", "permission", asks="Bash rm -rf build")
    assert words(asking) == [
        "<waiting: Agent w is waiting (permission): Bash rm -rf build (the user answers it at its keys: ib attach w)"
    ]
    assert words(worker("w", "stopped", "ended with exit code 1")) == [
        "<waiting: Agent w stopped (exit code 1); ib resume w"
    ]
    assert words(worker("w", "waiting", "uncommitted")) == [
        "<waiting: Agent w has ended with uncommitted work; ib resume w"
    ]
    assert words(worker("w", "waiting", "error: server_error")) == [
        "<waiting: Agent w is waiting (error: server_error)"
    ]


def test_none_of_these_is_news() -> None:
    quiet = [agent(state, state) for state in ("running", "creating", "compacting", "unknown", "rate_limited")]
    ended = [agent(f"s{at}", "stopped", why) for at, why in enumerate(("", "paused", "left by /exit", "logged out"))]
    assert words(*quiet, *ended) == []


def test_what_a_dialog_asks_is_waited_for_a_moment() -> None:
    watched = Watched()
    asking = worker("w", "waiting", "permission")
    assert watched.look(asking, rests={"w": 0.1}) == []
    assert watched.look(replace(asking, asks="Bash make"), rests={"w": 0.2}) == [
        "<waiting: Agent w is waiting (permission): Bash make (the user answers it at its keys: ib attach w)"
    ]
    assert words(asking, rests={"w": 2.0}) == [
        "<waiting: Agent w is waiting (permission) (the user answers it at its keys: ib attach w)"
    ]


def test_a_hook_may_have_more_to_say_than_the_screen() -> None:
    watched = Watched()
    shown = worker("w", "waiting", "input", source="screen")
    assert watched.look(shown, rests={"w": 0.3}) == []
    assert watched.look(replace(shown, source="hooks", said="so"), rests={"w": 0.4}) == [
        "<waiting: Agent w is waiting for input: so"
    ]
    assert words(shown, rests={"w": 2.0}) == ["<waiting: Agent w is waiting for input"]


def test_quick_turns_that_a_look_has_seen_or_not() -> None:
    watched = Watched()
    assert len(watched.look(worker("w", "waiting", "input"))) == 1
    assert watched.look(worker("w", "waiting", "input", said="one", since=NOW + 0.1)) == []
    assert len(watched.look(worker("w", "waiting", "input", said="two", since=NOW + 0.3))) == 1
    watched.look(worker("w", "running", since=NOW + 0.4))
    assert len(watched.look(worker("w", "waiting", "input", said="two", since=NOW + 0.5))) == 1


def test_one_an_episode() -> None:
    watched = Watched()
    idle = worker("w", "waiting", "input", said="done so far")
    assert len(watched.look(idle)) == 1
    assert watched.look(idle) == []
    assert watched.look(worker("w", "unknown")) == []
    assert watched.look(idle) == []  # one look that failed
    watched.look(worker("w", "compacting"))
    assert watched.look(replace(idle, since=NOW + 60, said="")) == []
    watched.look(worker("w", "running", since=NOW + 70))
    assert len(watched.look(replace(idle, since=NOW + 80))) == 1


def test_a_turn_between_two_looks_is_seen_by_its_end() -> None:
    watched = Watched()
    watched.look(worker("w", "complete", said="one"))
    assert len(watched.look(worker("w", "complete", said="two"))) == 1
    assert len(watched.look(worker("w", "complete", said="two", since=NOW + 9))) == 1
    assert len(watched.look(worker("w", "complete", said="two", since=NOW - 900))) == 1  # the clock went back


def test_a_new_supervisor_tells_what_happened_meanwhile_and_nothing_twice() -> None:
    watched = Watched()
    watched.look(worker("w", "complete", said="one"))
    watched.first = True
    assert watched.look(worker("w", "complete", said="one", since=NOW + 50, source="screen")) == []
    watched.first = True
    assert len(watched.look(worker("w", "complete", said="two", since=NOW + 90))) == 1


def test_at_the_very_first_look_only_what_has_just_happened_is_news() -> None:
    old, young = worker("old", "complete", since=NOW - 5000), worker("young", "complete", since=NOW - 3)
    known = episodes.seen([old, young], None, NOW, True)
    found, _ = notices.due(notices.View([old, young], known))
    assert [notice.agent for notice in found] == ["young"]


def test_a_manager_that_completes_before_its_agents() -> None:
    watched = Watched()
    boss, child = agent("m", "complete", said="one"), worker("w", "running", manager="m")
    first = watched.look(boss, child)
    assert len(first) == 1
    assert first[0].startswith("m<letter: [ib] You said")
    assert "w (running)" in first[0]
    assert watched.look(boss, child) == []
    again = watched.look(replace(boss, said="two", since=NOW + 20), child)
    assert again == [
        "<waiting: Manager m is waiting: it says that it is done, but its agents are still there: w (running): two"
    ]
    assert watched.look(replace(boss, said="three", since=NOW + 40)) == [
        "<complete: Manager m completed its goal: three"
    ]


def test_a_manager_that_waits_for_its_agents_is_not_reported() -> None:
    watched = Watched()
    boss, child = agent("m", "waiting", "input"), worker("w", "running", manager="m")
    assert watched.look(boss, child) == []
    done = replace(child, state="complete")
    assert watched.look(boss, done) == ["m<letter: [hook]: Your subtask w just completed"]
    assert watched.look(boss, done, mail={"m"}) == []
    assert watched.look(boss, done) == ["<waiting: Manager m is waiting"]


def test_three_levels_from_below() -> None:
    top, middle = agent("t", "waiting", "input"), agent("m", "waiting", "input", manager="t")
    low = worker("w", "complete", manager="m")
    assert words(top, middle, low) == ["m<letter: [hook]: Your subtask w just completed"]


def test_managers_in_a_circle() -> None:
    assert len(words(worker("a", "complete", manager="b"), worker("b", "complete", manager="a"))) == 2


def test_what_it_has_told_itself_is_not_told_twice() -> None:
    assert words(agent("m", "complete"), spoke={("m", "complete")}) == []
    assert words(agent("m", "waiting", "input"), spoke={("m", "question")}) == []
    assert len(words(agent("m", "waiting", "permission"), spoke={("m", "question")})) == 1


def test_what_a_nudge_led_to_was_told_before_it() -> None:
    watched = Watched()
    silent = worker("w", "waiting", "input", silent=True, said="hm")
    assert len(watched.look(silent)) == 1
    watched.known = {"w": replace(watched.known["w"], nudges=1, nudged=NOW + 60)}
    watched.look(worker("w", "running"))
    assert watched.look(replace(silent, since=NOW + 80, said="hm again")) == []
    watched.look(worker("w", "running"))
    assert len(watched.look(replace(silent, silent=False, since=NOW + 90, said="so"))) == 1


def test_many_that_stopped_at_once_are_one_line() -> None:
    gone = [worker(name, "stopped", "was killed") for name in "abc"]
    assert words(*gone) == ["<waiting: 3 agents stopped (a, b, c); ib resume --all"]


def test_the_cap_forgets_after_an_hour_and_after_a_clock_that_went_back() -> None:
    times: Sequence[float] = [NOW - 4000, NOW - 10, NOW + 500]
    assert notices.recent(times, NOW) == [NOW - 10]
    notice = notices.Notice("w", "", "complete", "x", ("w",))
    assert notices.is_quiet(notice, [NOW] * 30, 30)
    assert not notices.is_quiet(notice, [NOW] * 29, 30)
    assert not notices.is_quiet(notice._replace(to="m"), [NOW] * 30, 30)


def test_commits() -> None:
    assert notices.with_work("x", 0, "a") == "x"
    assert notices.with_work("x", 1, "a") == "x (1 commit; ib diff a)"
    assert notices.with_work("x", 3, "a") == "x (3 commits; ib diff a)"


def test_an_older_screen_that_is_believed_for_a_moment_is_no_new_episode() -> None:
    """Its question was answered and the turn has ended, but the last capture still shows the question."""
    watched = Watched()
    watched.look(worker("w", "running"))
    rests = worker("w", "waiting", "input", since=NOW + 1)
    assert len(watched.look(rests)) == 1

    stale = worker("w", "waiting", "question", since=NOW + 0.5, source="screen", asks="Which?")
    assert watched.look(stale, rests={"w": 0.1}) == []

    assert watched.look(rests) == []
    assert len(watched.look(worker("w", "running", since=NOW + 2), worker("w", "running"))) == 0
    assert len(watched.look(worker("w", "waiting", "input", since=NOW + 3))) == 1


def test_who_is_ended_by_a_command_of_ours_did_not_crash() -> None:
    watched = Watched()
    watched.look(*(worker(name, "running") for name in "abc"))
    gone = [worker(name, "stopped", "ended with exit code 143", since=NOW + 1) for name in "abc"]

    assert watched.look(*gone, ending={"a", "b", "c"}) == []
    assert [text.partition(" ")[0] for text in watched.look(*gone, ending={"a"})] == ["<waiting:", "<waiting:"]


def test_work_that_is_left_behind_by_a_kill_of_ours_is_no_news_either() -> None:
    watched = Watched()
    watched.look(worker("w", "running"))

    left = worker("w", "waiting", "uncommitted", since=NOW + 1)
    assert watched.look(left, ending={"w"}) == []
    assert len(watched.look(left)) == 1


def test_what_was_not_told_in_time_is_not_told_of_something_else() -> None:
    """It ended while a command of ours was at work on it, and that has brought it back: stopped, but by us."""
    watched = Watched()
    watched.look(worker("w", "running"))
    watched.look(worker("w", "stopped", "ended with exit code 143", since=NOW + 1), ending={"w"})

    assert watched.look(worker("w", "stopped", since=NOW + 2)) == []
    assert watched.look(worker("w", "rate_limited", since=NOW + 3)) == []


def test_a_command_that_ends_it_may_say_so_a_moment_later() -> None:
    watched = Watched()
    watched.look(worker("w", "running"))
    gone = worker("w", "stopped", "ended with exit code 143", since=NOW + 1)
    assert watched.look(gone, rests={"w": 0.1}) == []
    assert len(watched.look(gone, rests={"w": 2.0})) == 1
