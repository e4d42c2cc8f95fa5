"""What an agent has claimed by itself: kept while it lives, given back at its end, forgotten when it has ended it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ibstatus.agents.rules import resume_plan
from ibstatus.board import agent_tasks as boarders
from ibstatus.board import holdings
from ibstatus.board.port import Board
from ibstatus.merge.rules import queue
from ibstatus.project import agent_meta, paths
from ibstatus.system import timestamps
from tests.board.doing import RUN_OUT, add, claim_it, known, status
from tests.conftest import Done, make_agent, run_ib
from tests.gitwork import commit
from tests.queuework import opened
from tests.supervisor.boarded import SAID, Watched, agent, letters, run_out

Ib = Callable[..., Done]
FOREIGN = [
    ("attempt", "1"), ("attempt", True), ("attempt", 1.0), ("lease", -5), ("lease", True), ("lease", 0.5),
    ("lease", 1e300), ("lease", None), ("board", 3), ("id", None),
]  # fmt: skip


@pytest.fixture
def board(repo: paths.Place) -> Iterator[Board]:
    found = opened(repo)
    add(found, "it")
    yield found
    found.close()


@pytest.fixture
def watched(repo: paths.Place, board: Board) -> Watched:
    return Watched(repo)


@pytest.fixture
def says(repo: paths.Place, board: Board) -> Ib:
    """ib board, as the agent `w` types it."""
    worktree = make_agent(repo, "w")

    def run(*args: str) -> Done:
        return run_ib("board", *args, cwd=worktree)

    return run


def held(place: paths.Place) -> list[tuple[str, int]]:
    return [(one.fence.task_id, one.fence.attempt) for one in holdings.of(place, "w")]


def test_it_is_kept_while_its_agent_lives_or_is_paused(repo, board: Board, watched: Watched, says: Ib) -> None:
    assert says("claim").out == "it\n"
    for one in (agent("running"), agent("waiting", "permission"), agent("stopped", resume_plan.PAUSED)):
        run_out(board)
        watched.look(one, after=queue.BEAT)
        assert known(board, "it").lease_until > timestamps.utc(time.time() + holdings.LEASE / 2), one
    assert letters(repo) == []


@pytest.mark.parametrize("over", [agent("stopped", "ended with exit code 1"), agent("complete", said=SAID)])
def test_of_one_that_is_over_the_lease_runs_out(repo, board: Board, watched: Watched, says: Ib, over) -> None:
    """That it is complete says nothing of a task that it did not say to be done."""
    assert says("claim").code == 0
    board.beat(holdings.of(repo, "w")[0].fence, RUN_OUT)
    watched.look(over)
    board.sweep()

    assert status(board, "it") == "ready"


def test_a_longer_lease_stays_as_long(repo, board: Board, watched: Watched, says: Ib) -> None:
    assert says("claim", "--lease", "7200").code == 0
    run_out(board)
    watched.look(agent("running"), after=queue.BEAT)

    assert known(board, "it").lease_until > timestamps.utc(time.time() + 7000)


def test_a_shorter_one_is_the_agents_own_to_extend(repo, board: Board, watched: Watched, says: Ib) -> None:
    assert says("claim", "--lease", "60").code == 0
    before = known(board, "it").lease_until
    watched.look(agent("running"), after=queue.BEAT)

    assert (held(repo), known(board, "it").lease_until) == ([("it", 1)], before)


def test_it_is_extended_by_what_the_last_beat_said(repo, board: Board, watched: Watched, says: Ib) -> None:
    assert says("claim").code == 0
    assert says("beat", "it", "--lease", "7200").code == 0
    watched.look(agent("running"), after=queue.BEAT)
    assert known(board, "it").lease_until > timestamps.utc(time.time() + 7000)

    assert says("beat", "it", "--lease", "30").code == 0
    before = known(board, "it").lease_until
    watched.look(agent("running"), after=queue.BEAT)
    assert known(board, "it").lease_until == before


@pytest.mark.parametrize("words", [["done", "it"], ["fail", "it", "no"], ["release", "it"]])
def test_what_it_has_ended_itself_is_forgotten(repo, board: Board, watched: Watched, says: Ib, words) -> None:
    assert says("claim").code == 0
    assert held(repo) == [("it", 1)]
    watched.look(agent("running"))
    assert says(*words).code == 0

    watched.look(agent("running"), after=queue.BEAT)

    assert (held(repo), letters(repo)) == ([], [])


def test_done_and_on_keeps_the_next_one(repo, board: Board, watched: Watched, says: Ib) -> None:
    add(board, "next")
    assert says("claim", "it").code == 0
    commit(Path(repo.agent_dir("w"), "repo"), "new.txt", "new\n")
    assert says("done", "it", "--next").out == "next\n"
    assert held(repo) == [("next", 1)]

    run_out(board, "next")
    watched.look(agent("running"), after=queue.BEAT)

    assert known(board, "next").lease_until > timestamps.utc(time.time() + holdings.LEASE / 2)


def test_one_that_was_taken_away_is_told_once(repo, board: Board, watched: Watched, says: Ib) -> None:
    assert says("claim").code == 0
    board.take_back("it", "somebody else shall do it")
    claim_it(board, "it", "other")

    refused = says("done", "it")
    assert (refused.code, held(repo)) == (1, [("it", 1)])
    record = agent_meta.read(repo, "w")["claims"]
    for _ in range(3):
        watched.look(agent("running"), after=queue.BEAT)

    told = ["[ib] The task it is not yours any more: it is claimed by other. Stop working on it."]
    assert (letters(repo), held(repo)) == (told, [])

    agent_meta.change(repo, "w", claims=record)  # a supervisor that was killed right after the letter
    watched.begin()
    watched.look(agent("running"), after=queue.BEAT)
    assert (letters(repo), held(repo)) == (told, [])


def test_taken_once_more_it_is_held_in_its_new_attempt(repo, board: Board, says: Ib) -> None:
    assert says("claim").code == 0
    board.take_back("it", "")
    assert says("claim").code == 0

    assert held(repo) == [("it", 2)]
    assert says("done", "it").code == 0


def test_taken_once_more_for_a_short_time_the_older_claim_is_forgotten(
    repo, board: Board, watched: Watched, says: Ib
) -> None:
    assert says("claim").code == 0
    board.take_back("it", "")
    assert says("claim", "--lease", "60").code == 0
    watched.look(agent("running"), after=queue.BEAT)

    assert (held(repo), letters(repo)) == ([("it", 2)], [])
    assert says("done", "it").code == 0


def test_a_claim_that_comes_while_the_one_before_is_found_lost_is_kept(
    repo, board: Board, watched: Watched, says: Ib, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the supervisor found is applied a moment later."""
    assert says("claim").code == 0
    board.take_back("it", "")
    lost = watched.boarding.lost

    def slow(*found):
        answer = lost(*found)
        assert says("claim").code == 0
        return answer

    monkeypatch.setattr(watched.boarding, "lost", slow)
    watched.look(agent("running"), after=queue.BEAT)

    assert (held(repo), letters(repo)) == ([("it", 2)], [])


def test_one_that_is_given_back_while_it_is_looked_at_is_not_told_of(
    repo, board: Board, watched: Watched, says: Ib, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert says("claim").code == 0
    lost = watched.boarding.lost

    def slow(*found):
        assert says("release", "it").code == 0
        return lost(*found)

    monkeypatch.setattr(watched.boarding, "lost", slow)
    watched.look(agent("running"), after=queue.BEAT)

    assert (held(repo), letters(repo)) == ([], [])


def test_the_task_it_was_spawned_for_taken_once_more_is_kept(repo, board: Board, watched: Watched, says: Ib) -> None:
    agent_meta.change(repo, "w", base="main", task={"id": "it"})
    boarders.take(repo, "w", "it")
    watched.look(agent("running"))
    board.take_back("it", "")
    assert says("claim").code == 0

    watched.look(agent("running"), after=queue.BEAT)
    run_out(board)
    watched.look(agent("running"), after=queue.BEAT)
    assert letters(repo) == []
    assert known(board, "it").lease_until > timestamps.utc(time.time() + holdings.LEASE / 2)

    board.take_back("it", "")
    assert says("claim").code == 0
    watched.look(agent("complete", said=SAID))
    watched.look(agent("complete", said=SAID), after=queue.AGAIN)
    assert (known(board, "it").status, known(board, "it").attempt) == ("done", 3)


def test_one_of_the_same_name_elsewhere_is_another(repo, board: Board, watched: Watched, says: Ib) -> None:
    """Two repositories that share a board may each have a `w`."""
    assert says("claim").code == 0
    board.take_back("it", "")
    board.done([claim_it(board, "it", "w")])

    watched.look(agent("running"), after=queue.BEAT)

    assert letters(repo) == ["[ib] The task it is not yours any more: it is done. Stop working on it."]


def test_while_a_paused_agent_holds_one_the_supervisor_is_needed(
    repo, board: Board, watched: Watched, says: Ib
) -> None:
    paused = agent("stopped", resume_plan.PAUSED)
    watched.look(paused)
    assert not watched.boarding.keeps
    assert says("claim").code == 0
    watched.look(paused, after=queue.BEAT)
    assert watched.boarding.keeps
    assert says("done", "it").code == 0
    watched.look(paused, after=queue.BEAT)
    assert not watched.boarding.keeps


def test_where_the_claim_cannot_be_written_down_it_is_said(repo, board: Board, says: Ib) -> None:
    Path(agent_meta.path_of(repo, "w")).write_text("no json")

    done = says("claim")

    assert (done.code, done.out) == (0, "it\n")
    assert "The lease is not extended for you: meta.json of w cannot be read" in done.err


def test_an_earlier_attempt_is_not_taken_for_its_own(repo, board: Board, says: Ib) -> None:
    """Without being asked it shows the attempt that it was given, not the one that there is."""
    assert says("claim").code == 0
    board.take_back("it", "")
    claim_it(board, "it", "w")

    refused = says("done", "it")

    assert refused.code == 1
    assert status(board, "it") == "claimed"


@pytest.mark.usefixtures("tmux")
@pytest.mark.parametrize("lease", ["900", "60"])
@pytest.mark.parametrize("words", [["kill"], ["merge"]])
def test_its_end_gives_it_back(repo, board: Board, says: Ib, words, lease: str) -> None:
    assert says("claim", "--lease", lease).code == 0
    commit(Path(repo.agent_dir("w"), "repo"), "new.txt", "new\n")
    agent_meta.change(repo, "w", base="main")

    done = run_ib(*words, "w", "--force", cwd=repo.root)

    assert done.code == 0, done
    assert "The task it is ready again" in done.out + done.err
    task = known(board, "it")
    assert (task.status, task.claimed_by) == ("ready", None)


def test_one_that_could_not_be_told_is_not_held(repo, board: Board, says: Ib) -> None:
    with open("/dev/full", "w") as full:
        argv = [sys.executable, "-m", "ibstatus", "board", "claim"]
        cwd = repo.agent_dir("w") + "/repo"
        done = subprocess.run(argv, cwd=cwd, stdout=full, stderr=subprocess.PIPE, env=os.environ, check=False)

    assert done.returncode == 1
    assert (held(repo), status(board, "it")) == ([], "ready")


def test_an_agent_whose_meta_is_lost_claims_all_the_same(repo, board: Board, says: Ib) -> None:
    path = Path(agent_meta.path_of(repo, "w"))
    path.unlink()

    assert says("claim").out == "it\n"
    assert not path.exists()


def test_one_of_another_board_is_left_alone(
    repo, board: Board, watched: Watched, says: Ib, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert says("claim").code == 0
    before = known(board, "it").lease_until
    monkeypatch.setenv("IB_BOARD_DSN", "postgresql://u:hunter2@127.0.0.1:1/x")
    for _ in range(3):
        watched.look(agent("running"), after=queue.BEAT)

    assert watched.said().count("is on another board") == 1
    assert "hunter2" not in watched.said()
    monkeypatch.delenv("IB_BOARD_DSN")
    assert known(board, "it").lease_until == before
    assert held(repo) == [("it", 1)]


@pytest.mark.parametrize(
    "foreign",
    [
        7,
        "x",
        [7],
        [{}],
        [{"id": 3}],
        {"id": "it"},
        *([{"id": "it", "attempt": 1, "lease": 900, "board": "", key: value}] for key, value in FOREIGN),
    ],
)
def test_foreign_entries_are_passed_over(repo, board: Board, watched: Watched, says: Ib, foreign) -> None:
    agent_meta.change(repo, "w", claims=foreign)
    watched.look(agent("running"))
    assert says("claim").code == 0

    assert held(repo) == [("it", 1)]
    assert says("done", "it").code == 0
    assert held(repo) == []
