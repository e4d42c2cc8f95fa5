"""What gc finds in a real repository, and that taking it can be taken back."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ibstatus.agents import gc, kill
from ibstatus.agents.rules.leftovers import Leftover
from ibstatus.agents.undo import log, undo
from ibstatus.project import agent_meta, home, operations, paths
from tests.conftest import git

pytestmark = pytest.mark.usefixtures("tmux")
Agent = Callable[..., Path]
DAY = 86400.0


def silent(text: str) -> None:
    pass


def found(place: paths.Place) -> dict[str, str]:
    return {one.name: one.state for one in gc.find(place, time.time(), silent)}


def one(place: paths.Place, name: str) -> Leftover:
    return next(left for left in gc.find(place, time.time(), silent) if left.name == name)


@pytest.fixture
def place(repo: paths.Place) -> paths.Place:
    home.enter(repo)
    return repo


def orphaned(place: paths.Place, agent: Agent, name: str) -> Path:
    tree = agent(place, name)
    os.unlink(place.agent_dir(name) + "/meta.json")
    return tree


def test_a_worktree_whose_folder_is_gone(place: paths.Place, agent: Agent) -> None:
    agent(place, "foo")
    subprocess.run(["rm", "-rf", place.agent_dir("foo")], check=True)

    assert found(place) == {"foo": "merged-clean"}
    assert gc.sweep(place, [one(place, "foo")], "user", silent).failed == []

    assert found(place) == {}
    assert len(git(place.root, "worktree", "list").splitlines()) == 1
    assert "agent/foo" not in git(place.root, "branch")
    undo.undo(place, "", silent)
    assert found(place) == {"foo": "merged-clean"}
    assert "prunable" in git(place.root, "worktree", "list", "--porcelain")


def test_commits_of_a_detached_worktree_count(place: paths.Place, agent: Agent) -> None:
    tree = orphaned(place, agent, "foo")
    git(tree, "checkout", "-q", "--detach")
    git(tree, "commit", "-q", "--allow-empty", "-m", "alone")
    git(place.root, "branch", "-q", "-D", "agent/foo")

    assert found(place) == {"foo": "unknown"}


def test_a_process_that_stands_in_it_makes_it_active(place: paths.Place, agent: Agent) -> None:
    tree = orphaned(place, agent, "foo")
    process = subprocess.Popen(["sleep", "600"], cwd=tree)
    try:
        assert found(place) == {"foo": "active"}
    finally:
        process.kill()
        process.wait()
    assert found(place) == {"foo": "merged-clean"}


def test_a_branch_that_somebody_has_checked_out_is_active(place: paths.Place) -> None:
    git(place.root, "checkout", "-q", "-b", "agent/foo")

    assert found(place) == {"foo": "active"}


def test_one_that_is_just_being_made_is_not_seen(place: paths.Place) -> None:
    os.makedirs(place.agent_dir("foo"))
    assert found(place) == {"foo": "merged-clean"}

    with operations.begin(place, "pause", "foo") as op:
        assert found(place) == {}
        op.done()


def test_a_stopped_agent_that_was_merged_by_hand(place: paths.Place, agent: Agent) -> None:
    for name in ("done", "idle", "busy"):
        tree = agent(place, name)
        agent_meta.change(place, name, base_commit=git(tree, "rev-parse", "HEAD").strip())
        if name != "idle":
            git(tree, "commit", "-q", "--allow-empty", "-m", name)
    git(place.root, "merge", "-q", "--no-ff", "-m", "by hand", "agent/done")

    assert found(place) == {"done": "merged-clean"}


def test_what_changed_after_the_look_stays(place: paths.Place, agent: Agent) -> None:
    tree = orphaned(place, agent, "foo")
    seen = one(place, "foo")
    (tree / "new.txt").write_text("x")

    done = gc.sweep(place, [seen], "user", silent)

    assert [name for name, _ in done.failed] == ["foo"]
    assert (tree / "new.txt").exists()


def test_papers_without_an_agent_are_unknown_and_an_empty_folder_is_not(place: paths.Place) -> None:
    for name in ("empty", "letters"):
        os.makedirs(place.agent_dir(name))
    Path(place.agent_dir("letters"), "notes.txt").write_text("x")

    assert found(place) == {"empty": "merged-clean", "letters": "unknown"}


def test_a_session_without_an_agent(place: paths.Place, tmux: Callable[..., str]) -> None:
    name = f"ittybitty-{Path(place.repo_id).read_text().strip()}-ghost"
    tmux("new-session", "-d", "-s", name, "sleep", "600")

    seen = one(place, name)
    assert (seen.kind, seen.state) == ("session", "active")
    gc.sweep(place, [seen], "user", silent)
    assert found(place) == {}


def test_old_archives_and_records_go(place: paths.Place, agent: Agent) -> None:
    agent(place, "foo")
    closed = kill.kill(place, ["foo"], "user", "killed", silent).retired[0]
    old = time.strftime("%Y%m%d-%H%M%S", time.localtime(time.time() - 40 * DAY)) + "-old"
    os.makedirs(f"{place.home}/archive/{old}")
    record = log.read(place, closed.undo)
    assert record is not None
    assert found(place) == {old: "expired"}
    late = gc.find(place, time.time() + 40 * DAY, silent)
    assert {left.kind for left in late} == {"archive", "undo"}

    done = gc.sweep(place, late, "user", silent)

    assert done.failed == []
    assert log.all_of(place) == []
    assert os.listdir(place.home + "/archive") == []
    assert git(place.root, "for-each-ref", "refs/ib") == ""


@pytest.fixture
def scratch(place: paths.Place) -> Iterator[Path]:
    folder = Path(f"/tmp/ib-gc-test-{os.getpid()}")
    folder.mkdir()
    yield folder
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def test_the_scratch_folder_of_one_that_is_gone(place: paths.Place, agent: Agent, scratch: Path) -> None:
    name = scratch.name.removeprefix("ib-")
    agent(place, name)
    assert found(place) == {}
    kill.kill(place, [name], "user", "killed", silent)
    assert found(place) == {name: "expired"}

    said: list[str] = []
    gc.sweep(place, [one(place, name)], "user", said.append)
    assert not scratch.exists()
    (aside,) = scratch.parent.glob(scratch.name + ".*")
    assert said == [f"Moved {scratch} to {aside}"]
    subprocess.run(["rm", "-rf", str(aside)], check=True)


def test_the_scratch_folder_of_a_namesake_elsewhere(place: paths.Place, agent: Agent, scratch: Path) -> None:
    name = scratch.name.removeprefix("ib-")
    agent(place, name)
    (scratch / "sub").mkdir()
    (scratch / "sub" / "result").write_text("x")
    kill.kill(place, [name], "user", "killed", silent)
    seen = one(place, name)
    assert seen.state == "expired"

    idle = subprocess.Popen(["sleep", "600"], env={**os.environ, "IB_AGENT_ID": name})
    with (scratch / "sub" / "result").open() as file:
        reader = subprocess.Popen(["sleep", "600"], stdin=file)
    try:
        for process in (idle, reader):
            assert found(place) == {name: "unknown"}
            process.kill()
            process.wait()
        assert found(place) == {name: "expired"}
    finally:
        for process in (idle, reader):
            process.kill()
            process.wait()

    later = time.time() + 10
    os.utime(scratch / "sub" / "result", (later, later))
    assert found(place) == {name: "unknown"}
    assert [failed for failed, _ in gc.sweep(place, [seen], "user", silent).failed] == [name]
    assert (scratch / "sub" / "result").exists()


def test_branches_that_no_agent_can_have_are_not_touched(place: paths.Place) -> None:
    for name in ("My_Feature", "x/y", "all"):
        git(place.root, "branch", f"agent/{name}")

    assert found(place) == {}


def test_a_branch_that_is_being_rebased_is_active(place: paths.Place, tmp_path: Path) -> None:
    git(place.root, "worktree", "add", "-q", "-b", "agent/foo", str(tmp_path / "wt"))
    git(tmp_path / "wt", "commit", "-q", "--allow-empty", "-m", "mine")
    git(tmp_path / "wt", "rebase", "-q", "--exec", "true", "--root")
    git(tmp_path / "wt", "-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-q", "-i", "--keep-empty", "--root")
    assert "rebase" in git(tmp_path / "wt", "status")

    assert found(place) == {"foo": "active"}
    done = gc.sweep(place, [one(place, "foo")], "user", silent)

    assert (done.removed, [name for name, _ in done.failed], done.undo) == ([], ["foo"], "")
    assert "agent/foo" in git(place.root, "for-each-ref")


def test_a_scratch_folder_that_is_older_than_the_agent(place: paths.Place, agent: Agent, scratch: Path) -> None:
    name = scratch.name.removeprefix("ib-")
    agent(place, name)
    agent_meta.change(place, name, created_epoch=time.time() - 60)
    long_ago = time.time() - 3600
    os.utime(scratch, (long_ago, long_ago))
    kill.kill(place, [name], "user", "killed", silent)

    seen = one(place, name)

    assert (seen.state, seen.reason) == ("unknown", "older than its agent")
