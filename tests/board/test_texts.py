"""What people and agents write comes back as it was written, whatever it looks like to a database."""

import pytest

from ibstatus.board.port import Board
from ibstatus.model.board import Branch, Claimer, Fence, NewTask, Template
from tests.board.doing import BRANCH, add, claim, fence, finish, known

MEGABYTE = "x" * ((1 << 20) - 1) + "é"
TEXTS = {
    "quotes": 'it\'s "quoted" `so`',
    "backslashes": "\\' \\\\ \\n \\x00 %s %(a)s {0} $1",
    "sql": "'); DROP TABLE tasks; --",
    "wildcards": "100% _under_ *star* ?",
    "bars": "a|b|c",
    "lines": "one\ntwo\r\nthree\ttab",
    "json": '{"a": [1, "]"]}',
    "emoji": "🤖✅ é á 日本語 \u202e",
    "control": "\x1b[31mred\x07",
    "arrays": "{a,b} NULL \\N",
    "long": MEGABYTE,
}


@pytest.mark.parametrize("what", TEXTS)
def test_every_text_comes_back_as_it_was(board: Board, what: str) -> None:
    text = TEXTS[what]
    title = " ".join(text.split())
    board.add(NewTask("t", title, body=text, project_id=title[:90], capability=title[:90], test=text))
    name = Claimer(title[:90])

    (task,) = board.claim(Template(title[:90], (title[:90],)), name)
    note = board.note("t", name.agent, "observation", text)
    board.fail(fence(task), text)
    (again,) = board.claim(Template(title[:90], (title[:90],)), name)
    (done,) = board.done([fence(again)], text, Branch(text, text, text, text, text))
    board.merging(1)
    entry = board.conflicted(1, [text, "b"], text)

    assert (task.title, task.body, task.test, task.project_id) == (title, text, text, title[:90])
    assert (done.summary, done.done_by) == (text, name.agent)
    assert (note.content, note.agent_id) == (text, name.agent)
    assert [one.content for one in board.context("t")] == [text] * 3
    assert (entry.branch, entry.repo, entry.conflict_files, entry.reason) == (text, text, [text, "b"], text)
    assert known(board, "t").body == text
    event = board.events(0, channels=["merge_conflict"])[0]
    assert (event.conflict_files, event.project_id) == ([text, "b"], title[:90])
    assert len(event.reason or "") <= 2000


@pytest.mark.parametrize("injected", ["' OR '1'='1", "p' --", "%", "p%", "_", "P", "p ", ""])
def test_no_name_is_read_as_more_than_a_name(board: Board, injected: str) -> None:
    add(board, "t", project_id="p", capability="c")

    assert board.claim(Template(injected, ("c",)), Claimer("x")) == []
    assert board.claim(Template("p", (injected,)), Claimer("x")) == []
    assert board.tasks(injected) == []
    assert board.events(0, project_id=injected) == []
    assert board.events(0, channels=[injected]) == []
    assert board.entries(injected) == []
    assert board.task(injected) is None


def test_ids_are_found_by_their_beginning(board: Board) -> None:
    for id in ("dark-1", "dark-10", "dark-2", "light-1", "z9"):
        add(board, id)

    assert sorted(board.ids("dark-1")) == ["dark-1", "dark-10"]
    assert board.ids("z") == ["z9"]
    assert len(board.ids("")) == 5
    for none in ("%", "_ark", "DARK", "dark-1%", "ark", "'", "dark-11", "dark*", "[d]"):
        assert board.ids(none) == []


def test_a_search_finds_all_words_in_title_body_or_notes(board: Board) -> None:
    add(board, "a", title="Add dark mode", body="The settings page", project_id="p")
    add(board, "b", title="Fix the lamp", body="it is DARK in here", project_id="q")
    add(board, "c", title="Nothing")
    board.note("c", "ann", "handoff", "the darkest hour")
    finish(board, "c")

    def found(query: str, project: str | None = None) -> list[tuple[str, str]]:
        return sorted((hit.task_id, hit.where) for hit in board.search(query, project))

    assert found("dark") == [("a", "title"), ("b", "body"), ("c", "handoff")]
    assert found("DARK  mode") == [("a", "title")]
    assert found("dark settings") == [("a", "title")], "each of them somewhere in the task"
    assert found("dark", "q") == [("b", "body")]
    assert found("dark absent") == []
    assert found("") == []
    assert len(board.search("dark", limit=2)) == 2
    (hit,) = board.search("darkest")
    assert (hit.title, hit.status, hit.project_id, hit.snippet) == ("Nothing", "done", None, "the darkest hour")


@pytest.mark.parametrize("query", ["%", "_", "d%rk", "'", '"', "\\", "*", "-a", "a OR b", "(", "dark:*", "&|!"])
def test_a_search_reads_no_signs(board: Board, query: str) -> None:
    add(board, "a", title="Add dark mode")
    add(board, "b", title=f"this one has {query} in it")

    assert [hit.task_id for hit in board.search(query)] == ["b"]


def test_a_snippet_is_one_short_line_around_the_word(board: Board) -> None:
    add(board, "a", body="x " * 5000 + "\nneedle\n" + "y " * 5000)

    (hit,) = board.search("needle")

    assert "needle" in hit.snippet
    assert len(hit.snippet) < 200
    assert "\n" not in hit.snippet


def test_an_empty_reason_is_none(board: Board) -> None:
    add(board, "t")
    board.fail(claim(board), "")
    board.done([Fence("t", "ann", claim(board).attempt)], "", BRANCH)

    assert board.context("t") == []
    assert [event.reason for event in board.events(0, channels=["task_retry"])] == [None]
    assert [event.summary for event in board.events(0, channels=["task_done"])] == [None]
