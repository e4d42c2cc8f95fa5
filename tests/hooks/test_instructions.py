"""What sessions are told of their role: short, nothing that does not exist, nothing that an agent may not run."""

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from ibstatus.cli import app
from ibstatus.guard import ib_commands
from ibstatus.hooks.rules import instructions
from ibstatus.hooks.rules.instructions import Agent
from ibstatus.mail.rules import primary_text

WORKTREE = "/project/.ittybitty/agents/{}/repo"
AGENTS = [
    Agent("lead", "manager", "", "main", WORKTREE.format("lead")),
    Agent("sub", "manager", "lead", "agent/lead", WORKTREE.format("sub")),
    Agent("w1", "worker", "lead", "agent/lead", WORKTREE.format("w1")),
    Agent("w2", "worker", "", "", WORKTREE.format("w2")),
    Agent("w3", "worker", "", "main", "/project", apart=False),
    Agent("w4", "worker", "", "main", WORKTREE.format("w4"), task="write-the-tests-3f9a1"),
]


def named(text: str) -> list[list[str]]:
    """The words of every `ib …` that a text teaches."""
    return [found.split() for found in re.findall(r"`ib ([^`]+)`", text)]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.id)
def test_how_it_reads(agent: Agent, snapshot: SnapshotAssertion) -> None:
    assert instructions.of_agent(agent, [("all", "Tabs, not blanks.")]) == snapshot


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.id)
def test_an_agent_is_taught_only_what_it_may_run(agent: Agent) -> None:
    text = instructions.of_agent(agent, [])

    assert len(named(text)) >= 3
    for words in named(text):
        assert words[0] in app.COMMANDS
        assert ib_commands.refusal(words, agent.role == "manager") == ""
    assert "{" not in text


@pytest.mark.parametrize("short", [False, True])
def test_the_primary_is_taught_only_what_there_is(short: bool) -> None:
    text = instructions.of_primary(short)

    assert {words[0] for words in named(text)} - {"--help"} <= set(app.COMMANDS)


def test_all_of_it_fits_with_room_for_news() -> None:
    assert len(instructions.of_primary()) < 4000
    assert len(instructions.of_primary(short=True)) < 600
    for agent in AGENTS:
        assert (
            len(instructions.of_agent(agent, [("all", "x" * 99_999), ("worker", "y" * 99_999)])) < primary_text.LONGEST
        )


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("w1", "w1"),
        ("agent/w1", "agent/w1"),
        ("release/2.0_x", "release/2.0_x"),
        ("a b", '"a b"'),
        ("</x>", '"\\u003c/x>"'),
    ],
)
def test_names(name: str, shown: str) -> None:
    assert instructions.plain(name) == shown
