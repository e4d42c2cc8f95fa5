"""places.find against the real git, in every layout and under every sort of name."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.errors import IbError
from ibstatus.project import founding, paths
from ibstatus.system.git import run as git_driver
from tests.conftest import Done, git, make_agent, make_repo
from tests.mail import layouts


def found(cwd: Path) -> paths.Place:
    """As `places.here` does: the system's own, physical path."""
    return paths.find(os.path.realpath(cwd))


@pytest.mark.parametrize("layout", layouts.ALL, ids=lambda make: make.__name__)
def test_root_and_git_directory_are_those_of_git(tmp_path: Path, layout: Callable[[Path], layouts.Layout]) -> None:
    at = layout(tmp_path)
    place = found(at.cwd)
    seen = git_driver.seen(str(at.cwd))
    assert not isinstance(seen, str)
    assert os.path.realpath(place.common) == seen.common == str(at.common)
    assert place.root == str(at.root)
    assert place.agent == ""
    if seen.top and seen.own == seen.common:
        assert place.root == os.path.realpath(seen.top)


@pytest.mark.parametrize("layout", layouts.ALL, ids=lambda make: make.__name__)
def test_the_root_is_the_same_after_the_first_use_and_from_every_side(
    tmp_path: Path, layout: Callable[[Path], layouts.Layout]
) -> None:
    at = layout(tmp_path)
    founding.settle(found(at.cwd))
    assert found(at.cwd).root == str(at.root)
    if at.root.joinpath(".git").exists():
        assert found(at.root).home == found(at.cwd).home
        assert os.path.realpath(found(at.root).safe) == os.path.realpath(found(at.cwd).safe)


@pytest.mark.parametrize("name", layouts.ODD_NAMES)
@pytest.mark.parametrize(
    "layout", [layouts.main, layouts.linked, layouts.submodule, layouts.bare_with_worktree, layouts.separate]
)
def test_odd_names(tmp_path: Path, name: str, layout: Callable[[Path], layouts.Layout]) -> None:
    at = layout(tmp_path / name)
    place = found(at.cwd)
    assert (place.root, os.path.realpath(place.common)) == (str(at.root), str(at.common))


def test_a_name_that_is_no_utf8(tmp_path: Path) -> None:
    try:
        os.mkdir(os.fsencode(tmp_path) + b"/\xff\xfe")
    except OSError:
        pytest.skip("this file system wants UTF-8")
    at = layouts.linked(tmp_path / os.fsdecode(b"\xff\xfe"))
    assert found(at.cwd).root == str(at.root)


def test_a_worktree_of_a_separate_git_dir_finds_the_root_that_was_noted(tmp_path: Path) -> None:
    at = layouts.separate(tmp_path)
    founding.settle(found(at.cwd))
    assert found(layouts.worktree(at.root, tmp_path / "wt")).root == str(at.root)


@pytest.mark.parametrize("layout", [layouts.submodule, layouts.worktree_of_submodule, layouts.bare_with_worktree])
def test_a_copy_of_everything_has_its_own_root(tmp_path: Path, layout: Callable[[Path], layouts.Layout]) -> None:
    base = tmp_path / "a"
    at = layout(base)
    founding.settle(found(at.root if at.root.joinpath(".git").exists() else at.cwd))
    copy = tmp_path / "b"
    shutil.copytree(base, copy, symlinks=True)
    inside = copy / at.common.relative_to(base)
    assert paths.find(str(inside)).root == str(copy / at.root.relative_to(base))


def test_no_repository(tmp_path: Path, ib: Callable[..., Done]) -> None:
    with pytest.raises(IbError, match="not a git repository"):
        paths.find(str(tmp_path))
    done = ib("send", "user-claude", "hello", cwd=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err == "Error: This is not a git repository.\nHint: cd into your project, or make one here: git init\n"


def test_a_git_directory_that_is_gone(tmp_path: Path) -> None:
    at = layouts.linked(tmp_path)
    at.root.rename(tmp_path / "moved")
    with pytest.raises(IbError, match="is gone") as caught:
        found(at.cwd)
    assert "git worktree repair" in caught.value.hint
    assert not at.root.exists()


def test_an_agent_is_known_by_its_worktree(repo: paths.Place) -> None:
    worktree = make_agent(repo, "worker-a")
    (worktree / "src").mkdir()
    for cwd in (worktree, worktree / "src"):
        place = paths.find(str(cwd))
        assert (place.agent, place.root, place.common) == ("worker-a", repo.root, repo.common)
    assert paths.find(repo.agent_dir("worker-a")).agent == ""


def test_what_is_nested_in_an_agents_worktree_is_still_the_agent(repo: paths.Place) -> None:
    worktree = make_agent(repo, "worker-a")
    inner = make_repo(worktree / "vendor/inner")
    assert (inner.agent, inner.root) == ("worker-a", repo.root)


def test_an_agent_cannot_shed_its_name_by_making_folders(repo: paths.Place) -> None:
    worktree = make_agent(repo, "worker-a")
    disguise = worktree / ".ittybitty/agents/boss/repo"
    disguise.mkdir(parents=True)
    assert paths.find(str(disguise)).agent == "worker-a"
    git(disguise, "init", "-q")
    assert paths.find(str(disguise)).agent == "worker-a"


def test_a_folder_that_only_looks_like_an_agents(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "x/.ittybitty/agents/a/repo/r")
    assert (repo.agent, repo.root) == ("", str(tmp_path / "x/.ittybitty/agents/a/repo/r"))
