"""diff, and the status of one agent."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.cli import state
from ibstatus.project import agent_meta, paths
from tests.conftest import Done, git
from tests.gitwork import commit

pytestmark = pytest.mark.usefixtures("tmux")
Ib = Callable[..., Done]
Agent = Callable[..., Path]


@pytest.fixture
def worker(repo: paths.Place, agent: Agent) -> Path:
    """Something of every kind, and main has gone on meanwhile."""
    found = agent(repo, "w")
    commit(found, "committed.txt", "one\n", "first \x1b[31mwork")
    (found / "file.txt").write_text("one\ntwo\n")
    (found / "staged.txt").write_text("staged\n")
    git(found, "add", "staged.txt")
    (found / "sub").mkdir()
    (found / "sub/untracked ü.txt").write_text("untracked\n")
    commit(repo.root, "main.txt", "main\n")
    return found


def test_a_diff_is_the_whole_work(repo: paths.Place, ib: Ib, worker: Path) -> None:
    before = git(worker, "status", "--porcelain=v2")

    done = ib("diff", "w")

    assert (done.code, done.err) == (0, "")
    for line in ("+one", "+two", "+staged", "+untracked"):
        assert f"\n{line}\n" in done.out
    assert "main.txt" not in done.out
    assert git(worker, "status", "--porcelain=v2") == before
    assert ib("diff", cwd=worker, env={"CLAUDECODE": "1"}).out == done.out


def test_a_diff_of_what_is_committed(repo: paths.Place, ib: Ib, worker: Path) -> None:
    done = ib("diff", "w", "--committed", "--stat")
    assert done.out.splitlines()[-1] == " 1 file changed, 1 insertion(+)"
    assert ib("diff", "w", "--stat").out.splitlines()[-1] == " 4 files changed, 4 insertions(+)"


def test_a_diff_as_json(repo: paths.Place, ib: Ib, worker: Path) -> None:
    (worker / "bin").write_bytes(b"\0\1")

    told = ib("diff", "w", "--json").json()

    assert isinstance(told, dict)
    files = {file["path"]: (file["added"], file["deleted"]) for file in told["files"]}
    assert files == {
        "bin": (None, None),
        "committed.txt": (1, 0),
        "file.txt": (1, 0),
        "staged.txt": (1, 0),
        "sub/untracked ü.txt": (1, 0),
    }
    assert (told["agent"], told["branch"], told["into"]) == ("w", "agent/w", "main")


def test_a_workers_diff_is_against_its_manager(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    lead = agent(repo, "lead")
    commit(lead, "lead.txt", "lead\n")
    below = agent(repo, "below", "lead")
    git(below, "reset", "-q", "--hard", "agent/lead")
    commit(below, "below.txt", "below\n")

    assert "lead.txt" not in ib("diff", "below", "--stat").out
    assert "below.txt" in ib("diff", "below", "--stat").out


def test_a_program_of_the_user_gets_two_folders(repo: paths.Place, ib: Ib, worker: Path, tmp_path: Path) -> None:
    tool = tmp_path / "my tool"
    tool.write_text('#!/bin/sh\necho "$1"; shift; ls "$1"; ls "$2"; echo "$2"\n')
    tool.chmod(0o755)
    config_file = Path(repo.root, ".ittybitty.json")
    config_file.write_text(json.dumps({"externalDiffTool": f"'{tool}' '--wait; rm -rf x'"}))

    done = ib("diff", "w", "--external")

    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "--wait; rm -rf x", "file.txt", "committed.txt", "file.txt", "staged.txt", "sub", str(worker),
    ]  # fmt: skip
    assert len(git(repo.root, "worktree", "list").splitlines()) == 2


@pytest.mark.parametrize("value", [None, "", "'", "no-such-program-anywhere"])
def test_without_a_program_there_is_a_clear_error(repo: paths.Place, ib: Ib, worker: Path, value: str | None) -> None:
    Path(repo.root, ".ittybitty.json").write_text(json.dumps({"externalDiffTool": value}))

    done = ib("diff", "w", "--external")

    assert (done.code, done.out) == (1, "")
    assert "Hint: ib config set externalDiffTool" in done.err


def test_a_diff_needs_an_agent(repo: paths.Place, ib: Ib) -> None:
    assert ib("diff").code == 2
    assert ib("diff", "nobody").code == 1


def test_the_status_of_one_agent(
    repo: paths.Place, worker: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root)

    assert state.show_agent(repo, "w", False) == 0

    shown = capsys.readouterr().out.splitlines()
    assert shown[:4] == ["Agent: w", "Branch: agent/w", f"Worktree: {worker}", "State: unknown"]
    assert shown[4].startswith("Age: ")
    assert shown[5:8] == ["Task: task of w", "", "═══ Commits (1) vs main ═══"]
    assert shown[8].endswith("first \\x1b[31mwork")
    assert shown[9:] == [
        "",
        "═══ Uncommitted Changes ═══",
        "   M file.txt",
        "  A  staged.txt",
        "  ?? sub/untracked ü.txt",
        "",
        "═══ Files Changed ═══",
        "  4 files changed, 4 insertions(+)",
    ]


def test_the_status_of_an_agent_that_has_done_nothing(
    repo: paths.Place, agent: Agent, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent(repo, "w")
    monkeypatch.chdir(repo.root)

    assert state.show_agent(repo, "w", False) == 0
    assert "═══ No commits vs main ═══" in capsys.readouterr().out
    assert state.show_agent(repo, "w", True) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["commits"], told["uncommitted"], told["files"], told["summary"]) == ([], [], [], "")


def test_an_agent_without_a_worktree(
    repo: paths.Place, ib: Ib, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(repo.agent_dir("w"))
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text('{"id": "w", "worktree": false}')
    monkeypatch.chdir(repo.root)

    assert state.show_agent(repo, "w", False) == 0
    assert "There is no branch agent/w, so there are no commits to show.\n" in capsys.readouterr().out
    assert ib("diff", "w").code == 1


def test_the_status_shows_what_the_agent_asks(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    worker = agent(repo, "w")
    agent(repo, "other")
    assert ib("ask", "Which\ncolour \x1b[31m?", cwd=worker, env={"CLAUDECODE": "1"}).code == 0

    [line] = [line for line in ib("status", "w").out.splitlines() if line.startswith("Question ")]
    told = ib("status", "w", "--json").json()

    assert line.endswith(": Which colour \\x1b[31m?")
    assert isinstance(told, dict)
    assert [item["question"] for item in told["questions"]] == ["Which\ncolour \x1b[31m?"]
    assert (told["state"], told["task"]) == ("unknown", "task of w")
    assert "Question " not in ib("status", "other").out


def test_an_agent_is_compared_with_the_branch_it_began_at(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    git(repo.root, "checkout", "-q", "-b", "feat")
    begun = commit(repo.root, "feature.txt", "half\n")
    agent(repo, "w")
    agent_meta.change(repo, "w", base="feat", base_commit=begun)
    git(repo.root, "checkout", "-q", "main")

    assert "═══ No commits vs feat ═══" in ib("status", "w").out
    assert ib("diff", "w").out == ""
    agent_meta.change(repo, "w", base="gone")
    assert "═══ Commits (1) vs main ═══" in ib("status", "w").out
