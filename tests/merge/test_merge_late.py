"""Somebody's git that is at work on the branch while a merge or an undo waits for it, or a kill comes in between."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.agents import recover, session
from ibstatus.agents.undo import undo
from ibstatus.errors import IbError
from ibstatus.merge import checkout_update, merge, move_branch
from ibstatus.project import home, identity, operations, paths
from tests.conftest import git
from tests.gitwork import commit
from tests.until import until

pytestmark = pytest.mark.usefixtures("tmux")
Agent = Callable[..., Path]
USER = identity.Caller(identity.PERSON, "user")


class Killed(BaseException):
    pass


def goes(repo: paths.Place) -> object:
    return merge.merge(repo, USER, merge.Wish("w", "main", "", repo.root), lambda lines: True, print)


def held(repo: paths.Place, name: str, condition: str, *words: str) -> "tuple[subprocess.Popen[bytes], Path]":
    """A git that stands in this hook, when that is called under this condition, until the file is there."""
    hook, there, go = Path(repo.common, "hooks", name), Path(repo.common, "there"), Path(repo.common, "go")
    wait = f": > '{there}'; while [ ! -e '{go}' ]; do sleep 0.05; done"
    hook.write_text(f"#!/bin/sh\n{condition} || exit 0\nrm '{hook}'; {wait}\n")
    hook.chmod(0o755)
    running = subprocess.Popen(["git", *words], cwd=repo.root)
    until(there.exists)
    return running, go


def test_a_lock_in_the_way_ends_nobodys_session(
    repo: paths.Place, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(agent(repo, "w"), "a.txt", "hi\n")
    monkeypatch.setattr(checkout_update, "PATIENCE", 0.0)
    monkeypatch.setattr(session, "stop", lambda *args: pytest.fail("it was ended"))
    lock = Path(repo.common, "index.lock")
    lock.touch()

    with pytest.raises(IbError, match="when no git runs: rm") as refused:
        goes(repo)

    assert refused.value.hint == f"rm {lock}"
    lock.unlink()


def test_a_branch_of_another_name_keeps_its_merge_until_it_has_its_own_again(repo: paths.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "a.txt", "hi\n")
    assert goes(repo)
    git(repo.root, "branch", "-m", "main", "trunk")

    with pytest.raises(IbError, match="main is called trunk now") as refused:
        undo.undo(repo, "", print)

    assert refused.value.hint == "git branch -m trunk main, then this again; or ib undo w --keep-merge"
    git(repo.root, *refused.value.hint.partition(",")[0].split()[1:])
    assert undo.undo(repo, "", print)
    assert files_of(repo, "main") == ["file.txt"]


def test_a_branch_that_was_merged_on_and_deleted_holds_no_undo_up(repo: paths.Place, agent: Agent) -> None:
    git(repo.root, "branch", "feature")
    commit(agent(repo, "w"), "a.txt", "hi\n")
    assert merge.merge(repo, USER, merge.Wish("w", "feature", "", repo.root), lambda lines: True, print)
    git(repo.root, "merge", "-q", "feature")
    git(repo.root, "branch", "-q", "-d", "feature")

    assert undo.undo(repo, "", print)
    assert "a.txt" in files_of(repo, "main")


def files_of(repo: paths.Place, ref: str) -> list[str]:
    return git(repo.root, "ls-tree", "--name-only", ref).split()


def staged(repo: paths.Place) -> str:
    return git(repo.root, "status", "--porcelain", "-uno")


def is_cut_off(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The branch has moved; who has checked it out meanwhile has not been looked for."""

    def killed(*args: object) -> None:
        raise Killed

    with monkeypatch.context() as context:
        context.setattr(move_branch, "along", killed)
        with pytest.raises(Killed):
            goes(repo)


@pytest.mark.parametrize("noted", [False, True])
def test_what_is_staged_after_a_kill_stays_staged(
    repo: paths.Place, agent: Agent, monkeypatch: pytest.MonkeyPatch, noted: bool
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


def end_at(said: list[str], word: str, running: "subprocess.Popen[bytes]", go: Path) -> Callable[[str], None]:
    """What is said is kept; when it begins so, that git comes to its end."""

    def say(text: str) -> None:
        said.append(text)
        if text.startswith(word):
            go.touch()
            assert running.wait(30) == 0

    return say


@pytest.mark.parametrize("back", [False, True], ids=["merge", "undo"])
def test_a_checkout_that_switched_in_the_moment_of_the_move_is_named(
    repo: paths.Place, agent: Agent, back: bool
) -> None:
    """With the old files the user's next commit would take the merge back."""
    home.enter(repo)
    commit(agent(repo, "w"), "a.txt", "hi\n")
    git(repo.root, "checkout", "-q", "-b", "release")
    wish = merge.Wish("w", "main", "", repo.root)
    if back:
        assert merge.merge(repo, USER, wish, lambda lines: True, print)
    running, go = held(repo, "post-index-change", "true", "checkout", "-q", "main")
    said: list[str] = []
    say = end_at(said, "Moved main" if back else "Agent merged", running, go)

    assert undo.undo(repo, "", say) if back else merge.merge(repo, USER, wish, lambda lines: True, say)

    assert staged(repo) != "", said
    command = next(text for text in said if "has switched to main" in text).rpartition(": ")[2]
    subprocess.run(command, shell=True, check=True)
    assert staged(repo) == ""
    assert Path(repo.root, "a.txt").exists() != back


def test_a_rebase_that_puts_the_branch_back_is_told_of(repo: paths.Place, agent: Agent) -> None:
    """With nothing to pick it only checks its branch out, and writes where that was when it began."""
    commit(agent(repo, "w"), "a.txt", "hi\n")
    git(repo.root, "branch", "start")
    commit(repo.root, "m.txt", "m\n")
    git(repo.root, "checkout", "-q", "-b", "release", "start")
    running, go = held(repo, "post-index-change", "true", "rebase", "-q", "start", "main")
    said: list[str] = []

    say = end_at(said, "Agent merged", running, go)
    assert merge.merge(repo, USER, merge.Wish("w", "main", "", repo.root), lambda lines: True, say)

    assert said[-1].startswith("Another git has moved main from")
    assert staged(repo) == ""
