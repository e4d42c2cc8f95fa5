"""The front door: exit codes, the form of errors, help, crash reports."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from syrupy.assertion import SnapshotAssertion

import ibstatus
from ibstatus.cli import app, fast
from ibstatus.errors import IbError, refused, told
from ibstatus.project import home, logs, paths
from tests.conftest import Done, git, make_agent

Ib = Callable[..., Done]


def helps() -> list[list[str]]:
    """Every command that has a help text, groups opened."""
    found: list[list[str]] = [[]]
    for name in app.COMMANDS:
        command = app.ib.get_command(click.Context(app.ib), name)
        found.append([name])
        if isinstance(command, click.Group):
            found += [[name, inner] for inner in command.list_commands(click.Context(command))]
    return found


@pytest.mark.parametrize("words", helps(), ids=lambda words: "-".join(["ib", *words]))
def test_help(words: list[str], snapshot: SnapshotAssertion) -> None:
    done = CliRunner().invoke(app.ib, [*words, "--help"], prog_name="ib", terminal_width=100)

    assert done.exit_code == 0
    assert done.output == snapshot


def test_no_words_is_help(ib: Ib) -> None:
    assert ib().out == ib("--help").out
    assert ib().code == 0


@pytest.mark.parametrize("name", sorted(fast.HOT))
def test_a_hot_command_has_its_help_from_click(ib: Ib, name: str) -> None:
    done = ib(name, "--help")

    assert done.code == 0
    assert done.out.startswith("Usage: ib ")


def test_version(ib: Ib) -> None:
    assert ib("--version").out == f"ib {ibstatus.__version__}\n"


@pytest.mark.parametrize(
    ("args", "error", "hint"),
    [
        (["notfy"], "There is no command 'notfy'", "ib notify"),
        (["zzz"], "There is no command 'zzz'", "ib --help"),
        (["notify", "--typ", "x", "y"], "No such option '--typ'", "ib notify --type"),
        (["notify", "-x"], "No such option '-x'", "put -- before text that starts with a dash"),
        (["trace"], "Missing argument 'ID'", "ib trace --help"),
        (["ack"], "Name the ids, or say --all", "ib messages and ib questions"),
        (["events", "--since", "x"], "Invalid value for '--since'", "ib events --help"),
    ],
)
def test_wrong_usage_is_two_and_tells_what_to_type(ib: Ib, args: list[str], error: str, hint: str) -> None:
    done = ib(*args)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {error}")
    assert f"Hint: {hint}" in done.err
    assert "Traceback" not in done.err


def test_an_error_in_full() -> None:
    error = IbError("It failed", cause="a reason", hint="ib doctor")

    assert told(error) == "Error: It failed.\nCaused by: a reason\nHint: ib doctor\n"


def test_a_refusal_of_the_system_names_file_and_way_out() -> None:
    error = refused("keep the message", OSError(28, "No space left on device", "/x/queue"))

    assert told(error).startswith(
        "Error: Could not keep the message.\nCaused by: No space left on device (/x/queue)\nHint: free some space"
    )


def test_a_bug_of_ours_leaves_a_report(repo: paths.Place, ib: Ib) -> None:
    """The command's module is made unimportable: that is as good a bug as any."""
    ib("notify", "x")
    program = (
        "import sys; sys.modules['ibstatus.mail.trace'] = None\n"
        "from ibstatus.cli import app; sys.exit(app.main(['events']))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=repo.root, capture_output=True, text=True, check=False)

    [report] = Path(repo.home).glob("crash-*.md")
    assert done.returncode == 3
    assert done.stderr.startswith("Error: This is a bug in ib, not in what you typed.\nCaused by: ")
    assert f"the report is in {report}" in done.stderr
    assert "Traceback" in report.read_text()


def test_a_closed_pipe_ends_quietly(repo: paths.Place, ib: Ib) -> None:
    home.enter(repo)
    for number in range(2000):  # more than a pipe holds
        logs.note(repo, "cli", float(number), {"kind": "message.queued", "who": "a", "id": f"n-{number}"})
    command = f"{sys.executable} -m ibstatus events --json | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=repo.root, capture_output=True, text=True, check=False
    )

    assert done.stdout.count("\n") == 1
    assert (done.returncode, done.stderr) == (0, "")


def test_the_console_script_is_the_same_program(repo: paths.Place) -> None:
    script = Path(sys.executable).with_name("ib")
    done = subprocess.run([script, "--version"], cwd=repo.root, capture_output=True, text=True, check=True)

    assert done.stdout == f"ib {ibstatus.__version__}\n"


def test_the_demo_runs_and_shows_the_main_job(tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "ibstatus", "demo"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    shown = (
        *('"type":"question"', "5 agents (10 max)", "Answered q-", "dark mode is ready to merge"),
        *("Merged agent/dark-mode into main", "Undid the merge of dark-mode", "Acknowledged message: msg-"),
    )
    for words in shown:
        assert words in done.stdout
    assert done.stdout.rstrip().endswith("git status --short")
    assert list(tmp_path.iterdir()) == []


def run_in_shell(command: str, cwd: str) -> subprocess.CompletedProcess[str]:
    command = command.replace("IB", f"{sys.executable} -m ibstatus")
    return subprocess.run(["bash", "-c", command], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command", ["notify x", "send user-claude x", "messages", "doctor --json", "--help", "config list"]
)
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_stop_nothing(repo: paths.Place, command: str, closed: str) -> None:
    done = run_in_shell(f"IB {command} {closed}", repo.root)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_listener_without_stdout_swallows_nothing(repo: paths.Place, ib: Ib) -> None:
    ib("notify", "kept")
    done = run_in_shell("IB listen --timeout 0 >&-", repo.root)

    assert done.returncode == 1
    assert '"msg":"kept"' in ib("listen", "--timeout", "0").out
    for path in [*Path(repo.home, "locks").iterdir(), *Path(repo.home, "notify").rglob("*")]:
        assert not path.is_file() or path.name in ("queue", "base") or "kept" not in path.read_text()


@pytest.mark.parametrize("command", ["send user-claude x", "log --id a x", "--help", "--version", "events"])
def test_a_reader_that_closed_its_end_is_no_failure(
    repo: paths.Place, agent: Callable[..., Path], command: str
) -> None:
    agent(repo, "a")
    reader, writer = os.pipe()
    os.close(reader)
    argv = [sys.executable, "-m", "ibstatus", *command.split()]
    done = subprocess.run(argv, cwd=repo.root, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)

    assert (done.returncode, done.stderr) == (0, b"")


def test_settings_of_the_user_outside_of_a_repository(tmp_path: Path) -> None:
    from tests.conftest import run_ib

    assert run_ib("config", "--global", "list", cwd=tmp_path).code == 0
    assert run_ib("config", "list", cwd=tmp_path).code == 1


def test_a_file_where_the_folder_should_be(repo: paths.Place, ib: Ib) -> None:
    Path(repo.home).write_text("")
    done = ib("notify", "x")
    looked = ib("doctor")

    assert done.err == f"Error: {repo.home} is a file, not a folder.\nHint: mv {repo.home} ittybitty.old\n"
    assert "is a file, not a folder" in looked.out


def test_a_reader_that_goes_away_ends_nothing_half_way(repo: paths.Place, tmp_path: Path) -> None:
    """Progress is told before the work is done: `2>&1 | head -1` must not stop it in between."""
    make_agent(repo, "w1")
    (Path(repo.agent_dir("w1"), "repo") / "new").write_text("x")
    git(Path(repo.agent_dir("w1"), "repo"), "add", "new")
    git(Path(repo.agent_dir("w1"), "repo"), "commit", "-qm", "new")

    run_in_shell("IB merge w1 --force 2>&1 | true", repo.root)

    assert Path(repo.root, "new").exists()
    assert not Path(repo.agent_dir("w1")).exists()
