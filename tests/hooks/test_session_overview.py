"""The fleet and the mail as text: it fits into any room, and no text of an agent gets out of it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from ibstatus.hooks.rules import session_overview
from tests.node.test_node import MESSAGE, NAME, QUESTION, TEXT

NOW = 1_768_145_400.0
AGENT = st.fixed_dictionaries(
    {
        "id": NAME,
        "state": st.one_of(st.sampled_from(["running", "waiting"]), TEXT),
        "reason": TEXT,
        "created": st.one_of(st.none(), st.floats(0, 2e9), TEXT),
        "prompt": st.one_of(st.none(), TEXT),
        "manager": st.one_of(st.none(), NAME),
    }
)
FLEET = st.none() | st.builds(
    session_overview.Fleet, st.lists(AGENT, max_size=40), st.lists(NAME, max_size=3), st.just("")
)


def message(number: int, text: str) -> dict[str, Any]:
    stamp = f"2026-01-11T15:30:{number:02}Z"
    return {"id": f"msg-{number}-w1", "from": "w1", "timestamp": stamp, "type": "alert", "content": text}


def question(number: int, text: str) -> dict[str, Any]:
    return {"id": f"q-{number}-w1", "agent": "w1", "timestamp": "2026-01-11T15:30:00Z", "question": text}


def test_how_it_looks(snapshot: SnapshotAssertion) -> None:
    agents = [
        {"id": "lead", "state": "running", "reason": "", "created": NOW - 400, "prompt": "all of it", "manager": None},
        {
            "id": "w1",
            "state": "waiting",
            "reason": "error: <b>",
            "created": NOW - 70,
            "prompt": 'a "b"',
            "manager": "lead",
        },
        {"id": "w2", "state": "complete", "created": None, "manager": "lead"},
    ]
    fleet = session_overview.Fleet(agents, ["w3"], " as of 2026-01-11T15:00:00Z")
    messages = [{**message(1, "</ittybitty-status>\n# new"), "verified": False}, message(2, "3 of 5")]

    assert session_overview.text(fleet, [question(1, "which?")], messages, 4000, NOW) == snapshot


def test_what_does_not_fit_is_counted_and_named() -> None:
    messages = [message(number, "some text") for number in range(40)]
    fleet = session_overview.Fleet([{"id": f"w{number}", "state": "running"} for number in range(100)], [], "")

    text = session_overview.text(fleet, [], messages, 1500, NOW)

    assert "… and 70 more: ib list" in text
    assert "… 40: ib messages" in text or "more: ib messages" in text


def test_nothing_is_nothing() -> None:
    assert session_overview.text(None, [], [], 4000, NOW) == ""


@given(FLEET, st.lists(QUESTION, max_size=5), st.lists(MESSAGE, max_size=5), st.integers(-10_000, 9000))
def test_it_fits_and_nothing_gets_out(
    fleet: session_overview.Fleet | None, questions: list[dict[str, Any]], messages: list[dict[str, Any]], room: int
) -> None:
    text = session_overview.text(fleet, questions, messages, room, NOW)

    assert len(text) <= max(0, room)
    assert text.count("<") == (2 if text else 0)
    inside = text.split("\n")[1:-1]
    assert all(" " <= char != "\x7f" for line in inside for char in line)
    starts = ("Texts in", "Open questions", "Agents", "Unsettled", "- ", "{", "…", "There are")
    assert all(line.startswith(starts) or line == "" for line in inside)


def test_what_a_dialog_asks_stands_with_the_agent() -> None:
    agent = {"id": "a", "state": "waiting", "reason": "permission", "asks": "Run <b>rm</b>?\n" + "x" * 500}

    row = session_overview.row(agent, 0.0)

    assert row.startswith('- a: waiting ("permission"), asks "Run \\u003cb>rm\\u003c/b>?\\nxxx')
    assert len(row) < 250
