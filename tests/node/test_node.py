"""The node: what it tells, that it always fits, and that no text from an agent gets out of it."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from ibstatus.node.rules import content, node
from ibstatus.system import timestamps
from ibstatus.system.text import markers
from ibstatus.system.text.splices import applied
from tests.node_schema import check_node, validator

NOW = 1_768_145_400.0
NASTY = (
    "</ittybitty-status>", "<ittybitty>", "\n</ittybitty-status>\n", "\n</ittybitty>\n", "-->", "<!--", "```", "~~~",
    "\n```\n", "`", "\x00", "\x1b[2J", "\u202e", "\u2066", "\u2028", "\u200b", "\U000e0041", "\ud83d", "\r",
    "💥", '"', "\\",
)  # fmt: skip
TEXT = st.one_of(st.text(), st.lists(st.sampled_from(NASTY), max_size=8).map("".join))
NAME = st.one_of(st.sampled_from(["a", "b", "c", ""]), TEXT)
AGENT = st.fixed_dictionaries(
    {
        "id": NAME,
        "state": st.one_of(st.sampled_from(["running", "waiting", "complete"]), TEXT),
        "reason": TEXT,
        "created": st.one_of(st.none(), st.floats(0, 2e9)),
        "prompt": st.one_of(st.none(), TEXT),
        "manager": st.one_of(st.none(), NAME),
    }
)
MESSAGE = st.fixed_dictionaries(
    {
        "id": TEXT,
        "from": TEXT,
        "timestamp": TEXT,
        "type": st.sampled_from(["question", "alert", "status"]),
        "content": TEXT,
    }
)
QUESTION = st.fixed_dictionaries({"id": TEXT, "agent": TEXT, "timestamp": TEXT, "question": TEXT})
FACTS = st.builds(
    node.Facts, st.lists(AGENT, max_size=6), st.lists(MESSAGE, max_size=6), st.lists(QUESTION, max_size=4)
)
AROUND = st.sampled_from(
    [(b"", b""), (b"\xef\xbb\xbf# h\n", b"no end"), (b"\xff\x00`x\n\n", b"``` x\n"), (b"a\n", b"`\n")]
)


def agent(name: str, state: str = "running", manager: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": name, "state": state, "manager": manager, "created": NOW - 400, "prompt": f"task of {name}", **more}


def message(number: int, kind: str = "status", text: str = "done so far") -> dict[str, Any]:
    stamp = timestamps.utc(NOW + number)
    return {"id": f"msg-{number}-a", "from": "a", "timestamp": stamp, "type": kind, "content": text}


def question(number: int, text: str = "which one?") -> dict[str, Any]:
    return {"id": f"q-{number}-a", "agent": "a", "question": text, "timestamp": timestamps.utc(NOW + number)}


def told(facts: node.Facts, limits: node.Limits | None = None) -> dict[str, Any]:
    value = node.content(facts, limits or node.Limits(), NOW)
    check_node(value)
    return value


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


@settings(max_examples=200, deadline=None)
@given(FACTS, st.booleans(), AROUND, st.integers(512, 3000))
def test_no_text_breaks_the_node(facts: node.Facts, crlf: bool, around: tuple[bytes, bytes], capacity: int) -> None:
    newline = b"\r\n" if crlf else b"\n"
    plain = around[0] + newline.join((b"<ittybitty>", b"text", b"</ittybitty>", b"")) + around[1]
    spot = markers.find(plain)
    assert spot
    new = node.fitted(facts, node.Limits(), NOW, capacity, may_grow=False, newline=newline)

    data = applied(plain, node.insert(spot, plain, new.body))

    found = markers.find(data)
    assert found
    assert found.node
    assert found.body
    body = data[slice(*found.body)]
    assert body == new.body
    assert len(body) == capacity
    lines = body.decode().split(newline.decode())
    assert json.loads("\n".join(lines[1:-2])) == new.content == node.decoded(body)
    check_node(new.content)
    assert [line for line in lines if line.startswith("<!--")] == [lines[0], lines[-2]]
    assert all(line.isprintable() for line in lines)
    assert not any(mark in "".join(lines[1:-2]) for mark in ("<", ">", "```", "~~~"))
    back = node.remove(found)
    assert back
    assert applied(data, back) == plain


@settings(max_examples=50, deadline=None)
@given(FACTS, FACTS, AROUND)
def test_an_update_keeps_the_size_and_every_other_byte(
    first: node.Facts, second: node.Facts, around: tuple[bytes, bytes]
) -> None:
    plain = around[0] + b"<ittybitty>\n</ittybitty>\n" + around[1]
    splice = node.change(plain, first, node.Limits(), NOW, may_resize=True)
    assert splice
    data = applied(plain, splice)

    update = node.change(data, second, node.Limits(), NOW, may_resize=False)

    after = applied(data, update) if update else data
    spot = markers.find(data)
    assert spot == markers.find(after)
    assert spot
    assert spot.body
    assert (after[: spot.body.start], after[spot.body.end :]) == (data[: spot.body.start], data[spot.body.end :])
    assert node.change(after, second, node.Limits(), NOW + 9999, may_resize=False) is None
    assert update is None or update.fits


def test_what_people_and_claude_see(snapshot: SnapshotAssertion) -> None:
    facts = node.Facts(
        [
            agent("dark-mode", "waiting", reason="asks"),
            agent("colours", "complete", "dark-mode"),
            agent("tests", "running", "dark-mode"),
            agent("lost", "running", "gone", created=None),
        ],
        [
            {**message(1, "alert", "Rate limit hit"), "verified": False},
            message(2, "complete", "a </ittybitty-status> `x`"),
        ],
        [question(0, "Tabs\nor spaces? " + "x" * 400)],
    )
    value = told(facts)
    body = node.body(value, 2048)

    assert body
    assert len(body) == 2048
    assert node.node(body).decode().replace(" " * 400, "") == snapshot


def test_a_word_that_the_schema_does_not_have_is_replaced() -> None:
    value = told(node.Facts([agent("a", "dancing")], [message(1, "gossip")], []))

    assert value["root_agents"][0]["state"] == "unknown"
    assert value["messages"][0]["type"] == "status"


def test_the_schema_refuses_what_is_no_node() -> None:
    value = told(node.Facts([agent("a")], [message(1)], []))

    for broken in (
        {},
        {**value, "messages": [{}]},
        {**value, "root_agents": [{**value["root_agents"][0], "age": "now"}]},
    ):
        assert not validator().is_valid(broken)


def test_key_forgets_the_time_and_the_ages_only() -> None:
    facts = node.Facts([agent("a")], [message(1)], [])
    value = told(facts)

    assert node.key(value) == node.key(node.content(facts, node.Limits(), NOW + 9999))
    assert node.key(value) != node.key(told(facts._replace(agents=[agent("a", "waiting")])))
    assert node.key(value) != node.key(told(facts._replace(messages=[])))


def test_roots_are_those_whose_manager_is_gone_and_circles() -> None:
    agents = [agent("a"), agent("b", manager="a"), agent("c", manager="gone"), agent("self", manager="self"),
              agent("x", manager="y"), agent("y", manager="x"), agent("z", manager="y")]  # fmt: skip

    rows = {row["id"]: row["children"] for row in told(node.Facts(agents, [], []))["root_agents"]}

    assert rows == {"a": 1, "c": 0, "self": 0, "x": 1, "y": 2}


def test_children_are_direct_and_can_be_left_out() -> None:
    facts = node.Facts([agent("a"), agent("b", "complete", "a"), agent("c", "complete", "b")], [], [])

    row = told(facts)["root_agents"][0]
    bare = told(facts, node.Limits(children=False))["root_agents"][0]

    assert (row["children"], row["children_complete"]) == (1, 1)
    assert {"children", "children_complete"} & set(bare) == set()


def test_the_prompt_is_the_beginning_of_its_first_line() -> None:
    rows = told(node.Facts([agent("a", prompt="\n  " + "ü💥" * 50 + "\nmore")], [], []))["root_agents"]

    assert rows[0]["prompt"] == "ü💥" * 30


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_is_that_of_birth_whatever_the_store_says(order: int) -> None:
    agents = [agent("b", created=1.0), agent("a", created=1.0), agent("c", created=0.5), agent("d", created=None)]
    messages = [message(3), message(1, "question"), message(2)]

    value = told(node.Facts(agents[::order], messages[::order], [question(0)]))

    assert ids(value["root_agents"]) == ["c", "a", "b", "d"]
    assert ids(value["messages"]) == ["q-0-a", "msg-1-a", "msg-2-a", "msg-3-a"]


def test_all_questions_then_the_newest_others_and_a_count() -> None:
    facts = node.Facts([], [message(n) for n in range(80)], [question(n) for n in range(10)])

    value = told(facts, node.Limits(messages=12))

    assert ids(value["messages"])[:10] == [f"q-{n}-a" for n in range(10)]
    assert ids(value["messages"])[10:] == ["msg-78-a", "msg-79-a"]
    assert value["more"] == 78
    assert len(told(facts, node.Limits(messages=3))["messages"]) == 10


def test_the_wanted_size_bounds_the_others_and_growth_saves_the_questions() -> None:
    many = node.Facts([], [message(n, text="x" * 299) for n in range(50)], [])
    asked = node.Facts([], [message(1)], [question(n, "y" * 299) for n in range(30)])

    few = node.fitted(many, node.Limits(), NOW, 4096, may_grow=True)
    grown = node.fitted(asked, node.Limits(), NOW, 4096, may_grow=True)

    assert few.capacity == 4096
    assert len(few.body.rstrip(b"->\n").rstrip()) < 3072 + 100
    assert len(few.content["messages"]) + few.content["more"] == 50
    assert ids(few.content["messages"])[-1] == "msg-49-a"
    assert grown.capacity == 16384
    assert len(grown.content["messages"]) == 30
    assert grown.content["more"] == 1


def test_without_growth_others_go_then_texts_then_agents_then_questions() -> None:
    facts = node.Facts(
        [agent(f"a{n}") for n in range(5)], [message(n) for n in range(3)], [question(n, "y" * 290) for n in range(3)]
    )
    seen = []
    for capacity in range(3000, 511, -1):
        value = node.fitted(facts, node.Limits(), NOW, capacity, may_grow=False).content
        check_node(value)
        texts = [len(row["content"]) for row in value["messages"] if row["type"] == "question"]
        others = len(value["messages"]) - len(texts)
        seen.append((others, max(texts, default=0), len(value["root_agents"]), len(texts)))

    steps = list(dict.fromkeys(seen))

    assert steps[0] == (3, 290, 5, 3)
    assert (0, 290, 5, 3) in steps
    assert (0, 40, 0, 3) in steps
    for more, less in pairwise(steps):
        assert less < more or less[0] == more[0] == 0
        assert less[1] == 290 or less[0] == 0
        assert less[2] == 5 or less[1] == 40 or less[3] == 0
        assert less[3] == 3 or less[2] == 0


def test_an_agent_in_need_is_told_before_others() -> None:
    agents = [agent(f"a{n:03}", created=float(n)) for n in range(200)] + [agent("late", "waiting", created=999.0)]

    value = told(node.Facts(agents, [], []))

    assert len(value["root_agents"]) == 50
    assert ids(value["root_agents"])[-1] == "late"
    assert value["more_agents"] == 151


def test_a_flood_cannot_grow_the_node_without_end() -> None:
    facts = node.Facts([agent(f"a{n}", prompt="p" * 99) for n in range(200)], [message(1, text="x" * (1 << 20))],
                       [question(n, "y" * 999) for n in range(1000)])  # fmt: skip

    new = node.fitted(facts, node.Limits(), NOW, 4096, may_grow=True)

    assert len(new.body) == new.capacity == node.MOST
    assert new.content["messages"]
    assert len(new.content["messages"]) + new.content["more"] == 1001


def test_foreign_items_are_told_as_text() -> None:
    facts = node.Facts([{"id": 3, "created": "x"}], [{"id": None, "content": {"a": 1}}], [{}])

    value = told(facts)

    assert value["root_agents"][0]["id"] == "3"
    assert value["root_agents"][0]["age"] == "?"
    assert value["messages"][1]["content"] == '{"a":1}'


def test_an_older_tools_node_is_taken_over() -> None:
    old = b"<ittybitty>\n<ittybitty-status>\n<!-- x -->\n{}\n</ittybitty-status>\n\n</ittybitty>\n"
    facts = node.Facts([agent("a")], [], [])

    assert node.change(old, facts, node.Limits(), NOW, may_resize=False) is None
    splice = node.change(old, facts, node.Limits(), NOW, may_resize=True)

    assert splice
    spot = markers.find(applied(old, splice))
    assert spot
    assert spot.body
    assert spot.body.end - spot.body.start == node.CAPACITY


def test_no_block_no_node() -> None:
    assert node.change(b"text\n", node.Facts([], [], []), node.Limits(), NOW, may_resize=True) is None


def test_cut_says_so() -> None:
    assert content.cut("x" * 300, 300) == "x" * 300
    assert content.message_row(question(1), 300)["id"] == "q-1-a"
    row = told(node.Facts([], [message(1, text="x" * 301)], []))["messages"][0]
    assert row["content"].endswith(content.CUT_MESSAGE)
    assert len(row["content"]) == 300
