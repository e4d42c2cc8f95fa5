"""What an agent may run of ib."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.cli import app
from ibstatus.guard import ib_commands

# What SPEC §6 gives to everybody, and to managers.
WORDS = [
    *ib_commands.EVERYBODY,
    *ib_commands.MANAGERS,
    *app.COMMANDS,
    *app.ALIASES,
    "board",
    "--help",
    "-h",
    "--yolo",
    "--",
    "x",
]


@pytest.mark.parametrize("name", sorted(set(app.COMMANDS) - ib_commands.EVERYBODY - ib_commands.MANAGERS - {"hooks"}))
def test_every_other_command_is_refused_with_what_to_do(name: str) -> None:
    for manager in (False, True):
        reason = ib_commands.refusal([name], manager)
        assert reason
        assert not reason.endswith(".")
        assert reason.startswith("An agent cannot ")


@pytest.mark.parametrize("name", sorted(ib_commands.EVERYBODY))
def test_what_every_agent_may(name: str) -> None:
    assert ib_commands.refusal([name, "--anything", "x"], False) == ""


@pytest.mark.parametrize("name", sorted(ib_commands.MANAGERS))
def test_what_managers_may(name: str) -> None:
    assert ib_commands.refusal([name, "w1"], True) == ""
    assert "ask your manager" in ib_commands.refusal([name, "w1"], False)


@pytest.mark.parametrize(
    ("words", "fine"),
    [
        ([], True),
        (["--version"], True),
        (["-h"], True),
        (["nuke", "--help"], True),
        (["config", "set", "-h"], True),
        (["listen", "--timeout", "--help"], False),
        (["nuke", "--", "--help"], False),
        (["send", "x", "--", "--help"], True),
        (["ls"], True),
        (["ack", "--all"], False),
        (["new", "x"], True),
        (["board", "claim"], True),
        (["board", "approve", "1"], False),
        (["board"], False),
        (["hooks"], False),
        (["hooks", "status"], True),
        (["hooks", "install"], False),
        (["watch", "--debug"], True),
        (["watch", "--plain"], False),
        (["LIST"], False),
        (["list "], False),
        ([""], False),
        (["new-agent", "--yolo", "x"], False),
        (["new-agent", "--yolo=1", "x"], False),
        (["resume", "x", "--yolo"], False),
    ],
)
def test_by_its_words(words: list[str], fine: bool) -> None:
    assert (ib_commands.refusal(words, True) == "") == fine


def test_yolo_may_be_given_by_who_has_it() -> None:
    assert ib_commands.refusal(["new-agent", "--yolo", "x"], True, yolo=True) == ""
    assert ib_commands.refusal(["new-agent", "--yolo", "x"], False, yolo=True) != ""


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text()), max_size=4))
def test_a_worker_may_nothing_that_a_manager_may_not(words: list[str]) -> None:
    worker, manager = ib_commands.refusal(words, False), ib_commands.refusal(words, True)

    assert worker or not manager
    assert all(reason.isprintable() for reason in (worker, manager))
