"""git as a program: real repositories, no assumption about the caller's environment."""

from pathlib import Path

import pytest

from ibstatus.project import paths
from ibstatus.system.git import run
from ibstatus.system.process import run as installed
from ibstatus.system.tmux import server
from tests.conftest import make_repo
from tests.mail import layouts


def test_how_git_sees_a_checkout_and_its_worktree(tmp_path: Path) -> None:
    at = layouts.linked(tmp_path / "new\nline")
    assert run.seen(str(at.root)) == run.Seen(str(at.common), str(at.common), str(at.root), False, False)
    seen = run.seen(str(at.cwd))
    assert isinstance(seen, run.Seen)
    assert (seen.common, seen.own, seen.top) == (str(at.common), str(at.common / "worktrees/wt"), str(at.cwd))


def test_bare_and_submodule(tmp_path: Path) -> None:
    bare = run.seen(str(layouts.bare_itself(tmp_path / "a").cwd))
    assert isinstance(bare, run.Seen)
    assert (bare.bare, bare.top) == (True, "")
    sub = run.seen(str(layouts.submodule(tmp_path / "b").cwd))
    assert isinstance(sub, run.Seen)
    assert (sub.bare, sub.submodule) == (False, True)


def test_no_repository_is_gits_own_complaint(tmp_path: Path) -> None:
    assert "not a git repository" in str(run.seen(str(tmp_path)))


def test_variables_of_a_git_hook_do_not_count(
    tmp_path: Path, repo: paths.Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repo(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", other.common)
    monkeypatch.setenv("GIT_WORK_TREE", other.root)
    seen = run.seen(repo.root)
    assert isinstance(seen, run.Seen)
    assert (seen.common, seen.top) == (repo.common, repo.root)


def test_ignored_and_tracked(repo: paths.Place, tmp_path: Path) -> None:
    assert run.ignores(repo.root, "x/") is False
    Path(repo.common, "info/exclude").write_text("/x/\n")
    assert run.ignores(repo.root, "x/") is True
    assert run.ignores(str(tmp_path), "x/") is None
    assert (run.tracks(repo.root, "file.txt"), run.tracks(repo.root, "x")) == (True, False)


def test_programs_that_are_missing_fail_or_talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (run.version(), server.version(), installed.path_of("git")) == ("", "", "")
    assert run.run(str(tmp_path), "status").code == 127
    script = tmp_path / "tmux"
    script.write_text("#!/bin/sh\necho tmux 3.9; echo more; exit ${FAILS:-0}\n")
    script.chmod(0o755)
    assert server.version() == "tmux 3.9"
    monkeypatch.setenv("FAILS", "2")
    assert server.version() == ""


def test_the_real_programs() -> None:
    assert run.version().startswith("git version ")
    if installed.path_of("tmux"):
        assert server.version().startswith("tmux ")
