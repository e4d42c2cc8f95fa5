"""What agents may run, as processes; and the proof commands about sessions."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from ibstatus.project import paths
from tests.conftest import PROJECT, Done, make_agent

FIXTURES = PROJECT / "fixtures"
UPSTREAM = PROJECT.parent / "shared" / "upstream-fixtures"
COMMANDS = {
    "enforce-access": ("test-enforce-access",),
    "session-start": ("test-session-start",),
    "inject-status-filter": ("test-inject-status-filter",),
    "build-settings": ("test-build-settings", "--validate"),
    "detect-state-message": ("test-detect-state-message",),
}
LEGAL = {
    "enforce-access": {"allow", "deny"},
    "session-start": {"primary", "manager", "worker"},
    "inject-status-filter": {"inject", "skip"},
    "build-settings": {"valid", "invalid"},
}
Ib = Callable[..., Done]


@pytest.mark.parametrize(
    "args", [("config", "list"), ("messages",), ("listen", "--timeout", "0"), ("init",), ("wake", "check")]
)
def test_an_agent_is_told_what_to_do_instead(ib: Ib, repo: paths.Place, args: tuple[str, ...]) -> None:
    worktree = make_agent(repo, "w1", "boss")

    done = ib(*args, cwd=worktree)

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("Error: ")
    assert f"Hint: only if you are no agent and have strayed in here: cd {repo.root}" in done.err


@pytest.mark.parametrize("args", [("list",), ("ls",), ("status",), ("questions",), ("events",), ("log", "-q", "hi")])
def test_an_agent_goes_on_with_its_own(ib: Ib, repo: paths.Place, args: tuple[str, ...]) -> None:
    worktree = make_agent(repo, "w1", "boss")

    assert ib(*args, cwd=worktree).code == 0


@pytest.mark.parametrize("args", [("--help",), ("--version",), ("config", "--help"), ("uninstall", "-h")])
def test_help_is_for_all(ib: Ib, repo: paths.Place, args: tuple[str, ...]) -> None:
    done = ib(*args, cwd=make_agent(repo, "w1", "boss"))

    assert (done.code, done.err) == (0, "")


def test_unknown_stays_unknown(ib: Ib, repo: paths.Place) -> None:
    done = ib("frobnicate", cwd=make_agent(repo, "w1", "boss"))

    assert done.code == 2
    assert "There is no command 'frobnicate'" in done.err


def test_below_the_worktree_is_inside_and_beside_it_is_not(ib: Ib, repo: paths.Place) -> None:
    worktree = make_agent(repo, "w1", "boss")
    (worktree / "src").mkdir()
    beside = worktree.parent / "report"
    beside.mkdir()

    assert ib("config", "list", cwd=worktree / "src").code == 1
    assert ib("config", "list", cwd=beside).code == 0
    assert ib("config", "list").code == 0


def test_outside_of_a_repository_the_command_says_so(ib: Ib, tmp_path: Path) -> None:
    done = ib("messages", cwd=tmp_path)

    assert "not a git repository" in done.err


@pytest.mark.parametrize("subject", ["enforce-access", "session-start", "inject-status-filter", "build-settings"])
def test_the_fixtures(ib: Ib, subject: str) -> None:
    paths = sorted((FIXTURES / subject).iterdir())
    assert len(paths) > 4
    for path in paths:
        expected = path.stem.partition("-")[0]
        assert expected in LEGAL[subject]
        done = ib(*COMMANDS[subject], str(path))
        assert (done.code, done.out) == (0, expected + "\n"), path.stem


@pytest.mark.skipif(not UPSTREAM.is_dir(), reason="../shared/upstream-fixtures is not here")
@pytest.mark.parametrize("subject", sorted(COMMANDS))
def test_the_fixtures_of_the_older_tool(ib: Ib, subject: str) -> None:
    for path in (UPSTREAM / subject).iterdir():
        if not path.name.startswith("meta-"):
            done = ib(*COMMANDS[subject], str(path))
            assert (done.code, done.out) == (0, path.stem.partition("-")[0] + "\n"), path.stem


@pytest.mark.parametrize("command", sorted({words[0] for words in COMMANDS.values()}))
def test_a_proof_of_nothing_fails(ib: Ib, command: str, tmp_path: Path) -> None:
    done = ib(command, str(tmp_path / "missing.json"))

    assert (done.code, done.out) == (1, "")
    assert "cannot be read" in done.err


@pytest.mark.parametrize("name", ["valid-base-with-everything", "valid-yolo-worker"])
def test_the_settings_as_people_look_at_them(ib: Ib, name: str, snapshot: SnapshotAssertion) -> None:
    done = ib("test-build-settings", str(FIXTURES / "build-settings" / f"{name}.json"))

    assert json.loads(done.out)
    assert done.out == snapshot


def test_a_base_that_cannot_be_read_is_refused_with_a_reason(ib: Ib) -> None:
    done = ib("test-build-settings", str(FIXTURES / "build-settings" / "invalid-broken-base.json"))

    assert done.code == 1
    assert "Caused by: it is not valid JSON" in done.err
