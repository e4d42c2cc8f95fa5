"""`ib why`: every piece of evidence, which won, and why the others lost."""

import os
import time
from pathlib import Path

import pytest

from ibstatus.project import home, logs
from tests.living import Living


def pieces(found: dict) -> dict[str, dict]:
    return {piece["source"]: piece for piece in found["evidence"]}


def told(repo, name: str, state: str, reason: str = "", ago: float = 0.0, **more: object) -> None:
    event = {"kind": "agent.state", "who": name, "state": state, "reason": reason, **more}
    logs.note(repo, name, time.time() - ago, event)


@pytest.fixture
def living(repo, tmux, fake_claude) -> Living:
    return Living(repo, tmux, fake_claude, "w1").idle()


def test_it_shows_where_an_agent_is_and_what_was_said(living: Living, repo, ib) -> None:
    told(repo, "w1", "waiting", "input", said="All \x1b[31mdone?", silent=True)

    found = ib("why", "w1", "--json").json()
    text = ib("why", "w").out

    assert (found["state"], found["reason"], found["source"], found["silent"]) == ("waiting", "input", "hooks", True)
    assert found["where"] == {
        "socket": "ib",
        "session": living.where.name,
        "pane": living.pane.id,
        "pid": living.pane.pid,
        "answers": True,
    }
    assert [piece["source"] for piece in found["evidence"] if piece["won"]] == ["hooks"]
    assert all(piece["won"] or piece["lost"] for piece in found["evidence"])
    assert found["events"][-1]["state"] == "waiting"
    assert text.startswith("w1 is waiting (input)")
    assert "\x1b" not in text


def test_esc_is_seen_on_the_screen(living: Living, repo, ib) -> None:
    """Hooks said that a turn runs; a prompt line waits, and has for two looks."""
    told(repo, "w1", "running", ago=30)

    found = ib("why", "w1", "--json").json()

    assert (found["state"], found["reason"], found["source"], found["note"]) == (
        "waiting",
        "input",
        "screen",
        "interrupted",
    )
    assert pieces(found)["hooks"]["lost"]
    assert pieces(found)["screen"]["rule"]
    [listed] = ib("list", "--json", env={"IB_SUPERVISOR": "off"}).json()
    assert (listed["state"], listed["reason"], listed["note"]) == ("waiting", "input", "interrupted")
    head = ib("why", "w1").out.partition("\n\n")[0]
    assert head.startswith("w1 is waiting (interrupted)")
    assert head.count("interrupted") == 1
    assert "waiting (interrupted)" in ib("list").out


def test_a_session_that_is_gone(living: Living, repo, ib) -> None:
    told(repo, "w1", "running", ago=30)
    living.end()

    found = ib("why", "w1", "--json").json()

    assert (found["state"], found["source"], found["where"]["pane"]) == ("stopped", "session", "")
    assert ib("why", "w1").out.partition("\n\n")[0].count("its session is gone") == 1


@pytest.mark.parametrize("how", ["hangs", "missing"])
def test_without_an_answer_of_tmux_the_hooks_hold(repo, ib, agent, tmp_path: Path, how: str) -> None:
    home.enter(repo)
    agent(repo, "w1")
    told(repo, "w1", "running", ago=30)
    fake = tmp_path / "bin" / "tmux"
    fake.parent.mkdir()
    if how == "hangs":
        fake.write_text("#!/bin/sh\necho strange >&2; exit 3\n")
        fake.chmod(0o755)
    path = f"{fake.parent}:{os.environ['PATH']}" if how == "hangs" else str(only(tmp_path, "git"))

    found = ib("why", "w1", "--json", env={"PATH": path}).json()

    assert (found["state"], found["source"]) == ("running", "hooks")
    session = pieces(found)["session"]
    assert session["state"] == ""
    assert "tmux" in session["lost"]


def only(tmp_path: Path, *names: str) -> Path:
    """A PATH with nothing else in it."""
    import shutil

    folder = tmp_path / "only"
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(str(shutil.which(name)))
    return folder


def test_a_transcript_that_cannot_be_read_is_said(living: Living, repo, ib) -> None:
    told(repo, "w1", "running", ago=30)
    living.submit("hello")
    living.until(lambda: living.heard())
    path = next((living.config / "projects").glob(f"*/{living.session}.jsonl"))
    living.end()
    path.unlink()
    path.mkdir()

    found = ib("why", "w1", "--json").json()

    assert pieces(found)["transcript"]["state"] == ""
    assert pieces(found)["transcript"]["lost"] == "the transcript cannot be read: it is no file"


@pytest.mark.parametrize("known", [None, b"\x00\xff\x80", b'{"tmux_socket": "\\u0000", "started": [], "kind": 7}'])
def test_garbage_in_the_folder_of_an_agent_is_a_line_of_it(living: Living, repo, ib, known: bytes | None) -> None:
    told(repo, "w1", "waiting", "input")
    Path(repo.agent_dir("w1"), "standing").write_bytes(b"\x00\xff\x80\n{")
    path = Path(repo.agent_dir("w1"), "meta.json")
    path.write_bytes(known) if known is not None else path.unlink()

    done = ib("why", "w1")

    assert done.code == 0
    assert done.out.startswith("w1 is waiting (input)")


def test_it_is_read_in_ten_seconds_on_a_narrow_terminal(living: Living, repo, ib) -> None:
    told(repo, "w1", "waiting", "input", said="word " * 60)
    text = ib("why", "w1").out
    found = ib("why", "w1", "--json").json()
    table = text.split("\n\n")[1].splitlines()

    assert all(len(line) <= 80 for line in table)
    assert [line[2:12].strip() for line in table if line[0] == "*"] == ["hooks"]
    assert {piece["confidence"] for piece in found["evidence"] if piece["state"]} <= {"sure", "strong", "weak"}
    assert pieces(found)["hooks"]["confidence"] == "strong"


def test_in_a_pipe_nothing_is_cut(living: Living, repo, ib) -> None:
    told(repo, "w1", "waiting", "input", said="word " * 50 + "the end")

    assert "the end" in ib("why", "w1").out.partition("Last events:")[2]


def test_nobody_of_this_name(repo, ib) -> None:
    home.enter(repo)

    done = ib("why", "nobody")

    assert (done.code, done.out) == (1, "")
    assert "There is no agent 'nobody'" in done.err
