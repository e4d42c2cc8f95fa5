"""The real client, a scripted model, and a CLAUDE.md that holds our node."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers import messages_api
from tests.peers.client import Client, binary
from tests.peers.messages_api import MessagesApi


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with messages_api.serving() as api:
        yield api
    assert api.failures == []
    assert api.strangers == [], "the client wanted to leave the machine"


@pytest.fixture
def claude(api: MessagesApi, tmp_path: Path) -> Client:
    path = binary()
    if path is None:
        pytest.skip("the real client is not installed: pip install '.[peer]'")
    home = tmp_path / "claude-home"
    home.mkdir()
    return Client(path, home, api.url)
