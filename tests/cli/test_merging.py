"""merge and merge-check as a user and an agent meet them."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.store import agents, places
from tests.conftest import Done, git, make_repo, run_ib
from tests.gitwork import commit, state, subjects, tip

pytestmark = pytest.mark.usefixtures("tmux")
Ib = Callable[..., Done]
Agent = Callable[..., Path]


def test_it_is_shown_and_asked_first(repo: places.Place, ib: Ib, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n", "say \x1b[31mred")
    before = state(repo.root)

    done = ib("merge", "w")

    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "Will merge 1 commit from agent/w into main:\n"
        f"  {tip(repo.root, 'agent/w')[:7]} say \\x1b[31mred\n"
        "Error: This is not a terminal, so nobody can be asked.\nHint: ib merge w --force\n"
    )
    assert state(repo.root) == before


@pytest.mark.parametrize(("answer", "code", "merged"), [(b"y\n", 0, True), (b"n\n", 0, False), (b"\x04", 0, False)])
def test_a_person_at_a_terminal_answers(
    repo: places.Place, agent: Agent, answer: bytes, code: int, merged: bool
) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "ibstatus", "merge", "w"], cwd=repo.root, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, answer)
    shown = b""
    try:
        while chunk := os.read(ours, 1024):
            shown += chunk
    except OSError:  # the terminal ends with the program
        pass
    os.close(ours)

    assert running.wait(30) == code, shown
    assert b"Go ahead? [y/N]" in shown
    assert (b"Cancelled." in shown) is not merged
    assert agents.exists(repo, "w") is not merged


def test_what_is_said_and_logged_of_a_merge(repo: places.Place, ib: Ib, agent: Agent) -> None:
    agent(repo, "lead")
    commit(agent(repo, "worker-a", "lead"), "new.txt", "new\n")

    done = ib("merge", "wor", "--force")

    assert done.code == 0, done.err
    first, closed, undo = done.out.splitlines()
    assert first == "Merged agent/worker-a into main: 1 commit"
    assert closed == "Closed agent: worker-a"
    assert undo.startswith("Undo: ib undo ")
    assert "Archived to: " in done.err
    [archive] = Path(repo.home, "archive").iterdir()
    assert "] Agent merged into main (1 commit)\n" in (archive / "agent.log").read_text()
    assert "] Merged worker-a into main\n" in Path(repo.agent_dir("lead"), "agent.log").read_text()
    told = [json.loads(line)["kind"] for line in ib("events", "--json").out.splitlines()]
    assert [kind for kind in told if kind.startswith("merge.")] == ["merge.started", "merge.done"]


def test_a_merge_as_json(repo: places.Place, ib: Ib, agent: Agent) -> None:
    work = commit(agent(repo, "w"), "new.txt", "new\n")
    before = tip(repo.root)

    told = ib("merge", "w", "--force", "--json").json()

    assert isinstance(told, dict)
    assert (told["agent"], told["into"], told["before"], told["after"]) == ("w", "main", before, tip(repo.root))
    assert told["commits"] == [{"oid": work, "subject": "write new.txt"}]
    assert told["undo"]
    assert Path(told["archive"]).is_dir()


def test_a_check_says_yes(repo: places.Place, ib: Ib, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    before = state(repo.root)

    assert ib("merge-check", "w") == Done(0, "Merge would succeed: 'agent/w' into 'main'\n", "")
    told = ib("merge-check", "w", "--json").json()

    assert isinstance(told, dict)
    assert (told["ok"], told["files"], told["into"], len(told["commits"])) == (True, [], "main", 1)
    assert state(repo.root) == before
    assert agents.exists(repo, "w")


def test_a_check_names_the_files(repo: places.Place, ib: Ib, agent: Agent) -> None:
    worker = agent(repo, "w")
    commit(worker, "file.txt", "theirs\n")
    (worker / "left über.txt").write_text("left\n")

    done = ib("merge-check", "w")
    assert (done.code, done.out) == (1, "left über.txt\n")
    assert done.err.startswith("Error: w has 1 uncommitted file.\nCaused by: left über.txt\nHint: ib send w 'Commit")
    assert ib("merge-check", "w", "--json").json() == {
        "ok": False, "problem": "dirty-agent", "why": "w has 1 uncommitted file", "files": ["left über.txt"],
    }  # fmt: skip

    (worker / "left über.txt").unlink()
    commit(repo.root, "file.txt", "ours\n")
    done = ib("merge-check", "w")
    assert (done.code, done.out) == (1, "file.txt\n")
    assert done.err.startswith("Error: agent/w conflicts with main in 1 file.\n")


def test_an_agent_merges_into_its_own_branch(repo: places.Place, ib: Ib, agent: Agent) -> None:
    lead = agent(repo, "lead")
    commit(agent(repo, "w", "lead"), "new.txt", "new\n")
    as_agent = {"CLAUDECODE": "1"}

    assert ib("merge", "w", cwd=lead, env=as_agent).code == 1
    done = ib("merge", "w", "--force", cwd=lead, env=as_agent)

    assert done.code == 0, done.err
    assert done.out.startswith("Merged agent/w into agent/lead: 1 commit\n")
    assert subjects(lead, "-1") == ["write new.txt"]
    assert ib("merge", "lead", "--force", cwd=lead, env=as_agent).code == 1


@pytest.mark.parametrize(
    "words",
    [
        ["merge"], ["merge", ""], ["merge", "nobody"], ["merge", "-x"], ["merge", "a/b"], ["merge", ".."],
        ["merge", "w", "--into", ""], ["merge", "w", "--into", "nowhere", "--force"], ["merge", "w", "--test"],
        ["merge-check", "nobody"], ["merge", "same"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_bad_input_is_an_error_with_a_hint(repo: places.Place, ib: Ib, agent: Agent, words: list[str]) -> None:
    for name in ("w", "same-a", "same-b"):
        agent(repo, name)
    before = state(repo.root), git(repo.root, "worktree", "list")

    done = ib(*words)

    assert done.code in (1, 2), done
    assert done.out == ""
    assert "Error: " in done.err
    assert "Hint: " in done.err
    assert (state(repo.root), git(repo.root, "worktree", "list")) == before


def test_odd_paths_and_a_plain_locale(tmp_path: Path, agent: Agent) -> None:
    repo = make_repo(tmp_path / "a path with 'quotes' \"ü\" $(x)\nand more")
    commit(agent(repo, "w"), "näh\n'\".txt", "new\n")

    done = run_ib("merge", "w", "--force", "--test", "ls", cwd=repo.root, env={"LC_ALL": "C"})

    assert done.code == 0, done.err
    assert Path(repo.root, "näh\n'\".txt").exists()


def test_undo_takes_the_merge_back_and_brings_the_agent(repo: places.Place, ib: Ib, agent: Agent) -> None:
    ib("init")
    worker = agent(repo, "w")
    work = commit(worker, "new.txt", "new\n")
    before = state(repo.root)

    assert ib("merge", "w", "--force").code == 0
    done = ib("undo")

    assert done.code == 0, done.err
    assert state(repo.root) == before
    assert tip(worker) == work
    assert git(worker, "status", "--porcelain") == ""
    assert ib("merge", "w", "-f").code == 0
    assert Path(repo.root, "new.txt").exists()


def test_undo_is_refused_where_the_branch_has_gone_on(repo: places.Place, ib: Ib, agent: Agent) -> None:
    ib("init")
    commit(agent(repo, "w"), "new.txt", "new\n")
    ib("merge", "w", "--force")
    commit(repo.root, "later.txt", "later\n")
    before = state(repo.root)

    done = ib("undo")

    assert done.code == 1
    assert "git revert -m 1" in done.err
    assert state(repo.root) == before
