"""A merge taken back: branch and checkouts as they were, or nothing done."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ibstatus.errors import IbError
from ibstatus.merge import checkout_update, merge, revert
from ibstatus.project import identity, operations, paths
from tests.conftest import git
from tests.gitwork import commit, state, tip

pytestmark = pytest.mark.usefixtures("tmux")
Agent = Callable[..., Path]
USER = identity.Caller(identity.PERSON, "user")


@pytest.fixture
def facts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the operation has noted as `merge`."""
    noted: dict[str, Any] = {}
    real = operations.Operation.note

    def note(self: operations.Operation, **more: Any) -> None:
        noted.update(more.get("merge") or {})
        real(self, **more)

    monkeypatch.setattr(operations.Operation, "note", note)
    return noted


def merged(place: paths.Place, into: str = "") -> None:
    wish = merge.Wish("w", into, "", place.root)
    assert merge.merge(place, USER, wish, lambda lines: True, lambda text: None)


def heads_and_files(root: str) -> tuple[object, ...]:
    return tip(root), *state(root)[2:]


def test_branch_and_checkout_are_as_before(repo: paths.Place, agent: Agent, facts) -> None:
    worker = agent(repo, "w")
    commit(worker, "file.txt", "theirs\n")
    commit(worker, "new/deep.txt", "new\n")
    before = heads_and_files(repo.root)
    merged(repo)
    assert heads_and_files(repo.root) != before

    for _ in range(2):  # once more is fine
        revert.take_back(repo, facts, lambda text: None)
        assert heads_and_files(repo.root) == before
    assert not Path(repo.root, "new").exists()


def test_changes_to_other_files_stay(repo: paths.Place, agent: Agent, facts) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    merged(repo)
    Path(repo.root, "file.txt").write_text("mine\n")
    Path(repo.root, "staged.txt").write_text("mine\n")
    git(repo.root, "add", "staged.txt")

    revert.take_back(repo, facts, lambda text: None)

    assert git(repo.root, "status", "--porcelain", "--untracked-files=no") == " M file.txt\nA  staged.txt\n"
    assert Path(repo.root, "file.txt").read_text() == "mine\n"
    assert not Path(repo.root, "new.txt").exists()


@pytest.mark.parametrize("change", ["edited", "staged", "in-the-way"])
def test_a_change_that_would_be_lost_stops_it(repo: paths.Place, agent: Agent, facts, change: str) -> None:
    worker = agent(repo, "w")
    commit(repo.root, "old.txt", "old\n")
    git(worker, "merge", "-q", "main")
    commit(worker, "new.txt", "new\n")
    git(worker, "rm", "-q", "old.txt")
    git(worker, "commit", "-q", "-m", "without it")
    merged(repo)
    if change == "in-the-way":
        Path(repo.root, "old.txt").write_text("mine\n")
    else:
        Path(repo.root, "new.txt").write_text("mine\n")
    if change == "staged":
        git(repo.root, "add", "new.txt")
    before = state(repo.root)

    with pytest.raises(IbError, match="would be lost"):
        revert.take_back(repo, facts, lambda text: None)

    assert state(repo.root) == before


def test_newer_commits_stop_it_and_the_way_is_named(repo: paths.Place, agent: Agent, facts) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    merged(repo)
    result = commit(repo.root, "later.txt", "later\n")

    with pytest.raises(IbError, match="main has 1 newer commit") as refused:
        revert.take_back(repo, facts, lambda text: None)

    assert tip(repo.root) == result
    words = refused.value.hint.partition(": git ")[2].split()
    assert refused.value.hint.startswith("ib undo w --keep-merge; or ")
    git(repo.root, *words[:1], "--no-edit", *words[1:])
    assert not Path(repo.root, "new.txt").exists()
    assert Path(repo.root, "later.txt").exists()


def test_a_merge_that_is_out_of_the_branch_already_is_left_alone(repo: paths.Place, agent: Agent, facts) -> None:
    before = tip(repo.root)
    commit(agent(repo, "w"), "new.txt", "new\n")
    merged(repo)
    git(repo.root, "reset", "-q", "--hard", before)
    commit(repo.root, "later.txt", "later\n")
    there = state(repo.root)
    said: list[str] = []

    revert.take_back(repo, facts, said.append)

    assert said == ["main does not have the merge any more: it is left as it is"]
    assert state(repo.root) == there


def test_a_branch_without_a_checkout_moves_back_too(repo: paths.Place, agent: Agent, facts) -> None:
    git(repo.root, "branch", "release")
    commit(agent(repo, "w"), "new.txt", "new\n")
    before = tip(repo.root, "refs/heads/release")
    merged(repo, "release")

    revert.take_back(repo, facts, lambda text: None)

    assert tip(repo.root, "refs/heads/release") == before


def test_a_kill_between_branch_and_checkout_is_completed(repo: paths.Place, agent: Agent, facts, monkeypatch) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    before = heads_and_files(repo.root)
    merged(repo)

    class Killed(BaseException):
        pass

    def killed(*args: object) -> str:
        raise Killed

    with monkeypatch.context() as context:
        context.setattr(checkout_update, "bring", killed)
        with pytest.raises(Killed):
            revert.take_back(repo, facts, lambda text: None)
    assert git(repo.root, "status", "--porcelain", "--untracked-files=no") != ""

    revert.take_back(repo, facts, lambda text: None)
    assert heads_and_files(repo.root) == before


def test_a_merge_that_was_amended_is_named_and_left(repo: paths.Place, agent: Agent, facts) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    commit(Path(repo.root), "ours.txt", "ours\n")
    merged(repo)
    git(repo.root, "commit", "-q", "--amend", "-m", "with a better message")
    amended = tip(repo.root)

    said: list[str] = []
    revert.take_back(repo, facts, said.append)

    assert tip(repo.root) == amended
    assert f"git revert -m 1 {amended[:12]}" in said[0]
    git(repo.root, "revert", "--no-edit", "-m", "1", amended[:12])
    assert not Path(repo.root, "new.txt").exists()
