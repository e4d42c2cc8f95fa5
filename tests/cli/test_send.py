"""ib send to an agent: what it says of how that went, and who may speak for whom."""

import json
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.mail import wake_agent
from ibstatus.project import events, home, paths
from tests.conftest import Done, make_agent
from tests.living import ORDERS, Living

Ib = Callable[..., Done]


@pytest.fixture
def living(repo: paths.Place, tmux: Callable[..., str], tmp_path: Path) -> Living:
    return Living(repo, tmux, tmp_path / "claude", "w1", "work 1\nwait\n")


def letters(place: paths.Place, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(place.agent_dir(name), "inbox.jsonl").read_text().splitlines()]


def test_an_idle_one_has_it_when_the_command_returns(repo: paths.Place, ib: Ib, living: Living) -> None:
    living.idle()
    done = ib("send", "w1", "hello")

    item = letters(repo, "w1")[0]["id"]
    assert done == Done(0, f"Sent message to w1: delivered {item}\n", "")
    assert living.hears("]: hello") == 1
    steps = [line.split()[-1] for line in ib("trace", str(item)).out.splitlines()]
    assert steps
    events.fold(repo)
    kinds = [event["kind"] for event in events.read(repo) if event["kind"].startswith("message.")]
    assert kinds[:3] == ["message.queued", "message.rung", "message.offered"]


def test_one_at_work(repo: paths.Place, ib: Ib, tmux: Callable[..., str], tmp_path: Path) -> None:
    Living(repo, tmux, tmp_path / "claude", "w1", ORDERS).idle().held()

    done = ib("send", "w1", "hello")

    assert done.out == f"Queued message for w1 (busy: it hears at its next step) {letters(repo, 'w1')[0]['id']}\n"
    assert ib("send", "w1", "more", "--json").json()["state"] == "busy"  # type: ignore[index]


def test_one_that_has_ended(repo: paths.Place, ib: Ib, living: Living) -> None:
    living.idle().end()
    done = ib("send", "w1", "hello")

    assert done.out == f"Queued message for w1 (stopped) {letters(repo, 'w1')[0]['id']}\n"
    assert "ib resume w1" in done.err
    assert done.code == 0


def test_a_draft_is_named(ib: Ib, living: Living) -> None:
    living.idle().type("half a thought")

    assert "(somebody is typing there: it hears at its next prompt)" in ib("send", "w1", "hello").out
    assert living.screen.draft == "half a thought"


TEXTS = ("x", "a\nb\n\nc", ";", "!ls", "/help", "-x", "\x1b[31m\x07\x01", "Enter", "C-c", "ü🎉", "\x1b[201~ rm", "# no")


def heard_texts(living: Living) -> list[str]:
    """What was sent, out of all that its model was shown; the letters stand as JSON lines."""
    begin = "[sent by somebody unknown]: "
    found = [line for _, said in living.heard() for line in said.splitlines() if line.startswith("{") and begin in line]
    return [json.loads(line)["msg"].removeprefix(begin) for line in found]


def test_any_text_arrives_as_it_is(repo: paths.Place, ib: Ib, living: Living) -> None:
    living.idle()
    for number, text in enumerate(TEXTS, 1):
        sent = ib("send", "w1", stdin=text, env={"LC_ALL": "C"})
        assert sent.out.startswith("Sent message to w1: delivered in-"), (text, sent)
        living.until(lambda number=number: len(heard_texts(living)) == number)
        living.idle()

    assert tuple(heard_texts(living)) == TEXTS
    assert tuple(str(item["msg"]) for item in letters(repo, "w1")) == TEXTS


@pytest.mark.parametrize("at", ["busy", "dialog", "draft"])
def test_any_text_waits_until_it_can_be_heard_and_comes_once(
    repo: paths.Place, ib: Ib, tmux: Callable[..., str], tmp_path: Path, at: str
) -> None:
    """At work it hears it at its next step; a dialog is not answered and a draft not sent by it."""
    script = {"busy": ORDERS, "dialog": "dialog trust\nwait", "draft": "wait"}[at]
    script += "\nwait" * len(TEXTS) if at != "busy" else ""
    living = Living(repo, tmux, tmp_path / "claude", "w1", script)
    if at == "draft":
        living.idle().type("half a thought")
    elif at == "busy":
        living.idle().held()
    living.until(lambda: at in ("draft", living.screen.kind))

    for text in TEXTS:
        assert ib("send", "w1", "--json", stdin=text).json()["state"] == at  # type: ignore[index]
    assert heard_texts(living) == []
    if at == "busy":
        living.order("run true", "wait")
    elif at == "dialog":
        assert living.screen.kind == "dialog"
        living.keys("Down")
        living.keys("Enter")
    elif at == "draft":
        assert living.screen.draft == "half a thought"
        living.keys("C-u")
    if at != "busy":
        living.idle()
        wake_agent.rouse(repo, "w1")

    living.until(lambda: len(heard_texts(living)) >= len(TEXTS))
    living.idle()
    assert tuple(heard_texts(living)) == TEXTS
    assert not living.has_heard("half a thought")


def test_a_hundred_kilobytes_arrive_whole(repo: paths.Place, ib: Ib, tmux: Callable[..., str], tmp_path: Path) -> None:
    name = "t-" + uuid.uuid4().hex[:12]  # what is too long lies under /tmp in its name
    living = Living(repo, tmux, tmp_path / "claude", name).idle()
    text = "start " + "line ; ! / -x\n" * 7000 + "end"

    assert ib("send", name, stdin=text).code == 0

    living.until(lambda: living.has_heard("read the rest there: "))
    said = next(said for _, said in living.heard() if "read the rest there: " in said)
    path = Path(said.partition("there: ")[2].partition("]")[0])
    assert path.read_text() == text
    shutil.rmtree(path.parent)


def test_who_may_speak_for_whom(repo: paths.Place, ib: Ib, tmux: object) -> None:
    home.enter(repo)
    boss = make_agent(repo, "boss")
    worker = make_agent(repo, "w1", "boss")
    make_agent(repo, "other")
    env = {"CLAUDECODE": "1"}

    assert ib("send", "other", "--from", "w1", "a", cwd=boss, env=env).code == 0
    assert ib("send", "other", "--from", "boss", "b", cwd=worker, env=env).code == 0
    assert ib("send", "other", "--from", "w1", "c", cwd=worker, env=env).code == 0
    assert ib("send", "other", "--from", "w1", "d").code == 0
    assert ib("send", "other", "--from", "user", "e", cwd=boss, env=env).code == 0

    found = [(item["msg"], item["from"], item.get("verified", True)) for item in letters(repo, "other")]
    assert found == [
        ("a", "w1", True),
        ("b", "boss", False),
        ("c", "w1", True),
        ("d", "w1", False),
        ("e", "user", False),
    ]


def test_an_unknown_or_ambiguous_id(repo: paths.Place, ib: Ib, tmux: object) -> None:
    home.enter(repo)
    for name in ("foo", "foo-bar", "fool"):
        make_agent(repo, name)

    assert ib("send", "nobody", "x").code == 1
    done = ib("send", "fo", "x")
    assert done.code == 1
    assert all(name in done.err for name in ("foo", "foo-bar", "fool"))
    assert ib("send", "foo", "x").code == 0
    assert not Path(repo.agent_dir("foo-bar"), "inbox.jsonl").exists()


@pytest.mark.parametrize("more", [[], ["--from", "w2"], ["--"]], ids=["plain", "plain with an option", "click"])
def test_a_question_needs_no_blank(repo: paths.Place, ib: Ib, more: list[str]) -> None:
    done = ib("send", "user-claude", *more, "?Should I cache?")

    assert (done.code, done.out.partition(" msg-")[0]) == (0, "Queued message for user's Claude: question")
    stored = ib("messages", "--json").json()
    assert isinstance(stored, list)
    assert [(one["type"], one["content"]) for one in stored] == [("question", "Should I cache?")]
