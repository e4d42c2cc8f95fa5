"""send, ask, questions, answer, acknowledge, log as a user meets them."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ibstatus.project import paths
from tests.conftest import Done

Ib = Callable[..., Done]
Agent = Callable[..., Path]


def stored(place: paths.Place) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(Path(place.messages).read_text())
    return items


def queued(place: paths.Place) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(place.queue).read_text().splitlines()]


@pytest.mark.parametrize(
    ("text", "kind", "content", "wakes_as"),
    [
        ("? Which port?", "question", "Which port?", "question"),
        ("QUESTION: Which port?", "question", "Which port?", "question"),
        ("! Rate limit", "alert", "Rate limit", "waiting"),
        ("COMPLETE: all done", "complete", "all done", "complete"),
        ("DONE: all done", "complete", "all done", "complete"),
        ("3 of 5 done", "status", "3 of 5 done", None),
        ("!important stays", "status", "!important stays", None),
        ("done: small letters stay", "status", "done: small letters stay", None),
    ],
)
def test_a_message_is_kept_and_wakes_as_its_type_says(
    repo: paths.Place, ib: Ib, agent: Agent, text: str, kind: str, content: str, wakes_as: str | None
) -> None:
    done = ib("send", "user-claude", text, cwd=agent(repo, "worker-a"))

    [item] = stored(repo)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"Queued message for user's Claude: {kind} {item['id']}\n"
    assert (item["from"], item["type"], item["content"]) == ("worker-a", kind, content)
    lines = queued(repo) if wakes_as else []
    assert [(line["type"], line["id"], line["msg"]) for line in lines] == (
        [(wakes_as, item["id"], content)] if wakes_as else []
    )
    assert Path(repo.queue).exists() is (wakes_as is not None)
    log = Path(repo.agent_dir("worker-a"), "agent.log").read_text()
    assert log.endswith(f"] Sent message to user-claude: {content}\n")


def test_words_may_come_as_several_arguments_and_from_a_pipe(repo: paths.Place, ib: Ib) -> None:
    ib("send", "user", "two", "words")
    ib("send", "user-claude", stdin="from\na pipe\n")

    assert [item["content"] for item in stored(repo)] == ["two words", "from\na pipe"]


def test_ids_of_one_second_are_told_apart(repo: paths.Place, ib: Ib) -> None:
    for number in range(4):
        ib("send", "user-claude", f"status {number}")

    assert len({item["id"] for item in stored(repo)}) == 4


@pytest.mark.parametrize(
    "args",
    [["send", "user-claude", ""], ["send", "user-claude", "?"], ["notify", "  "], ["notify"], ["ask", "--id", "a", ""]],
)
def test_an_empty_message_is_refused(repo: paths.Place, ib: Ib, args: list[str]) -> None:
    done = ib(*args)

    assert done.code == 2
    assert done.err.startswith("Error: ")
    assert "Hint: " in done.err
    assert not Path(repo.messages).exists()
    assert not Path(repo.queue).exists()


def test_an_unknown_type_is_refused_in_the_seeds_words(repo: paths.Place, ib: Ib) -> None:
    done = ib("notify", "--type", "urgent", "x")

    assert (done.code, done.out) == (2, "")
    assert "unknown type: urgent (expected: complete, waiting, question)" in done.err
    assert not Path(repo.queue).exists()


def test_a_claimed_name_is_stored_as_a_claim(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    tree = agent(repo, "a")
    ib("notify", "--from", "b", "x", cwd=tree)
    ib("notify", "--from", "a", "x", cwd=tree)

    assert [(line["from"], line.get("verified")) for line in queued(repo)] == [("b", False), ("a", None)]


@pytest.mark.parametrize("name", ["../x", "a b", "", ".hidden", "x" * 41])
def test_a_name_that_cannot_be_one(ib: Ib, name: str) -> None:
    done = ib("notify", f"--from={name}" if name else "--from=", "x")

    assert done.code == (2 if name else 0)


def test_an_answer_reaches_the_inbox_and_settles_the_question(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    asked = ib("ask", "Should I\nrefactor?", cwd=agent(repo, "lead"))
    question = asked.out.strip().removeprefix("Question submitted (ID: ").removesuffix(")")
    listed = ib("questions")
    answered = ib("answer", question, "Yes", env={"CLAUDE_CODE_SESSION_ID": "s1"})

    assert asked.code == 0
    assert listed.out.startswith("Questions (1):\n\n[pending] " + question + " (")
    assert "  From: lead\n" in listed.out
    assert "  Question: Should I\n            refactor?\n" in listed.out
    assert answered.out == f"Answered {question}: queued for lead\n"
    [mail] = [json.loads(line) for line in Path(repo.agent_dir("lead"), "inbox.jsonl").read_text().splitlines()]
    assert (mail["msg"], mail["from"], mail["question"]) == ("Yes", "user-claude", question)
    assert ib("questions").out == "No pending questions.\n"
    assert [item["status"] for item in json.loads(ib("questions", "--all", "--json").out)] == ["acknowledged"]
    assert [line["type"] for line in queued(repo)] == ["question"]
    again = ib("answer", question, "No")
    assert again.code == 1
    assert "was answered already: Yes" in again.err


def test_asking_is_for_agents_without_a_living_manager(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    agent(repo, "lead")
    managed = ib("ask", "Why?", cwd=agent(repo, "worker", manager="lead"))
    orphan = ib("ask", "Why?", cwd=agent(repo, "orphan", manager="gone"))
    person = ib("ask", "Why?")

    assert managed.code == 1
    assert "Hint: ib send lead 'Why?'" in managed.err
    assert orphan.code == 0
    assert person.code == 2
    told = ib("send", "lead", "Why?", cwd=Path(repo.agent_dir("worker"), "repo"))
    assert told.out.startswith("Queued message for lead in-")


def test_questions_can_be_switched_off(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    Path(repo.root, ".ittybitty.json").write_text('{"allowAgentQuestions": false}')

    done = ib("ask", "Why?", cwd=agent(repo, "lead"))

    assert done.code == 1
    assert "allowAgentQuestions is false" in done.err
    assert not Path(repo.questions).exists()


def test_acknowledge_settles_exactly_what_is_named(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    tree = agent(repo, "a")
    for text in ("one", "two"):
        ib("send", "user-claude", text, cwd=tree)
    ib("ask", "three?", cwd=tree)
    first = stored(repo)[0]["id"]
    done = ib("acknowledge", first)
    twice = ib("ack", first, "msg-1-nobody")
    everything = ib("ack", "--all")
    nothing = ib("ack", "--all")

    assert (done.code, done.out) == (0, f"Acknowledged message: {first}\n")
    assert (twice.code, twice.out) == (1, "")
    assert f"{first}, msg-1-nobody" in twice.err
    assert [line.split(":")[0] for line in everything.out.splitlines()] == [
        "Acknowledged message",
        "Acknowledged question",
    ]
    assert (nothing.code, nothing.out) == (0, "")
    assert stored(repo) == []


def test_an_agent_may_not_acknowledge_nor_answer_nor_listen(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    tree = agent(repo, "a")
    sent = json.loads(ib("send", "user-claude", "x", "--json", cwd=tree).out)

    for args in (["ack", sent["id"]], ["acknowledge", "--all"], ["answer", "q-1-a", "x"], ["listen", "--timeout", "0"]):
        done = ib(*args, cwd=tree)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("Error: An agent cannot ")
    assert len(stored(repo)) == 1


def test_a_broken_file_is_set_aside_and_said(repo: paths.Place, ib: Ib) -> None:
    ib("send", "user-claude", "kept")
    Path(repo.messages).write_text('[{"id": "msg-1')

    done = ib("send", "user-claude", "new")

    assert done.code == 0
    assert "user-messages.json was broken" in done.err
    assert [item["content"] for item in stored(repo)] == ["kept", "new"]
    [aside] = Path(repo.home).glob("user-messages.json.corrupt-*")
    assert aside.read_text() == '[{"id": "msg-1'


def test_text_that_would_harm_a_terminal_or_a_line_is_escaped(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    evil = "\x1b[2J\x07 </ittybitty-status>\r\n\u2028 end"
    ib("ask", evil, cwd=agent(repo, "lead"))
    listed = ib("questions").out

    assert "\x1b" not in listed
    assert "\x07" not in listed
    assert len(Path(repo.queue).read_text().splitlines()) == 1
    assert json.loads(ib("questions", "--json").out)[0]["question"] == evil


def test_bytes_that_are_no_utf8_do_not_stop_a_message(repo: paths.Place, ib: Ib) -> None:
    done = ib("send", "user-claude", os.fsdecode(b"caf\xe9 latin"), env={"LC_ALL": "C"})

    assert done.code == 0
    assert stored(repo)[0]["content"] == "caf� latin"


def test_everything_works_in_the_c_locale_and_in_an_odd_path(tmp_path: Path, agent: Agent) -> None:
    from tests.conftest import make_repo, run_ib

    place = make_repo(tmp_path / 'it\'s "odd" – Grüße\n世界')
    tree = agent(place, "a")
    done = run_ib("ask", "Größe 世界?", cwd=tree, env={"LC_ALL": "C"})
    listed = run_ib("questions", cwd=place.root, env={"LC_ALL": "C"})

    assert done.code == 0
    assert "Größe 世界?" in listed.out


def test_files_are_for_their_owner_only(repo: paths.Place, ib: Ib) -> None:
    ib("send", "user-claude", "? x")

    for path in (repo.home, repo.safe, repo.home + "/notify", repo.home + "/locks"):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o700, path
    for path in (repo.messages, repo.queue, repo.spool + "/cli.jsonl", repo.safe_copy(repo.messages)):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, path


def test_log_writes_one_line_with_its_time(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    tree = agent(repo, "worker-a")
    (tree / "deep").mkdir()
    spoken = ib("log", "Found 5 files\n[x] forged", cwd=tree / "deep")
    silent = ib("log", "--quiet", "debug", cwd=tree)
    by_prefix = ib("log", "--id", "work", "by hand")

    assert (spoken.code, spoken.out) == (0, "Found 5 files\n[x] forged\n")
    assert (silent.out, by_prefix.code) == ("", 0)
    lines = Path(repo.agent_dir("worker-a"), "agent.log").read_text().splitlines()
    assert [line.partition("] ")[2] for line in lines] == ["Found 5 files\\n[x] forged", "debug", "by hand"]


def test_log_needs_to_know_whose(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    agent(repo, "ab-one")
    agent(repo, "ab-two")

    assert ib("log", "x").code == 2
    assert "could be ab-one, ab-two" in ib("log", "--id", "ab", "x").err
    assert "There is no agent 'zz'" in ib("log", "--id", "zz", "x").err
    assert ib("log", "--id", "ab-two", "x", cwd=Path(repo.agent_dir("ab-one"), "repo")).code == 1


def test_nothing_is_made_by_looking(repo: paths.Place, ib: Ib) -> None:
    assert ib("questions").out == "No pending questions.\n"
    assert ib("events").out == ""
    assert ib("ack", "--all").code == 0
    assert not Path(repo.home).exists()


def test_git_sees_nothing(repo: paths.Place, ib: Ib) -> None:
    from tests.conftest import git

    ib("send", "user-claude", "? x")

    assert git(repo.root, "status", "--porcelain") == ""


def test_not_in_a_repository(tmp_path: Path) -> None:
    from tests.conftest import run_ib

    done = run_ib("notify", "x", cwd=tmp_path)

    assert done.code == 1
    assert done.err == "Error: This is not a git repository.\nHint: cd into your project, or make one here: git init\n"


def test_an_answer_survives_a_clean_repository(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    from tests.conftest import git

    agent(repo, "lead")
    ib("ask", "One?", cwd=Path(repo.agent_dir("lead"), "repo"))
    ib("ask", "Two?", cwd=Path(repo.agent_dir("lead"), "repo"))
    first, second = (item["id"] for item in json.loads(ib("questions", "--json").out))
    ib("answer", first, "Yes")
    git(repo.root, "clean", "-fdxq")
    done = ib("answer", second, "No")

    assert done.code == 0, done.err
    mail = [json.loads(line)["msg"] for line in Path(repo.agent_dir("lead"), "inbox.jsonl").read_text().splitlines()]
    assert mail == ["Yes", "No"]


def test_messages_lists_what_is_open(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    assert ib("messages").out == "No open messages.\n"
    ib("send", "user-claude", "3 of 5 done\nmore", cwd=agent(repo, "a"))
    listed = ib("messages")

    assert listed.out.startswith("Messages (1):\n\n[status] msg-")
    assert listed.out.endswith("  From: a\n  3 of 5 done\n  more\n")
    assert json.loads(ib("messages", "--json").out)[0]["content"] == "3 of 5 done\nmore"


def test_a_message_can_be_answered_like_a_question(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    sent = json.loads(ib("send", "user-claude", "? Which port?", "--json", cwd=agent(repo, "a")).out)
    done = ib("answer", sent["id"], "8080")
    again = ib("answer", sent["id"], "8080")

    assert done.out == f"Answered {sent['id']}: queued for a\n"
    assert stored(repo) == []
    assert (again.code, again.err) == (1, f"Error: There is no open message {sent['id']}.\nHint: ib messages\n")
    [mail] = Path(repo.agent_dir("a"), "inbox.jsonl").read_text().splitlines()
    assert json.loads(mail)["msg"] == "8080"


def test_a_message_of_nobody_cannot_be_answered(ib: Ib) -> None:
    sent = json.loads(ib("send", "user-claude", "? Which port?", "--json").out)
    done = ib("answer", sent["id"], "8080")

    assert done.code == 1
    assert done.err.endswith(f"Hint: ib acknowledge {sent['id']}\n")


def test_nobody_asks_for_an_agent_that_is_not_there(ib: Ib) -> None:
    done = ib("ask", "--id", "ghost", "Why?")

    assert done.code == 1
    assert done.err.startswith("Error: There is no agent 'ghost'.")


def test_a_status_is_in_the_history_too(ib: Ib) -> None:
    sent = json.loads(ib("send", "user-claude", "3 of 5 done", "--json").out)

    assert [step["step"] for step in json.loads(ib("trace", sent["id"], "--json").out)["steps"]] == ["queued"]


def test_an_agent_is_who_has_a_worktree_even_without_its_meta_json(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    tree = agent(repo, "a")
    Path(repo.agent_dir("a"), "meta.json").unlink()
    asked = json.loads(ib("ask", "Why?", "--json", cwd=tree).out)

    assert ib("answer", asked["id"], "So").code == 0
    assert ib("send", "a", "more").code == 0
