"""What people see of the fleet."""

from typing import Any

import pytest
from msgspec.structs import replace

from ibstatus.model.fleet import Agent, Snapshot, Wake
from ibstatus.state.rules import status_text

NOW = 1_700_000_000.0
LEAD = Agent("lead", "waiting", "5m", "Implement dark mode", 2, 1, None, "question", NOW - 9, NOW - 300, "opus", False)
DONE = Agent("w1", "complete", "4m", "Write the CSS", 0, 0, "lead", "", NOW, NOW - 240, "sonnet", True)
BROKEN = Agent(
    "w2-with-a-very-long-name-that-goes-on", "unknown", "?", "", manager="lead", problem="meta.json is broken"
)


def published(**more: Any) -> Snapshot:
    values = {"agents": [LEAD, DONE, BROKEN], "messages": [], "questions": [], "wake": Wake([]), **more}
    return Snapshot(seq=7, at="2023-11-14T22:13:20Z", version="0.1", **values)


def test_rows(snapshot: Any) -> None:
    assert status_text.rows([LEAD, DONE, BROKEN]) == snapshot


def test_the_words_of_an_error_take_nobodys_columns_away() -> None:
    broken = replace(LEAD, reason="error: API Error: Request rejected (429) · Usage limit")

    first, second = status_text.rows([broken, DONE], width=100).splitlines()

    assert first.startswith("lead  waiting (error)  5m  opus")
    assert first.endswith("Implement dark mode  error: API Error: Request rejected (4…")
    assert "w1    complete         4m  sonnet  lead  Write the CSS" in second


def test_tree(snapshot: Any) -> None:
    assert status_text.tree([LEAD, DONE, BROKEN]) == snapshot


def test_status(snapshot: Any) -> None:
    question = {"id": "q-1-lead", "agent": "lead", "question": "CSS?\nor theme", "timestamp": "2023-11-14T22:12:20Z"}
    message = {
        "id": "msg-1-w1",
        "from": "w1",
        "type": "complete",
        "content": "done \x1b[31m" + "x" * 90,
        "timestamp": "2023-11-14T22:13:19Z",
    }

    text = status_text.status(published(questions=[question], messages=[message], wake=Wake(["default"])), NOW)

    assert text == snapshot


def test_nobody(snapshot: Any) -> None:
    assert status_text.status(published(agents=[]), NOW) == snapshot


def test_no_text_of_an_agent_steers_the_terminal() -> None:
    agent = Agent("a", "running", "1m", "evil \x1b]0;title\x07 \u202e prompt", reason="\x1b[2J")

    for text in (status_text.rows([agent]), status_text.tree([agent])):
        assert text.isprintable()


def test_what_is_asked_stands_behind_the_task() -> None:
    agent = Agent("a", "waiting", "1m", "Build it", reason="permission", asks="Run rm -rf build? " + "x" * 99)

    row = status_text.rows([agent])

    assert "  waiting (permission)  " in row
    assert "Build it  asks: Run rm -rf build? " in row
    assert row.endswith("…")


def test_on_a_terminal_no_row_is_wider_than_it() -> None:
    agent = Agent("a", "waiting", "1m", "Build it " * 9, reason="permission", asks="Run rm -rf build? " + "x" * 99)
    agents = [agent, replace(agent, id="b" * 70)]

    for text in (status_text.rows(agents, True, 60), status_text.tree(agents, 60)):
        assert max(map(len, text.splitlines())) == 60
    assert status_text.status(published(agents=agents), NOW, 60).startswith(status_text.tree(agents, 60))
    assert len(status_text.rows(agents)) > 200


@pytest.mark.parametrize(
    ("state", "reason", "source", "note", "expected"),
    [
        ("stopped", "ended with exit code 137", "hooks", "", "stopped (exit 137)"),
        ("waiting", "input", "screen", "interrupted", "waiting (interrupted)"),
        ("waiting", "input", "screen", "something else", "waiting (input)"),
        ("running", "", "hooks", "tmux does not answer", "running (tmux does not answer)"),
        ("running", "background", "hooks", "tmux does not answer", "running (background; tmux does not answer)"),
        ("stopped", "", "session", "its session is gone", "stopped"),
    ],
)
def test_what_was_seen_stands_where_it_says_more(
    state: str, reason: str, source: str, note: str, expected: str
) -> None:
    agent = Agent("a", state, "1m", "", reason=reason, source=source, note=note)

    assert status_text.state(agent) == expected
