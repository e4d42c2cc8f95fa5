"""The primary's Bash: it does not cd into an agent's worktree, and nothing else is its business."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.guard import cd
from ibstatus.project import paths
from ibstatus.system import symlinks
from ibstatus.testkit.fixtures import permissions as proof
from tests.conftest import make_agent
from tests.guard.test_permissions import UPSTREAM, fixtures, upstream
from tests.hooks import payloads
from tests.hooks.conftest import Answered, run_hook


@pytest.mark.parametrize("path", fixtures("main-path"), ids=lambda path: path.stem)
def test_commands_are_judged_as_the_name_says(path: Path) -> None:
    assert proof.main_path(str(path))[0] == path.name.partition("-")[0]


@pytest.mark.skipif(not UPSTREAM.is_dir(), reason="upstream's fixtures are not here")
def test_upstreams_answers_are_ours() -> None:
    for path in upstream("main-path"):
        assert proof.main_path(str(path))[0] == path.name.partition("-")[0], path.name


def bash(place: paths.Place, command: Any, cwd: str = "", tool: str = "Bash") -> Answered:
    payload = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"command": command}}
    return run_hook(place, "main-path", {**payload, "cwd": cwd or place.root})


def test_a_cd_into_a_worktree_is_denied_with_what_to_type(entered: paths.Place) -> None:
    tree = make_agent(entered, "w1")

    answer = bash(entered, f"cd {tree} && ls")

    found = answer.json["hookSpecificOutput"]
    assert (answer.code, found["permissionDecision"]) == (0, "deny")
    for command in ("git diff HEAD...agent/w1", "git log HEAD..agent/w1", "ib send w1"):
        assert command in found["permissionDecisionReason"]


def test_through_a_link_too(entered: paths.Place, tmp_path: Path) -> None:
    tree = make_agent(entered, "w1")
    (tmp_path / "short").symlink_to(tree)

    assert bash(entered, f"cd {tmp_path}/short").out


@pytest.mark.parametrize(
    "command", ["ls", "cd src", "cd /tmp && ls", "echo cd", "git -C .ittybitty/agents/w1/repo log", 7]
)
def test_everything_else_passes_in_silence(entered: paths.Place, command: Any) -> None:
    make_agent(entered, "w1")

    assert bash(entered, command) == (0, "", "")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"tool_name": "Bash", "tool_input": 1}', b"\xff"])
def test_a_damaged_payload_blocks_nothing(entered: paths.Place, data: bytes) -> None:
    assert run_hook(entered, "main-path", data) == (0, "", "")


@pytest.mark.parametrize(
    "path", [path for path in payloads.ALL if path.stem.startswith("PreToolUse")], ids=payloads.ident
)
def test_recorded_calls_pass(entered: paths.Place, path: Path) -> None:
    assert run_hook(entered, "main-path", path.read_bytes()) == (0, "", "")


@given(st.text("cdpush ab/.~$(){};&|'\"\n-", max_size=40))
def test_any_command_gets_an_answer(command: str) -> None:
    assert isinstance(cd.refusal("cd " + command, "/w", "/home/ann", symlinks.Disk()), str)
