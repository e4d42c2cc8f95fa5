"""Whatever a removal took away comes back as it was; refused means nothing was changed; cut off, it is finished."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibstatus.agents import kill, recover
from ibstatus.agents.undo import git_snapshot, log, undo
from ibstatus.errors import IbError
from ibstatus.mail import questions
from ibstatus.project import agent_meta, founding, home, operations, paths
from ibstatus.system import folders
from tests.agents.undo.test_git_snapshot import ATTRIBUTES, act, files, step
from tests.conftest import git, make_agent, make_repo, run_ib
from tests.sweeps import Sweep

NOW = 1_800_000_000.0


def silent(text: str) -> None:
    pass


def seen(place: paths.Place, agent: str) -> dict[str, Any]:
    """Everything that a person could look at."""
    tree = Path(place.agent_dir(agent)) / "repo"
    status = git_snapshot.asked(str(tree), "status", "--porcelain=v2", "--ignored", "--branch", "-z")
    return {
        "status": sorted(status.split(b"\0")),
        "staged": git_snapshot.asked(str(tree), "ls-files", "--stage", "-v", "-z"),
        "files": files(tree),
        "refs": git(place.root, "for-each-ref"),
        "head": git_snapshot.asked(str(tree), "log", "--format=%H %D"),
        "papers": sorted(path.name for path in Path(place.agent_dir(agent)).iterdir()),
        "root": git(place.root, "status", "--porcelain"),
        "worktrees": sorted(git(place.root, "worktree", "list", "--porcelain").split("\n\n")),
    }


def close(place: paths.Place, *names: str) -> kill.Closed:
    closed = kill.kill(place, names, "user", "killed", silent)
    assert closed.failed == []
    return closed


@pytest.fixture
def worked(repo: paths.Place) -> Path:
    """An agent in the middle of its work."""
    home.enter(repo)
    tree = make_agent(repo, "foo")
    Path(repo.agent_dir("foo"), "agent.log").write_text("[then] it began\n")
    (tree / ".gitignore").write_text("*.o\nbuild/\n")
    (tree / "done.txt").write_text("committed\n")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "done")
    (tree / "file.txt").write_text("staged\n")
    git(tree, "add", "file.txt")
    (tree / "file.txt").write_text("and changed\n")
    (tree / "new.txt").write_text("new\n")
    (tree / "x.o").write_bytes(b"\0ignored")
    (tree / "build").mkdir()
    (tree / "build" / "out").write_text("out\n")
    (tree / "run.sh").write_text("#!/bin/sh\n")
    (tree / "run.sh").chmod(0o755)
    (tree / "link").symlink_to("nowhere")
    os.unlink(tree / "done.txt")
    return tree


def test_a_kill_is_taken_back(repo: paths.Place, worked: Path) -> None:
    before = seen(repo, "foo")
    close(repo, "foo")
    assert not os.path.exists(repo.agent_dir("foo"))

    [record] = undo.undo(repo, "", silent)

    assert record.agent == "foo"
    assert seen(repo, "foo") == before
    assert log.all_of(repo) == []
    assert folders.names_in(repo.safe + "/undo") == []
    assert git(repo.root, "for-each-ref", "refs/ib") == ""
    assert agent_meta.read(repo, "foo")["ended"]
    assert os.path.exists(repo.safe + "/agents/foo/meta.json")
    assert "Brought back" in Path(repo.agent_dir("foo"), "agent.log").read_text()
    assert git(repo.root, "worktree", "prune", "-v") == ""
    assert git(repo.root, "fsck", "--strict", "--no-dangling") == ""


def test_after_gc_all_of_it_is_still_there(repo: paths.Place, worked: Path) -> None:
    before = seen(repo, "foo")
    close(repo, "foo")
    git(repo.root, "reflog", "expire", "--expire=now", "--all")
    git(repo.root, "gc", "-q", "--prune=now")
    git(repo.root, "worktree", "prune")

    undo.undo(repo, "foo", silent)

    after = seen(repo, "foo")
    assert after == before


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(attributes=st.sampled_from(ATTRIBUTES), steps=st.lists(step, max_size=12))
def test_any_worktree_comes_back(room: Path, attributes: bytes, steps: list[Any]) -> None:
    root = Path(tempfile.mkdtemp(dir=room))
    try:
        place = make_repo(root / "a b'ü")
        home.enter(place)
        tree = make_agent(place, "foo")
        git(place.root, "config", "filter.rot.clean", "tr a-z b-za")
        git(place.root, "config", "filter.rot.smudge", "tr b-za a-z")
        (tree / ".gitignore").write_bytes(b"*.ign\nign/\n")
        (tree / ".gitattributes").write_bytes(attributes)
        for one in steps:
            act(tree, *one)
        before = seen(place, "foo")
        close(place, "foo")
        undo.undo(place, "", silent)
        after = seen(place, "foo")
        assert [name for name in after["papers"] if name not in before["papers"]] == ["agent.log"]
        del before["papers"], after["papers"]
        assert after == before
    finally:
        shutil.rmtree(root)


def test_children_and_questions_come_back(repo: paths.Place, agent: Callable[..., Path]) -> None:
    home.enter(repo)
    for name, manager in (("top", None), ("mid", "top"), ("low", "mid"), ("moved", "mid")):
        agent(repo, name, manager)
    questions.ask(repo, "cli", "mid", True, "which port?", NOW)
    close(repo, "mid")
    agent_meta.change(repo, "moved", manager=None)

    undo.undo(repo, "mid", silent)

    assert agent_meta.read(repo, "low")["manager"] == "mid"
    assert agent_meta.read(repo, "moved")["manager"] is None, "somebody had given it to another one meanwhile"
    assert agent_meta.read(repo, "mid")["manager"] == "top"
    [item] = questions.pending(repo)
    assert item["question"] == "which port?"
    assert "note" not in item


def test_a_question_that_was_settled_before_stays_settled(repo: paths.Place, agent: Callable[..., Path]) -> None:
    home.enter(repo)
    make_agent(repo, "foo")
    asked = questions.ask(repo, "cli", "foo", True, "which port?", NOW)[0]
    questions.acknowledge(repo, "cli", "user", [asked["id"]], NOW)
    close(repo, "foo")

    undo.undo(repo, "", silent)

    assert questions.pending(repo) == []


@pytest.mark.parametrize("order", [("top", "low"), ("low", "top")])
def test_a_group_comes_back_whole(repo: paths.Place, agent: Callable[..., Path], order: tuple[str, str]) -> None:
    home.enter(repo)
    agent(repo, "top")
    agent(repo, "low", "top")
    close(repo, *order)
    agent(repo, "other")
    close(repo, "other")

    back = undo.undo(repo, "low", silent)

    assert {record.agent for record in back} == {"top", "low"}
    assert agent_meta.read(repo, "low")["manager"] == "top"
    assert [record.agent for record in log.all_of(repo)] == ["other"]


def test_a_detached_worktree_in_a_conflict_comes_back(repo: paths.Place, worked: Path) -> None:
    git(worked, "commit", "-qam", "rest")
    git(worked, "checkout", "-q", "--detach", "main")
    (worked / "file.txt").write_text("another\n")
    git(worked, "commit", "-qam", "another")
    subprocess.run(["git", "merge", "agent/foo"], cwd=worked, capture_output=True, check=False)
    before = seen(repo, "foo")
    close(repo, "foo")

    undo.undo(repo, "", silent)

    assert seen(repo, "foo") == before
    git(worked, "merge", "--abort")


def state(place: paths.Place) -> tuple[Any, ...]:
    """What must be the same after a refusal."""
    return git(place.root, "for-each-ref"), files(Path(place.safe) / "undo"), files(Path(place.home) / "agents")


def test_a_name_that_is_taken_is_refused(repo: paths.Place, worked: Path, agent: Callable[..., Path]) -> None:
    close(repo, "foo")
    make_agent(repo, "foo")
    before = state(repo)

    with pytest.raises(IbError, match="again"):
        undo.undo(repo, "foo", silent)

    assert state(repo) == before
    assert operations.read(repo, "foo") == {}


def test_a_branch_that_is_there_again_is_refused(repo: paths.Place, worked: Path) -> None:
    close(repo, "foo")
    git(repo.root, "branch", "agent/foo", "main")
    before = state(repo)

    with pytest.raises(IbError, match="branch agent/foo again"):
        undo.undo(repo, "", silent)

    assert state(repo) == before


def test_a_path_that_is_taken_is_refused(repo: paths.Place, worked: Path) -> None:
    close(repo, "foo")
    Path(repo.agent_dir("foo")).mkdir()
    Path(repo.agent_dir("foo"), "mine").write_text("x")
    before = state(repo)

    with pytest.raises(IbError):
        undo.undo(repo, "", silent)

    assert state(repo) == before


def test_one_of_a_group_that_cannot_come_back_keeps_all(repo: paths.Place, agent: Callable[..., Path]) -> None:
    home.enter(repo)
    for name in ("a", "b"):
        agent(repo, name)
    close(repo, "a", "b")
    agent(repo, "a")
    before = state(repo)

    with pytest.raises(IbError):
        undo.undo(repo, "", silent)

    assert state(repo) == before


def test_gits_own_name_for_the_worktree_may_be_taken(repo: paths.Place, worked: Path, tmp_path: Path) -> None:
    close(repo, "foo")
    git(repo.root, "worktree", "add", "-q", "--detach", str(tmp_path / "elsewhere" / "repo"))

    undo.undo(repo, "", silent)

    assert git(worked, "status", "--porcelain") != ""
    assert git(tmp_path / "elsewhere" / "repo", "status", "--porcelain") == ""
    assert len(git(repo.root, "worktree", "list").splitlines()) == 3


def test_a_repository_that_was_moved(repo: paths.Place, worked: Path, tmp_path: Path) -> None:
    close(repo, "foo")
    os.rename(repo.root, tmp_path / "moved")
    place = paths.find(str(tmp_path / "moved"))
    founding.settle(place, answer=founding.MOVED)

    undo.undo(place, "", silent)

    tree = Path(place.agent_dir("foo")) / "repo"
    assert (tree / "new.txt").read_text() == "new\n"
    assert git(tree, "rev-parse", "--abbrev-ref", "HEAD") == "agent/foo\n"


def test_nothing_to_undo(repo: paths.Place) -> None:
    home.enter(repo)

    with pytest.raises(IbError, match="nothing to undo"):
        undo.undo(repo, "", silent)
    with pytest.raises(IbError):
        undo.undo(repo, "../../etc", silent)


def test_killed_undone_killed_undone(repo: paths.Place, worked: Path) -> None:
    before = seen(repo, "foo")
    for _ in range(3):
        close(repo, "foo")
        undo.undo(repo, "", silent)

    assert seen(repo, "foo") == before


def in_child(act: Callable[[], None], strike: Callable[[], None]) -> bool:
    """True when it came through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid:
        status = os.waitpid(pid, 0)[1]
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
        return not os.WIFSIGNALED(status)
    code = 70
    try:
        strike()
        act()
        code = 0
    finally:
        os._exit(code)


def strike_at(at: int) -> None:
    """Die before the n-th call of anything of ours that changes something outside or on the disk."""
    import ibstatus.system.disk as disk

    count = 0

    def wrapped(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return call

    for name in ("rename", "unlink", "rmdir", "mkdir", "link", "write"):
        setattr(disk, name, wrapped(getattr(disk, name)))
    for module, name in ((os, "rename"), (os, "unlink"), (os, "rmdir"), (shutil, "rmtree"), (subprocess, "run")):
        setattr(module, name, wrapped(getattr(module, name)))


def killed_everywhere(make: Callable[[Path], paths.Place], act: Callable[[paths.Place], None], room: Path) -> Any:
    """Yield the place after a kill before one step after another, until it comes through."""
    sweep = Sweep(every=10)
    for at in sweep:
        root = Path(tempfile.mkdtemp(dir=room))
        place = make(root)
        through = in_child(lambda place=place: act(place), lambda at=at: strike_at(at))
        try:
            yield place
        except BaseException:
            print(f"killed before step {at}")
            raise
        shutil.rmtree(root)
        sweep.tell(not through)
    assert sweep.last > 20


def busy_agent(root: Path) -> paths.Place:
    place = make_repo(root / "repo")
    home.enter(place)
    tree = make_agent(place, "foo")
    make_agent(place, "child", "foo")
    (tree / ".gitignore").write_text("*.o\n")
    (tree / "a.txt").write_text("staged\n")
    git(tree, "add", "a.txt")
    (tree / "a.txt").write_text("changed\n")
    (tree / "x.o").write_text("ignored\n")
    questions.ask(place, "cli", "foo", True, "which port?", NOW)
    return place


@pytest.mark.sweep
@pytest.mark.timeout(300)
def test_a_kill_that_is_cut_off_anywhere(room: Path) -> None:
    for place in killed_everywhere(busy_agent, lambda place: close(place, "foo") and None, room):
        recover.everything(place)
        left = operations.read(place, "foo")
        assert left == {}
        if not log.all_of(place):  # it had not begun
            assert os.path.exists(place.agent_dir("foo") + "/repo/a.txt")
            continue
        assert not os.path.exists(place.agent_dir("foo"))
        assert len(log.all_of(place)) == 1
        assert agent_meta.read(place, "child")["manager"] is None
        undo.undo(place, "", silent)
        check_whole(place)


def check_whole(place: paths.Place) -> None:
    tree = Path(place.agent_dir("foo")) / "repo"
    assert (tree / "a.txt").read_text() == "changed\n"
    assert (tree / "x.o").read_text() == "ignored\n"
    assert git(tree, "status", "--porcelain", "--ignored") == "AM a.txt\n?? .gitignore\n!! x.o\n"
    assert git(tree, "rev-parse", "--abbrev-ref", "HEAD") == "agent/foo\n"
    assert agent_meta.read(place, "child")["manager"] == "foo"
    assert [item["question"] for item in questions.pending(place)] == ["which port?"]
    assert git(place.root, "worktree", "prune", "-v", "-n") == ""
    assert git(place.root, "fsck", "--strict", "--no-dangling") == ""


def killed_agent(root: Path) -> paths.Place:
    place = busy_agent(root)
    close(place, "foo")
    return place


@pytest.mark.sweep
@pytest.mark.timeout(300)
def test_an_undo_that_is_cut_off_anywhere(room: Path) -> None:
    for place in killed_everywhere(killed_agent, lambda place: undo.undo(place, "", silent) and None, room):
        git(place.root, "worktree", "prune")  # as git itself may do at any time
        recover.everything(place)
        if log.all_of(place):  # it had not begun
            assert not os.path.exists(place.agent_dir("foo") + "/meta.json")
            undo.undo(place, "", silent)
        check_whole(place)
        assert folders.names_in(place.safe + "/undo") == []
        assert git(place.root, "for-each-ref", "refs/ib") == ""


def test_what_does_not_fit_is_kept(repo: paths.Place, worked: Path) -> None:
    """Somebody put a folder where a file was, between the snapshot and the removal: both are still there."""
    (worked / "d").mkdir()
    (worked / "d" / "f").write_text("x")
    name = close(repo, "foo").retired[0].undo
    rest = Path(log.folder(repo, name), log.REST)
    (rest / "d").write_text("in the way")
    said: list[str] = []

    undo.undo(repo, "", said.append)

    assert (worked / "d").read_text() == "in the way"
    assert any("d/f" in text for text in said)
    assert git(repo.root, "show", f"{log.ref_of(name)}:d/f") == "x"


def test_two_at_once(repo: paths.Place, worked: Path) -> None:
    def together(*words: str) -> list[int]:
        argv = [sys.executable, "-m", "ibstatus", *words]
        running = [subprocess.Popen(argv, cwd=repo.root, stderr=subprocess.PIPE, stdout=subprocess.PIPE) for _ in "abc"]
        assert all(b"This is a bug" not in process.communicate()[1] for process in running)
        return sorted(process.returncode for process in running)

    before = seen(repo, "foo")
    for _ in range(3):
        assert together("kill", "foo", "--force") == [0, 1, 1]
        assert len(log.all_of(repo)) == 1
        assert together("undo", "foo") == [0, 1, 1]
        assert seen(repo, "foo") == before


@pytest.mark.usefixtures("tmux")
@pytest.mark.parametrize("checked_out", [True, False])
def test_a_merge_is_taken_back(repo: paths.Place, worked: Path, checked_out: bool) -> None:
    git(worked, "add", "-A")
    git(worked, "commit", "-qm", "all")
    if not checked_out:
        git(repo.root, "checkout", "-q", "-b", "elsewhere")
    before, main = seen(repo, "foo"), git(repo.root, "rev-parse", "main")
    merged = run_ib("merge", "foo", "--into", "main", "--force", cwd=repo.root)
    assert merged.code == 0, merged.err
    assert git(repo.root, "rev-parse", "main") != main

    back = run_ib("undo", cwd=repo.root)

    assert (back.code, back.out) == (0, "Undid the merge of foo\n"), back.err
    assert seen(repo, "foo") == before


@pytest.mark.usefixtures("tmux")
def test_a_merge_that_others_built_on_stays(repo: paths.Place, worked: Path) -> None:
    git(worked, "add", "-A")
    git(worked, "commit", "-qm", "all")
    assert run_ib("merge", "foo", "--force", cwd=repo.root).code == 0
    git(repo.root, "commit", "-q", "--allow-empty", "-m", "later")
    before = state(repo)

    done = run_ib("undo", cwd=repo.root)

    assert done.code == 1
    assert "git revert" in done.err
    assert state(repo) == before
    assert operations.read(repo, "foo") == {}


@pytest.mark.usefixtures("tmux")
@pytest.mark.parametrize("how", ["kill", "merge"])
def test_beside_a_bare_repository(repo: paths.Place, tmp_path: Path, how: str) -> None:
    top = tmp_path / "proj"
    git(tmp_path, "clone", "-q", "--bare", repo.root, str(top / ".bare"))
    git(top / ".bare", "worktree", "add", "-q", str(top / "main"), "main")
    place = paths.find(str(top / "main"))
    home.enter(place)
    tree = Path(place.agent_dir("foo")) / "repo"
    tree.parent.mkdir(parents=True)
    (tree.parent / "meta.json").write_text('{"id": "foo", "created_epoch": 1}')
    git(top / "main", "worktree", "add", "-q", "-b", "agent/foo", str(tree))
    git(tree, "commit", "-q", "--allow-empty", "-m", "work")
    if how == "kill":
        (tree / "new.txt").write_text("new\n")
    before = files(tree), git(top / ".bare", "for-each-ref")

    assert run_ib(how, "foo", "--force", cwd=top / "main").code == 0
    assert "agent/foo" not in git(top / ".bare", "branch")
    assert run_ib("gc", cwd=top / "main").out == ""
    back = run_ib("undo", cwd=top / "main")

    assert back.code == 0, back.err
    assert (files(tree), git(top / ".bare", "for-each-ref")) == before


def test_submodules_come_back_though_git_gave_their_names_away(
    repo: paths.Place, agent: Callable[..., Path], tmp_path: Path
) -> None:
    home.enter(repo)
    make_repo(tmp_path / "lib")
    allow = ("-c", "protocol.file.allow=always")
    git(repo.root, *allow, "submodule", "add", "-q", str(tmp_path / "lib"), "deep/lib")
    git(repo.root, "commit", "-q", "-m", "sub")
    for name in ("a", "b"):
        tree = agent(repo, name)
        git(tree, *allow, "submodule", "update", "-q", "--init")
        git(tree / "deep" / "lib", "commit", "-q", "--allow-empty", "-m", f"work of {name}")
        if name == "a":
            close(repo, "a")

    undo.undo(repo, "a", silent)

    for name in ("a", "b"):
        lib = Path(repo.agent_dir(name)) / "repo" / "deep" / "lib"
        assert git(lib, "log", "-1", "--format=%s").strip() == f"work of {name}"
        assert git(lib, "rev-parse", "--show-toplevel").strip() == str(lib)
        assert git(lib, "status", "--porcelain") == ""


def test_what_went_to_save_space_is_said(
    repo: paths.Place, worked: Path, agent: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "LARGEST", 1)
    (worked / "build" / "big").write_bytes(b"x" * (2 << 20))
    agent(repo, "other")
    close(repo, "foo")
    said: list[str] = []
    kill.kill(repo, ["other"], "user", "killed", said.append)
    assert [text for text in said if "build/" in text]

    said.clear()
    undo.undo(repo, "foo", said.append)

    assert [text for text in said if text.startswith("Warning") and "build/" in text]
    assert not (worked / "build").exists()
    assert (worked / "x.o").read_bytes() == b"\0ignored"
    assert (worked / "new.txt").read_text() == "new\n"


@pytest.mark.usefixtures("tmux")
def test_undo_with_the_merge_kept(repo: paths.Place, worked: Path) -> None:
    git(worked, "add", "-A")
    git(worked, "commit", "-qm", "all")
    assert run_ib("merge", "foo", "--force", cwd=repo.root).code == 0
    git(repo.root, "commit", "-q", "--allow-empty", "-m", "later")
    after = git(repo.root, "rev-parse", "main")
    assert run_ib("undo", "foo", cwd=repo.root).code == 1

    assert run_ib("undo", "foo", "--keep-merge", cwd=repo.root).code == 0

    assert git(repo.root, "rev-parse", "main") == after
    assert (worked / "new.txt").read_text() == "new\n"


def test_a_record_that_is_forgotten_leaves_no_ref(repo: paths.Place, worked: Path) -> None:
    done = close(repo, "foo").retired[0]
    log.hide(repo, done.undo)  # killed right after it

    log.forget_old(repo, NOW, silent)

    assert git(repo.root, "for-each-ref", "refs/ib") == ""
    assert folders.names_in(repo.safe + "/undo") == []


def test_a_branch_that_leaves_no_room_is_named_before_anything_is_changed(repo: paths.Place) -> None:
    make_agent(repo, "foo")
    assert run_ib("kill", "foo", "--force", cwd=repo.root).code == 0
    git(repo.root, "branch", "agent/foo/old")

    done = run_ib("undo", cwd=repo.root)

    assert done.code == 1
    assert "There is a branch agent/foo/old" in done.err
    git(repo.root, "branch", "-m", "agent/foo/old", "kept-agent-foo-old")
    assert run_ib("undo", cwd=repo.root).code == 0
