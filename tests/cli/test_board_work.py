"""claim, note, beat, done, fail, release as processes: exit codes, what is told, and in whose name."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.project import paths
from tests.cli.board_faces import DSN, Faces
from tests.conftest import Done, git, make_agent, run_ib
from tests.gitwork import commit

Ib = Callable[..., Done]
AS_CLAUDE = {"CLAUDECODE": "1"}


def test_nothing_ready_is_one_and_an_empty_stdout(board: Faces) -> None:
    board.add("Needs more", "--capability", "gpu")
    board.add("Elsewhere", "-p", "p")

    for args in (["-p", "other"], ["--priority", "6"], ["--wait", "0", "-p", "q"], ["--json", "-p", "q"]):
        done = board("claim", *args)
        assert (done.code, done.out) == (1, ""), args
        assert "Nothing is ready" in done.err


def test_a_claim_takes_the_best_that_fits_and_says_it(board: Faces) -> None:
    board.add("Low", "--priority", "1")
    gpu, high = board.add("GPU", "--capability", "gpu", "--priority", "9"), board.add("High", "--priority", "8")

    done = board("claim", "--agent", "me")
    assert (done.code, done.out) == (0, high + "\n")
    assert done.err.startswith("High (attempt 1 of 3, yours until 20")
    assert board("claim", "--capability", "gpu", "--capability", "x").out == gpu + "\n"
    assert len(board("claim", "--count", "5").out.splitlines()) == 1


def test_several_at_once_are_lines(board: Faces) -> None:
    ids = [board.add(f"T{number}") for number in range(3)]

    assert board("claim", "--count", "2").out.split() == ids[:2]
    done = board("done", *ids[:2])
    assert done.out == f"Done: {ids[0]}\nDone: {ids[1]}\n"
    assert [one["status"] for one in board.json("done", *ids[:2])] == ["done", "done"]


def test_who_is_done_is_given_the_next_one(board: Faces) -> None:
    first, second = board.add("First", "-p", "p"), board.add("Second")
    third = board.add("Third", "-p", "p", "--after", first, "--priority", "1")
    board.json("claim", "--agent", "me")

    done = board("done", first, "--next", "--agent", "me", "-p", "p", "--lease", "60", "-m", "well")
    assert (done.code, done.out) == (0, third + "\n")
    assert done.err.startswith(f"Done: {first}\nThird (attempt 1 of 3, yours until 20")
    assert [board.status(id) for id in (first, second, third)] == ["done", "ready", "claimed"]

    assert board.json("done", third, "--next", "--agent", "me")["id"] == second
    done = board("done", second, "--next", "--agent", "me", "--json")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith(f"Done: {second}\nNothing is ready for you")
    assert board("done", second, "--next", "--agent", "you").code == 1


def test_a_branch_that_is_handed_in_and_the_next_one(board: Faces, repo: paths.Place) -> None:
    first, second = board.add("First"), board.add("Second")
    third = board.add("Third", "--after", first, "--priority", "9")
    board.json("claim", "--agent", "me")
    git(repo.root, "branch", "fix")

    done = board("done", first, "--next", "--agent", "me", "--branch", "fix", "--into", "main")
    assert (done.code, done.out) == (0, second + "\n")
    assert done.err.splitlines()[:2] == [
        f"Done: {first}",
        "fix waits to be merged into main: ib board merge",
    ]
    assert [board.status(id) for id in (first, second, third)] == ["done", "claimed", "pending"]

    git(repo.root, "branch", "other")
    board.add("Fourth")
    done = board("done", first, "--next", "--agent", "me", "--branch", "other", "--into", "main")
    assert (done.code, done.out) == (1, "")
    assert "is not queued" in done.err
    assert len(board.json("list", "--status", "claimed")) == 1, "what was taken for it is given back"


def test_what_says_which_is_next_goes_with_next(board: Faces) -> None:
    id = board.add("One")
    board.json("claim", "--agent", "me")

    for args in (["-p", "p"], ["--capability", "gpu"], ["--priority", "1"], ["--lease", "900"]):
        done = board("done", id, "--agent", "me", *args)
        assert (done.code, done.out) == (2, ""), args
        assert "--next" in done.err
    assert board.status(id) == "claimed"


def test_a_next_one_that_nobody_reads_is_given_back(board: Faces) -> None:
    first, second = board.add("First"), board.add("Second")
    board.json("claim", "--agent", "me")
    reader, writer = os.pipe()
    os.close(reader)

    run = board.began("done", first, "--next", "--agent", "me", stdout=writer, stderr=subprocess.DEVNULL)
    os.close(writer)

    run.run.wait(20)
    assert [board.status(id) for id in (first, second)] == ["done", "ready"]


def test_a_task_that_is_named_is_had_or_refused(board: Faces) -> None:
    id = board.add("One")

    assert board("claim", id[:5], "--agent", "me").out == id + "\n"
    done = board("claim", id, "--agent", "you")
    assert (done.code, done.out) == (1, "")
    assert "is claimed" in done.err
    assert f"ib board show {id}" in done.err


def test_somebody_elses_task_stays_as_it_is(board: Faces) -> None:
    id = board.add("One")
    board.json("claim", "--agent", "me")

    for args in (
        ["done", id, "--agent", "you"],
        ["done", id],
        ["done", id, "--agent", "me", "--attempt", "2"],
        ["fail", id, "no", "--agent", "you"],
        ["release", id, "--agent", "you"],
        ["beat", id, "--agent", "me", "--attempt", "7"],
    ):
        done = board(*args)
        assert (done.code, done.out) == (1, ""), args
        assert "nothing was changed" in done.err
        assert "'me' holds it, in attempt 1" in done.err
    assert board.status(id) == "claimed"
    assert board("done", id, "--agent", "me", "--attempt", "1").code == 0
    assert board("done", id, "--agent", "me", "--attempt", "1").code == 0, "said twice is the same answer"
    assert board("done", id, "--agent", "you").code == 1


@pytest.mark.parametrize("first", [(), ("--summary", "early")], ids=["none before", "another before"])
@pytest.mark.parametrize("more", [(), ("--next",)], ids=["", "next"])
def test_a_late_summary_is_not_dropped_silently(board: Faces, first: tuple[str, ...], more: tuple[str, ...]) -> None:
    id = board.add("One")
    board.json("claim", id, "--agent", "me")
    assert board("done", id, "--agent", "me", *first).err == ""

    late = board("done", id, "--agent", "me", "--summary", "too late", *more)
    same = board("done", id, "--agent", "me", *first)

    assert (late.code, same.code, same.err) == (0, 0, "")
    warning = f"{id} was done already, so this summary was not taken (to keep it: ib board note {id} 'too late')"
    assert f"Warning: {warning}.\n" in late.err
    assert board("note", id, "too late", "--agent", "me").code == 0
    assert board.json("show", id)["summary"] == (first[1] if first else "")


def test_all_or_none_are_done(board: Faces) -> None:
    mine, yours = board.add("Mine"), board.add("Yours")
    board.json("claim", mine, "--agent", "me")
    board.json("claim", yours, "--agent", "you")

    assert board("done", mine, yours, "--agent", "me").code == 1
    assert board.status(mine) == "claimed"


def test_failures_are_counted_and_said(board: Faces) -> None:
    id = board.add("One", "--attempts", "2")
    board.json("claim", "--agent", "me")
    assert board("fail", id, "no idea", "--agent", "me").out == f"Failed, ready again (1 of 2 attempts used): {id}\n"
    board.json("claim", "--agent", "me")
    assert board("release", id, "--agent", "me", "--reason", "later").out == f"Released: {id}\n"
    board.json("claim", "--agent", "me")
    assert board("fail", id, "--agent", "me").out == f"Failed: {id}\n"
    assert board("claim", "--agent", "me").code == 1
    assert board("retry", id).out == f"Back, ready: {id}\n"


def test_a_branch_is_handed_to_the_queue(repo: paths.Place, board: Faces) -> None:
    git(repo.root, "branch", "side")
    id = board.add("One", "--test", "true")
    next_one = board.add("Next", "--after", id)
    board.json("claim", id, "--agent", "me")

    for args in (
        ["--branch", "nowhere"],
        ["--branch", "main"],
        ["--into", "main"],
        ["--branch", "side", "--into", "x"],
    ):
        done = board("done", id, "--agent", "me", *args)
        assert done.code in (1, 2), args
        assert "Hint: " in done.err
    assert board.status(id) == "claimed"
    done = board("done", id, "--agent", "me", "--branch", "side")

    assert done.out == f"Done: {id}\n"
    assert done.err == "side waits to be merged into main: ib board merge\n"
    [entry] = board.json("merge", "list")
    assert (entry["branch"], entry["base"], entry["status"], entry["test"]) == ("side", "main", "pending", "true")
    assert board("show", next_one).out.splitlines()[1] == f"  status:     pending (after {id})"
    assert board("merge", "abandon", str(entry["id"])).out == f"Abandoned: {entry['id']} (side into main)\n"
    assert board.status(next_one) == "ready"
    assert board("merge", "list").out == "The merge queue is empty.\n"
    assert board("merge", "retry", "77").code == 1


def test_without_a_word_it_goes_into_what_is_checked_out_where_one_stands(
    repo: paths.Place, board: Faces, tmp_path: Path
) -> None:
    git(repo.root, "branch", "side")
    here = tmp_path / "here"
    git(repo.root, "worktree", "add", "-q", "-b", "release", str(here))
    for cwd, base in ((repo.root, "main"), (here, "release")):
        id = board.add("One")
        board.json("claim", id, "--agent", "me")
        assert board.json("done", id, "--agent", "me", "--branch", "side", cwd=cwd)["status"] == "done"
        assert board.json("merge", "list")[-1]["base"] == base


def test_a_copy_of_a_repository_does_not_merge_for_it(repo: paths.Place, board: Faces, tmp_path: Path) -> None:
    """It has a name of its own by then, also where both see one board. A board in a file was copied with it."""
    git(repo.root, "checkout", "-q", "-b", "side")
    commit(repo.root, "new.txt", "new\n")
    git(repo.root, "checkout", "-q", "main")
    id = board.add("One")
    assert board("claim", "--agent", "me").code == 0
    board.json("done", id, "--agent", "me", "--branch", "side")
    copy = tmp_path / "copy"
    shutil.copytree(repo.root, copy, symlinks=True, ignore=shutil.ignore_patterns("board-bells"))

    assert run_ib("init", "--copied", cwd=copy).code == 0
    there = board("merge", cwd=copy)
    assert there.err == "Nothing is queued.\n" if board.env else there.out.split()[1] == "merged"
    assert Path(copy, "new.txt").exists() != bool(board.env)
    assert not Path(repo.root, "new.txt").exists()
    assert board("merge").out.split()[1] == "merged"
    assert Path(repo.root, "new.txt").exists()


def test_a_branch_that_comes_too_late_is_not_said_to_be_queued(repo: paths.Place, board: Faces) -> None:
    for name in ("side", "other"):
        git(repo.root, "branch", name)
    id = board.add("One")
    board.json("claim", id, "--agent", "me")
    mine = ("done", id, "--agent", "me", "--branch")
    assert [board(*mine, "side").code, board(*mine, "side").code] == [0, 0], "its answer may have been lost"

    done = board(*mine, "other")

    assert (done.code, done.out) == (1, "")
    assert f"other is not queued: the task {id} was done before, without it" in done.err
    assert [entry["branch"] for entry in board.json("merge", "list")] == ["side"]


def test_the_queue_is_merged_and_told(repo: paths.Place, board: Faces) -> None:
    git(repo.root, "checkout", "-q", "-b", "side")
    commit(repo.root, "new.txt", "new\n")
    git(repo.root, "checkout", "-q", "main")
    id = board.add("One")
    board.json("claim", id, "--agent", "me")
    board.json("done", id, "--agent", "me", "--branch", "side")

    done = board("merge")

    assert (done.code, done.out.split()[1:6]) == (0, ["merged", id, "side", "main"]), done
    assert Path(repo.root, "new.txt").exists()
    assert board("merge").err == "Nothing is queued.\n"
    assert board.json("merge") == []


def test_what_could_not_be_merged_is_told_with_what_to_type(repo: paths.Place, board: Faces, ib: Ib) -> None:
    for name, test in (("one", ""), ("two", ""), ("three", "echo oh no; exit 3")):
        git(repo.root, "checkout", "-q", "-b", name, "main~0" if name == "one" else "one~1")
        commit(repo.root, "third.txt" if test else "new.txt", f"{name}\n")
        id = board.add(name, *(["--test", test] if test else []))
        board.json("claim", id, "--agent", "me")
        board.json("done", id, "--agent", "me", "--branch", name, "--into", "main")
    git(repo.root, "checkout", "-q", "main")

    done = board("merge")

    hints = (
        "2: git switch two && git merge main; resolve it there, commit; then: ib board merge resolve 2\n"
        "3: mend what it names; then: ib board merge retry 3, or give it up: ib board merge abandon 3\n"
    )
    assert done.code == 1
    assert done.err.endswith(hints)
    again = board("merge")
    assert (again.code, again.err) == (0, "Nothing is to be merged; 2 need you: ib board merge list\n")
    assert board("merge", "list").err == hints
    status = ib("status", env=board.env).out
    assert (
        "Merge queue: 2, 2 need you: ib board merge list\n  2  conflict  two into main: new.txt\n  3  failed    th"
        in status
    )
    assert "(exit 3): echo oh no; exit 3\n              oh no\n" in board("show", id).out
    merged = board("merge", "abandon", "1")
    assert merged.err == (
        "Error: Entry 1 of the merge queue is merged, so it cannot be abandoned.\nCaused by: one\n"
        "Hint: ib board merge list --all\n"
    )


def test_whose_task_is_taken_back_may_still_be_at_work(repo: paths.Place, board: Faces) -> None:
    make_agent(repo, "w")
    of_agent, of_other = board.add("One"), board.add("Two")
    board.json("claim", of_agent, "--agent", "w")
    board.json("claim", of_other, "--agent", "somebody")

    assert board("take-back", of_agent).err == "w is told within two minutes, if it lives; to end it now: ib kill w\n"
    assert board("take-back", of_other).err == ""


class TestAgents:
    """An agent speaks for itself alone, and decides nothing."""

    @pytest.fixture
    def worktree(self, repo: paths.Place) -> Path:
        return make_agent(repo, "w1")

    def test_it_works_in_its_own_name(self, board: Faces, worktree: Path) -> None:
        id = board.add("One")

        assert board.json("claim", cwd=worktree, env=AS_CLAUDE)["claimed_by"] == "w1"
        assert board.json("note", id, "x", cwd=worktree, env=AS_CLAUDE)["agent_id"] == "w1"
        for args in (["list"], ["show", id], ["tree"], ["search", "one"], ["prompt", id], ["beat", id]):
            assert board(*args, cwd=worktree, env=AS_CLAUDE).code == 0, args
        assert board.json("done", id, cwd=worktree, env=AS_CLAUDE)["done_by"] == "w1"

    def test_it_cannot_speak_for_others(self, board: Faces, worktree: Path) -> None:
        id = board.add("One")
        board.json("claim", id, "--agent", "w2")

        for args in (["claim", "--agent", "w2"], ["done", id, "--agent", "w2"], ["note", id, "x", "--agent", "w2"]):
            done = board(*args, cwd=worktree, env=AS_CLAUDE)
            assert (done.code, done.out) == (1, "")
            assert "w1 cannot speak for w2" in done.err
        assert board.status(id) == "claimed"

    @pytest.mark.parametrize(
        "words",
        ["add x", "approve x", "reject x", "retry x", "publish x", "depend x y", "take-back x", "up", "migrate",
         "merge", "merge list", "merge abandon 1"],
    )  # fmt: skip
    def test_it_decides_nothing(self, file_board: Faces, worktree: Path, words: str) -> None:
        done = file_board(*words.split(), cwd=worktree, env=AS_CLAUDE)

        assert (done.code, done.out) == (1, "")
        assert f"An agent cannot run ib board {words.split()[0]}" in done.err

    def test_its_own_branch_goes_along(self, repo: paths.Place, board: Faces, worktree: Path) -> None:
        first, second = board.add("One"), board.add("Two")
        board("claim", "--count", "2", cwd=worktree, env=AS_CLAUDE)
        assert board("done", first, cwd=worktree, env=AS_CLAUDE).err == "", "no commit, nothing to merge"
        commit(worktree, "new.txt", "new\n")
        done = board("done", second, cwd=worktree, env=AS_CLAUDE)

        assert done.err == "agent/w1 waits to be merged into main: ib board merge\n"
        assert [entry["branch"] for entry in board.json("merge", "list")] == ["agent/w1"]

    def test_it_hands_in_no_branch_of_an_agent_on_whom_it_may_not_act(
        self, repo: paths.Place, board: Faces, worktree: Path
    ) -> None:
        """The queue would close that one."""
        commit(make_agent(repo, "w2"), "theirs.txt", "theirs\n")
        id = board.add("One")
        board("claim", id, cwd=worktree, env=AS_CLAUDE)

        done = board("done", id, "--branch", "agent/w2", "--into", "main", cwd=worktree, env=AS_CLAUDE)

        assert (done.code, done.out) == (1, "")
        assert "w1 may not hand in the branch of w2" in done.err
        assert board.status(id) == "claimed"

    def test_several_tasks_and_one_branch(self, board: Faces, worktree: Path) -> None:
        ids = [board.add("One"), board.add("Two")]
        board("claim", "--count", "2", cwd=worktree, env=AS_CLAUDE)
        commit(worktree, "new.txt", "new\n")

        done = board("done", *ids, cwd=worktree, env=AS_CLAUDE)

        assert done.code == 2
        assert "finish them one by one" in done.err
        assert [board.status(id) for id in ids] == ["claimed", "claimed"]


def test_a_task_that_nobody_was_told_of_is_given_back(board: Faces) -> None:
    id = board.add("One")
    reader, writer = os.pipe()
    os.close(reader)
    for args in (["claim"], ["claim", id], ["claim", "--wait", "1"], ["claim", "--json"]):
        argv = [sys.executable, "-m", "ibstatus", "board", *args]
        env = {**os.environ, **board.env}
        done = subprocess.run(argv, cwd=board.place.root, env=env, stdout=writer, stderr=subprocess.PIPE, check=False)
        assert b"Traceback" not in done.stderr
        assert board.status(id) == "ready"
    os.close(writer)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*argv[:4], "claim"], cwd=board.place.root, env=env, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    words = f"exec {sys.executable} -m ibstatus board claim >&-"
    done = subprocess.run(
        ["sh", "-c", words],
        cwd=board.place.root,
        env=env,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, b"Bad file descriptor" in done.stderr) == (1, True), done.stderr
    assert (board.status(id), board.json("show", id)["max_attempts"]) == ("ready", 3 + 6)


@pytest.mark.parametrize("dsn", ["postgresql://u:hunter2@127.0.0.1:1/x", "host=127.0.0.1 port=1 password=hunter2"])
def test_a_server_that_is_down_is_a_clear_error(file_board: Faces, ib: Ib, dsn: str) -> None:
    env = {DSN: dsn}
    for args in (["list"], ["add", "x"], ["claim"], ["claim", "--wait", "0.2"], ["up"], ["merge"]):
        done = file_board(*args, env=env)
        assert (done.code, done.out) == (1, ""), args
        assert "The board's PostgreSQL at 127.0.0.1 cannot be reached" in done.err
        assert "nobody listens there" in done.err
        assert "hunter2" not in done.out + done.err
    shown = ib("status", env=env)
    assert shown.code == 0
    assert "Board: The board's PostgreSQL at 127.0.0.1 cannot be reached" in shown.out


@pytest.mark.parametrize("dsn", ["hunter2", "postgresql://u:hunter2@[/x", "password=hunter2 hunter2", "a\nhunter2=1"])
def test_a_dsn_that_is_none_is_not_repeated(file_board: Faces, dsn: str) -> None:
    done = file_board("list", env={DSN: dsn})

    assert (done.code, done.out) == (1, "")
    assert "hunter2" not in done.err
    assert "Hint: " in done.err
    assert "bug" not in done.err
