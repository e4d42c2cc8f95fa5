"""Entries that need somebody: a conflict that is resolved, a failure that is tried again, one that is given up."""

import subprocess
from pathlib import Path

import pytest

from ibstatus.board.port import Board
from ibstatus.errors import IbError
from ibstatus.merge.queue import resolve
from ibstatus.merge.rules import queue as board_merge
from ibstatus.model.board import Entry
from ibstatus.project import paths
from tests.board import doing
from tests.conftest import git, make_agent
from tests.gitwork import commit, parents, tip
from tests.queuework import one, queue, resolve_by_hand, side


@pytest.fixture
def conflict(repo: paths.Place, board: Board) -> Entry:
    side(repo, "topic", "file.txt", "theirs\n")
    commit(repo.root, "file.txt", "ours\n")
    queue(repo, board, "topic")
    entry = one(repo, board)
    assert entry.status == "conflict"
    return entry


def test_what_was_resolved_on_the_branch_is_merged(repo: paths.Place, board: Board, conflict: Entry) -> None:
    resolve_by_hand(repo)

    again = resolve.resolve(repo, board, conflict.id)

    assert (again.status, again.sha, again.conflict_files) == ("pending", tip(repo.root, "topic"), [])
    assert one(repo, board).status == "merged"
    assert git(repo.root, "show", "main:file.txt") == "both\n"
    assert parents(repo.root)[1] == tip(repo.root, "topic")


def test_what_still_conflicts_is_refused(repo: paths.Place, board: Board, conflict: Entry) -> None:
    with pytest.raises(IbError, match=r"topic still conflicts with main in file\.txt") as refused:
        resolve.resolve(repo, board, conflict.id)

    assert refused.value.hint == (
        f"git switch topic && git merge main; resolve it there, commit; then: ib board merge resolve {conflict.id}"
    )
    assert board.entry(conflict.id) == conflict


def test_marks_that_were_committed_are_seen(repo: paths.Place, board: Board, conflict: Entry) -> None:
    resolve_by_hand(repo, "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> topic\n")

    with pytest.raises(IbError, match=r"Conflict markers stand in file\.txt") as refused:
        resolve.resolve(repo, board, conflict.id)

    look, _, rest = refused.value.hint.partition(";")
    found = subprocess.run(look, shell=True, cwd=repo.root, capture_output=True, text=True, check=True).stdout
    assert "topic:file.txt:1:<<<<<<< HEAD" in found
    assert rest == f" take them out, commit; then: ib board merge resolve {conflict.id}"


def test_the_hint_is_typed_where_the_branch_is_checked_out(
    repo: paths.Place, board: Board, conflict: Entry, tmp_path: Path
) -> None:
    there = tmp_path / "a tree"
    git(repo.root, "worktree", "add", "-q", str(there), "topic")

    with pytest.raises(IbError) as refused:
        resolve.resolve(repo, board, conflict.id)

    typed, _, _ = refused.value.hint.partition(";")
    assert typed == f"git -C '{there}' merge main"
    subprocess.run(typed, shell=True, cwd=repo.root, capture_output=True)
    assert "<<<<<<<" in (there / "file.txt").read_text()


def test_a_branch_that_is_gone_can_be_had_back(repo: paths.Place, board: Board, conflict: Entry) -> None:
    resolve_by_hand(repo)
    sha = tip(repo.root, "topic")
    git(repo.root, "branch", "-D", "topic")

    with pytest.raises(IbError, match="The branch topic is gone") as refused:
        resolve.resolve(repo, board, conflict.id)

    typed, _, then = refused.value.hint.partition("; then: ")
    assert then == f"ib board merge retry {conflict.id}, or give it up: ib board merge abandon {conflict.id}"
    assert typed == f"git branch topic {conflict.sha}" != f"git branch topic {sha}"
    subprocess.run(typed, shell=True, cwd=repo.root, check=True)
    assert tip(repo.root, "topic") == conflict.sha


def test_an_agent_that_is_there_is_asked(repo: paths.Place, board: Board) -> None:
    worktree = make_agent(repo, "w")
    commit(worktree, "file.txt", "theirs\n")
    commit(repo.root, "file.txt", "ours\n")
    queue(repo, board, "agent/w")
    entry = one(repo, board)

    assert resolve.of(repo, entry) == (
        "ib send w 'Your work conflicts with main in file.txt. Merge or rebase onto main, keep what both sides need, "
        f"commit'; when it has: ib board merge resolve {entry.id}"
    )
    assert resolve.of_marks(repo, entry, ["file.txt"]) == (
        "ib send w 'Conflict markers stand in file.txt. Keep what both sides need, commit'; when it has: "
        f"ib board merge resolve {entry.id}"
    )


def test_a_branch_that_was_rebased_is_resolved_too(repo: paths.Place, board: Board, conflict: Entry) -> None:
    git(repo.root, "branch", "-f", "topic", "main")
    side(repo, "topic", "file.txt", "ours and theirs\n")

    resolve.resolve(repo, board, conflict.id)

    assert one(repo, board).status == "merged"
    assert git(repo.root, "show", "main:file.txt") == "ours and theirs\n"


def test_a_conflict_that_has_gone_by_itself_is_retried(repo: paths.Place, board: Board, conflict: Entry) -> None:
    git(repo.root, "reset", "-q", "--hard", "HEAD~1")

    resolve.retry(repo, board, conflict.id)

    assert one(repo, board).status == "merged"


def test_a_failure_is_retried_with_what_the_branch_is_now(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "new.txt", "new\n")
    queue(repo, board, "topic", test="test -f fixed.txt")
    failed = one(repo, board)
    with pytest.raises(IbError, match="failed, not in conflict") as refused:
        resolve.resolve(repo, board, failed.id)
    assert refused.value.hint == f"ib board merge retry {failed.id}"
    fixed = side(repo, "topic", "fixed.txt", "fixed\n")

    again = resolve.retry(repo, board, failed.id)

    assert (again.status, again.sha) == ("pending", fixed)
    assert one(repo, board).status == "merged"
    with pytest.raises(IbError, match="nothing to try again"):
        resolve.retry(repo, board, failed.id)


def test_one_that_is_given_up_holds_nobody_back(repo: paths.Place, board: Board, conflict: Entry) -> None:
    doing.add(board, "next", after=(conflict.task_id,))
    assert doing.status(board, "next") == "pending"

    gone = resolve.abandon(board, conflict.id, "not needed")

    assert (gone.status, gone.abandoned, gone.reason) == ("failed", True, "not needed")
    assert doing.status(board, "next") == "ready"
    assert resolve.retry(repo, board, conflict.id).status == "pending"


def test_there_is_no_such_entry(repo: paths.Place, board: Board) -> None:
    for call in (resolve.resolve, resolve.retry):
        with pytest.raises(IbError, match="no entry 7"):
            call(repo, board, 7)
    with pytest.raises(IbError, match="no entry 7"):
        resolve.abandon(board, 7, "")


def test_an_entry_of_another_repository_is_not_touched(repo: paths.Place, board: Board, conflict: Entry) -> None:
    Path(repo.repo_id).write_text("12345678\n")

    with pytest.raises(IbError, match="of another repository"):
        resolve.retry(repo, board, conflict.id)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (b"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n", 2),
        (b"<<<<<<<\n|||||||\r\n>>>>>>>", 3),
        (b"Title\n=======\n", 0),
        (b"<<<<<<<< eight\n a <<<<<<< b\n>>>>>>>x\n", 0),
        (b"", 0),
    ],
)
def test_what_git_leaves_in_a_file_is_told_from_text(text: bytes, count: int) -> None:
    assert board_merge.marks(text) == count
