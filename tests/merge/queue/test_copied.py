"""A repository that was copied as a whole, with its agents, or moved: what is done in one leaves the other alone."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ibstatus.agents import recover
from ibstatus.board import holdings, opening
from ibstatus.project import agent_meta, home, operations, paths
from ibstatus.system.git import checkouts
from tests import killed
from tests.conftest import Done, git, make_agent
from tests.gitwork import commit, state, tip
from tests.sweeps import spread
from tests.until import until

Ib = Callable[..., Done]
SERVER = "0123456789abcdef"


def parted(place: paths.Place, ib: Ib, name: str = "copy") -> paths.Place:
    """A copy that has a name of its own."""
    copy = copied(place, name)
    done = ib("init", "--copied", cwd=copy.root)
    assert done.code == 0, done.err
    return copy


def copied(place: paths.Place, name: str = "copy") -> paths.Place:
    """As `cp -a` does it; once more where a file that an agent had just made was gone again before it was copied."""
    target = Path(place.root).parent / name
    for left in reversed(range(5)):
        if subprocess.run(["cp", "-a", place.root, str(target)], check=not left).returncode == 0:
            break
        shutil.rmtree(target)
    return paths.find(str(target))


def moved(place: paths.Place, name: str) -> paths.Place:
    target = Path(place.root).parent / name
    os.rename(place.root, target)
    return paths.find(str(target))


def taken(place: paths.Place, agent: str, **new: Any) -> None:
    """The agent is as if it had taken these tasks."""
    agent_meta.change(place, agent, **new)


def claim(id: str, board: str) -> dict[str, Any]:
    return {"id": id, "attempt": 1, "lease": 900.0, "board": board}


def test_what_was_taken_from_the_file_is_of_the_copied_file_and_the_rest_is_left_behind(
    repo: paths.Place, ib: Ib
) -> None:
    ib("init")
    for name in ("a1", "a2", "a3"):
        make_agent(repo, name)
    mark = opening.mark_of(repo)
    taken(repo, "a1", task={"id": "t", "attempt": 1, "board": mark}, claims=[claim("u", mark), claim("v", SERVER)])
    taken(repo, "a2", task={"id": "t", "attempt": 1, "board": SERVER}, claims=[claim("v", SERVER)])
    taken(repo, "a3", task={"id": "t", "attempt": 1})
    before = [agent_meta.read(repo, name) for name in ("a1", "a2", "a3")]
    copy = copied(repo)

    assert ib("init", "--copied", cwd=copy.root).code == 0

    own = opening.mark_of(copy)
    assert own != mark
    assert agent_meta.read(copy, "a1")["task"]["board"] == own
    assert [held.fence.task_id for held in holdings.of(copy, "a1")] == ["u"]
    assert holdings.records(agent_meta.read(copy, "a1")) == [claim("u", own)]
    assert not {"task", "claims"} & (agent_meta.read(copy, "a2").keys() | agent_meta.read(copy, "a3").keys())
    assert [agent_meta.read(repo, name) for name in ("a1", "a2", "a3")] == before


def test_what_was_taken_from_the_file_goes_along_when_the_repository_moves(repo: paths.Place, ib: Ib) -> None:
    ib("init")
    make_agent(repo, "a1")
    taken(repo, "a1", claims=[claim("u", opening.mark_of(repo)), claim("v", SERVER)])
    there = moved(repo, "there")

    assert ib("init", "--moved", cwd=there.root).code == 0

    found = holdings.records(agent_meta.read(there, "a1"))
    assert found == [claim("u", opening.mark_of(there)), claim("v", SERVER)]


def test_the_worktrees_of_a_copy_are_its_own(repo: paths.Place, ib: Ib) -> None:
    ib("init")
    worktree = make_agent(repo, "a1")
    commit(worktree, "work.txt", "work\n")
    (worktree / "loose.txt").write_text("loose\n")
    before = state(worktree), Path(worktree, ".git").read_bytes()
    copy = parted(repo, ib)

    done = ib("list", cwd=copy.root)
    assert done.code == 0, done.err

    own = Path(copy.agent_dir("a1"), "repo")
    assert git(own, "rev-parse", "--absolute-git-dir").strip() == f"{copy.common}/worktrees/repo"
    assert f"worktree {own}\n" in git(copy.root, "worktree", "list", "--porcelain")
    assert git(own, "status", "--porcelain") == "?? loose.txt\n"
    assert "loose.txt" in ib("diff", "a1", cwd=copy.root).out
    assert "loose.txt" in ib("status", "a1", cwd=copy.root).out
    commit(own, "more.txt", "more\n")
    assert tip(copy.root, "agent/a1") != tip(repo.root, "agent/a1")
    assert ib("nuke", "--force", cwd=copy.root).code == 0
    assert not own.exists()
    assert (state(worktree), Path(worktree, ".git").read_bytes()) == before
    assert git(repo.root, "worktree", "list", "--porcelain").count("worktree ") == 2


def test_a_worktree_of_another_repository_is_refused(repo: paths.Place, ib: Ib) -> None:
    """Its counterpart in the copy is gone, so the pointer stays, and nobody works there."""
    ib("init")
    worktree = make_agent(repo, "a1")
    agent_meta.change(repo, "a1", session_id="0" * 36, client="/bin/true")
    copy = copied(repo)
    shutil.rmtree(copy.common + "/worktrees/repo")
    assert ib("init", "--copied", cwd=copy.root).code == 0

    for args in (("resume", "a1"), ("diff", "a1"), ("status", "a1")):
        done = ib(*args, cwd=copy.root)
        assert done.code == 1, args
        assert "is no worktree of this repository" in done.err, args
    assert ib("diff", "a1", "--committed", cwd=copy.root).code == 0
    assert ib("kill", "a1", "--force", cwd=copy.root).code == 0
    assert git(worktree, "status", "--porcelain") == ""


def test_checkouts_of_another_repository_are_not_ours(repo: paths.Place, tmp_path: Path, ib: Ib) -> None:
    """Beside the repository lies a worktree of the user's, which git names in the copy as well."""
    ib("init")
    git(repo.root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "beside"))
    worktree = make_agent(repo, "a1")
    commit(worktree, "work.txt", "work\n")
    copy = parted(repo, ib)
    before = state(tmp_path / "beside")

    assert [one.path for one in checkouts.all_of(repo.root, repo.root, repo.common) if one.ref == "refs/heads/side"]
    done = ib("merge", "a1", "--into", "side", "--force", cwd=copy.root)

    assert done.code == 0, done.err
    assert state(tmp_path / "beside") == before
    assert not (tmp_path / "beside" / "work.txt").exists()


def test_a_merge_that_was_copied_half_done_is_finished_in_the_copy(repo: paths.Place, ib: Ib) -> None:
    ib("init")
    work = commit(make_agent(repo, "a1"), "work.txt", "work\n")
    start = tip(repo.root)
    facts = {"agent": "a1", "ref": "refs/heads/main", "before": start, "after": work, "checkouts": [repo.root]}
    with operations.begin(repo, "merge", "a1", by="user", into="refs/heads/main") as op:
        op.note(step="moving", merge={**facts, "commits": 1})
        git(repo.root, "update-ref", "refs/heads/main", work)
        copy = copied(repo)
        git(repo.root, "update-ref", "refs/heads/main", start)
        op.done()
    (Path(repo.root) / "mine").write_text("mine\n")
    before = state(repo.root)

    assert ib("init", "--copied", cwd=copy.root).code == 0
    assert ib("list", cwd=copy.root).code == 0

    assert state(repo.root) == before
    assert tip(copy.root) == work
    assert (Path(copy.root) / "work.txt").exists()
    assert git(copy.root, "status", "--porcelain") == ""
    assert ib("list", "--json", cwd=copy.root).json() == []
    assert [agent["id"] for agent in ib("list", "--json").json()] == ["a1"]


def test_a_merge_never_touches_a_checkout_that_is_none_of_ours(repo: paths.Place, tmp_path: Path) -> None:
    """Whatever its record names."""
    home.enter(repo)
    start, work = tip(repo.root), commit(make_agent(repo, "a1"), "work.txt", "work\n")
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", repo.root, str(other))
    facts = {"agent": "a1", "ref": "refs/heads/main", "before": start, "after": work, "checkouts": [str(other)]}
    with operations.begin(repo, "merge", "a1", by="user", into="refs/heads/main") as op:
        op.note(step="moving", merge={**facts, "commits": 1})
        git(repo.root, "update-ref", "refs/heads/main", work)
    git(repo.root, "reset", "-q", "--hard")

    recover.everything(repo)

    assert list(operations.unfinished(repo)) == []
    assert not (other / "work.txt").exists()
    assert git(other, "status", "--porcelain") == ""


def live(tmux: Callable[..., str]) -> list[str]:
    return sorted(tmux("list-sessions", "-F", "#{session_name}").split())


@pytest.mark.parametrize("command", ["list", "tree", "status", "uninstall"])
def test_a_spawn_that_was_copied_is_rolled_back_in_the_copy_alone(
    repo: paths.Place, ib: Ib, tmux: Callable[..., str], fake_claude: Path, command: str
) -> None:
    assert ib("new-agent", "--name", "x", "Task\n> wait").code == 0
    base = agent_meta.read(repo, "x")["base_commit"]
    with operations.begin(repo, "spawn", "x", base_commit=base, manager=None) as op:
        op.note(made=["folder", "worktree", "session"])
        copy = copied(repo)
        op.done()
    there = live(tmux)

    assert ib("init", "--copied", cwd=copy.root).code == 0
    ib(command, cwd=copy.root)

    assert live(tmux) == there != []
    assert Path(repo.agent_dir("x"), "repo", "file.txt").exists()
    assert git(repo.root, "branch", "--list", "agent/x") != ""
    assert "x" not in [agent["id"] for agent in ib("list", "--json", cwd=copy.root).json()]
    assert not os.path.exists(copy.agent_dir("x"))
    assert git(copy.root, "branch", "--list", "agent/x") == ""


def test_an_agent_of_a_copy_begins_anew_and_only_when_it_is_asked_for(
    repo: paths.Place, ib: Ib, tmux: Callable[..., str], fake_claude: Path
) -> None:
    assert ib("new-agent", "--name", "x", "Task\n> wait\n> wait").code == 0
    until(lambda: [agent["state"] for agent in ib("list", "--json").json()] == ["waiting"])
    session = agent_meta.read(repo, "x")["session_id"]
    [transcript] = fake_claude.glob(f"projects/*/{session}.jsonl")
    said, there = transcript.read_bytes(), live(tmux)
    copy = parted(repo, ib)

    listed = ib("list", cwd=copy.root)
    assert "cut off" not in listed.err
    assert [agent["state"] for agent in ib("list", "--json", cwd=copy.root).json()] == ["stopped"]
    every = ib("resume", "--all", "--force", cwd=copy.root)
    assert live(tmux) == there, every
    assert "copied" in every.out + every.err

    done = ib("resume", "x", cwd=copy.root)
    assert done.code == 0, done.err
    assert agent_meta.read(copy, "x")["session_id"] != session
    until(lambda: [agent["state"] for agent in ib("list", "--json", cwd=copy.root).json()] == ["waiting"])
    until(lambda: list(fake_claude.glob(f"projects/*/{agent_meta.read(copy, 'x')['session_id']}.jsonl")))
    assert transcript.read_bytes() == said
    assert agent_meta.read(repo, "x")["session_id"] == session
    assert len(live(tmux)) == len(there) + 1

    assert ib("nuke", "--force", cwd=copy.root).code == 0
    assert live(tmux) == there
    assert ib("new-agent", "--name", "x", "Again\n> wait", cwd=copy.root).code == 0
    assert git(Path(copy.agent_dir("x"), "repo"), "rev-parse", "--git-common-dir").strip() == copy.common
    assert set(there) < set(live(tmux))
    assert [agent["state"] for agent in ib("list", "--json").json()] == ["waiting"]


def test_an_agent_that_undo_brings_back_in_a_copy_is_the_copys(
    repo: paths.Place, ib: Ib, tmux: Callable[..., str], fake_claude: Path
) -> None:
    assert ib("new-agent", "--name", "x", "Task\n> wait").code == 0
    token = Path(repo.agent_dir("x"), "token").read_text()
    until(lambda: [agent["state"] for agent in ib("list", "--json").json()] == ["waiting"])
    assert ib("kill", "x", "--force").code == 0
    copy = parted(repo, ib)
    assert ib("undo", "x").code == 0
    assert ib("resume", "x").code == 0
    there, known = live(tmux), agent_meta.read(repo, "x")

    assert ib("undo", "x", cwd=copy.root).code == 0

    mine = agent_meta.read(copy, "x")
    assert mine["tmux_session"] == f"ittybitty-{agent_meta.repo_id(copy)}-x"
    assert mine["session_id"] != known["session_id"]
    assert Path(copy.agent_dir("x"), "token").read_text() != token
    assert git(Path(copy.agent_dir("x"), "repo"), "rev-parse", "--git-common-dir").strip() == copy.common
    assert ib("kill", "x", "--force", cwd=copy.root).code == 0
    assert live(tmux) == there != []


BOUND = """
set -e
mkdir {mnt}; mount --bind {root} {mnt}; cd {mnt}; echo mounted
{python} -c "
from ibstatus.system.git import checkouts as git_checkouts; from ibstatus.system.git import worktrees as git_worktree
from ibstatus.project import paths as places
at = places.find('{mnt}')
print(sorted(one.path for one in git_checkouts.all_of(at.root, at.root, at.common)))
print(bool(git_worktree.admin_of(at.common, '{beside}')))
"
"""


def test_by_a_mount_the_worktrees_are_those_of_the_repository(repo: paths.Place, tmp_path: Path) -> None:
    beside, mnt = tmp_path / "beside", tmp_path / "mnt"
    git(repo.root, "worktree", "add", "-q", "-b", "feature", str(beside))
    text = BOUND.format(mnt=mnt, root=repo.root, beside=beside, python=sys.executable)
    if not shutil.which("unshare"):
        pytest.skip("there is no unshare")
    done = subprocess.run(["unshare", "-Urm", "sh", "-c", text], capture_output=True, text=True, check=False)
    if not done.stdout.startswith("mounted\n"):
        pytest.skip("nobody may mount here")

    assert done.stdout.splitlines() == ["mounted", str(sorted([str(beside), str(mnt)])), "True"], done


@pytest.mark.sweep
@pytest.mark.parametrize("at", spread(range(1, 60, 2), 8))
def test_killed_while_it_is_parted_the_next_command_finishes(repo: paths.Place, ib: Ib, at: int) -> None:
    ib("init")
    make_agent(repo, "a1")
    (Path(repo.agent_dir("a1")) / "token").write_text("secret\n")
    taken(repo, "a1", task={"id": "t", "attempt": 1, "board": SERVER})
    ib("gc")
    ident = agent_meta.repo_id(repo)
    copy = copied(repo)

    killed.run_ib(at, "init", "--copied", cwd=copy.root)
    ib("init", "--copied", cwd=copy.root)
    assert ib("gc", cwd=copy.root).code == 0

    known = agent_meta.read(copy, "a1")
    assert agent_meta.repo_id(copy) not in ("", ident)
    assert known["tmux_session"] == f"ittybitty-{agent_meta.repo_id(copy)}-a1"
    assert "task" not in known
    for path in (Path(copy.agent_dir("a1"), "token"), Path(copy.safe, "agents/a1/token")):
        assert path.read_text() not in ("", "secret\n")
    assert Path(copy.safe, "repo-id").read_text().strip() == agent_meta.repo_id(copy)
    assert git(Path(copy.agent_dir("a1"), "repo"), "rev-parse", "--git-common-dir").strip() == copy.common
    assert agent_meta.repo_id(repo) == ident


ACTING = (("gc",), ("send", "user-claude", "hello"), ("kill", "a1", "--force"), ("uninstall", "--force"), ("init",))


@pytest.mark.parametrize("is_copy", [False, True], ids=["moved", "copied"])
def test_nothing_acts_before_a_person_has_said_what_it_is(repo: paths.Place, ib: Ib, is_copy: bool) -> None:
    ib("init")
    make_agent(repo, "a1")
    ident = agent_meta.repo_id(repo)
    there = copied(repo) if is_copy else moved(repo, "there")
    before = agent_meta.read(there, "a1")

    for command in ACTING:
        done = ib(*command, cwd=there.root)
        assert (done.code, done.out) == (1, ""), command
        assert f"ib knows this repository at {repo.root}" in done.err
        assert "ib init --moved" in done.err
    for command in (("list",), ("status",), ("doctor",)):
        assert "Traceback" not in ib(*command, cwd=there.root).err
    assert "it was moved or copied" in ib("doctor", cwd=there.root).out
    assert "a1" in ib("list", cwd=there.root).out
    assert (agent_meta.read(there, "a1"), agent_meta.repo_id(there)) == (before, ident)

    assert ib("init", "--copied" if is_copy else "--moved", cwd=there.root).code == 0
    assert (agent_meta.repo_id(there) == ident) != is_copy
    assert ib("gc", cwd=there.root).code == 0
    assert ib("init", "--copied", cwd=there.root).code == 1
    assert agent_meta.repo_id(there) != ident or not is_copy
    assert git(Path(there.agent_dir("a1"), "repo"), "rev-parse", "--git-common-dir").strip() == there.common


def test_a_copy_that_was_cleaned_is_asked_as_well(repo: paths.Place, ib: Ib) -> None:
    ib("init")
    copy = copied(repo)
    shutil.rmtree(copy.home)

    assert ib("list", cwd=copy.root).code == 0
    assert ib("gc", cwd=copy.root).code == 1
    assert not Path(copy.home).exists()
    assert ib("init", "--copied", cwd=copy.root).code == 0
    assert agent_meta.repo_id(copy) not in ("", agent_meta.repo_id(repo))


def test_the_same_folder_by_another_path_is_not_asked(repo: paths.Place, ib: Ib) -> None:
    ib("init")
    ident, other = agent_meta.repo_id(repo), Path(repo.root).parent / "by-another-name"
    os.symlink(repo.root, other)
    Path(repo.safe, "root").write_bytes(os.fsencode(other) + b"\n")

    assert ib("gc").code == 0
    assert agent_meta.repo_id(repo) == ident


def test_a_checkout_that_shares_its_git_directory_is_no_copy(repo: paths.Place, ib: Ib) -> None:
    git(repo.root, "init", "-q", "--separate-git-dir", str(Path(repo.root).parent / "shared.git"))
    repo = paths.find(repo.root)
    assert ib("init").code == 0
    copy = copied(repo)

    done = ib("init", "--copied", cwd=copy.root)

    assert done.code == 1
    assert "shares its git directory" in done.err
    assert ib("gc").code == 0
