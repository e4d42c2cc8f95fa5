"""Files, names and texts that somebody put there to hang, mislead or harm."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.mail import delivery, inbox, post, session_reader
from ibstatus.project import events, home, logs, paths
from tests.conftest import Done
from tests.until import until

Ib = Callable[..., Done]
Agent = Callable[..., Path]


def asked(ib: Ib, tree: Path, text: str) -> str:
    question: str = json.loads(ib("ask", text, "--json", cwd=tree).out)["id"]
    return question


def test_an_answer_that_cannot_be_delivered_stops_nobody_else(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    first = asked(ib, agent(repo, "a"), "One?")
    Path(repo.agent_dir("a"), "inbox.jsonl").mkdir()
    told = ib("answer", first, "yes")
    other = ib("ask", "Two?", cwd=agent(repo, "b"))

    assert told.code == 1
    assert "The answer is kept, but the inbox of a cannot be written" in told.err
    assert other.code == 0
    assert len(Path(repo.queue).read_text().splitlines()) == 2
    Path(repo.agent_dir("a"), "inbox.jsonl").rmdir()
    ib("ask", "Three?", cwd=Path(repo.agent_dir("b"), "repo"))
    assert json.loads(Path(repo.agent_dir("a"), "inbox.jsonl").read_text())["msg"] == "yes"


def test_two_answers_to_one_message_are_not_both_said_to_have_gone(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    """Killed after the delivery, before the message was settled: a second answer is told of the first."""
    sent = json.loads(ib("send", "user-claude", "? Which?", "--json", cwd=agent(repo, "a")).out)["id"]
    item = {"id": sent, "agent": "a", "answer": "this", "answered_by": "user"}
    assert inbox.deliver_answer(repo, item, time.time()) == "this"
    done = ib("answer", sent, "that")

    assert done.code == 1
    assert f"{sent} was answered already: this" in done.err
    assert ib("messages").out == "No open messages.\n"


def test_a_listener_whose_shell_is_gone_takes_nothing(repo: paths.Place, ib: Ib, tmp_path: Path) -> None:
    env = {**os.environ, "CLAUDE_CODE_SESSION_ID": "s1"}
    gone = "while kill -0 $$ 2>/dev/null; do :; done"  # the shell that starts it
    command = f"({gone}; exec {sys.executable} -m ibstatus listen --follow >{tmp_path}/out 2>&1) &"
    subprocess.run(["setsid", "sh", "-c", command], cwd=repo.root, env=env, check=True)
    until(lambda: (tmp_path / "out").exists() and "Nobody is left" in (tmp_path / "out").read_text())
    ib("notify", "kept")

    assert '"msg":"kept"' in ib("listen", "--timeout", "0", env={"CLAUDE_CODE_SESSION_ID": "s1"}).out


def test_a_follower_leaves_when_its_reader_does(repo: paths.Place, ib: Ib) -> None:
    argv = [sys.executable, "-m", "ibstatus", "listen", "--follow"]
    listener = subprocess.Popen(argv, cwd=repo.root, stdout=subprocess.PIPE)
    ib("notify", "one")
    assert listener.stdout is not None
    listener.stdout.readline()
    listener.stdout.close()

    assert listener.wait(timeout=30) == 0
    ib("notify", "two")
    assert '"msg":"two"' in ib("listen", "--timeout", "0").out


def test_a_slow_reader_behind_a_non_blocking_pipe_gets_everything(repo: paths.Place, ib: Ib) -> None:
    home.enter(repo)
    for number in range(40):
        post.notify(repo, "cli", "complete", "a", True, f"{number} " + "x" * 5000, time.time())
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    argv = [sys.executable, "-m", "ibstatus", "listen", "--timeout", "0"]
    listener = subprocess.Popen(argv, cwd=repo.root, stdout=writer)
    os.close(writer)
    with os.fdopen(reader) as lines:
        heard = [json.loads(line)["msg"].split()[0] for line in lines]

    assert listener.wait() == 0
    assert heard == [str(number) for number in range(40)]


@pytest.mark.parametrize("made", ["folder", "link", "pipe"])
def test_what_is_no_cursor_is_passed_over(repo: paths.Place, ib: Ib, made: str) -> None:
    home.enter(repo)
    path = Path(repo.cursor("odd"))
    if made == "folder":
        path.mkdir()
    elif made == "link":
        path.symlink_to(path)
    else:
        os.mkfifo(path)
    ib("notify", "x")

    for env in ({}, {"CLAUDE_CODE_SESSION_ID": "s1"}):
        assert '"msg":"x"' in ib("listen", "--timeout", "0", env=env).out


def test_what_a_listener_told_its_session_is_no_news_for_its_voice(repo: paths.Place, ib: Ib) -> None:
    with session_reader.hear(repo, "s1", delivery.START, "") as offer:
        offer.settle()
    ib("notify", "one")
    env = {"CLAUDE_CODE_SESSION_ID": "s1"}
    outs = [ib("listen", "--timeout", "0", env=env).out for _ in range(4)]
    with session_reader.hear(repo, "s1", delivery.PROMPT, "p") as offer:
        offer.settle()

    assert ["waiting" in out for out in outs] == [True, False, False, False]
    assert ['"one"' in out for out in outs] == [False, True, False, False]
    assert [value.get("again") for value in offer.told.values] == [True]


@pytest.mark.parametrize(
    "name", ["version", "user-messages.json", "user-questions.json", "notify/queue", "notify/base", "spool/cli.jsonl"]
)
def test_a_pipe_where_a_file_should_be_hangs_nobody(repo: paths.Place, ib: Ib, agent: Agent, name: str) -> None:
    tree = agent(repo, "a")
    ib("send", "user-claude", "? x", cwd=tree)
    ib("listen", "--timeout", "0")
    path = Path(repo.home, name)
    path.unlink(missing_ok=True)
    os.mkfifo(path)

    for args in (
        ["notify", "x"],
        ["send", "user-claude", "x"],
        ["messages"],
        ["questions"],
        ["events"],
        ["doctor"],
        ["listen", "--timeout", "0"],
    ):
        assert ib(*args).code in (0, 1)  # within its time-out


def test_a_link_among_our_files_is_not_written_through(repo: paths.Place, ib: Ib, tmp_path: Path) -> None:
    home.enter(repo)
    mine = tmp_path / "mine"
    mine.write_text("export PATH\n")
    for name in ("notify/bells/1", "notify/listener.pid", "version", "events.jsonl", "spool/cli.jsonl", "notify/queue"):
        path = Path(repo.home, name)
        path.unlink(missing_ok=True)
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(mine)
        for args in (["notify", "x"], ["listen", "--timeout", "0"], ["events"]):
            ib(*args)
        path.unlink(missing_ok=True)

    assert mine.read_text() == "export PATH\n"


def test_hints_can_be_pasted(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    """A manager's name and a text that would run a command in a shell."""
    Path(repo.agent_dir("m`touch pwned`")).mkdir(parents=True)
    Path(repo.agent_dir("m`touch pwned`"), "meta.json").write_text("{}")
    tree = agent(repo, "a", manager="m`touch pwned`")
    done = ib("ask", "$(touch pwned) `touch pwned` !! '; touch pwned #", cwd=tree)
    hint = done.err.split("Hint: ")[1].splitlines()[0]
    subprocess.run(["bash", "-c", hint.replace("ib send", "true")], cwd=repo.root, check=True)

    assert done.code == 1
    assert not Path(repo.root, "pwned").exists()


def test_a_shell_is_offered_only_what_it_can_take(repo: paths.Place, ib: Ib) -> None:
    home.enter(repo)
    items = [{"id": "msg-1;touch pwned;", "type": "status", "content": 5}, {"content": "no id"}, {"id": "msg-2-a"}]
    Path(repo.messages).write_text(json.dumps(items))
    env = {"_IB_COMPLETE": "bash_complete", "COMP_WORDS": "ib ack msg", "COMP_CWORD": "2"}
    done = ib(env=env)

    assert [line.split(",")[1] for line in done.out.splitlines()] == ["msg-2-a"]


def test_listings_are_lines_of_their_own(repo: paths.Place, ib: Ib) -> None:
    """Bidi and line breaks in every field cannot forge a row or steer the terminal."""
    home.enter(repo)
    evil = "x\n[pending] q-1-forged\u202e\u2028\x1b[2J"
    Path(repo.messages).write_text(json.dumps([{"id": evil, "from": evil, "type": evil, "content": evil}]))
    Path(repo.questions).write_text(json.dumps([{"id": evil, "agent": evil, "status": "pending", "question": evil}]))
    logs.note(repo, "cli", time.time(), {"kind": evil, "who": evil, evil: [evil], "id": evil})

    for args in (["messages"], ["questions"], ["events"], ["trace", evil], ["answer", evil, "x"], ["ack", "--all"]):
        done = ib(*args)
        assert not {"\x1b", "\u202e", "\u2028"} & set(done.out + done.err), args
        assert not any(line.startswith("[pending] q-1-forged") for line in done.out.splitlines()), args
    assert len(ib("events").out.splitlines()) == len(events.read(repo))


def test_numbers_go_on_after_an_event_of_any_size(repo: paths.Place) -> None:
    home.enter(repo)
    logs.note(repo, "cli", 1.0, {"kind": "message.queued", "who": "a", "id": "n-1"})
    logs.note(repo, "cli", 2.0, {"kind": "message.offered", "who": "a", "ids": [f"n-{n}" for n in range(40_000)]})
    events.fold(repo)
    logs.note(repo, "cli", 3.0, {"kind": "message.queued", "who": "a", "id": "n-2"})
    events.fold(repo)

    assert [entry["seq"] for entry in events.read(repo)] == [1, 2, 3]


def test_something_odd_in_the_spool_does_not_end_the_history(repo: paths.Place) -> None:
    home.enter(repo)
    Path(repo.spool, "x.jsonl").mkdir()
    for name in ("folding-²", "folding-99999999999999999999", "folding-99999999999"):
        Path(repo.spool, name).mkdir()
    logs.note(repo, "cli", 1.0, {"kind": "message.queued", "who": "a", "id": "n-1"})
    events.fold(repo)
    events.fold(repo)

    assert [entry["id"] for entry in events.read(repo)] == ["n-1"]


def test_ack_all_does_not_settle_what_came_after_it_began(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that is asked while the messages are being settled stays open."""
    from ibstatus.mail import messages, questions, send
    from ibstatus.project import identity

    home.enter(repo)
    messages.send(repo, "cli", "a", True, "status", "one", time.time())
    real = messages.acknowledge

    def slow(*args: object, **kwargs: object) -> object:
        questions.ask(repo, "cli", "a", True, "may I drop the table?", time.time())
        return real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(messages, "acknowledge", slow)
    done = send.acknowledge(repo, identity.Caller(identity.PERSON, "user"), None, time.time())

    assert len(done.settled) == 1
    assert len(questions.pending(repo)) == 1


def test_a_message_that_is_kept_is_not_reported_as_failed(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    """The queue cannot be written: running the command again would double the message."""
    tree = agent(repo, "a")
    ib("notify", "x")
    Path(repo.queue).unlink()
    Path(repo.queue).mkdir()
    done = ib("send", "user-claude", "? Which port?", cwd=tree)

    assert done.code == 0
    assert "it is kept, but nobody was told yet" in done.err
    Path(repo.queue).rmdir()
    ib("send", "user-claude", "next")
    assert '"msg":"Which port?"' in ib("listen", "--timeout", "0").out
