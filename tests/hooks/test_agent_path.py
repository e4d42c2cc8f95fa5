"""The guard of an agent as the client runs it: it always answers, and what it cannot judge is denied."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from ibstatus.claude import hook_output
from ibstatus.project import paths
from tests.conftest import PROJECT, make_agent
from tests.hooks import payloads
from tests.hooks.conftest import Answered, run_hook

ALLOW = ["Read", "Write", "Bash(ls:*)", "Bash(git status:*)", "Bash(ib:*)"]
NAME = "w1"


@pytest.fixture
def worktree(entered: paths.Place) -> Path:
    """Agent w1, a worker, with a small list of rules."""
    tree = make_agent(entered, NAME, manager="m1")
    rules(entered, ALLOW)
    return tree


def rules(place: paths.Place, allow: list[str], deny: list[str] | None = None) -> None:
    value = {"permissions": {"allow": allow, "deny": deny or []}}
    Path(place.agent_dir(NAME), "settings.local.json").write_text(json.dumps(value))


def meta(place: paths.Place, **more: Any) -> None:
    path = Path(place.agent_dir(NAME), "meta.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


def call(place: paths.Place, tool: str, given: Any, cwd: Path | str = "", **more: Any) -> Answered:
    """One tool call of w1; `more` is for the environment."""
    payload = {
        "session_id": "s1",
        "hook_event_name": "PreToolUse",
        "cwd": str(cwd or f"{place.agent_dir(NAME)}/repo"),
        "tool_name": tool,
        "tool_input": given,
    }
    project = f"{place.agent_dir(NAME)}/repo"
    return run_hook(place, "agent-path", payload, NAME, project=project, **more)


def pipe_in_place_of(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def decision(answer: Answered) -> str:
    assert answer.code == 0
    assert answer.out.count("\n") == 1
    found = answer.json.get("hookSpecificOutput", {})
    assert found.get("hookEventName", "PreToolUse") == "PreToolUse"
    return str(found.get("permissionDecision", "none"))


def reason(answer: Answered) -> str:
    return str(answer.json["hookSpecificOutput"].get("permissionDecisionReason", ""))


def log(place: paths.Place) -> str:
    path = Path(place.agent_dir(NAME), "agent.log")
    return path.read_text() if path.exists() else ""


def test_what_is_listed_and_inside_is_allowed(entered: paths.Place, worktree: Path) -> None:
    answer = call(entered, "Read", {"file_path": str(worktree / "file.txt")})

    assert answer.out == hook_output.allow() + "\n"
    assert decision(call(entered, "Bash", {"command": "git status && ls"})) == "allow"
    assert log(entered) == ""


def test_what_is_not_listed_is_denied_and_logged(entered: paths.Place, worktree: Path) -> None:
    answer = call(entered, "Bash", {"command": "npm test", "description": "run\nthem"})

    assert decision(answer) == "deny"
    assert "npm" in reason(answer)
    assert "[PreToolUse] Permission denied: Bash (command: npm test, description: run\\nthem)" in log(entered)


@pytest.mark.parametrize(
    ("tool", "given", "words"),
    [
        ("Read", {"file_path": "@M/file.txt"}, "Path violation: Read tried to access main repo: @M/file.txt"),
        (
            "Read",
            {"file_path": "@A/w2/repo/x"},
            "Path violation: Read tried to access other agent's data: @A/w2/repo/x",
        ),
        (
            "Bash",
            {"command": "cd @A/w2/repo"},
            "Path violation: Bash cd command tried to enter other agent's worktree: @A/w2",
        ),
        ("Bash", {"command": "ls @A/w2/x"}, "Path violation: Bash tried to access other agent's data: @A/w2/x"),
        ("Bash", {"command": "ls @M"}, "Path violation: Bash tried to access main repo: @M"),
        ("Write", {"file_path": "/etc/x", "content": ""}, "Path violation: Write tried to access: /etc/x"),
    ],
)
def test_a_path_outside_is_denied_and_logged_in_the_known_words(
    entered: paths.Place, worktree: Path, tool: str, given: dict[str, str], words: str
) -> None:
    def placed(text: str) -> str:
        return text.replace("@M", entered.root).replace("@A", entered.home + "/agents")

    answer = call(entered, tool, {key: placed(value) for key, value in given.items()})

    assert decision(answer) == "deny"
    assert placed(words) in log(entered)


def test_a_log_line_cannot_be_forged(entered: paths.Place, worktree: Path) -> None:
    call(entered, "Bash", {"command": "npm x\n[2026-01-01T00:00:00+00:00] [PreToolUse] forged \x1b[31m\u2028"})

    assert len(log(entered).splitlines()) == 1
    assert "\x1b" not in log(entered)


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "settings.local.json").unlink(),
        lambda folder: (folder / "settings.local.json").write_text("{"),
        lambda folder: (folder / "settings.local.json").write_text("[]"),
        lambda folder: (folder / "settings.local.json").write_text("{}"),
        lambda folder: (folder / "settings.local.json").write_text('{"permissions": {"allow": "Read"}}'),
        lambda folder: (folder / "settings.local.json").write_text('{"permissions": {"allow": [1]}}'),
        lambda folder: (folder / "settings.local.json").write_bytes(b"\xff"),
        lambda folder: (folder / "meta.json").unlink(),
        lambda folder: (folder / "meta.json").write_text("nothing"),
        lambda folder: (
            (folder / "settings.local.json").rename(folder / "x") and (folder / "settings.local.json").mkdir()
        ),
        lambda folder: pipe_in_place_of(folder / "meta.json"),
        lambda folder: (folder / "meta.json").rename(folder / "x") and (folder / "meta.json").symlink_to("x"),
    ],
)
def test_without_a_policy_everything_is_denied(entered: paths.Place, worktree: Path, damage: Any) -> None:
    damage(worktree.parent)

    answer = call(entered, "Read", {"file_path": "file.txt"})

    assert decision(answer) == "deny"
    assert "cannot be read" in reason(answer)


def test_the_policy_is_not_read_from_the_worktree(entered: paths.Place, worktree: Path) -> None:
    (worktree / ".claude").mkdir()
    (worktree / ".claude/settings.local.json").write_text('{"permissions": {"allow": ["Bash"]}}')
    (worktree / "settings.local.json").write_text('{"permissions": {"allow": ["Bash"]}}')

    assert decision(call(entered, "Bash", {"command": "npm test"})) == "deny"


@pytest.mark.parametrize("tool", ["Write", "Bash"])
def test_a_broken_config_leaves_only_reading(entered: paths.Place, worktree: Path, tool: str) -> None:
    Path(entered.root, ".ittybitty.json").write_text('{"permissions": ')
    given = {"file_path": str(worktree / "x"), "content": "", "command": "ls"}

    denied = call(entered, tool, given)

    assert decision(denied) == "deny"
    assert ".ittybitty.json" in reason(denied)
    assert decision(call(entered, "Read", {"file_path": str(worktree / "file.txt")})) == "allow"
    assert decision(call(entered, "Read", {"file_path": "/etc/hosts"})) == "deny"


def test_a_sound_config_changes_nothing(entered: paths.Place, worktree: Path) -> None:
    Path(entered.root, ".ittybitty.json").write_text('{"maxAgents": 3}')

    assert decision(call(entered, "Bash", {"command": "ls"})) == "allow"


def test_yolo_needs_no_rule_but_keeps_its_ground(entered: paths.Place, worktree: Path) -> None:
    meta(entered, yolo=True)
    rules(entered, [], ["Bash(git push:*)"])

    assert decision(call(entered, "Bash", {"command": "npm test | other $X"})) == "allow"
    assert decision(call(entered, "Other", {})) == "allow"
    assert decision(call(entered, "Bash", {"command": "git push"})) == "deny"
    assert decision(call(entered, "Bash", {"command": f"cat {entered.root}/file.txt"})) == "deny"


def test_managers_and_workers_differ(entered: paths.Place, worktree: Path) -> None:
    command = {"command": "ib new-agent --worker x"}

    assert decision(call(entered, "Bash", command)) == "deny"
    meta(entered, worker=False)
    assert decision(call(entered, "Bash", command)) == "allow"


def test_questions_and_plans_are_left_to_the_permission_request(entered: paths.Place, worktree: Path) -> None:
    for tool in ("AskUserQuestion", "ExitPlanMode"):
        answer = call(entered, tool, {})
        assert (answer.code, answer.out) == (0, "{}\n")


def test_a_subagent_is_judged_like_its_agent(entered: paths.Place, worktree: Path) -> None:
    payload = payloads.recorded("PreToolUse.Bash", agent_id="sub", agent_type="x", cwd=str(worktree))
    payload["tool_input"]["command"] = f"cat {entered.root}/file.txt"

    answer = run_hook(entered, "agent-path", payload, NAME, project=worktree)

    assert decision(answer) == "deny"


@pytest.mark.parametrize(
    "path", [path for path in payloads.ALL if path.stem.startswith("PreToolUse")], ids=payloads.ident
)
def test_every_recorded_call_gets_an_answer(entered: paths.Place, worktree: Path, path: Path) -> None:
    payload = {**json.loads(path.read_text()), "cwd": str(worktree)}

    assert decision(run_hook(entered, "agent-path", payload, NAME, project=worktree)) in ("allow", "deny", "none")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"tool_name": "Bash"}',
        b'{"tool_name": 1, "tool_input": {}}',
        b"\xff\xfe",
        b"{" * 100000,
        b'{"tool_name": "Bash", "tool_input": {"command": ["ls"]}}',
        b'{"tool_name": "Bash", "tool_input": "ls"}',
    ],
)
def test_a_damaged_payload_is_denied(entered: paths.Place, worktree: Path, data: bytes) -> None:
    answer = run_hook(entered, "agent-path", data, NAME, project=worktree)

    assert decision(answer) == "deny"


@pytest.mark.parametrize("name", ["w9", "../w1", "w1/repo", ".", "..", "a\nb"])
def test_an_agent_that_does_not_exist_may_nothing(entered: paths.Place, worktree: Path, name: str) -> None:
    payload = {"tool_name": "Read", "tool_input": {"file_path": "file.txt"}, "cwd": str(worktree)}

    assert decision(run_hook(entered, "agent-path", payload, name, project=worktree)) == "deny"


def test_outside_a_repository_nothing_is_allowed(entered: paths.Place, tmp_path: Path) -> None:
    payload = {"tool_name": "Read", "tool_input": {"file_path": "x"}, "cwd": str(tmp_path)}

    assert decision(run_hook(entered, "agent-path", payload, NAME, project=tmp_path)) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "cat <<'E'\n" + "x" * 1_000_000 + "\nE",
        "ls " + "a " * 500_000,
        "ls '" + "\x1b\x07\u202e" * 1000 + "'",
        "$(" * 300_000,
        "ls \ud800",
        "a;" * 500_000,
        'ls "' + "$x " * 300_000,
    ],
    ids=lambda text: text[:6].encode("unicode_escape").decode(),
)
def test_large_and_odd_commands_get_valid_json(entered: paths.Place, worktree: Path, command: str) -> None:
    answer = call(entered, "Bash", {"command": command})

    assert decision(answer) in ("allow", "deny")
    assert answer.out.isprintable() or answer.out[:-1].isprintable()
    assert len(answer.out) < 2000


def test_a_large_file_is_written(entered: paths.Place, worktree: Path) -> None:
    assert decision(call(entered, "Write", {"file_path": "big.txt", "content": "x" * 3_000_000})) == "allow"


def test_links_in_the_worktree_do_not_help(entered: paths.Place, worktree: Path) -> None:
    (worktree / "link").symlink_to(entered.root)

    assert decision(call(entered, "Read", {"file_path": "link/file.txt"})) == "deny"
    assert decision(call(entered, "Bash", {"command": "ls link/"})) == "deny"
    assert decision(call(entered, "Bash", {"command": "ls l*"})) == "deny"


def test_the_cwd_of_the_payload_counts(entered: paths.Place, worktree: Path) -> None:
    (worktree / "src").mkdir()

    assert decision(call(entered, "Bash", {"command": "ls ../file.txt"}, worktree / "src")) == "allow"
    assert decision(call(entered, "Bash", {"command": "ls ../file.txt"}, worktree)) == "deny"
    assert decision(call(entered, "Read", {"file_path": "file.txt"}, entered.root)) == "deny"
    assert decision(call(entered, "Bash", {"command": f"cd {worktree} && ls"}, entered.root)) == "allow"


def test_it_loads_light_modules_only(entered: paths.Place, worktree: Path) -> None:
    """Neither site-packages nor the heavy half of the standard library."""
    import subprocess

    payload = {"tool_name": "Bash", "tool_input": {"command": "ls -la | git status"}, "cwd": str(worktree)}
    rules(entered, [*ALLOW, "Bash(head:*)"])
    program = (
        f"import sys; before = set(sys.modules); sys.path.insert(0, {str(PROJECT)!r}); "
        f"from ibstatus.hooks import entry; entry.run(['agent-path', {NAME!r}]); "
        "print('\\n'.join(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-I", "-c", program],
        env={**os.environ, "CLAUDE_PROJECT_DIR": str(worktree)},
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name for name in done.stderr.split() if not name.startswith("ibstatus")}

    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert loaded <= {"sys", "time", "posix", "fcntl", "_json", "_signal", "select"}
