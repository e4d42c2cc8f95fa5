"""An agent is stopped, kept, archived and taken away; cut off anywhere, the next command brings it to its end."""

import contextlib
import errno
import json
import os
import signal
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.agents import recover, retire
from ibstatus.agents.undo import log
from ibstatus.errors import IbError
from ibstatus.mail import questions
from ibstatus.project import agent_meta, home, operations, paths
from tests import faults as fault_seam
from tests.conftest import git, make_agent
from tests.sweeps import spread

NOW = 1_800_000_000.0


def silent(text: str) -> None:
    pass


def retired(place: paths.Place, name: str, **facts: object) -> retire.Retired:
    with operations.begin(place, "kill", name, verb="killed", by="user", **facts) as op:
        done = retire.retire(op, silent)
        op.done()
    return done


def branches(place: paths.Place) -> list[str]:
    return git(place.root, "for-each-ref", "--format=%(refname)", "refs/heads").split()


@pytest.fixture
def worked(repo: paths.Place) -> Path:
    """An agent that has committed, changed and made files."""
    home.enter(repo)
    tree = make_agent(repo, "foo")
    (tree / "done.txt").write_text("committed\n")
    git(tree, "add", "done.txt")
    git(tree, "commit", "-q", "-m", "done")
    (tree / "file.txt").write_text("changed\n")
    (tree / "new.txt").write_text("new\n")
    return tree


def test_nothing_of_it_is_left_but_what_undo_needs(repo: paths.Place, worked: Path) -> None:
    done = retired(repo, "foo")

    assert not os.path.exists(repo.agent_dir("foo"))
    assert branches(repo) == ["refs/heads/main"]
    assert len(git(repo.root, "worktree", "list").splitlines()) == 1
    assert not os.path.exists(repo.safe + "/agents/foo")
    assert not os.path.exists(operations.path_of(repo, "foo"))
    kept = git(repo.root, "ls-tree", "-r", "--name-only", log.ref_of(done.undo)).split()
    assert kept == ["done.txt", "file.txt", "new.txt"]
    assert git(repo.root, "fsck", "--strict", "--no-dangling") == ""


def test_the_archive_holds_its_papers_and_its_work(repo: paths.Place, worked: Path) -> None:
    folder = Path(repo.agent_dir("foo"))
    (folder / "prompt.txt").write_text("do it\n")
    (folder / "debug-logs").mkdir()
    for number in range(25):
        log = folder / "debug-logs" / f"stop-{number:02d}.txt"
        log.write_text("x")
        os.utime(log, (number, number))

    done = retired(repo, "foo")

    kept = Path(done.archive)
    assert kept.parent == Path(repo.home) / "archive"
    assert json.loads((kept / "meta.json").read_text())["id"] == "foo"
    assert (kept / "prompt.txt").read_text() == "do it\n"
    assert "Subject: [PATCH] done" in (kept / "branch.patch").read_text()
    assert "+changed" in (kept / "uncommitted.patch").read_text()
    assert "Agent killed" in (kept / "agent.log").read_text()
    assert "Deleted branch agent/foo" in (kept / "agent.log").read_text()
    assert sorted(path.name for path in (kept / "debug-logs").iterdir())[0] == "stop-05.txt"
    assert len(list((kept / "debug-logs").iterdir())) == 20


def test_two_archives_of_one_second_do_not_meet(repo: paths.Place, agent: Callable[..., Path]) -> None:
    home.enter(repo)
    found = set()
    for _ in range(3):
        agent(repo, "foo")
        found.add(retired(repo, "foo").archive)

    assert len(found) == 3
    assert len(log.all_of(repo)) == 3


def test_children_get_the_manager_of_their_manager(repo: paths.Place, agent: Callable[..., Path]) -> None:
    home.enter(repo)
    for name, manager in (("top", None), ("mid", "top"), ("low", "mid")):
        agent(repo, name, manager)

    assert retired(repo, "mid").children == ["low"]
    assert agent_meta.read(repo, "low")["manager"] == "top"
    retired(repo, "top")
    assert agent_meta.read(repo, "low")["manager"] is None


def test_its_open_questions_are_settled(repo: paths.Place, agent: Callable[..., Path]) -> None:
    home.enter(repo)
    agent(repo, "foo")
    questions.ask(repo, "cli", "foo", True, "which port?", NOW)
    questions.ask(repo, "cli", "bar", True, "which host?", NOW)

    retired(repo, "foo")

    assert [item["agent"] for item in questions.pending(repo)] == ["bar"]


def test_a_branch_that_somebody_has_checked_out_stays(repo: paths.Place, worked: Path) -> None:
    git(worked, "checkout", "-q", "--detach")
    git(repo.root, "checkout", "-q", "agent/foo")

    retired(repo, "foo")

    assert "refs/heads/agent/foo" in branches(repo)
    assert git(repo.root, "status", "--porcelain") == ""


def test_a_worktree_that_git_cannot_read_is_kept_whole(repo: paths.Place, worked: Path) -> None:
    admin = Path(git(worked, "rev-parse", "--absolute-git-dir").strip())
    git(worked, "checkout", "-q", "--detach")
    git(worked, "commit", "-q", "--allow-empty", "-m", "alone")
    alone = git(worked, "rev-parse", "HEAD").strip()
    (admin / "index").write_bytes(b"broken")

    done = retired(repo, "foo")

    rest = Path(log.folder(repo, done.undo)) / log.REST
    assert (rest / "new.txt").read_text() == "new\n"
    assert (rest / "file.txt").read_text() == "changed\n"
    git(repo.root, "gc", "-q", "--prune=now")
    assert git(repo.root, "log", "-1", "--format=%s", alone) == "alone\n"


def test_an_agent_without_worktree(repo: paths.Place) -> None:
    home.enter(repo)
    os.makedirs(repo.agent_dir("bare"))
    agent_meta.write(repo, "bare", {"id": "bare", "worktree": False, "created_epoch": 1})

    done = retired(repo, "bare")

    assert not os.path.exists(repo.agent_dir("bare"))
    assert os.path.exists(done.archive + "/meta.json")


def killed_at(place: paths.Place, at: int) -> bool:
    """Retire in a child that dies at its n-th note; True when it came through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid:
        status = os.waitpid(pid, 0)[1]
        return not os.WIFSIGNALED(status) and os.WEXITSTATUS(status) == 0
    try:
        count, real = 0, operations.Operation.note

        def note(self: operations.Operation, **facts: object) -> None:
            nonlocal count
            count += 1
            real(self, **facts)
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)

        operations.Operation.note = note  # type: ignore[method-assign]
        retired(place, "foo")
        os._exit(0)
    finally:
        os._exit(70)


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_killed_at_a_note_it_is_finished(repo: paths.Place, worked: Path, at: int) -> None:
    assert not killed_at(repo, at)

    recover.everything(repo)

    assert not os.path.exists(repo.agent_dir("foo"))
    assert branches(repo) == ["refs/heads/main"]
    [record] = log.all_of(repo)
    assert record.agent == "foo"
    assert git(repo.root, "show", f"{log.ref_of(record.name)}:new.txt") == "new\n"


@pytest.mark.sweep
@pytest.mark.parametrize("at", spread(range(0, 60, 2), 6))
def test_a_disk_that_fails_once_leaves_no_child_behind(
    repo: paths.Place, agent: Callable[..., Path], faults: fault_seam.Faults, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """From the moment on in which the children get their manager."""
    home.enter(repo)
    for name, manager in (("boss", None), ("lead", "boss"), ("kid", "lead"), ("other", "lead")):
        agent(repo, name, manager)
    real = retire.note_children

    def arm(op: operations.Operation) -> None:
        faults.arm(at + 1, errno.EIO)
        real(op)

    monkeypatch.setattr(retire, "note_children", arm)
    with contextlib.suppress(OSError, IbError):
        retired(repo, "lead")
    faults.disarm()
    monkeypatch.setattr(retire, "note_children", real)

    recover.everything(repo)

    assert [agent_meta.read(repo, name)["manager"] for name in ("kid", "other")] == ["boss", "boss"]
    assert not os.path.exists(repo.agent_dir("lead"))
