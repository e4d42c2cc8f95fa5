"""What every test stands on: a clean environment, throw-away repositories, and the real program as a process."""

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from ibstatus.project import home, paths
from tests import faults as fault_seam
from tests import forked, sweeps
from tests.patience import lengthen

# A busy machine is no reason to fail: nothing here looks at the clock. The same commit always runs the same examples;
# `make soak` runs others, and what it finds becomes an @example.
BUSY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "database": None}
settings.register_profile("check", derandomize=True, **BUSY)  # type: ignore[arg-type]
settings.register_profile("soak", print_blob=True, **BUSY)  # type: ignore[arg-type]
settings.load_profile("soak" if sweeps.SOAK else "check")
lengthen()

PROJECT = Path(__file__).resolve().parent.parent
FOREIGN = ("TMUX", "CLAUDE", "ANTHROPIC", "IB_", "_IB_", "GIT_", "XDG_", "PYTHON")
first_repo = Path()
KEPT = ("PATH", "LANG", "TZ", "TERM")


def clean_environment(home: Path) -> dict[str, str]:
    """Only what a program needs; HOME is a throw-away folder and git knows nobody's settings but these."""
    env = {key: os.environ[key] for key in KEPT if key in os.environ}
    return {
        **env,
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Test",
        "GIT_AUTHOR_EMAIL": "test@example.invalid",
        "GIT_COMMITTER_NAME": "Test",
        "GIT_COMMITTER_EMAIL": "test@example.invalid",
        "GIT_TERMINAL_PROMPT": "0",
        "IB_SUPERVISOR": "off",  # no command starts one by itself, unless the test asks for it
    }


def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are processors: a good part of the tests waits for a disk or another program."""
    return (os.cpu_count() or 1) * 3 // 2


def pytest_runtest_setup(item: pytest.Item) -> None:
    if sweeps.is_over():
        pytest.skip("the time is over")


@pytest.fixture(scope="session", autouse=True)
def own_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The whole run lives in a world of its own: no real HOME, no tmux, no Claude, no git settings of the machine."""
    home = tmp_path_factory.mktemp("home")
    (home / "tmp").mkdir()
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:  # begun in the background: what we start would not hear it
            signal.signal(number, usual)
    saved = dict(os.environ)
    for key in list(os.environ):
        if key.startswith(FOREIGN):
            del os.environ[key]
    os.environ.update(clean_environment(home))
    global first_repo
    first_repo = tmp_path_factory.getbasetemp() / "first-repo"
    first_repo.mkdir()
    make_first_repo(first_repo)
    tempfile.tempdir = os.environ["TMPDIR"]  # remembered by who asks first, and some tests have another one
    yield home
    forked.SERVER.end()
    os.environ.clear()
    os.environ.update(saved)


@pytest.fixture(scope="session", autouse=True)
def loopback_only() -> Iterator[None]:
    """No test talks to another machine."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise RuntimeError(f"only loopback is reachable from a test, not {address[0]}")
        real(self, address)

    socket.socket.connect = connect  # type: ignore[method-assign, assignment]
    yield
    socket.socket.connect = real  # type: ignore[method-assign]


class Done(NamedTuple):
    """How a process ended."""

    code: int
    out: str
    err: str

    def json(self) -> object:
        return json.loads(self.out)


def git(cwd: Path | str, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout


def make_first_repo(path: Path) -> None:
    """Make the repository of which the tests get copies: git needs several times as long to make one."""
    git(path, "init", "-q", "-b", "main")
    for sample in (path / ".git/hooks").glob("*.sample"):
        sample.unlink()
    (path / "file.txt").write_text("one\n")
    git(path, "add", "file.txt")
    git(path, "commit", "-q", "-m", "first")


def make_repo(path: Path) -> paths.Place:
    shutil.copytree(first_repo, path, symlinks=True, dirs_exist_ok=True)
    git(path, "update-index", "--refresh")
    return paths.find(str(path.resolve()))


def place_in(root: str) -> paths.Place:
    """A repository as ib's own files see it, without git."""
    os.mkdir(root + "/.git")
    place = paths.Place(root, root + "/.git")
    home.enter(place)
    return place


@pytest.fixture
def place(tmp_path: Path) -> paths.Place:
    return place_in(str(tmp_path))


@pytest.fixture
def repo(tmp_path: Path) -> paths.Place:
    """A fresh repository with one commit."""
    return make_repo(tmp_path / "repo")


def run_ib(*args: str, cwd: Path | str, env: dict[str, str] | None = None, stdin: str | bytes | None = None) -> Done:
    """`ib …` as a process of its own; without `stdin` it gets /dev/null."""
    raw = stdin.encode() if isinstance(stdin, str) else stdin
    whole = {**os.environ, **(env or {})}
    if forked.can_run(whole):
        code, out, err = forked.run(list(args), str(cwd), whole, raw)
        return Done(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
    done = subprocess.run(
        [sys.executable, "-m", "ibstatus", *args],
        cwd=cwd,
        env=whole,
        capture_output=True,
        stdin=subprocess.DEVNULL if raw is None else None,
        input=raw,
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


@pytest.fixture
def ib(repo: paths.Place) -> Callable[..., Done]:
    """The program in the fresh repository; `cwd`, `env` and `stdin` can be given."""

    def run(
        *args: str, cwd: Path | str | None = None, env: dict[str, str] | None = None, stdin: str | bytes | None = None
    ) -> Done:
        return run_ib(*args, cwd=cwd or repo.root, env=env, stdin=stdin)

    return run


def make_agent(place: paths.Place, name: str, manager: str | None = None) -> Path:
    """An agent as the orchestrator leaves it: its folder, meta.json and a real worktree. Returns the worktree."""
    folder = Path(place.agent_dir(name))
    folder.mkdir(parents=True)
    meta = {
        "id": name,
        "manager": manager,
        "prompt": f"task of {name}",
        "created_epoch": 1_700_000_000,
        "worker": manager is not None,
    }
    (folder / "meta.json").write_text(json.dumps(meta))
    git(place.root, "worktree", "add", "-q", "-b", f"agent/{name}", str(folder / "repo"))
    return folder / "repo"


@pytest.fixture
def agent() -> Callable[..., Path]:
    return make_agent


@pytest.fixture
def tmux(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """tmux of our own, for us and for what we start: `tmux("list-sessions")` asks the server on ib's default socket."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    folder = tempfile.mkdtemp(prefix="ib-t-", dir="/tmp")  # a socket's path must be short
    monkeypatch.setenv("TMUX_TMPDIR", folder)

    def run(*args: str) -> str:
        argv = ["tmux", "-f", os.devnull, "-L", "ib", *args]
        env = {**os.environ, "TMUX_TMPDIR": folder}  # a test may have set another one
        return subprocess.run(
            argv, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        ).stdout

    yield run
    run("kill-server")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def fake_claude(tmux: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Agents are played by the shipped stand-in; its settings and transcripts lie in the folder that is returned."""
    path = tmp_path / "fake-claude"
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ibstatus.testkit.fake_claude "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("IB_CLAUDE", str(path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return tmp_path / "claude"


@pytest.fixture
def faults() -> Iterator[fault_seam.Faults]:
    """Make the n-th file operation fail: `faults.arm(n, errno.ENOSPC)`; see tests/faults.py."""
    seam = fault_seam.Faults()
    yield seam
    seam.disarm()
