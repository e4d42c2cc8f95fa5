"""The block: put in without another byte, taken out without a trace."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from ibstatus.cli import app
from ibstatus.node.rules import block, node
from ibstatus.system.text import markers
from ibstatus.system.text.splices import applied
from tests.system.text.test_markers import PIECES

FILTER = re.compile(rb"(?m)^<ittybitty>[ \t\r]*\n(?:.*\n)*?</ittybitty>[ \t\r]*\n")
PLAIN = [piece for piece in PIECES if b"itty" not in piece] + [b"line\n", b"---\n", b"a: 1\n"]


def test_the_text(snapshot: SnapshotAssertion) -> None:
    assert block.text().decode() == snapshot


def test_the_text_is_short_and_names_commands_of_ib_only() -> None:
    text = block.text().decode()
    commands = set(re.findall(r"`ib ([a-z-]+)", text))

    assert len(text) / 4 < 600
    assert commands <= set(app.COMMANDS)


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_the_text_is_a_block(local: bool, newline: bytes) -> None:
    text = block.text(local, newline)

    assert markers.find(text) == markers.Spot(markers.Range(0, len(text)), None, None, newline, local)
    assert text.count(newline) == text.count(b"\n")


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PLAIN), max_size=15).map(b"".join), st.booleans())
def test_in_and_out_again(data: bytes, local: bool) -> None:
    try:
        done = block.insert(data, local)
    except markers.Malformed:  # all of it stands in a fence, and begins with front matter
        assert b"---" in data
        return

    with_block = applied(data, done.splice)

    assert block.version_of(with_block) == "current"
    spot = markers.find(with_block)
    assert spot
    assert spot.local == local
    out = block.remove(with_block)
    assert out
    if done.exact:
        assert applied(with_block, out) == data
    if done.exact and local:
        assert FILTER.sub(b"", with_block) == data


@pytest.mark.parametrize(
    ("data", "at"),
    [
        (b"", 0),
        (b"text\n", 5),
        (b"one\ntwo", 4),
        (b"# head\n\nlast line", 8),
        (b"one", 0),
        (b"\xef\xbb\xbfone\ntwo", 7),
        (b"```\nls\n```", 0),
        (b"---\na: 1\n---\n```\nls", 13),
        (b"a\n<!--\n", 0),
        (b"one\rtwo", 0),
    ],
)
def test_where_it_goes(data: bytes, at: int) -> None:
    done = block.insert(data, True)

    assert (done.splice.start, done.splice.end, done.exact) == (at, at, True)


@pytest.mark.parametrize("data", [b"\xef\xbb\xbfone", b"---\na: 1\n---"])
def test_where_nothing_is_exact_a_newline_is_added_and_said(data: bytes) -> None:
    done = block.insert(data, True)

    assert not done.exact
    assert done.splice.start == len(data)
    assert done.splice.data.startswith(b"\n<ittybitty>\n")


def test_none_is_an_empty_file() -> None:
    assert block.insert(None, False).splice.data == block.text()


def test_a_second_block_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError):
        block.insert(block.text(), False)


SEED = b"""<ittybitty>
## Multi-Agent Orchestration (ittybitty)

`ib` spawns persistent Claude agents in isolated git worktrees. Check your role marker at conversation start.

### Primary Claude

Spawn agents for complex/parallel tasks. Status updates appear automatically via hooks. User can also run `ib watch` \
for live monitoring.
Always spawn **manager** agents (not `--worker`). Managers assess the task and spawn their own workers if needed.

| Command | Description |
|---------|-------------|
| `ib new-agent "goal"` | Spawn agent (returns ID) |
| `ib list` | Show all agents |
| `ib look <id>` | View agent output |
| `ib send <id> "msg"` | Send input to agent |
| `ib status <id>` | Show commits/changes |
| `ib diff <id>` | Review agent's changes |
| `ib merge <id>` | Merge and close agent |
| `ib kill <id>` | Close without merging |
| `ib resume <id>` | Restart stopped agent |
| `ib questions` | Check agent questions |
| `ib acknowledge <qid>` | Mark question handled |

**Agent questions:** Agents ask via `ib ask`. Check `ib questions` periodically.

### Agent States

| State | Meaning |
|-------|---------|
| `creating` | Starting up |
| `running` | Actively working |
| `compacting` | Summarizing context |
| `waiting` | Idle, may need input |
| `complete` | Signaled done |
| `rate_limited` | Hit API rate limits |
| `stopped` | Session ended |
| `unknown` | State unclear |

</ittybitty>
"""


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("with_node", [False, True])
def test_an_old_text_is_brought_up_to_date_and_keeps_its_node(newline: bytes, with_node: bool) -> None:
    shown = node.node(b"{}\n") if with_node else b""
    data = (b"before\n" + SEED.replace(b"</ittybitty>", shown + b"</ittybitty>") + b"after").replace(b"\n", newline)
    assert block.version_of(data) == "old"

    splice = block.refresh(data)

    assert splice
    new = applied(data, splice)
    assert block.version_of(new) == "current"
    assert shown.replace(b"\n", newline) in new
    assert new.startswith(b"before" + newline + b"<ittybitty>")
    assert new.endswith(b"</ittybitty>" + newline + b"after")
    assert block.refresh(new) is None


def test_an_edited_text_is_left_alone() -> None:
    data = block.text().replace(b"Signaled", b"Said")

    assert block.version_of(data) == "edited"
    assert block.refresh(data) is None
    assert block.version_of(b"text\n") == "none"


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_the_local_line_comes_and_goes(newline: bytes) -> None:
    data = block.text(False, newline)
    splice = block.set_local(data, True)
    assert splice

    there = applied(data, splice)

    assert there == block.text(True, newline)
    assert block.set_local(there, True) is None
    back = block.set_local(there, False)
    assert back
    assert applied(there, back) == data
