"""Whose git a merge waits for: one that is about to have another branch in one of these checkouts, and no other."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from ibstatus.drivers import git_switching
from ibstatus.store import places
from tests.conftest import git, make_agent, make_repo
from tests.gitwork import commit
from tests.until import until


@contextmanager
def held(checkout: str | Path, hook: Path, *words: str) -> Iterator[int]:
    """A git that has written the index, and HEAD not yet."""
    there, go = hook.with_name("there"), hook.with_name("go")
    hook.write_text(f"#!/bin/sh\nrm '{hook}'; : > '{there}'; while [ ! -e '{go}' ]; do sleep 0.05; done\n")
    hook.chmod(0o755)
    process = subprocess.Popen(["git", *words], cwd=checkout, stderr=subprocess.DEVNULL)
    try:
        until(there.exists)
        yield process.pid
    finally:
        go.touch()
        process.wait()
        there.unlink()
        go.unlink()


def hook_of(common: str | Path) -> Path:
    return Path(common, "hooks/post-index-change")


def found(place: places.Place) -> list[int]:
    return [process.pid for process in git_switching.found([place.root])]


@pytest.fixture
def branched(repo: places.Place) -> places.Place:
    git(repo.root, "checkout", "-q", "-b", "release")
    commit(repo.root, "r.txt", "r\n")
    git(repo.root, "config", "alias.co", "checkout -q")
    return repo


@pytest.mark.parametrize("words", ["checkout -q main", "switch -q main", "-c a.b=c checkout -q main", "co main"])
def test_who_is_about_to_switch_is_waited_for(branched: places.Place, words: str) -> None:
    with held(branched.root, hook_of(branched.common), *words.split()) as pid:
        (one,) = found(branched)
        assert pid in (one, psutil.Process(one).ppid())  # an alias begins another one
    assert found(branched) == []
    git_switching.let([branched.root], print)


def test_in_a_folder_of_it_and_by_another_name(branched: places.Place, tmp_path: Path) -> None:
    Path(branched.root, "sub").mkdir()
    (tmp_path / "link").symlink_to(branched.root)
    with held(Path(branched.root, "sub"), hook_of(branched.common), "checkout", "-q", "main") as pid:
        assert [one.pid for one in git_switching.found([str(tmp_path / "link")])] == [pid]


def test_an_agents_and_one_in_a_clone_inside_are_none_of_ours(branched: places.Place) -> None:
    worktree = make_agent(branched, "other")
    with held(worktree, hook_of(branched.common), "checkout", "-q", "-b", "mine", "main"):
        assert found(branched) == []
    inner = make_repo(Path(branched.root, "vendor"))
    with held(inner.root, hook_of(inner.common), "checkout", "-q", "--detach"):
        assert found(branched) == []


def test_one_that_stays_is_none(branched: places.Place) -> None:
    process = subprocess.Popen(["git", "cat-file", "--batch"], cwd=branched.root, stdin=subprocess.PIPE)
    try:
        until(lambda: psutil.Process(process.pid).name() == "git")
        assert found(branched) == []
    finally:
        process.communicate()


def test_one_whose_head_is_written_is_over(branched: places.Place) -> None:
    """What it calls then may take as long as an installation."""
    with held(branched.root, hook_of(branched.common).with_name("post-checkout"), "checkout", "-q", "main"):
        assert found(branched) == []


def test_a_rebase_switches_before_it_has_begun(branched: places.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    git(branched.root, "branch", "start", "main")
    with held(branched.root, hook_of(branched.common), "rebase", "-q", "start", "main") as pid:
        assert found(branched) == [pid]
    git(branched.root, "checkout", "-q", "release")
    begun, go = Path(branched.common, "begun"), Path(branched.common, "go")
    monkeypatch.setenv("GIT_SEQUENCE_EDITOR", f"sh -c ': > {begun}; while [ ! -e {go} ]; do sleep 0.05; done'")
    rebase = subprocess.Popen(["git", "rebase", "-q", "-i", "main"], cwd=branched.root)
    try:
        until(begun.exists)
        assert found(branched) == []
    finally:
        go.touch()
        assert rebase.wait() == 0


def test_who_waits_is_told_for_whom(branched: places.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_switching, "SAID_AFTER", 0.0)
    monkeypatch.setattr(git_switching, "PATIENCE", 0.2)
    said: list[str] = []
    with held(branched.root, hook_of(branched.common), "checkout", "-q", "main") as pid:
        git_switching.let([branched.root], said.append)
    assert said == [f"Waiting for a git that may just check the branch out: PID {pid}"]


def test_the_one_whose_hook_asks_waits_for_us(branched: places.Place, tmp_path: Path) -> None:
    hook, told = hook_of(branched.common), tmp_path / "told"
    code = f"from ibstatus.drivers import git_switching as s; print(s.found(['{branched.root}']))"
    hook.write_text(f"#!/bin/sh\nrm '{hook}'; exec '{sys.executable}' -c \"{code}\" > '{told}'\n")
    hook.chmod(0o755)
    git(branched.root, "checkout", "-q", "main")

    assert told.read_text() == "[]\n"


@pytest.mark.parametrize("error", [psutil.AccessDenied(1), psutil.NoSuchProcess(1)])
def test_what_may_not_be_seen_is_passed_over(
    branched: places.Place, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """The branch has moved by then: nothing of this may end the merge."""

    def fails(*args: object) -> None:
        raise error

    with held(branched.root, hook_of(branched.common), "checkout", "-q", "main"):
        running = git_switching.found([branched.root])
        for name in ("cmdline", "is_running"):
            monkeypatch.setattr(psutil.Process, name, fails)
        assert git_switching.found([branched.root]) == []
        assert [git_switching.is_at_it(one) for one in running] == [False]
    monkeypatch.setattr(psutil, "Process", fails)
    assert git_switching.callers() == {os.getppid()}
