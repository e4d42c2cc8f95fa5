"""Somebody's git that is at work on the branch while a merge or an undo waits for it, or a kill comes in between."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from ibstatus.drivers import git_along, git_switching
from ibstatus.errors import IbError
from ibstatus.ops import merge, merge_back, recover, stop, undo
from ibstatus.rules import identity
from ibstatus.store import home, operations, places
from tests.conftest import git
from tests.gitwork import commit, tip
from tests.patience import LONG
from tests.until import until

pytestmark = pytest.mark.usefixtures("tmux")
Agent = Callable[..., Path]
USER = identity.Caller(identity.PERSON, "user")


class Killed(BaseException):
    pass


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_switching, "PATIENCE", LONG)


def goes(repo: places.Place) -> object:
    return merge.merge(repo, USER, merge.Wish("w", "main", "", repo.root), lambda lines: True, print)


def is_cut_off(repo: places.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The branch has moved; nobody has been waited for."""

    def killed(*args: object) -> None:
        raise Killed

    with monkeypatch.context() as context:
        context.setattr(git_switching, "let", killed)
        with pytest.raises(Killed):
            goes(repo)


def held(repo: places.Place, name: str, condition: str, *words: str) -> "tuple[subprocess.Popen[bytes], Path]":
    """A git that stands in this hook, when that is called under this condition, until the file is there."""
    hook, there, go = Path(repo.common, "hooks", name), Path(repo.common, "there"), Path(repo.common, "go")
    wait = f": > '{there}'; while [ ! -e '{go}' ]; do sleep 0.05; done"
    hook.write_text(f"#!/bin/sh\n{condition} || exit 0\nrm '{hook}'; {wait}\n")
    hook.chmod(0o755)
    running = subprocess.Popen(["git", *words], cwd=repo.root)
    until(there.exists)
    return running, go


def test_a_lock_in_the_way_ends_nobodys_session(
    repo: places.Place, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(agent(repo, "w"), "a.txt", "hi\n")
    monkeypatch.setattr(git_along, "PATIENCE", 0.0)
    monkeypatch.setattr(stop, "stop", lambda *args: pytest.fail("it was ended"))
    lock = Path(repo.common, "index.lock")
    lock.touch()

    with pytest.raises(IbError, match="when no git runs: rm") as refused:
        goes(repo)

    assert refused.value.hint == f"rm {lock}"
    lock.unlink()


def test_after_a_move_of_the_project_it_is_said_what_mends_the_worktree(repo: places.Place, agent: Agent) -> None:
    home.enter(repo)
    commit(agent(repo, "w"), "a.txt", "hi\n")
    moved = places.find(str(Path(repo.root).rename(repo.root + " moved")))

    with pytest.raises(IbError, match="is no worktree of this repository") as refused:
        goes(moved)

    subprocess.run(refused.value.hint.partition("; or ")[2], cwd=moved.root, shell=True, check=True)
    assert goes(moved)


def test_a_branch_of_another_name_keeps_its_merge_until_it_has_its_own_again(repo: places.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "a.txt", "hi\n")
    assert goes(repo)
    git(repo.root, "branch", "-m", "main", "trunk")

    with pytest.raises(IbError, match="main is called trunk now") as refused:
        undo.undo(repo, "", print)

    assert refused.value.hint == "git branch -m trunk main, then this again; or ib undo w --keep-merge"
    git(repo.root, *refused.value.hint.partition(",")[0].split()[1:])
    assert undo.undo(repo, "", print)
    assert files_of(repo, "main") == ["file.txt"]


def test_a_branch_that_was_merged_on_and_deleted_holds_no_undo_up(repo: places.Place, agent: Agent) -> None:
    git(repo.root, "branch", "feature")
    commit(agent(repo, "w"), "a.txt", "hi\n")
    assert merge.merge(repo, USER, merge.Wish("w", "feature", "", repo.root), lambda lines: True, print)
    git(repo.root, "merge", "-q", "feature")
    git(repo.root, "branch", "-q", "-d", "feature")

    assert undo.undo(repo, "", print)
    assert "a.txt" in files_of(repo, "main")


def files_of(repo: places.Place, ref: str) -> list[str]:
    return git(repo.root, "ls-tree", "--name-only", ref).split()


def staged(repo: places.Place) -> str:
    return git(repo.root, "status", "--porcelain", "-uno")


def test_a_rebase_that_is_under_way_when_a_merge_is_mended_is_left_to_its_end(
    repo: places.Place, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It puts the branch back: whoever had been closed meanwhile would have worked in vain."""
    home.enter(repo)
    commit(agent(repo, "w"), "a.txt", "hi\n")
    git(repo.root, "branch", "start")
    commit(repo.root, "m.txt", "m\n")
    git(repo.root, "checkout", "-q", "-b", "release", "start")
    running, go = held(repo, "post-index-change", "true", "rebase", "-q", "start", "main")
    is_cut_off(repo, monkeypatch)
    said: list[str] = []

    recover.everything(repo, said.append)
    assert "A rebase may put the branch back" in said[0]
    go.touch()
    assert running.wait(30) == 0
    recover.everything(repo)

    assert list(operations.unfinished(repo)) == []
    assert "a.txt" not in files_of(repo, "main")
    assert Path(repo.agent_dir("w"), "meta.json").exists()
    assert staged(repo) == ""


def test_a_rebase_that_has_put_changes_aside_has_not_begun(repo: places.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "a.txt", "hi\n")
    git(repo.root, "branch", "start")
    commit(repo.root, "m.txt", "m\n")
    git(repo.root, "checkout", "-q", "-b", "release", "start")
    Path(repo.root, "file.txt").write_text("dirty\n")
    running, go = held(
        repo, "post-index-change", "[ -e m.txt ]", "rebase", "-q", "--autostash", "start", "main"
    )  # m.txt: it has stashed by then
    try:
        assert [one.pid for one in git_switching.found([repo.root])] == [running.pid]
    finally:
        go.touch()
        assert running.wait(30) == 0


def test_the_hook_of_a_rebase_is_not_its_end(repo: places.Place) -> None:
    """Of the kind that applies patches: the branch is written after it."""
    git(repo.root, "checkout", "-q", "-b", "newer")
    commit(repo.root, "m.txt", "m\n")
    running, go = held(repo, "post-checkout", "true", "rebase", "-q", "--apply", "newer", "main")
    try:
        assert [one.pid for one in git_switching.found([repo.root])] == [running.pid]
    finally:
        go.touch()
        assert running.wait(30) == 0


def test_a_child_that_has_just_ended_says_nothing_of_its_git(
    repo: places.Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(repo.root, "checkout", "-q", "-b", "release")
    running, go = held(repo, "post-index-change", "true", "checkout", "-q", "main")
    ended = subprocess.Popen(["true"])
    child = psutil.Process(ended.pid)
    ended.wait()
    try:
        monkeypatch.setattr(psutil.Process, "children", lambda self: [child])
        assert git_switching.is_at_it(psutil.Process(running.pid))
    finally:
        go.touch()
        assert running.wait(30) == 0


@pytest.mark.parametrize("noted", [False, True])
def test_what_is_staged_after_a_kill_stays_staged(
    repo: places.Place, agent: Agent, monkeypatch: pytest.MonkeyPatch, noted: bool
) -> None:
    home.enter(repo)
    commit(repo.root, "b.txt", "old\n")
    worktree = agent(repo, "w")
    git(worktree, "reset", "-q", "--hard", "main")
    commit(worktree, "a.txt", "hi\n")
    commit(worktree, "b.txt", "new\n")
    if not noted:
        git(repo.root, "checkout", "-q", "-b", "release")
    is_cut_off(repo, monkeypatch)
    git(repo.root, "checkout", "-q", "main")
    git(repo.root, "checkout", "-q", "HEAD~1", "--", "b.txt")

    recover.everything(repo)

    assert staged(repo) == "M  b.txt\n"
    assert list(operations.unfinished(repo)) == []


def test_an_undo_brings_who_has_the_branch_along_before_it_waits(
    repo: places.Place, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever commits in between would have the merge again."""
    commit(agent(repo, "w"), "a.txt", "hi\n")
    assert goes(repo)
    seen: list[str] = []
    monkeypatch.setattr(git_switching, "let", lambda *args: seen.append(staged(repo)))

    undo.undo(repo, "", print)

    assert seen == [""]
    assert files_of(repo, "main") == ["file.txt"]


def test_an_undo_of_what_came_back_and_went_on_changes_no_file(
    repo: places.Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tip(repo.root, "main")
    after = commit(repo.root, "a.txt", "hi\n")
    facts = {"ref": "refs/heads/main", "before": before, "after": after, "checkouts": []}

    def goes_on(*args: object) -> None:
        git(repo.root, "reset", "-q", "--hard", after)
        commit(repo.root, "n.txt", "n\n")

    monkeypatch.setattr(git_switching, "let", goes_on)
    with pytest.raises(IbError, match="has the merge again"):
        merge_back.take_back(repo, facts, print)

    assert (staged(repo), files_of(repo, "main")) == ("", ["a.txt", "file.txt", "n.txt"])


def test_a_rebase_in_the_very_checkout_leaves_nothing_staged(repo: places.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "a.txt", "hi\n")
    git(repo.root, "branch", "start")
    commit(repo.root, "m.txt", "m\n")
    condition = "[ -e .git/once ] || { : > .git/once; false; }"
    hook, there = Path(repo.common, "hooks/post-index-change"), Path(repo.common, "there")
    hook.write_text(f"#!/bin/sh\n{condition} || exit 0\nrm '{hook}'; : > '{there}'; sleep 0.6\n")
    hook.chmod(0o755)
    running = subprocess.Popen(["git", "rebase", "-q", "start", "main"], cwd=repo.root)
    until(lambda: there.exists() or running.poll() is not None)

    assert goes(repo)

    assert running.wait(30) == 0
    assert staged(repo) == ""
    assert "a.txt" in files_of(repo, "main")
