"""Merges made in the object store alone, refs moved by compare-and-swap, checkouts looked at and brought along."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.errors import IbError
from ibstatus.merge import checkout_update, temp_checkout
from ibstatus.project import paths
from ibstatus.system.git import checkouts, diff, merge_tree, refs
from tests.conftest import git
from tests.gitwork import commit, parents, state, tip

Agent = Callable[..., Path]


@pytest.fixture
def sides(repo: paths.Place) -> tuple[str, str]:
    """Two branches that have both gone on: main and side, with a conflict in file.txt and none elsewhere."""
    git(repo.root, "checkout", "-q", "-b", "side")
    commit(repo.root, "side.txt", "side\n")
    git(repo.root, "checkout", "-q", "main")
    commit(repo.root, "main.txt", "main\n")
    return tip(repo.root, "main"), tip(repo.root, "side")


def test_a_merge_touches_nothing(repo: paths.Place, sides: tuple[str, str]) -> None:
    before = state(repo.root)

    made = merge_tree.merged(repo.root, *sides)
    oid = merge_tree.commit(repo.root, made.tree, sides, b"both\n", {})

    assert made.conflicts == ()
    assert parents(repo.root, oid) == list(sides)
    assert set(git(repo.root, "ls-tree", "--name-only", oid).split()) == {"file.txt", "main.txt", "side.txt"}
    assert state(repo.root) == before


@pytest.mark.parametrize(
    "how", ["both-changed", "changed-and-removed", "both-added", "file-and-folder", "modes", "binary"]
)
def test_conflicts_are_named(repo: paths.Place, how: str) -> None:
    name = 'odd "ü"\n\'name'
    commit(repo.root, name, "one\n")
    git(repo.root, "checkout", "-q", "-b", "side")
    prepare(Path(repo.root, name), how, "side")
    git(repo.root, "checkout", "-q", "main")
    prepare(Path(repo.root, name), how, "main")

    made = merge_tree.merged(repo.root, "main", "side")

    assert made.conflicts
    assert all(name in conflict for conflict in made.conflicts)


def prepare(path: Path, how: str, side: str) -> None:
    root = path.parent
    if how == "changed-and-removed" and side == "side":
        git(root, "rm", "-q", "--", path.name)
    elif how == "both-added":
        git(root, "rm", "-q", "--", path.name)
        (root / (path.name + " new")).write_text(side)
    elif how == "file-and-folder" and side == "side":
        path.unlink()
        path.mkdir()
        (path / "inside").write_text("x")
    elif how == "modes":
        path.unlink()
        path.symlink_to(side)
    elif how == "binary":
        path.write_bytes(b"\0" + side.encode())
    else:
        path.write_text(side)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", how)


def test_a_commit_is_carried_over_with_its_bytes(repo: paths.Place, sides: tuple[str, str]) -> None:
    git(repo.root, "checkout", "-q", "side")
    git(repo.root, "-c", "i18n.commitEncoding=ISO-8859-1", "commit", "--allow-empty", "-q", "-F", latin(repo))
    git(repo.root, "checkout", "-q", "main")

    made = merge_tree.carried(repo.root, "main", "side")

    raw = refs.asked(repo.root, "cat-file", "commit", made.tip).out
    assert made.made == 2
    assert b"\nencoding ISO-8859-1\n" in raw
    assert raw.endswith(b"\n\ngr\xfc\xdfe\n\n  indented\n")
    assert parents(repo.root, f"{made.tip}~1") == [tip(repo.root, "main")]


def latin(repo: paths.Place) -> str:
    path = Path(repo.common, "message")
    path.write_bytes(b"gr\xfc\xdfe\n\n  indented\n")
    return str(path)


def test_a_ref_moves_only_from_where_it_was(repo: paths.Place, sides: tuple[str, str]) -> None:
    main, side = sides
    git(repo.root, "branch", "other", main)

    assert "is at" in refs.move(repo.root, "refs/heads/other", side, main, "why")
    assert tip(repo.root, "refs/heads/other") == main
    assert refs.move(repo.root, "refs/heads/other", main, side, "why") == ""
    assert tip(repo.root, "refs/heads/other") == side


def test_a_branch_is_never_a_tag_or_an_expression(repo: paths.Place) -> None:
    git(repo.root, "tag", "v1")
    git(repo.root, "symbolic-ref", "refs/heads/link", "refs/heads/main")

    assert refs.branch_of(repo.root, "main") == "refs/heads/main"
    assert refs.branch_of(repo.root, "link") == "refs/heads/main"
    assert [refs.branch_of(repo.root, name) for name in ("v1", "main~0", "HEAD", "-f", "", "@{-1}")] == [""] * 6


def test_what_lies_in_the_way_is_found_and_nothing_else(repo: paths.Place, agent: Agent) -> None:
    root = Path(repo.root)
    commit(root, "folder/tracked", "x")
    commit(root, "link-target/z", "x")
    before = tip(root)
    git(root, "checkout", "-q", "-b", "after")
    git(root, "rm", "-q", "-r", "folder")
    for name in ("folder", "a/b/c", "d", "file.txt"):
        commit(root, name, "after\n")
    git(root, "checkout", "-q", "main")
    after = tip(root, "after")
    assert checkouts.in_the_way(repo.root, before, after) == []

    (root / "a").write_text("a file where a folder will be")
    (root / "d").mkdir()
    assert checkouts.in_the_way(repo.root, before, after) == ["a"]
    (root / "d/deep").write_text("x")
    (root / "folder/untracked").write_text("x")
    assert sorted(checkouts.in_the_way(repo.root, before, after)) == ["a", "d/deep", "folder/untracked"]


def test_bringing_along_twice_is_once(repo: paths.Place) -> None:
    before = tip(repo.root)
    git(repo.root, "checkout", "-q", "-b", "side")
    after = commit(repo.root, "new.txt", "new\n")
    git(repo.root, "checkout", "-q", "main")
    Path(repo.root, "file.txt").write_text("mine\n")
    git(repo.root, "update-ref", "refs/heads/main", after)

    for _ in range(2):
        assert checkout_update.bring(repo.root, "refs/heads/main", before, after) == ""
        assert git(repo.root, "status", "--porcelain", "-uno") == " M file.txt\n"
    git(repo.root, "update-ref", "refs/heads/main", before)
    for _ in range(2):
        assert checkout_update.bring(repo.root, "refs/heads/main", after, before) == ""
        assert git(repo.root, "status", "--porcelain", "-uno") == " M file.txt\n"
    assert not Path(repo.root, "new.txt").exists()


def test_a_throw_away_checkout_runs_no_hook_and_leaves_nothing(repo: paths.Place) -> None:
    hook = Path(repo.common, "hooks/post-checkout")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\nexit 1\n")
    hook.chmod(0o755)
    with temp_checkout.checkout(repo.root, tip(repo.root)) as folder:
        assert sorted(os.listdir(folder)) == [".git", "file.txt"]
    assert not Path(folder).parent.exists()
    assert len(git(repo.root, "worktree", "list").splitlines()) == 1

    with pytest.raises(IbError, match="could not check it out"), temp_checkout.checkout(repo.root, "0" * 40):
        pass


def test_only_what_the_dead_have_left_is_swept(repo: paths.Place, tmp_path: Path) -> None:
    mine = tmp_path / "ib-checkout-mine/repo"  # like one of ours, with nobody behind it
    theirs = tmp_path / "ib-checkout-theirs/repo"  # a user's own, without our lock in it
    other = tmp_path / "ib-checkout-other/mine"
    for path in (mine, theirs, other):
        git(repo.root, "worktree", "add", "-q", "--detach", str(path))
    (mine.parent / "held").touch()

    with temp_checkout.checkout(repo.root, tip(repo.root)) as living:
        temp_checkout.sweep(repo.root)
        assert os.path.exists(living + "/file.txt")

    assert not mine.parent.exists()
    listed = git(repo.root, "worktree", "list", "--porcelain").splitlines()
    there = {line.removeprefix("worktree ") for line in listed if line.startswith("worktree ")}
    assert there == {repo.root, str(theirs), str(other)}
    assert (theirs / "file.txt").exists()


def test_a_trial_that_kills_its_parent_has_failed_and_we_live(tmp_path: Path) -> None:
    assert temp_checkout.run("kill -9 $PPID; sleep 60", str(tmp_path)).code != 0
    assert temp_checkout.run("kill -9 $$", str(tmp_path)).code == 128 + 9
    assert temp_checkout.run("echo '$1' \"a  b\"; exit 3", str(tmp_path)) == (3, ["$1 a  b"])


def test_a_trial_ends_with_the_command_and_not_with_what_it_leaves_running(tmp_path: Path) -> None:
    tried = temp_checkout.run("seq 1 99; echo ü >&2; sleep 60 & exit 5", str(tmp_path))

    assert tried.code == 5
    assert tried.last == [*(str(number) for number in range(81, 100)), "ü"]


def test_a_worktree_is_seen_whole_and_its_index_stays(repo: paths.Place) -> None:
    root = Path(repo.root)
    git(root, "init", "-q", "embedded")
    commit(root / "embedded", "x", "x")
    (root / "-odd\n'ü'").write_text("one\ntwo\n")
    (root / ".git/info/exclude").write_text("ignored\n")
    (root / "ignored").write_text("x")
    before = (root / ".git/index").read_bytes()

    with diff.worktree(repo.root) as side:
        found = diff.files(side, tip(root))
        summary = diff.summary(side, tip(root))

    assert found == [diff.File("-odd\n'ü'", 2, 0)]
    assert summary == "1 file changed, 2 insertions(+)"
    assert (root / ".git/index").read_bytes() == before
