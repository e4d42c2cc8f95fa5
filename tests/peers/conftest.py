"""The real client, a scripted model, a terminal for it, and a project with hooks."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import git
from tests.peers import messages_api
from tests.peers.client import Client, binary
from tests.peers.hooks import Hooks
from tests.peers.messages_api import MessagesApi
from tests.peers.tui import Tui


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with messages_api.serving() as api:
        yield api
    assert api.failures == []
    assert api.strangers == [], "the client wanted to leave the machine"


@pytest.fixture
def claude(api: MessagesApi, tmp_path: Path) -> Iterator[Client]:
    path = binary()
    if path is None:
        pytest.skip("the real client is not installed: pip install '.[peer]'")
    client = Client(path, tmp_path / "claude-home", api.url)
    client.settle_in(tmp_path)
    yield client
    client.end_all()


@pytest.fixture
def tui(claude: Client) -> Iterator[Callable[..., Tui]]:
    """Open the client in a terminal: `tui(folder, *args, mode=…)`."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    opened: list[Tui] = []

    def open_one(cwd: Path, *args: str, **options) -> Tui:
        opened.append(Tui(claude, cwd, *args, **options))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    """A project, a git repository with a folder `sub`, and hooks for it."""
    project = tmp_path / "project"
    (project / "sub").mkdir(parents=True)
    git(project, "init", "-q", "-b", "main")
    return Hooks(project, tmp_path / "hooks.log")
