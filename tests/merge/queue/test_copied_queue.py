"""A copied file of the board: what was queued in it is queued in the copy too, which has another id."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.board import opening
from ibstatus.board.port import Board
from ibstatus.project import agent_meta, paths
from tests import killed
from tests.conftest import Done
from tests.merge.queue.test_copied import copied
from tests.queuework import one, queue, side
from tests.sweeps import spread

Ib = Callable[..., Done]


def test_the_queue_of_a_copied_file_is_the_copys(repo: paths.Place, board: Board, ib: Ib) -> None:
    side(repo, "topic", "new.txt", "new\n")
    queue(repo, board, "topic")
    board.close()
    copy = copied(repo)

    assert ib("init", "--copied", cwd=copy.root).code == 0
    own = opening.of_file(copy)
    [entry] = own.entries(agent_meta.repo_id(copy))
    assert one(copy, own).status == "merged"
    own.close()
    assert (Path(copy.root) / "new.txt").exists()
    assert not (Path(repo.root) / "new.txt").exists()
    first = opening.of_file(repo)
    assert [found.status for found in first.entries(agent_meta.repo_id(repo))] == ["pending"]
    first.close()
    assert entry.branch == "topic"
    assert os.listdir(copy.safe + "/formerly") == []


@pytest.mark.sweep
@pytest.mark.parametrize("at", spread(range(1, 60, 3), 6))
def test_the_queue_comes_along_whenever_the_command_is_killed(repo: paths.Place, board: Board, ib: Ib, at: int) -> None:
    side(repo, "topic", "new.txt", "new\n")
    queue(repo, board, "topic")
    board.close()
    copy = copied(repo)

    killed.run_ib(at, "init", "--copied", cwd=copy.root)
    ib("init", "--copied", cwd=copy.root)
    again = copied(copy, "again")  # what one has not come to is not lost for who copies it

    ib("init", "--copied", cwd=again.root)
    for place in (copy, again):
        assert "topic" in ib("board", "merge", "list", cwd=place.root).out
        assert [entry["repo"] for entry in ib("board", "merge", "list", "--json", cwd=place.root).json()] == [
            agent_meta.repo_id(place)
        ]
    assert len({agent_meta.repo_id(place) for place in (repo, copy, again)}) == 3
