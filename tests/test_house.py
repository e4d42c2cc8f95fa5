"""The house rules that a tool can hold: the hot set, the seam of file operations, sizes, fixtures, the clean world."""

import ast
import json
import os
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pytest

from ibstatus.agents import recover
from ibstatus.cli import app
from ibstatus.cli.board import group
from ibstatus.hooks import entry
from ibstatus.model import constants
from ibstatus.project import home
from ibstatus.system import disk
from tests.conftest import PROJECT

PACKAGE = PROJECT / "ibstatus"
MODULES = sorted(PACKAGE.rglob("*.py"))
HOT = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["ib"]["hot"]
LIGHT = {"sys", "time", "posix", "fcntl", "_json", "select", "_signal"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


def top_imports(tree: ast.Module) -> set[str]:
    """What is imported when the module is: not in functions, not under TYPE_CHECKING, not in `except ImportError`."""
    found: set[str] = set()
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in HOT else node.module for name in inner}
        elif isinstance(node, ast.Try):
            todo += node.body
        elif isinstance(node, ast.If) and not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            todo += [*node.body, *node.orelse]
    return found


@pytest.mark.parametrize("module", HOT)
def test_a_hot_module_imports_only_light_and_hot_ones(module: str) -> None:
    path = PROJECT / (module.replace(".", "/") + ".py")

    heavy = top_imports(ast.parse(path.read_text())) - LIGHT - set(HOT)

    assert heavy == set()


@pytest.mark.parametrize(
    "command",
    [["notify", "hi"], ["send", "user-claude", "? hi"], ["acknowledge", "msg-1-x"], ["log", "-q", "hi"]],
    ids=lambda command: command[0],
)
def test_a_hot_command_loads_the_hot_set_only(command: list[str], repo, agent) -> None:
    program = (
        "import sys; before = set(sys.modules); from ibstatus.__main__ import main; "
        f"main({command!r}); print('\\n'.join(set(sys.modules) - before))"
    )
    cwd = agent(repo, "a") if command[0] in ("send", "log") else repo.root
    subprocess.run([sys.executable, "-m", "ibstatus", *command], cwd=cwd, capture_output=True, check=False)

    done = subprocess.run([sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, check=True)

    packages = {name.rpartition(".")[0] for name in HOT}
    loaded = {line for line in done.stdout.splitlines() if re.fullmatch(r"[\w.]+", line)}
    assert loaded - LIGHT - set(HOT) - packages - {"ibstatus"} == set()


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("inject-status", {"hook_event_name": "PostToolBatch"}),
        ("inject-status", {"hook_event_name": "UserPromptSubmit", "prompt": "go"}),
        ("agent-status", {"hook_event_name": "Stop", "last_assistant_message": "done"}),
    ],
    ids=["batch", "prompt", "stop"],
)
def test_a_hook_without_news_loads_the_hot_set_only(name: str, payload: dict[str, str], repo) -> None:
    home.enter(repo)
    data = json.dumps({"session_id": "s", "prompt_id": "p", **payload})
    env = {**os.environ, "CLAUDE_PROJECT_DIR": repo.root}
    isolated = [sys.executable, "-S", "-E", "-I", "-c"]
    program = (
        f"import sys; before = set(sys.modules); sys.path.insert(0, {str(PROJECT)!r}); "
        f"from ibstatus.hooks import entry; entry.run([{name!r}]); print('\\n'.join(set(sys.modules) - before))"
    )
    for _ in range(2):  # the first time notes that the session is there
        done = subprocess.run([*isolated, program], env=env, input=data, capture_output=True, text=True, check=True)

    loaded = {line for line in done.stdout.splitlines() if re.fullmatch(r"[\w.]+", line)}
    assert loaded - LIGHT - set(HOT) - {name.rpartition(".")[0] for name in HOT} == set()


FILE_OPERATIONS = {name for name in vars(disk) if name in dir(os) and callable(getattr(os, name))} | {
    "replace",
    "remove",
    "fdatasync",
    "flock",
}


# Work with other programs and their files: worktrees, git, tmux, transcripts. Every other module that touches a file
# goes through system/disk, so that tests can make each operation fail.
BESIDE_THE_SEAM = {
    "ibstatus.agents.attend",
    "ibstatus.agents.undo.git_restore",
    "ibstatus.agents.undo.git_snapshot",
    "ibstatus.claude.transcript",
    "ibstatus.merge.checkout_update",
    "ibstatus.project.presence",
    "ibstatus.project.supervisor_process",
    "ibstatus.supervisor.nudge",
    "ibstatus.supervisor.install_lock",
    "ibstatus.supervisor.watch_files",
    "ibstatus.titles.tmux_window",
}
PROGRAMS = tuple(f"ibstatus.{name}." for name in ("cli", "testkit", "system.git", "system.process", "system.tmux"))
SEAM = [p for p in MODULES if name_of(p) not in BESIDE_THE_SEAM and not name_of(p).startswith(PROGRAMS)]


@pytest.mark.parametrize("path", SEAM, ids=name_of)
def test_no_file_operation_bypasses_the_seam(path: Path) -> None:
    if path.name == "disk.py":
        return
    bypasses = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            call = node.func
            if isinstance(call, ast.Name) and call.id == "open":
                bypasses.append(node.lineno)
            if (
                isinstance(call, ast.Attribute)
                and isinstance(call.value, ast.Name)
                and call.value.id in ("os", "posix", "fcntl")
            ):
                bypasses += [node.lineno] if call.attr in FILE_OPERATIONS else []
            if isinstance(call, ast.Attribute) and call.attr in (
                "read_text",
                "read_bytes",
                "write_text",
                "write_bytes",
            ):
                bypasses.append(node.lineno)
    assert bypasses == []


STARTS_GIT = PACKAGE / "system" / "git" / "start.py"
NO_AGENTS_THERE = {PACKAGE / "testkit", PACKAGE / "guard"}


def test_only_one_module_starts_git() -> None:
    """Where an agent can write, git must not be started as it comes."""
    found = []
    for path in MODULES:
        if path == STARTS_GIT or NO_AGENTS_THERE.intersection(path.parents):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            first = node.elts[0] if isinstance(node, ast.List) and node.elts else None
            if isinstance(first, ast.Constant) and first.value == "git":
                found.append(f"{name_of(path)}:{node.lineno}")

    assert found == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_stays_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


def test_every_event_that_is_noted_has_a_known_kind() -> None:
    used = {kind for path in MODULES for kind in re.findall(r'"kind": "([a-z]+\.[a-z]+)"', path.read_text())}

    assert used
    assert used <= constants.EVENT_KINDS


NAMED = {
    **{f"command {name}": command for name, (command, _) in app.COMMANDS.items()},
    **{f"board command {name}": command for name, (command, _) in group.COMMANDS.items()},
    **{f"hook {name}": f"{module}:{function}" for name, (_, module, function) in entry.HOOKS.items()},
    **{f"recovery of {kind}": function for kind, function in recover.KINDS.items()},
    "taking a merge back": recover.TAKE_BACK,
}


@pytest.mark.parametrize("what", NAMED)
def test_what_a_table_names_is_there(what: str) -> None:
    assert callable(resolve_name(NAMED[what]))


def test_every_command_is_there() -> None:
    missing = [name for name in app.COMMANDS if app.ib.get_command(None, name) is None]  # type: ignore[arg-type]

    assert missing == []


def test_every_fixture_folder_is_read_by_a_test() -> None:
    texts = "\n".join(path.read_text() for path in (PROJECT / "tests").rglob("*.py"))
    unread = [
        folder.name
        for folder in (PROJECT / "fixtures").iterdir()
        if folder.is_dir() and f'"{folder.name}"' not in texts
    ]

    assert unread == []


# Names that another program gives: `fixtures/hook-payloads` has a client version and its hook event; the two files of
# `fixtures/relationships` begin with what `ib test-relationships` prints, as in the tool that they come from.
NAMED_BY_OTHERS = ("hook-payloads/", "relationships/-none.json", "relationships/w1 w2-two.json")


def test_a_fixture_is_named_by_what_is_expected_of_it() -> None:
    paths = [path for path in (PROJECT / "fixtures").rglob("*") if path.is_file()]
    names = [str(path.relative_to(PROJECT / "fixtures")) for path in paths]
    regular = re.compile(r"[\w-]+/[\w.]+-[\w.-]+\.[a-z]+")

    assert [name for name in names if not regular.fullmatch(name) and not name.startswith(NAMED_BY_OTHERS)] == []


def test_the_run_has_a_world_of_its_own(own_world: Path) -> None:
    assert os.environ["HOME"] == str(own_world)
    ours = {"IB_SUPERVISOR"}  # off, so that no command of a test leaves one behind
    assert {key for key in os.environ if key.startswith(("TMUX", "CLAUDE", "ANTHROPIC", "IB_"))} == ours


def test_nothing_but_loopback_is_reachable() -> None:
    with socket.socket() as outward, pytest.raises(RuntimeError, match="only loopback"):
        outward.connect(("192.0.2.1", 80))


COMING = [
    "attach",
    "board",
    "diff",
    "gc",
    "info",
    "kill",
    "look",
    "merge",
    "merge-check",
    "new-agent",
    "nuke",
    "pause",
    "parse-state",
    "reassign",
    "resume",
    "sim",
    "titles",
    "undo",
    "wait",
    "watch",
    "why",
]


@pytest.mark.parametrize("path", [p for p in MODULES if name_of(p) != "ibstatus.guard.ib_commands"], ids=name_of)
def test_no_text_names_a_command_that_does_not_exist(path: Path) -> None:
    """Whoever is told to type it would fail. `guard/ib_commands` knows them before they exist."""
    missing = "|".join(sorted(set(COMING) - set(app.COMMANDS)))
    texts = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]

    assert [text for text in texts if isinstance(text, str) and re.search(rf"\bib ({missing})\b", text)] == []
