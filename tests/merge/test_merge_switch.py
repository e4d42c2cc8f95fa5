"""The user switches branches in the checkout while it is to go along with a merge, or with its undo."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.agents import recover
from ibstatus.merge import checkout_update, merge, revert
from ibstatus.project import home, identity, operations, paths
from ibstatus.system.git import refs
from tests.conftest import git
from tests.gitwork import commit, state, tip
from tests.patience import LONG
from tests.until import until

pytestmark = pytest.mark.usefixtures("tmux")
Agent = Callable[..., Path]
USER = identity.Caller(identity.PERSON, "user")


@pytest.fixture
def slow(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> str:
    """main has all of the branch `release`; to check that one out takes a while, which is waited for."""
    monkeypatch.setattr(checkout_update, "PATIENCE", LONG)
    git(repo.root, "checkout", "-q", "-b", "release")
    commit(repo.root, "z.dat", "z\n")
    git(repo.root, "checkout", "-q", "main")
    git(repo.root, "merge", "-q", "--no-ff", "-m", "with release", "release")
    git(repo.root, "rm", "-q", "z.dat")
    git(repo.root, "commit", "-q", "-m", "main goes on")
    git(repo.root, "config", "filter.slow.smudge", ": > .git/begun; sleep 0.6; cat")
    Path(repo.common, "info/attributes").write_text("*.dat filter=slow\n")
    return tip(repo.root, "release")


def switching(repo: paths.Place, branch: str = "release") -> "subprocess.Popen[bytes]":
    """The checkout of the branch has begun: it holds git's lock."""
    begun = Path(repo.common, "begun")
    begun.unlink(missing_ok=True)
    running = subprocess.Popen(["git", "checkout", "-q", branch], cwd=repo.root)
    until(begun.exists)
    return running


def written(repo: paths.Place, branch: str, *words: str) -> "subprocess.Popen[bytes]":
    """As `switching`, a moment later: the index is written, its lock is gone, and HEAD is not there yet."""
    hook, there = Path(repo.common, "hooks/post-index-change"), Path(repo.common, "there")
    hook.write_text(f"#!/bin/sh\nrm {hook}; : > {there}; sleep 0.6\n")
    hook.chmod(0o755)
    running = subprocess.Popen(["git", *(words or ("checkout", "-q")), branch], cwd=repo.root)
    until(there.exists)
    return running


class Killed(BaseException):
    pass


def killed(*args: object) -> str:
    raise Killed


def test_a_merge_moves_only_the_branch_that_it_names(repo: paths.Place, agent: Agent, slow: str) -> None:
    work = commit(agent(repo, "w"), "a.txt", "hi\n")
    ours = tip(repo.root, "main")

    running = switching(repo)
    assert merge.merge(repo, USER, merge.Wish("w", "main", "", repo.root), lambda lines: True, print)

    assert running.wait(30) == 0
    assert git(repo.root, "symbolic-ref", "HEAD") == "refs/heads/release\n"
    assert tip(repo.root, "release") == slow
    assert git(repo.root, "rev-list", "--parents", "-1", "main").split()[1:] == [ours, work]
    assert git(repo.root, "status", "--porcelain", "-uno") == ""
    assert not Path(repo.root, "a.txt").exists()


@pytest.mark.usefixtures("slow")
def test_an_undo_leaves_the_checkout_of_another_branch_alone(repo: paths.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "a.txt", "hi\n")
    before = tip(repo.root, "main")
    assert merge.merge(repo, USER, merge.Wish("w", "main", "", repo.root), lambda lines: True, print)
    facts = {"ref": "refs/heads/main", "before": before, "after": tip(repo.root, "main"), "checkouts": [repo.root]}
    git(repo.root, "checkout", "-q", "-b", "next")
    later = commit(repo.root, "z.dat", "z\n")
    git(repo.root, "checkout", "-q", "main")

    running = switching(repo, "next")
    revert.take_back(repo, facts, print)

    assert running.wait(30) == 0
    assert (tip(repo.root, "main"), tip(repo.root, "next")) == (before, later)
    assert git(repo.root, "symbolic-ref", "HEAD") == "refs/heads/next\n"
    assert git(repo.root, "status", "--porcelain", "-uno") == ""


@pytest.mark.parametrize("has_it", [False, True])
def test_a_checkout_that_went_away_in_the_middle_becomes_what_it_has_now(repo: paths.Place, has_it: bool) -> None:
    """A filter switches HEAD while the files are written: the branch that is there now gets its own files."""
    before = tip(repo.root)
    git(repo.root, "checkout", "-q", "-b", "after")
    after = commit(repo.root, "a.dat", "a\n")
    git(repo.root, "checkout", "-q", "-b", "other", after if has_it else before)
    git(repo.root, "checkout", "-q", "main")
    git(repo.root, "config", "filter.away.smudge", "git symbolic-ref HEAD refs/heads/other; cat")
    Path(repo.common, "info/attributes").write_text("*.dat filter=away\n")

    assert checkout_update.fast_forward(repo.root, "refs/heads/main", before, after, "why") == checkout_update.AWAY

    assert (tip(repo.root, "main"), tip(repo.root, "other")) == (before, after if has_it else before)
    assert git(repo.root, "status", "--porcelain") == ""
    assert Path(repo.root, "a.dat").exists() is has_it


def test_the_users_hook_runs_as_after_gits_own_merge(repo: paths.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "a.txt", "hi\n")
    hook = Path(repo.common, "hooks/post-merge")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\necho "$# $1 $(pwd -P) $(git rev-parse HEAD)" > .git/hooked\n')
    hook.chmod(0o755)
    before = tip(repo.root)

    assert merge.merge(repo, USER, merge.Wish("w", "main", "", repo.root), lambda lines: True, print)

    assert Path(repo.common, "hooked").read_text() == f"1 0 {os.path.realpath(repo.root)} {tip(repo.root)}\n"
    assert tip(repo.root, "ORIG_HEAD") == before
    assert git(repo.root, "reflog", "-1", "--format=%gs", "HEAD").startswith("ib merge agent/w")


def test_a_commit_in_the_middle_loses_nothing_and_keeps_its_checkout_clean(repo: paths.Place, agent: Agent) -> None:
    """A filter moves the branch while the files are written: the merge is computed once more on top of it."""
    work = commit(agent(repo, "w"), "a.dat", "hi\n")
    new = 'git update-ref refs/heads/main $(git commit-tree -p HEAD -m meanwhile "HEAD^{tree}")'
    git(repo.root, "config", "filter.late.smudge", f"test -e .git/late || {{ {new}; touch .git/late; }}; cat")
    Path(repo.common, "info/attributes").write_text("*.dat filter=late\n")

    assert merge.merge(repo, USER, merge.Wish("w", "main", "", repo.root), lambda lines: True, print)

    assert git(repo.root, "log", "-1", "--format=%s", "main^1") == "meanwhile\n"
    assert git(repo.root, "rev-parse", "main^2").strip() == work
    assert git(repo.root, "status", "--porcelain", "-uno") == ""


def test_a_kill_between_the_files_and_the_branch_is_rolled_back(
    repo: paths.Place, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.enter(repo)
    commit(agent(repo, "w"), "a.txt", "hi\n")
    before = state(repo.root)

    with monkeypatch.context() as context:
        context.setattr(refs, "move", killed)
        with pytest.raises(Killed):
            merge.merge(repo, USER, merge.Wish("w", "main", "", repo.root), lambda lines: True, print)
    assert Path(repo.root, "a.txt").exists()

    recover.everything(repo)
    assert state(repo.root) == before
    assert list(operations.unfinished(repo)) == []


@pytest.mark.usefixtures("slow")
def test_who_checks_the_branch_out_just_now_gets_the_merge_too(repo: paths.Place, agent: Agent) -> None:
    """HEAD changes at the end of a checkout: until then nobody can see that it will have the branch."""
    commit(repo.root, "m.dat", "m\n")
    commit(agent(repo, "w"), "a.txt", "hi\n")
    git(repo.root, "checkout", "-q", "release")

    running = switching(repo, "main")
    assert merge.merge(repo, USER, merge.Wish("w", "main", "", repo.root), lambda lines: True, print)

    assert running.wait(30) == 0
    assert git(repo.root, "symbolic-ref", "HEAD") == "refs/heads/main\n"
    assert git(repo.root, "status", "--porcelain", "-uno") == ""
    assert Path(repo.root, "a.txt").read_text() == "hi\n"


@pytest.mark.usefixtures("slow")
def test_an_undo_waits_for_who_checks_the_branch_out_just_now(repo: paths.Place, agent: Agent) -> None:
    commit(repo.root, "m.dat", "m\n")
    commit(agent(repo, "w"), "a.txt", "hi\n")
    before = tip(repo.root, "main")
    assert merge.merge(repo, USER, merge.Wish("w", "main", "", repo.root), lambda lines: True, print)
    facts = {"ref": "refs/heads/main", "before": before, "after": tip(repo.root, "main"), "checkouts": [repo.root]}
    git(repo.root, "checkout", "-q", "release")

    running = switching(repo, "main")
    revert.take_back(repo, facts, print)

    assert running.wait(30) == 0
    assert git(repo.root, "status", "--porcelain", "-uno") == ""
    assert not Path(repo.root, "a.txt").exists()
