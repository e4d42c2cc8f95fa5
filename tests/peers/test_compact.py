"""`/compact`, typed by ib into the real client: its menu of commands takes it, and a draft keeps it away."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator

import pytest

from ibstatus.claude import client
from ibstatus.mail import type_command, wake_agent
from ibstatus.mail.rules import wake_line
from ibstatus.system.tmux import server
from tests.peers.hooks import Hooks
from tests.peers.messages_api import MessagesApi, Turn
from tests.peers.tui import Tui

pytestmark = pytest.mark.peer


@pytest.fixture
def seated(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Tui], wake_agent.Seat]]:
    """The terminal of a session, as ib would find it under a name of its own."""
    folder = tempfile.mkdtemp(prefix="ib-t-", dir="/tmp")
    monkeypatch.setenv("TMUX_TMPDIR", folder)

    def seat(session: Tui) -> wake_agent.Seat:
        os.mkdir(f"{folder}/tmux-{os.getuid()}", 0o700)
        os.symlink(f"{session.folder}/{session.servers}", f"{folder}/tmux-{os.getuid()}/peer")
        panes = server.panes("peer")
        assert panes
        return wake_agent.Seat("peer", next(iter(panes.values())), client.DEFAULT)

    yield seat
    shutil.rmtree(folder, ignore_errors=True)


def test_an_idle_session_compacts(tui, api: MessagesApi, hooks: Hooks, seated) -> None:
    for event in ("Stop", "PreCompact", "PostCompact"):
        hooks.on(event)
    hooks.write()
    api.turns[:] = [Turn() for _ in range(4)]
    session = tui(hooks.project)
    for number in (1, 2, 3):
        session.submit(f"Turn {number}.")
        session.until(lambda wanted=number: len(hooks.fired("Stop")) == wanted)
    seat = seated(session)
    session.until(lambda: seat.screen().takes_text)

    session.type("half a thought") if hasattr(session, "type") else session.keys("-l", "half a thought")
    session.until(lambda: seat.screen().draft == "half a thought")
    assert seat.screen().kind == "prompt"
    assert not seat.screen().takes_text
    session.keys("C-u")
    session.until(lambda: seat.screen().takes_text)

    assert type_command.sent(seat, wake_line.COMPACT) == "delivered"

    session.until(lambda: hooks.fired("PostCompact"))
    assert [fired.payload["trigger"] for fired in hooks.fired("PreCompact")] == ["manual"]
    session.until(lambda: seat.screen().takes_text)
