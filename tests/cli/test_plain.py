"""The plain shape: whatever is recognised without click, click reads in the same way."""

import click
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ibstatus import __main__ as front
from ibstatus.cli import app, fast, lazy, mail

COMMANDS: dict[str, click.Command] = {
    "notify": mail.notify, "send": mail.send, "acknowledge": mail.acknowledge, "ack": mail.acknowledge, "log": mail.log,
}  # fmt: skip
for command in COMMANDS.values():
    lazy.only(command)  # as app does it with every command before it runs
OPTIONS = [parameter for command in COMMANDS.values() for option in command.params for parameter in option.opts]
PIECES = st.one_of(
    st.sampled_from(
        [*OPTIONS, "--from=x", "--type=waiting", "--id=", "-qq", "-q", "-h", "--help", "--", "-", "", "--fro"]
    ),
    st.sampled_from(
        ["user-claude", "user", "a", "waiting", "msg-1-a", "?", "! x", " ", "ü", "\udc80", "a\nb", "@file", "$X"]
    ),
    st.text(max_size=6),
)


def by_click(name: str, words: list[str]) -> dict[str, object]:
    with COMMANDS[name].make_context(name, list(words), help_option_names=["-h", "--help"]) as context:
        return dict(context.params)


@given(name=st.sampled_from(sorted(COMMANDS)), words=st.lists(PIECES, max_size=6))
@example(name="send", words=["--from", "a", "user", "x"])
@example(name="send", words=["user", "--from", "", "x"])
@example(name="log", words=["-q", "--quiet", "x", "--id", "a", "--id", "b"])
@example(name="notify", words=["x", "--type"])
@example(name="notify", words=["--type", "--from", "x"])
@example(name="ack", words=[""])
@example(name="notify", words=["text", "--type", ""])
@example(name="log", words=["text", "--id", " "])
@example(name="notify", words=["text", "--from", " "])
@settings(max_examples=1500, deadline=None)
def test_click_reads_it_alike(name: str, words: list[str]) -> None:
    call = fast.recognised([name, *words])
    if call is None:
        return
    read = by_click(name, words)
    expected: dict[str, object]
    if call.name == "send":
        expected = {"to": call.words[0], "text": tuple(call.words[1:]), "claimed": call.options.get("claimed", "")}
    elif call.name == "notify":
        claimed, kind = call.options.get("claimed", ""), call.options.get("kind", "")
        expected = {"text": tuple(call.words), "claimed": claimed, "kind": kind}
    elif call.name == "acknowledge":
        expected = {"ids": tuple(call.words), "everything": False}
    else:
        agent, quiet = call.options.get("agent", ""), "quiet" in call.options
        expected = {"text": tuple(call.words), "agent": agent, "quiet": quiet}
    assert read == expected | ({"json": False} if call.name != "log" else {})


@pytest.mark.parametrize(
    "argv",
    [
        ["notify", "hello"],
        ["notify", "--type", "waiting", "--from", "a", "two", "words"],
        ["notify", "hello", "--type", "question"],
        ["send", "user-claude", "? hello"],
        ["send", "--from", "a", "user", "hello"],
        ["acknowledge", "msg-1-a", "q-2-b"],
        ["ack", "msg-1-a"],
        ["log", "hello"],
        ["log", "-q", "--id", "a", "hello"],
    ],
)
def test_the_usual_is_plain(argv: list[str]) -> None:
    """Hooks and agents type these all day: each must keep its way past click."""
    assert fast.recognised(argv) is not None


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["listen"],
        ["notify"],
        ["send", "user"],
        ["acknowledge", "--all"],
        ["acknowledge", "--json", "x"],
        ["notify", "--help"],
        ["notify", "-h", "x"],
        ["notify", "--", "-x"],
        ["notify", "--type=waiting", "x"],
        ["notify", "x", "--type"],
        ["notify", "x", "--type", ""],
        ["log", "x", "--id", " "],
        ["notify", "--typo", "x"],
        ["send", "user", "-x"],
        ["send", "user", "-"],
    ],
)
def test_the_rest_is_for_click(argv: list[str]) -> None:
    assert fast.recognised(argv) is None


def test_the_front_door_knows_the_hot_commands() -> None:
    assert set(front.HOT) == fast.HOT
    assert set(COMMANDS) == fast.HOT
    assert {*app.COMMANDS, *app.ALIASES} >= fast.HOT
