"""merge and merge-check as a user and an agent meet them."""

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.project import agent_meta, agents, paths
from tests.children import is_alive
from tests.conftest import Done, git, make_repo, run_ib
from tests.gitwork import commit, state, subjects, tip
from tests.living import ORDERS, Living
from tests.until import until

pytestmark = pytest.mark.usefixtures("tmux")
Ib = Callable[..., Done]
Agent = Callable[..., Path]


def test_it_is_shown_and_asked_first(repo: paths.Place, ib: Ib, agent: Agent) -> None:
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


@pytest.mark.parametrize(("answer", "code", "merged"), [(b"y\n", 0, True), (b"n\n", 1, False), (b"\x04", 1, False)])
def test_a_person_at_a_terminal_answers(
    repo: paths.Place, agent: Agent, answer: bytes, code: int, merged: bool
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


def test_what_is_said_and_logged_of_a_merge(repo: paths.Place, ib: Ib, agent: Agent) -> None:
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


def test_a_merge_as_json(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    work = commit(agent(repo, "w"), "new.txt", "new\n")
    before = tip(repo.root)

    told = ib("merge", "w", "--force", "--json").json()

    assert isinstance(told, dict)
    assert (told["agent"], told["into"], told["before"], told["after"]) == ("w", "main", before, tip(repo.root))
    assert told["commits"] == [{"oid": work, "subject": "write new.txt"}]
    assert told["undo"]
    assert Path(told["archive"]).is_dir()


def test_a_check_says_yes(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    before = state(repo.root)

    assert ib("merge-check", "w") == Done(0, "Merge would succeed: 'agent/w' into 'main'\n", "")
    told = ib("merge-check", "w", "--json").json()

    assert isinstance(told, dict)
    assert (told["ok"], told["files"], told["into"], len(told["commits"])) == (True, [], "main", 1)
    assert state(repo.root) == before
    assert agents.exists(repo, "w")


def test_a_check_names_the_files(repo: paths.Place, ib: Ib, agent: Agent) -> None:
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


def test_an_agent_merges_into_its_own_branch(repo: paths.Place, ib: Ib, agent: Agent) -> None:
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
def test_bad_input_is_an_error_with_a_hint(repo: paths.Place, ib: Ib, agent: Agent, words: list[str]) -> None:
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


def test_undo_takes_the_merge_back_and_brings_the_agent(repo: paths.Place, ib: Ib, agent: Agent) -> None:
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


def test_undo_is_refused_where_the_branch_has_gone_on(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    ib("init")
    commit(agent(repo, "w"), "new.txt", "new\n")
    ib("merge", "w", "--force")
    commit(repo.root, "later.txt", "later\n")
    before = state(repo.root)

    done = ib("undo")

    assert done.code == 1
    assert "Hint: ib undo w --keep-merge; or with main checked out: git revert -m 1" in done.err
    assert state(repo.root) == before


def test_undo_knows_a_merge_that_was_reverted(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    ib("init")
    commit(agent(repo, "w"), "new.txt", "new\n")
    ib("merge", "w", "--force")
    git(repo.root, "revert", "--no-edit", "-m", "1", "HEAD")
    commit(repo.root, "later.txt", "later\n")

    done = ib("undo")

    assert done.code == 1
    assert "have taken the changes of the merge back already" in done.err
    assert "Hint: ib undo w --keep-merge\n" in done.err
    assert ib("undo", "w", "--keep-merge").code == 0
    assert agents.exists(repo, "w")


def test_a_hint_can_be_typed_and_keeps_the_options(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    Path(repo.root, "file.txt").write_text("mine\n")

    done = ib("merge", "w", "--force", "--test", "test -e new.txt")

    hint = f"git -C {repo.root} stash && ib merge w --into main --force --test 'test -e new.txt'"
    assert done.err.endswith(f"Hint: {hint}\n")
    program = f'ib() {{ {shlex.quote(sys.executable)} -m ibstatus "$@"; }}; '
    subprocess.run(["sh", "-c", program + hint], cwd=repo.root, check=True, capture_output=True)
    assert Path(repo.root, "new.txt").exists()


def test_an_agent_begun_on_another_branch_is_not_merged_into_main_unasked(
    repo: paths.Place, ib: Ib, agent: Agent
) -> None:
    git(repo.root, "checkout", "-q", "-b", "feat")
    begun = commit(repo.root, "feature.txt", "half\n")
    for name in ("fg", "other", "empty"):
        agent(repo, name)
        agent_meta.change(repo, name, base="feat", base_commit=begun)
    for name in ("fg", "other"):
        commit(Path(repo.agent_dir(name), "repo"), f"{name}.txt", "new\n")
    git(repo.root, "checkout", "-q", "main")
    before = state(repo.root)

    for words in (["merge", "fg", "--force"], ["merge-check", "fg"], ["merge", "empty", "--force"]):
        done = ib(*words)
        assert done.code == 1
        assert "was begun on feat: 1 commit of feat would go into main" in done.err
        assert f"Hint: ib merge {words[1]} --into feat" in done.err
    told = ib("merge-check", "fg", "--json").json()
    assert isinstance(told, dict)
    assert (told["ok"], told["problem"]) == (False, "other-base")
    assert state(repo.root) == before

    assert ib("merge-check", "other", "--into", "main").code == 0
    assert ib("merge", "fg", "--into", "feat", "--force").code == 0
    assert (before[0], tip(repo.root)) == (state(repo.root)[0], git(repo.root, "rev-parse", "main").strip())
    git(repo.root, "merge", "-q", "feat")
    assert ib("merge", "other", "--force").code == 0
    assert Path(repo.root, "other.txt").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_killed_test_leaves_no_checkout_and_no_process(
    repo: paths.Place, ib: Ib, agent: Agent, tmp_path: Path, number: int
) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    before = state(repo.root)
    lives = tmp_path / "pid"
    test = f"sleep 300 & echo $$ $! > {lives}.new; mv {lives}.new {lives}; wait"
    words = ["merge", "w", "--force", "--test", test]
    running = subprocess.Popen([sys.executable, "-m", "ibstatus", *words], cwd=repo.root, stderr=subprocess.DEVNULL)
    until(lives.exists)
    pids = [int(word) for word in lives.read_text().split()]
    assert len(git(repo.root, "worktree", "list").splitlines()) == 3

    running.send_signal(number)
    assert running.wait(30) == (-number if number == signal.SIGKILL else 130)
    if number == signal.SIGKILL:
        assert ib("merge", "w").code == 1  # whatever becomes of it: it looks first

    until(lambda: not [pid for pid in pids if is_alive(pid)])
    assert "ib-checkout-" not in git(repo.root, "worktree", "list")
    assert not list(Path(os.environ["TMPDIR"]).glob("ib-checkout-*"))
    assert state(repo.root) == before
    assert ib("merge", "w", "--force").code == 0


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["asks", "force"])
def test_one_at_work_without_commits_is_not_closed(
    repo: paths.Place, ib: Ib, tmux: Callable[..., str], tmp_path: Path, force: list[str]
) -> None:
    living = Living(repo, tmux, tmp_path / "claude", "w1", ORDERS).idle().held()
    before = state(repo.root)

    done = ib("merge", "w1", *force)
    checked = ib("merge-check", "w1", "--json")

    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "Error: w1 is still working and has no commits yet.\nHint: ib wait w1, or to end it: ib kill w1\n"
    )
    assert (checked.code, checked.json()["problem"]) == (1, "working")
    assert living.where.pane() is not None
    assert (state(repo.root), agents.exists(repo, "w1")) == (before, True)


def test_one_whose_turn_is_over_is_closed_without_commits(
    repo: paths.Place, ib: Ib, tmux: Callable[..., str], tmp_path: Path
) -> None:
    living = Living(repo, tmux, tmp_path / "claude", "w1", "work 1\nwait\n").idle()
    until(lambda: ib("wait", "w1", "--timeout", "0").code == 0)

    done = ib("merge", "w1", "--force")

    assert (done.code, "Closed agent: w1" in done.out) == (0, True), done.err
    assert living.where.pane() is None


def test_commits_of_one_at_work_are_merged_as_ever(
    repo: paths.Place, ib: Ib, tmux: Callable[..., str], tmp_path: Path
) -> None:
    living = Living(repo, tmux, tmp_path / "claude", "w1", ORDERS).idle().held()
    commit(living.worktree, "new.txt", "new\n")

    assert ib("merge", "w1", "--force").code == 0
    assert Path(repo.root, "new.txt").exists()
