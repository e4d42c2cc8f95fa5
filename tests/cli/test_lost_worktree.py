"""Somebody has removed an agent's worktree by hand: every command says so, and what makes it again."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.errors import quoted
from ibstatus.project import agent_meta, operations, paths
from tests.conftest import Done, git

pytestmark = pytest.mark.usefixtures("tmux")
Ib = Callable[..., Done]


@pytest.fixture
def tree(repo: paths.Place, ib: Ib, agent: Callable[..., Path]) -> Path:
    """Where it was; one commit on its branch."""
    ib("init")
    made = agent(repo, "w")
    agent_meta.change(repo, "w", client="/bin/true", session_id="s")
    (made / "new.txt").write_text("new\n")
    git(made, "add", "new.txt")
    git(made, "commit", "-q", "-m", "Work")
    shutil.rmtree(made)
    return made


def again(tree: Path) -> str:
    return f"git worktree add -f {quoted(str(tree))} agent/w"


def test_before_it_is_closed(repo: paths.Place, ib: Ib, tree: Path) -> None:
    assert "Its worktree is gone, and with it what was not committed there\n" in ib("merge", "w").err
    assert "w: a worktree that is gone already, 1 commit in no other branch" in ib("kill", "w").err


def test_where_one_looks_for_what_is_wrong(repo: paths.Place, ib: Ib, tree: Path) -> None:
    found = [one for one in ib("doctor", "--json").json() if one["subject"] == "agents"]
    assert [(one["level"], one["text"], one["hint"]) for one in found] == [
        ("warn", "the worktree of w is gone", again(tree))
    ]
    shown = ib("status", "w").out
    assert f"\nWorktree: gone ({again(tree)})\n" in shown
    assert "Uncommitted" not in shown
    assert f"\nIts worktree is gone: {again(tree)}\n" in ib("why", "w").out


@pytest.mark.parametrize("verb", ["merge", "kill"])
def test_undo_does_not_say_that_all_is_back(repo: paths.Place, ib: Ib, tree: Path, verb: str) -> None:
    assert ib(verb, "w", "--force").code == 0

    done = ib("undo")

    assert (done.code, done.out) == (0, f"Undid the {verb} of w\n")
    assert f"w is back, without its worktree, which was gone before: {again(tree)}; ib resume w\n" in done.err
    refused = ib("resume", "w")
    assert (refused.code, refused.err) == (1, f"Error: The worktree of w is gone.\nHint: {again(tree)}\n")
    git(repo.root, *again(tree).split()[1:])
    assert (tree / "new.txt").read_text() == "new\n"
    assert [one for one in ib("doctor", "--json").json() if one["subject"] == "agents"] == []


def test_not_of_one_that_a_command_is_making_or_closing(repo: paths.Place, ib: Ib, tree: Path) -> None:
    with operations.begin(repo, "spawn", "w"):
        assert "is gone" not in ib("why", "w").out
        assert "gone (" not in ib("status", "w").out


def test_without_its_branch_the_hint_begins_where_it_began(repo: paths.Place, ib: Ib, tree: Path) -> None:
    base = git(repo.root, "rev-parse", "HEAD").strip()
    agent_meta.change(repo, "w", base_commit=base)
    git(repo.root, "worktree", "prune")
    git(repo.root, "branch", "-q", "-D", "agent/w")

    hint = ib("resume", "w").err.partition("Hint: ")[2].split()
    assert hint == ["git", "worktree", "add", "-f", "-b", "agent/w", quoted(str(tree)), base]
    git(repo.root, *hint[1:])

    assert "is gone" not in ib("why", "w").out


def test_a_folder_that_is_no_worktree_any_more_is_not_called_saved(
    repo: paths.Place, ib: Ib, agent: Callable[..., Path]
) -> None:
    ib("init")
    made = agent(repo, "w")
    (made / ".git").unlink()
    (made / "work.txt").write_text("not committed")

    assert "w: a worktree that git cannot read" in ib("kill", "w").err
    assert "Uncommitted" not in ib("status", "w").out
