"""What must pass before a base moves, and when it need not be tried again."""

import json
from pathlib import Path

import pytest

from ibstatus.board.port import Board
from ibstatus.merge import move_branch
from ibstatus.merge.rules import queue as board_merge
from ibstatus.project import paths
from tests.conftest import git
from tests.gitwork import commit, state, tip
from tests.queuework import drained, one, queue, side


@pytest.fixture
def counted(tmp_path: Path) -> tuple[str, Path]:
    """A test that leaves a line each time it runs."""
    path = tmp_path / "runs"
    return f"echo run >> {path}; test -f new.txt && test -f ours.txt", path


def prepared(repo: paths.Place) -> None:
    side(repo, "topic", "new.txt", "new\n")
    commit(repo.root, "ours.txt", "ours\n")


def test_a_test_runs_on_the_merged_work_and_leaves_its_receipt(repo: paths.Place, board: Board, counted) -> None:
    prepared(repo)
    queue(repo, board, "topic", test=counted[0])

    entry = one(repo, board)

    assert entry.status == "merged"
    assert entry.receipt == {"tree": tip(repo.root, "HEAD^{tree}"), "command": counted[0], "exit": 0}
    assert len(git(repo.root, "worktree", "list").splitlines()) == 1


def test_a_failing_test_moves_nothing_and_says_its_last_lines(repo: paths.Place, board: Board) -> None:
    prepared(repo)
    queue(repo, board, "topic", test="cat new.txt ours.txt; exit 7")
    before = state(repo.root)

    entry = one(repo, board)

    assert entry.status == "failed"
    assert entry.reason.splitlines() == [
        "The test fails on the merged work (exit 7): cat new.txt ours.txt; exit 7",
        "new",
        "ours",
    ]
    assert entry.receipt is not None
    assert entry.receipt["exit"] == 7
    assert state(repo.root) == before


def test_the_test_of_every_merge_comes_before_the_tasks_own(repo: paths.Place, board: Board, tmp_path: Path) -> None:
    prepared(repo)
    log = tmp_path / "log"
    Path(repo.root, ".ittybitty.json").write_text(json.dumps({"board": {"test": f"echo every >> {log}"}}))
    queue(repo, board, "topic", test=f"echo own >> {log}")

    entry = one(repo, board)

    assert entry.status == "merged"
    assert log.read_text() == "every\nown\n"
    assert entry.receipt is not None
    assert entry.receipt["command"] == f"(echo every >> {log}) && (echo own >> {log})"


def test_what_has_passed_is_not_tried_again_while_the_tree_is_the_same(
    repo: paths.Place, board: Board, counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkout got dirty while the test ran: later the same tree goes in without one."""
    prepared(repo)
    queue(repo, board, "topic", test=counted[0])
    real = move_branch.turn

    def turn(place):
        Path(repo.root, "file.txt").write_text("mine\n")
        return real(place)

    monkeypatch.setattr(move_branch, "turn", turn)
    waiting = one(repo, board)
    monkeypatch.undo()
    assert (waiting.status, counted[1].read_text()) == ("pending", "run\n")

    git(repo.root, "checkout", "-q", "file.txt")
    assert one(repo, board).status == "merged"
    assert counted[1].read_text() == "run\n"


def test_another_tree_is_tried_again(repo: paths.Place, board: Board, counted, monkeypatch) -> None:
    prepared(repo)
    queue(repo, board, "topic", test=counted[0])
    races, real = iter(["one.txt"]), move_branch.turn

    def turn(place):
        for name in races:
            commit(repo.root, name, "race\n")
        return real(place)

    monkeypatch.setattr(move_branch, "turn", turn)

    ((entry,), said) = drained(repo, board)

    assert entry.status == "merged"
    assert counted[1].read_text() == "run\nrun\n"
    assert sum(line.startswith("Testing") for line in said) == 2
    assert Path(repo.root, "one.txt").exists()


def test_a_configuration_that_cannot_be_read_lets_nothing_through(repo: paths.Place, board: Board) -> None:
    prepared(repo)
    Path(repo.root, ".ittybitty.json").write_text('{"board": {"test": "exit 1"}')
    queue(repo, board, "topic")

    entry = one(repo, board)

    assert entry.status == "pending"
    assert "is not valid JSON" in entry.reason
    Path(repo.root, ".ittybitty.json").write_text("{}")
    assert one(repo, board).status == "merged"


def test_only_the_same_tree_and_the_same_commands_count() -> None:
    known = board_merge.receipt("t1", ("make",), 0)

    assert board_merge.holds(known, "t1", ("make",))
    assert not board_merge.holds(known, "t2", ("make",))
    assert not board_merge.holds(known, "t1", ("make", "true"))
    assert not board_merge.holds(board_merge.receipt("t1", ("make",), 1), "t1", ("make",))
    assert not board_merge.holds(None, "t1", ("make",))
