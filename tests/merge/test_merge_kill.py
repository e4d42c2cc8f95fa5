"""`kill -9` between any two steps of a merge, and two merges at once."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from ibstatus.agents import recover
from ibstatus.merge import checkout_update, merge
from ibstatus.project import agent_meta, agents, home, identity, operations, paths
from tests.conftest import git, make_repo, run_ib
from tests.gitwork import commit, subjects, tip
from tests.sweeps import Sweep, spread
from tests.until import until

pytestmark = pytest.mark.usefixtures("tmux")
Agent = Callable[..., Path]
USER = identity.Caller(identity.PERSON, "user")
MOST_STEPS = 40


def killed_at(place: paths.Place, number: int, written: bool, caller: identity.Caller, wish: merge.Wish) -> bool:
    """Merge in a child that dies right before or after it writes its n-th note. False: it came to its end before."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    try:
        real, count = operations.Operation.note, iter(range(1, MOST_STEPS))

        def note(self: operations.Operation, **facts: object) -> None:
            at = next(count) == number
            if at and not written:
                os.kill(os.getpid(), signal.SIGKILL)
            real(self, **facts)
            if at:
                os.kill(os.getpid(), signal.SIGKILL)

        operations.Operation.note = note  # type: ignore[method-assign]
        merge.merge(place, caller, wish, lambda lines: True, lambda text: None)
    finally:
        os._exit(0)


@pytest.mark.sweep
@pytest.mark.parametrize(("way", "written"), spread([*product(("user", "manager", "elsewhere"), (False, True))], 3))
def test_a_killed_merge_is_finished_or_rolled_back(tmp_path: Path, agent: Agent, way: str, written: bool) -> None:
    """Step by step, each in a repository of its own, until the merge comes to its end before it is killed."""
    outcomes, sweep = {}, Sweep(every=4, longest=MOST_STEPS)
    for number in sweep:
        repo = make_repo(tmp_path / f"repo{number}")
        was_killed, gone = killed_once(repo, agent, way, number, written)
        outcomes[number] = gone
        sweep.tell(was_killed)

    in_order = [outcomes[number] for number in sorted(outcomes)]
    assert in_order == sorted(in_order)
    assert (in_order[0], in_order[-1]) == (False, True)


def killed_once(repo: paths.Place, agent: Agent, way: str, number: int, written: bool) -> tuple[bool, bool]:
    home.enter(repo)
    lead, worker = agent(repo, "lead"), agent(repo, "w", "lead")
    agent(repo, "below", "w")
    target, branch = (lead, "agent/lead") if way == "manager" else (Path(repo.root), "main")
    caller = identity.Caller(identity.AGENT, "lead") if way == "manager" else USER
    ours, theirs = commit(target, "ours.txt", "ours\n"), commit(worker, "theirs.txt", "theirs\n")
    if way == "elsewhere":
        git(repo.root, "checkout", "-q", "-b", "elsewhere")
    (target / "notes").write_text("untracked\n")
    wish = merge.Wish("w", branch, "", str(target))

    was_killed = killed_at(repo, number, written, caller, wish)
    recover.everything(repo)

    assert list(operations.unfinished(repo)) == []
    now = tip(repo.root, f"refs/heads/{branch}")
    gone = not agents.exists(repo, "w")
    assert gone == (now != ours)
    assert git(target, "status", "--porcelain", "--untracked-files=all") == "?? notes\n"
    if gone:
        assert "write theirs.txt" in subjects(repo.root, f"{ours}..{now}")
        assert (target / "theirs.txt").exists() == (way != "elsewhere")
        assert git(repo.root, "branch", "--list", "agent/w") == ""
        assert agent_meta.read(repo, "below")["manager"] == "lead"
        [record] = Path(repo.safe, "undo").glob("*/record.json")
        assert json.loads(record.read_text())["merge"]["before"] == ours
    else:
        assert tip(worker) == theirs
        assert merge.merge(repo, caller, wish, lambda lines: True, lambda text: None)
        assert not agents.exists(repo, "w")
    return was_killed, gone


def test_two_merges_of_two_agents_at_once_both_arrive(repo: paths.Place, agent: Agent) -> None:
    names = ["a", "b", "c"]
    for name in names:
        commit(agent(repo, name), f"{name}.txt", name)

    done = at_once(repo, [["merge", name, "--force"] for name in names])

    assert [code for code, _ in done] == [0, 0, 0], done
    assert {f"Merge agent {name} work" for name in names} <= set(subjects(repo.root))
    assert {path.name for path in Path(repo.root).glob("?.txt")} == {"a.txt", "b.txt", "c.txt"}
    assert git(repo.root, "status", "--porcelain", "--untracked-files=no") == ""


def test_two_merges_of_one_agent_at_once_are_one_merge(repo: paths.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")

    done = at_once(repo, [["merge", "w", "--force"]] * 2)

    assert sorted(code for code, _ in done) == [0, 1], done
    assert subjects(repo.root).count("Merge agent w work") == 1
    assert run_ib("merge", "w", "--force", cwd=repo.root).code == 1


def at_once(place: paths.Place, commands: list[list[str]]) -> list[tuple[int, str]]:
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "ibstatus", *words],
            cwd=place.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for words in commands
    ]
    done = [process.communicate(timeout=60)[1] for process in running]
    return [(process.returncode, err) for process, err in zip(running, done, strict=True)]


def test_a_git_that_died_with_us_is_cleaned_up_after(repo: paths.Place, agent: Agent) -> None:
    """A filter kills the whole process group while git writes the files: its lock is the user's to remove."""
    home.enter(repo)
    worker = agent(repo, "w")
    commit(worker, "a/new.txt", "new\n")
    commit(worker, "file.txt", "theirs\n")
    commit(worker, "zz.bad", "bad\n")
    Path(repo.common, "info").mkdir(exist_ok=True)
    Path(repo.common, "info/attributes").write_text("*.bad filter=bad\n")
    git(repo.root, "config", "filter.bad.smudge", "kill -9 0")
    git(repo.root, "config", "filter.bad.clean", "cat")

    argv = [sys.executable, "-m", "ibstatus", "merge", "w", "--force"]
    dead = subprocess.run(argv, cwd=repo.root, start_new_session=True, capture_output=True, check=False)
    assert dead.returncode == -signal.SIGKILL
    git(repo.root, "config", "filter.bad.smudge", "cat")
    assert (Path(repo.root) / "a/new.txt").exists()

    said: list[str] = []
    recover.everything(repo, said.append)
    assert "index.lock" in said[0]
    Path(repo.common, "index.lock").unlink()
    recover.everything(repo)

    assert git(repo.root, "status", "--porcelain") == ""
    assert not Path(repo.root, "a").exists()
    assert merge.merge(repo, USER, merge.Wish("w", cwd=repo.root), lambda lines: True, lambda text: None)
    assert Path(repo.root, "a/new.txt").exists()


def test_a_git_that_a_hook_holds_up_is_waited_for(repo: paths.Place, agent: Agent, tmp_path: Path) -> None:
    """The merge is killed while `git update-ref` sits in the user's hook: the branch moves a moment later."""
    home.enter(repo)
    commit(agent(repo, "w"), "new.txt", "new\n")
    hook = Path(repo.common, "hooks/reference-transaction")
    hook.parent.mkdir(exist_ok=True)
    there, go = tmp_path / "there", tmp_path / "go"
    hook.write_text(
        f'#!/bin/sh\n[ "$1" = prepared ] || exit 0\ngrep -q refs/heads/main || exit 0\n'
        f": > {there}\nwhile [ ! -e {go} ]; do sleep 0.05; done\n"
    )
    hook.chmod(0o755)
    argv = [sys.executable, "-m", "ibstatus", "merge", "w", "--force"]
    with subprocess.Popen(argv, cwd=repo.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        until(there.exists)
        running.kill()

    said: list[str] = []
    recover.everything(repo, said.append)
    assert "still moving a branch" in said[0]
    assert agents.exists(repo, "w")
    go.touch()
    until(lambda: "write new.txt" in subjects(repo.root))
    recover.everything(repo)

    assert not agents.exists(repo, "w")
    assert git(repo.root, "status", "--porcelain") == ""
    assert Path(repo.root, "new.txt").exists()


def test_what_a_sparse_checkout_leaves_out_stays_out(repo: paths.Place, agent: Agent) -> None:
    for path in ("in/one.txt", "out/two.txt"):
        commit(Path(repo.root), path, "one\n")
    home.enter(repo)
    worker = agent(repo, "w")
    git(worker, "rm", "-q", "-r", "out")
    git(worker, "commit", "-q", "-m", "without it")
    commit(worker, "in/one.txt", "two\n")
    git(repo.root, "sparse-checkout", "set", "in")
    before, after = tip(repo.root), tip(worker)
    (Path(repo.root) / "in/one.txt").write_text("two\n")  # as far as a git got that was killed

    assert checkout_update.put_back(repo.root, "refs/heads/main", before, after) == ""

    assert (Path(repo.root) / "in/one.txt").read_text() == "one\n"
    assert not (Path(repo.root) / "out").exists()
    assert git(repo.root, "status", "--porcelain") == ""
