"""A copied repository and the board of the other one: on a server, or a file that was copied as well."""

import subprocess
from pathlib import Path

from ibstatus.project import paths
from tests.cli.board_faces import Faces
from tests.conftest import make_agent, run_ib


def test_who_is_killed_in_a_copy_leaves_the_others_task_alone(board: Faces, repo: paths.Place) -> None:
    assert run_ib("init", cwd=repo.root).code == 0
    id = board.add("Work")
    worktree = make_agent(repo, "a1")
    assert board("claim", cwd=str(worktree)).out == id + "\n"
    copy = Path(repo.root).parent / "copy"
    subprocess.run(["cp", "-a", repo.root, str(copy)], check=True)

    assert run_ib("init", "--copied", cwd=copy).code == 0
    done = run_ib("kill", "a1", "--force", cwd=copy, env=board.env)

    assert done.code == 0, done.err
    assert board.status(id) == "claimed"
    if not board.env:
        assert Faces(paths.find(str(copy)), {}).status(id) == "ready"
    assert run_ib("kill", "a1", "--force", cwd=repo.root, env=board.env).code == 0
    assert board.status(id) == "ready"
