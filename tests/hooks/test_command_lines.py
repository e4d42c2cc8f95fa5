"""The command lines that Claude Code runs, each by a real shell, with all that can be wrong with what they start."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ibstatus.claude.hooks import command_lines
from ibstatus.model import constants
from ibstatus.system import disk
from tests.conftest import PROJECT

SHELLS = [shell for shell in ("dash", "bash", "zsh", "ksh", "busybox") if shutil.which(shell)]
PAYLOAD = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}, "cwd": "/"}).encode()
MEGABYTE = json.dumps({"hook_event_name": "PreToolUse", "x": "y" * (1 << 20)}).encode()
NOBODY = 65534
ODD = ["plain", "with blank", "o'brien", '"$HOME`x`\\', "new\nline", "-rf *", "# ib", "é ü"]
NO_HOOK = "no-such-hook"

pytestmark = pytest.mark.parametrize("shell", SHELLS)


class Ended(NamedTuple):
    code: int
    out: str
    err: str
    wrote_all: bool


def run(
    shell: str, line: str, data: bytes = PAYLOAD, user: int | None = None, env: dict[str, str] | None = None
) -> Ended:
    """As the client does it: `sh -c`, and a writer that must not meet a closed pipe."""
    argv = [shell, *(["sh"] if shell == "busybox" else []), "-c", line]
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/", user=user, env=env
    )
    wrote = []

    def write() -> None:
        assert process.stdin is not None
        try:
            process.stdin.write(data)
            process.stdin.close()
            wrote.append(True)
        except BrokenPipeError:
            pass

    writer = threading.Thread(target=write)
    writer.start()
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = process.stdout.read(), process.stderr.read()
    code = process.wait()
    writer.join()
    process.stdout.close()
    process.stderr.close()
    return Ended(code, out.decode(), err.decode(), bool(wrote))


class Installed:
    """A copy of the package, to be broken, and a python to be replaced."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "ibstatus"
        self.folder.mkdir(parents=True)
        subprocess.run(["cp", "-R", str(source), str(self.package)], check=True)  # no link: a test writes into it
        self.python = folder / "python"
        self.python.symlink_to(sys.executable)

    @property
    def program(self) -> tuple[str, str]:
        return str(self.python), str(self.package / "hooks" / "stub.py")

    def script(self, text: str) -> None:
        """Something else in the place of python."""
        self.python.unlink()
        self.python.write_text("#!/bin/sh\n" + text + "\n")
        self.python.chmod(0o755)

    @property
    def stub(self) -> Path:
        return self.package / "hooks" / "stub.py"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package without its bytecode."""
    path = tmp_path_factory.mktemp("source") / "ibstatus"
    shutil.copytree(PROJECT / "ibstatus", path, ignore=shutil.ignore_patterns("__pycache__"))
    return path


@pytest.fixture
def installed(source: Path, tmp_path: Path) -> Installed:
    return Installed(source, tmp_path / "it's $HOME")


def no_python(it: Installed) -> None:
    it.python.unlink()


def python_is_a_folder(it: Installed) -> None:
    it.python.unlink()
    it.python.mkdir()


def no_package(it: Installed) -> None:
    shutil.rmtree(it.package)


def no_stub(it: Installed) -> None:
    it.stub.unlink()


def empty_stub(it: Installed) -> None:
    it.stub.write_text("")


def broken_stub(it: Installed) -> None:
    it.stub.write_text("import sys\nif")


def no_entry(it: Installed) -> None:
    (it.package / "hooks" / "entry.py").unlink()


def syntax_error(it: Installed) -> None:
    (it.package / disk.__file__.rpartition("/ibstatus/")[2]).write_text("def (:\n")


def import_error(it: Installed) -> None:
    (it.package / "hooks" / "entry.py").write_text("import ibstatus.no_such_thing\n")


def killed(it: Installed) -> None:
    it.script("kill -SEGV $$")


def killed_by_alarm(it: Installed) -> None:
    it.script("kill -ALRM $$")


def aborted_while_talking(it: Installed) -> None:
    it.script("echo oh no >&2; kill -ABRT $$")


def fails_with(code: int) -> Callable[[Installed], None]:
    def fail(it: Installed) -> None:
        it.script(f"echo no >&2; exit {code}")

    fail.__name__ = f"exit_{code}"
    return fail


BREAKDOWNS = [
    no_python,
    python_is_a_folder,
    no_package,
    no_stub,
    empty_stub,
    broken_stub,
    no_entry,
    syntax_error,
    import_error,
    killed,
    killed_by_alarm,
    aborted_while_talking,
    *map(fails_with, (1, 2, 126, 127, 139)),
]
broken = pytest.mark.parametrize("breakdown", BREAKDOWNS, ids=lambda one: one.__name__)
sized = pytest.mark.parametrize("data", [PAYLOAD, MEGABYTE, b""], ids=["small", "megabyte", "nothing"])


@broken
@sized
def test_a_quiet_line_is_as_good_as_none(
    shell: str, installed: Installed, breakdown: Callable[[Installed], None], data: bytes
) -> None:
    breakdown(installed)

    assert run(shell, command_lines.quiet(installed.program, "inject-status"), data) == Ended(0, "", "", True)
    in_tmux = {**os.environ, "TMUX_PANE": "%1", "TMUX": "/nowhere/tmux,1,0"}
    line = command_lines.quiet(installed.program, "notify-tmux")
    assert run(shell, line, data, env=in_tmux) == Ended(0, "", "", True)


@broken
@sized
def test_a_bell_stays_silent(
    shell: str, installed: Installed, breakdown: Callable[[Installed], None], data: bytes
) -> None:
    breakdown(installed)

    for client in (True, False):
        line = command_lines.bell(installed.program, "queue-changed", client=client)
        assert run(shell, line, data) == Ended(0, "", "", True)


@broken
@sized
def test_a_guard_says_no(shell: str, installed: Installed, breakdown: Callable[[Installed], None], data: bytes) -> None:
    breakdown(installed)

    done = run(shell, command_lines.guard(installed.program, "agent-path", "worker-1"), data)
    answer = json.loads(done.out)["hookSpecificOutput"]
    assert (done.code, done.err, done.wrote_all) == (0, "", True)
    assert answer["permissionDecision"] == "deny"
    assert answer["permissionDecisionReason"] == command_lines.GONE

    done = run(shell, command_lines.request(installed.program, "permission-request", "worker-1"), data)
    assert (done.code, done.err, done.wrote_all) == (0, "", True)
    decision = json.loads(done.out)["hookSpecificOutput"]["decision"]
    assert decision == {"behavior": "deny", "message": command_lines.GONE}


@pytest.mark.parametrize("said", ["", "oh no", "Traceback {"])
def test_a_guard_that_says_nothing_sensible_says_no(shell: str, installed: Installed, said: str) -> None:
    installed.script(f"printf '%s' '{said}'")

    done = run(shell, command_lines.guard(installed.program, "agent-path", "a"), MEGABYTE)

    assert json.loads(done.out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert (done.code, done.err, done.wrote_all) == (0, "", True)


def test_a_guards_answer_is_handed_on_as_it_is(shell: str, installed: Installed) -> None:
    said = r'{"a":"\\n %s \u0041 $HOME `id` \"x\" \t","b":"ü"}'
    installed.script(f"cat >/dev/null; echo oh >&2; cat <<'END'\n{said}\nEND")

    done = run(shell, command_lines.guard(installed.program, "agent-path", "a"), MEGABYTE)

    assert done == Ended(0, said + "\n", "", True)


def test_a_quiet_lines_answer_is_handed_on(shell: str, installed: Installed) -> None:
    installed.script("cat >/dev/null; echo oh >&2; echo '{}'")

    assert run(shell, command_lines.quiet(installed.program, "inject-status")) == Ended(0, "{}\n", "", True)


@sized
def test_out_of_tmux_nothing_is_started_for_a_title(shell: str, installed: Installed, data: bytes) -> None:
    installed.script(f'echo "$@" >"{installed.folder.parent}/args"; cat >"{installed.folder.parent}/stdin"; exit 2')
    line = command_lines.quiet(installed.program, "notify-tmux", "it's w1")
    args = installed.folder.parent / "args"
    env = {key: value for key, value in os.environ.items() if key != "TMUX_PANE"}

    for out_of_tmux in (env, {**env, "TMUX_PANE": ""}):
        assert run(shell, line, data, env=out_of_tmux) == Ended(0, "", "", True)
        assert not args.exists()
    assert run(shell, line, data, env={**env, "TMUX_PANE": "%1"}) == Ended(0, "", "", True)

    assert args.read_text().endswith(" notify-tmux it's w1\n")
    assert (args.parent / "stdin").read_bytes() == data
    assert (command_lines.is_ours(line), command_lines.hook_of(line)) == (True, "notify-tmux")


@sized
def test_in_an_agent_nothing_is_started_for_the_primary(shell: str, installed: Installed, data: bytes) -> None:
    """Its client runs both: the hooks of its own settings, and those of the main checkout's."""
    started = installed.folder.parent / "started"
    installed.script(f'echo "$@" >>"{started}"; cat >/dev/null; exit {constants.RING}')
    agent = installed.folder.parent / "an $(agent)" / "a-1"
    (agent / "repo").mkdir(parents=True)
    (installed.folder.parent / "hooks").mkdir()
    shutil.copy(installed.python, installed.folder.parent / "hooks" / "run")
    plugin = {"CLAUDE_PLUGIN_ROOT": str(installed.folder.parent)}
    env = {**os.environ, **plugin, "IB_AGENT_ID": "a-1", "CLAUDE_PROJECT_DIR": str(agent / "repo"), "TMUX_PANE": "%1"}
    program = installed.program
    doubled = [
        command_lines.quiet(program, "inject-status"),
        command_lines.quiet(program, "notify-tmux"),
        command_lines.bell(program, "queue-changed"),
        command_lines.bell(program, "wait-for-news", client=True),
        command_lines.of_plugin("inject-status"),
        command_lines.bell_of_plugin("queue-changed"),
    ]
    elsewhere = (
        env,  # it has no settings of its own yet
        {**env, "IB_AGENT_ID": ""},
        {**env, "IB_AGENT_ID": "a-2"},
        {**env, "CLAUDE_PROJECT_DIR": "/"},
        {key: value for key, value in env.items() if key != "IB_AGENT_ID"},
        {key: value for key, value in env.items() if key != "CLAUDE_PROJECT_DIR"},
    )

    for number, other in enumerate(elsewhere):
        if number == 1:
            (agent / "settings.local.json").write_text("{}")
        for line in doubled:
            assert run(shell, line, data, env=other).wrote_all
    assert len(started.read_text().splitlines()) == len(elsewhere) * len(doubled)
    started.unlink()
    for line in doubled:
        assert run(shell, line, data, env=env) == Ended(0, "", "", True)
    assert not started.exists()
    assert run(shell, command_lines.quiet(program, "inject-status", "a-1"), data, env=env) == Ended(0, "", "", True)
    assert started.read_text().endswith(" inject-status a-1\n")


@sized
def test_only_one_exit_code_rings(shell: str, installed: Installed, data: bytes) -> None:
    installed.script(f"echo not this >&2; echo nor this; exit {constants.RING}")

    done = run(shell, command_lines.bell(installed.program, "queue-changed"), data)

    assert done == Ended(2, "", command_lines.RUNG + "\n", True)


def test_a_waiter_is_told_the_clients_pid(shell: str, installed: Installed) -> None:
    installed.script(f'echo "$@" >"{installed.folder.parent}/args"; exit 0')

    assert run(shell, command_lines.bell(installed.program, "wait-for-news", client=True)).code == 0

    args = (installed.folder.parent / "args").read_text().split()
    assert args[-2:] == ["wait-for-news", str(os.getpid())]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_waiter_has_no_pipe_of_the_client_but_stdin(shell: str, installed: Installed) -> None:
    seen = installed.folder.parent / "fds"
    installed.script(f'readlink /proc/$$/fd/* >"{seen}"; exit 0')

    assert run(shell, command_lines.bell(installed.program, "wait-for-news", client=True)).code == 0

    assert len([fd for fd in seen.read_text().split() if fd.startswith("pipe:")]) == 1  # its own one goes to the file


@pytest.mark.parametrize("odd", ODD)
def test_any_path_will_do(shell: str, tmp_path: Path, odd: str) -> None:
    python, stub = tmp_path / odd / "python", tmp_path / odd / "ibstatus" / "hooks" / "stub.py"
    stub.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    code = "import sys, os; sys.stdin.read(); print('{' + sys.argv[-1] + '}'); sys.stdout.flush(); os._exit({})\n"
    program = (str(python), str(stub))

    stub.write_text(code.replace("{}", "0"))
    lines = [command_lines.quiet(program, "h", odd), command_lines.guard(program, "h", odd)]
    for line in lines:
        assert run(shell, line) == Ended(0, "{" + odd + "}\n", "", True)
        assert command_lines.is_ours(line)
        assert command_lines.hook_of(line) == "h"

    stub.write_text(code.replace("{}", str(constants.RING)))
    bell = command_lines.bell(program, "h")
    assert run(shell, bell) == Ended(2, "", command_lines.RUNG + "\n", True)
    assert command_lines.hook_of(bell) == "h"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("what", ["stub", "package", "python"])
def test_what_may_not_be_read(shell: str, source: Path, tmp_path: Path, what: str) -> None:
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)
    it = Installed(source, tmp_path / "x")
    {"stub": it.stub, "package": it.package, "python": it.python.parent}[what].chmod(0o600)

    assert run(shell, command_lines.quiet(it.program, "inject-status"), MEGABYTE, NOBODY) == Ended(0, "", "", True)
    assert run(shell, command_lines.bell(it.program, "queue-changed"), MEGABYTE, NOBODY) == Ended(0, "", "", True)
    done = run(shell, command_lines.guard(it.program, "agent-path", "a"), MEGABYTE, NOBODY)
    assert json.loads(done.out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert (done.code, done.err, done.wrote_all) == (0, "", True)


@sized
def test_the_real_program_reads_all_and_ends_well(shell: str, installed: Installed, data: bytes) -> None:
    """Outside of any repository there is nothing to say."""
    env = {**os.environ, "TMUX_PANE": "%1", "TMUX": "/nowhere/tmux,1,0"}
    for hook in (NO_HOOK, "inject-status", "main-path", "notify-tmux"):
        assert run(shell, command_lines.quiet(installed.program, hook), data, env=env) == Ended(0, "", "", True)
    assert run(shell, command_lines.bell(installed.program, "queue-changed"), data) == Ended(0, "", "", True)


@pytest.mark.skipif(sys.platform == "darwin", reason="its bash is old, and forks once more")
@pytest.mark.parametrize("kind", ["quiet", "bell", "guard"])
def test_the_shell_starts_the_program_itself(shell: str, installed: Installed, kind: str) -> None:
    """No process stands in between; what else is started is one `cat`."""
    line = {
        "quiet": command_lines.quiet(installed.program, "h"),
        "bell": command_lines.bell(installed.program, "h"),
        "guard": command_lines.guard(installed.program, "h", "a"),
    }[kind]
    seen = installed.folder.parent / "parent"
    installed.script(f'cat >/dev/null; echo $PPID >"{seen}"; echo "{{}}"')
    wrapper = f"echo $$ >'{seen}.shell'; {line}"

    run(shell, wrapper)

    assert seen.read_text() == Path(f"{seen}.shell").read_text()
