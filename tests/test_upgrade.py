"""A repository with agents, hooks, undo records and a board, made by version 0.1.0, goes on under the version of today.

`fixtures/upgrade/whole-0.1.0.tar.gz` holds the repository and the client's folder as that version left them: agents
`login` (complete), `asker` (has a question) and `cart` (at work, with a claimed task and a message that waits), the
removed agents `merged` and `killed`, two open messages, a board with two tasks. All sessions have ended, as after a
reboot. Paths are placeholders: @TOP@ (the folder of both), @BIN@ and @SOURCE@ (the installation).
"""

import json
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

import ibstatus
from tests.conftest import PROJECT, git, run_ib

SOURCE = Path(ibstatus.__file__).parent.parent
OLD_TOP = "-tmp-ib-upgrade-0000000"


def encode_project(path: Path) -> str:
    """How the client names its folder for a working directory."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in str(path))


@pytest.fixture
def old(tmp_path: Path, fake_claude: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of the old repository, unpacked."""
    top = tmp_path.resolve()
    with tarfile.open(PROJECT / "fixtures" / "upgrade" / "whole-0.1.0.tar.gz") as archive:
        archive.extractall(top, filter="tar")
    for folder in list((top / "home" / ".claude" / "projects").iterdir()):
        folder.rename(folder.with_name(folder.name.replace(OLD_TOP, encode_project(top))))
    values = {
        b"@TOP@": str(top).encode(),
        b"@BIN@/python3": sys.executable.encode(),
        b"@BIN@/fake-claude": str(tmp_path / "fake-claude").encode(),
        b"@BIN@": str(Path(sys.executable).parent).encode(),
        b"@SOURCE@": str(SOURCE).encode(),
    }
    for path in top.rglob("*"):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            if b"@" in data and any(key in data for key in values):
                for key, value in values.items():
                    data = data.replace(key, value)
                path.write_bytes(data)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(top / "home" / ".claude"))
    return top / "repo"


def test_agents_messages_and_tasks_are_all_there(old: Path) -> None:
    agents = {one["id"]: one["state"] for one in json.loads(run_ib("list", "--json", cwd=old).out)}
    assert agents == {"login": "stopped", "asker": "stopped", "cart": "stopped"}

    messages = run_ib("messages", cwd=old).out
    assert "from the person" in messages
    assert "the login works" in messages
    assert "Which database?" in run_ib("questions", cwd=old).out

    tasks = {one["title"]: one["status"] for one in json.loads(run_ib("board", "list", "--json", cwd=old).out)}
    assert tasks == {"Write the docs": "claimed", "Fix the build": "ready"}


def test_what_was_removed_comes_back(old: Path) -> None:
    done = run_ib("undo", "20261120-013840-killed", cwd=old)
    assert done.code == 0, done.err
    worktree = old / ".ittybitty" / "agents" / "killed" / "repo"
    assert (worktree / "loose.txt").read_text() == "loose\n"
    assert "killed work" in git(worktree, "log", "--format=%s", "-1")

    done = run_ib("undo", "20261120-013840-merged", cwd=old)
    assert done.code == 0, done.err
    assert not (old / "merged.txt").exists()
    assert (old / ".ittybitty" / "agents" / "merged" / "repo" / "merged.txt").exists()


def test_agents_go_on(old: Path, tmux: Callable[..., str]) -> None:
    done = run_ib("resume", "--all", "--force", cwd=old)
    assert done.code == 0, done.err
    assert "cart" in tmux("list-sessions")

    done = run_ib("merge", "login", "--force", cwd=old)
    assert done.code == 0, done.err
    assert (old / "login.txt").exists()


def test_hooks_in_old_settings_are_heard(old: Path) -> None:
    """A client that runs during the upgrade keeps the command lines that it read when it started."""
    settings = json.loads((old / ".ittybitty" / "agents" / "cart" / "settings.local.json").read_text())
    meta = json.loads((old / ".ittybitty" / "agents" / "cart" / "meta.json").read_text())
    worktree = old / ".ittybitty" / "agents" / "cart" / "repo"
    payload = {
        "hook_event_name": "Stop",
        "session_id": meta["session_id"],
        "cwd": str(worktree),
        "last_assistant_message": "I HAVE COMPLETED THE GOAL",
    }
    commands = [hook["command"] for entry in settings["hooks"]["Stop"] for hook in entry["hooks"]]
    assert any("agent-status" in command for command in commands)
    for command in commands:
        done = subprocess.run(
            ["sh", "-c", command], cwd=worktree, input=json.dumps(payload), capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")

    assert "complete" in (old / ".ittybitty" / "spool" / "cart.jsonl").read_text()


def test_the_guard_in_old_settings_still_denies(old: Path) -> None:
    settings = json.loads((old / ".ittybitty" / "agents" / "cart" / "settings.local.json").read_text())
    worktree = old / ".ittybitty" / "agents" / "cart" / "repo"
    payload = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "cwd": str(worktree),
        "tool_name": "Write",
        "tool_input": {"file_path": str(old / "file.txt"), "content": "x"},
    }
    answers = []
    for command in [hook["command"] for entry in settings["hooks"]["PreToolUse"] for hook in entry["hooks"]]:
        done = subprocess.run(
            ["sh", "-c", command], cwd=worktree, input=json.dumps(payload), capture_output=True, text=True, check=False
        )
        answers.append(done.stdout)

    assert any('"deny"' in answer for answer in answers)


def test_doctor_finds_nothing_broken(old: Path) -> None:
    findings = json.loads(run_ib("doctor", "--json", cwd=old).out)

    assert [one for one in findings if one["level"] == "fail"] == []


def test_uninstall_gives_the_files_back(old: Path) -> None:
    assert run_ib("nuke", "--force", cwd=old).code == 0
    done = run_ib("uninstall", "--verify", "--force", cwd=old)
    assert done.code == 0, done.err + done.out
    assert (old / "CLAUDE.md").read_text() == "# Team rules\n\nBe kind.\n"
    assert not (old / ".ittybitty").exists()
    assert git(old, "status", "--porcelain") == ""
