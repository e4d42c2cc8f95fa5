"""The merge queue with real git and a real board: what is merged, what is not, and that nobody's checkout suffers."""

from pathlib import Path

import pytest

from ibstatus.board.port import Board
from ibstatus.merge import move_branch
from ibstatus.model.board import Entry
from ibstatus.project import agent_meta, paths
from tests.conftest import git
from tests.gitwork import commit, parents, state, subjects, tip
from tests.queuework import drained, one, queue, resolve_by_hand, side


def reread(board: Board, entry: Entry) -> Entry:
    found = board.entry(entry.id)
    assert found is not None
    return found


def bytes_of(root: str) -> tuple[object, ...]:
    """HEAD, the index and every file, as they lie on the disk."""
    own = Path(root, ".git")
    return (own / "HEAD").read_bytes(), (own / "index").read_bytes(), state(root)[2:]


def test_a_branch_goes_into_a_clean_checkout_of_its_base_in_one_step(repo: paths.Place, board: Board) -> None:
    before, work = tip(repo.root), side(repo, "topic/dark", "new.txt", "new\n")
    entry = queue(repo, board, "topic/dark")

    done = one(repo, board)

    assert (done.status, done.merge_sha) == ("merged", tip(repo.root))
    assert parents(repo.root) == [before, work]
    message = git(repo.root, "log", "-1", "--format=%B").strip()
    assert message == f"Merge topic/dark: Title of {entry.task_id}\n\nTask: {entry.task_id}"
    assert Path(repo.root, "new.txt").read_text() == "new\n"
    assert git(repo.root, "status", "--porcelain", "--untracked-files=no") == ""
    assert git(repo.root, "branch", "--list", "topic/dark").strip() == "topic/dark"
    assert "ib merge topic/dark" in git(repo.root, "reflog", "-1", "--format=%gs")
    assert drained(repo, board)[0] == []


def test_a_base_that_is_checked_out_elsewhere_takes_that_checkout_along(
    repo: paths.Place, board: Board, tmp_path: Path
) -> None:
    git(repo.root, "branch", "release")
    other = tmp_path / "other"
    git(repo.root, "worktree", "add", "-q", str(other), "release")
    side(repo, "topic", "new.txt", "new\n")
    queue(repo, board, "topic", "release")
    before = bytes_of(repo.root)

    assert one(repo, board).status == "merged"

    assert (other / "new.txt").exists()
    assert git(other, "status", "--porcelain") == ""
    assert bytes_of(repo.root) == before


def test_a_user_on_another_branch_with_a_dirty_tree_notices_nothing(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "file.txt", "theirs\n")
    git(repo.root, "checkout", "-q", "-b", "mine")
    Path(repo.root, "file.txt").write_text("half a thought\n")
    Path(repo.root, "staged.txt").write_text("staged\n")
    git(repo.root, "add", "staged.txt")
    Path(repo.root, "new.txt").write_text("untracked\n")
    queue(repo, board, "topic")
    before = bytes_of(repo.root)

    done = one(repo, board)

    assert done.status == "merged"
    assert bytes_of(repo.root) == before
    assert git(repo.root, "show", "main:file.txt") == "theirs\n"
    assert git(repo.root, "symbolic-ref", "HEAD") == "refs/heads/mine\n"


def test_a_dirty_checkout_of_the_base_is_waited_for_and_that_is_said_once(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "new.txt", "new\n")
    queue(repo, board, "topic")
    Path(repo.root, "file.txt").write_text("mine\n")
    before, head = bytes_of(repo.root), tip(repo.root)

    ((entry,), said) = drained(repo, board)
    seq = board.last_seq()
    ((again,), silent) = drained(repo, board)

    assert entry.status == again.status == "pending"
    assert "has 1 uncommitted file (file.txt)" in entry.reason
    assert [line for line in said if "waits for main" in line] == said[-1:]
    assert silent == []
    assert board.last_seq() == seq
    assert (bytes_of(repo.root), tip(repo.root)) == (before, head)

    git(repo.root, "checkout", "-q", "file.txt")
    assert one(repo, board).status == "merged"
    assert Path(repo.root, "new.txt").exists()


def test_a_file_that_git_does_not_know_is_never_overwritten(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "new.txt", "theirs\n")
    queue(repo, board, "topic")
    Path(repo.root, "new.txt").write_text("mine\n")

    entry = one(repo, board)

    assert (entry.status, Path(repo.root, "new.txt").read_text()) == ("pending", "mine\n")
    assert "would be overwritten (new.txt)" in entry.reason


def test_git_at_work_in_the_checkout_is_waited_for(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "new.txt", "new\n")
    queue(repo, board, "topic")
    Path(repo.common, "MERGE_HEAD").write_text(tip(repo.root) + "\n")

    assert one(repo, board).status == "pending"

    Path(repo.common, "MERGE_HEAD").unlink()
    assert one(repo, board).status == "merged"


def test_several_are_merged_oldest_first_and_one_that_fails_keeps_nobody(repo: paths.Place, board: Board) -> None:
    for name in ("a", "b", "c"):
        side(repo, name, f"{name}.txt", name)
        queue(repo, board, name)
    git(repo.root, "branch", "-D", "b")

    done, _ = drained(repo, board)

    assert [entry.status for entry in done] == ["merged", "failed", "merged"]
    assert "branch b is gone" in done[1].reason
    assert subjects(repo.root, "--merges") == ["Merge c: Title of c-2", "Merge a: Title of a-0"]


def test_each_base_has_its_own_way(repo: paths.Place, board: Board) -> None:
    git(repo.root, "branch", "release")
    side(repo, "a", "a.txt", "a")
    for base in ("main", "release", "refs/heads/release", "nowhere"):
        queue(repo, board, "a", base)

    done, _ = drained(repo, board)

    assert [entry.status for entry in done] == ["merged", "merged", "merged", "failed"]
    assert done[1].merge_sha == done[2].merge_sha == tip(repo.root, "release")
    assert "no branch nowhere" in done[3].reason


def test_another_repositorys_entries_are_left_alone(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "new.txt", "new\n")
    entry = queue(repo, board, "topic")
    Path(repo.repo_id).write_text("12345678\n")
    assert agent_meta.repo_id(repo) == "12345678"

    assert drained(repo, board)[0] == []
    assert reread(board, entry).status == "pending"


def test_a_conflict_names_the_files_and_moves_nothing(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "file.txt", "theirs\n")
    commit(repo.root, "file.txt", "ours\n")
    queue(repo, board, "topic")
    before = state(repo.root)

    entry = one(repo, board)

    assert (entry.status, entry.conflict_files) == ("conflict", ["file.txt"])
    assert entry.reason == "topic conflicts with main in 1 file"
    assert state(repo.root) == before


def test_a_branch_that_its_base_has_already_moves_nothing(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "new.txt", "new\n")
    queue(repo, board, "topic")
    git(repo.root, "merge", "-q", "--no-ff", "-m", "by hand", "topic")
    head = tip(repo.root)

    entry = one(repo, board)

    assert (entry.status, entry.merge_sha, tip(repo.root)) == ("merged", head, head)


def test_one_that_was_merged_by_hand_and_is_gone_is_merged(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "new.txt", "new\n")
    queue(repo, board, "topic")
    git(repo.root, "merge", "-q", "topic")
    git(repo.root, "branch", "-d", "topic")

    assert one(repo, board).status == "merged"


def test_a_branch_that_went_on_is_merged_with_all_that_it_has(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "new.txt", "new\n")
    entry = queue(repo, board, "topic")
    later = side(repo, "topic", "later.txt", "later\n")

    done = one(repo, board)

    assert (done.status, done.sha) == ("merged", later)
    assert entry.sha != later
    assert Path(repo.root, "later.txt").exists()


def test_a_branch_that_was_rewritten_is_not_guessed_at(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "new.txt", "new\n")
    queue(repo, board, "topic")
    git(repo.root, "branch", "-f", "topic", "main")
    side(repo, "topic", "other.txt", "other\n")
    before = state(repo.root)

    entry = one(repo, board)

    assert entry.status == "failed"
    assert "topic was rewritten since" in entry.reason
    assert state(repo.root) == before


@pytest.mark.parametrize("sha", ["--help", "HEAD", "main", "", "a" * 40])
def test_what_is_no_commit_of_ours_is_not_given_to_git(repo: paths.Place, board: Board, sha: str) -> None:
    side(repo, "topic", "new.txt", "new\n")
    entry = queue(repo, board, "topic")
    board.requeue(entry.id, sha=sha)
    before = state(repo.root)

    assert one(repo, board).status == "failed"
    assert state(repo.root) == before


def test_ctrl_c_leaves_nothing_that_looks_as_if_it_were_being_merged(
    repo: paths.Place, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    side(repo, "topic", "new.txt", "new\n")
    entry = queue(repo, board, "topic")

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(move_branch, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        drained(repo, board)
    monkeypatch.undo()

    assert reread(board, entry).status == "pending"
    assert one(repo, board).status == "merged"


def test_linear_keeps_a_line_and_the_commits_as_they_are(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "a.txt", "a\n")
    side(repo, "topic", "b.txt", "b\n")
    ours = commit(repo.root, "ours.txt", "ours\n")
    queue(repo, board, "topic", linear=True)

    entry = one(repo, board)

    assert (entry.status, entry.merge_sha) == ("merged", tip(repo.root))
    assert subjects(repo.root) == ["write b.txt", "write a.txt", "write ours.txt", "first"]
    assert git(repo.root, "rev-list", "--merges", "main") == ""
    assert tip(repo.root, "main~2") == ours


def test_linear_makes_one_commit_of_a_branch_with_merges_in_it(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "file.txt", "theirs\n")
    ours = commit(repo.root, "file.txt", "ours\n")
    entry = queue(repo, board, "topic", linear=True)
    resolve_by_hand(repo)

    done = one(repo, board)

    assert done.status == "merged"
    assert parents(repo.root) == [ours]
    assert Path(repo.root, "file.txt").read_text() == "both\n"
    assert subjects(repo.root, "-1") == [f"Merge topic: Title of {entry.task_id}"]


@pytest.mark.parametrize("linear", [False, True])
def test_a_base_that_moves_in_between_is_looked_at_anew(
    repo: paths.Place, board: Board, monkeypatch: pytest.MonkeyPatch, linear: bool
) -> None:
    side(repo, "topic", "new.txt", "new\n")
    queue(repo, board, "topic", linear=linear)
    races = iter(["one.txt", "two.txt"])
    real = move_branch.advance

    def race(*args, **kwargs):
        name = next(races, "")
        if name:
            commit(repo.root, name, "race\n")
        return real(*args, **kwargs)

    monkeypatch.setattr(move_branch, "advance", race)

    ((entry,), said) = drained(repo, board)

    assert (entry.status, entry.merge_sha) == ("merged", tip(repo.root))
    assert sum("moved meanwhile" in line for line in said) == 2
    assert {path.name for path in Path(repo.root).glob("*.txt")} == {"file.txt", "new.txt", "one.txt", "two.txt"}
    assert git(repo.root, "status", "--porcelain", "--untracked-files=no") == ""


def test_a_base_that_never_stands_still_is_left_for_later(repo: paths.Place, board: Board, monkeypatch) -> None:
    side(repo, "topic", "new.txt", "new\n")
    queue(repo, board, "topic")
    real, count = move_branch.advance, iter(range(9))

    def race(*args, **kwargs):
        commit(repo.root, f"{next(count)}.txt", "race\n")
        return real(*args, **kwargs)

    monkeypatch.setattr(move_branch, "advance", race)

    entry = one(repo, board)
    monkeypatch.undo()

    assert (entry.status, entry.merge_sha) == ("pending", None)
    assert "it has moved meanwhile" in entry.reason
    assert one(repo, board).status == "merged"


def test_a_hook_that_refuses_is_a_failure_that_says_so(repo: paths.Place, board: Board) -> None:
    side(repo, "topic", "new.txt", "new\n")
    queue(repo, board, "topic")
    hook = Path(repo.common, "hooks/reference-transaction")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ntest "$1" != prepared || ! grep -q " refs/heads/main$"\n')
    hook.chmod(0o755)
    before = state(repo.root)

    entry = one(repo, board)

    assert entry.status == "failed"
    assert "hook" in entry.reason
    assert state(repo.root) == before
