"""Commands of the client that ib types, and what is left of them when their typist dies: fake-claude in a real tmux."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.mail import inbox, type_command, wake_agent
from ibstatus.mail.rules import wake_line
from ibstatus.project import paths
from ibstatus.system.tmux import typing
from tests.living import Living


@pytest.fixture
def agent(repo: paths.Place, tmux: Callable[..., str], tmp_path: Path) -> Living:
    return Living(repo, tmux, tmp_path / "claude", "w1", "").idle()


def test_a_command_that_one_of_us_left_behind_keeps_no_mail(repo: paths.Place, agent: Living) -> None:
    assert typing.paste("ib", agent.pane, wake_line.COMPACT)
    agent.until(lambda: agent.screen.draft == wake_line.COMPACT)
    inbox.put(repo, "cli", "w1", "lead", True, "first", time.time())

    assert wake_agent.rouse(repo, "w1").state == "delivered"

    agent.idle()
    assert agent.hears("[sent by agent lead]: first") == 1
    assert agent.prompts() == ["[ib] a message for you (from lead)"]


def test_a_compaction_takes_over_what_one_that_died_has_left(repo: paths.Place, agent: Living) -> None:
    assert typing.paste("ib", agent.pane, wake_line.COMPACT)
    agent.until(lambda: agent.screen.draft == wake_line.COMPACT)
    assert type_command.compact(repo, "w1") == "delivered"
    agent.idle()


def test_when_it_was_told_last(repo: paths.Place, agent: Living) -> None:
    assert inbox.told_at(repo, "w1") == 0
    inbox.put(repo, "cli", "w1", "lead", True, "first", time.time())
    before = time.time() - 1
    assert wake_agent.rouse(repo, "w1").state == "delivered"
    agent.idle()
    assert inbox.told_at(repo, "w1") > before
