"""The client's transcripts as text: real ones, torn ones, hostile ones; and where they are found."""

import json
import os
from pathlib import Path

import pytest

from ibstatus.claude import transcript
from ibstatus.claude import transcript_text as rules
from ibstatus.claude.client import Claude
from ibstatus.project import agent_meta, paths
from tests.conftest import PROJECT, make_agent

REAL = PROJECT / "fixtures" / "transcript"
SESSION = "4a2d2b8e-0000-4000-8000-000000000001"


def line(kind: str, content: object, **more: object) -> str:
    return json.dumps({"type": kind, "message": {"role": kind, "content": content}, **more}) + "\n"


def test_a_real_one_with_dialogs() -> None:
    text = transcript.as_text(str(REAL / "text-dialogs.jsonl"))

    assert text.startswith(
        "❯ first prompt given as argument\n\n● Bash(touch made; echo hi; sleep 1; echo more)\n\n● First"
    )
    assert "● Bash(sleep 6; exit 3)\n  ⎿ Error: The user doesn't want to proceed" in text
    assert "● AskUserQuestion(Which" in text


def test_a_real_one_with_a_queue_and_a_shell() -> None:
    path = str(REAL / "text-queued-and-shell.jsonl")

    assert "❯ ! echo shell\n  ⎿ shell\n\n● Fifth." in transcript.as_text(path)
    assert "● Bash(sleep 4; exit 3)\n  ⎿ Error: Exit code 3" in transcript.as_text(path)
    assert transcript.as_text(path, 1) == "● Fifth."


@pytest.mark.parametrize(
    "foreign",
    [
        "not json\n", "[]\n", "null\n", '{"type": 3}\n', '{"type": "user"}\n', '{"type":"user","message":[]}\n', "\n",
        '{"type":"assistant","message":{"content":[3,{"type":"tool_use","name":null,"input":7},{"type":"text"}]}}\n',
        '{"type":"attachment","attachment":7}\n', "[" * 100_000 + "\n",
        line("user", "aside", isMeta=True), line("assistant", [{"type": "text", "text": "sub"}], isSidechain=True),
    ],
)  # fmt: skip
def test_what_is_no_part_of_it_is_passed_over(tmp_path: Path, foreign: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(line("user", "before") + foreign + line("assistant", [{"type": "text", "text": "after"}]))

    text = transcript.as_text(str(path))

    assert text.startswith("❯ before")
    assert text.endswith("● after")
    assert "aside" not in text
    assert "sub" not in text


def test_a_torn_last_line_waits_for_its_rest(tmp_path: Path) -> None:
    path, whole = tmp_path / "t.jsonl", line("user", "two")
    path.write_text(line("user", "one") + whole[:20])
    reader = transcript.Reader(str(path))

    assert list(reader.text()) == ["❯ one\n"]
    path.write_text(line("user", "one") + whole)
    assert list(reader.text()) == ["❯ two\n"]


def test_nothing_in_it_steers_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    bad = "a\x1b[2Jb\rc\x07\x9bd\u202ee\x00 \ud800 ü 漢 🎉"
    path.write_text(line("user", bad) + line("assistant", [{"type": "tool_use", "name": "B\x1bX", "input": {}}]))

    text = transcript.as_text(str(path))

    assert "ü 漢 🎉" in text
    assert not any(char < " " and char != "\n" for char in text)
    assert "\x9b" not in text
    assert "\u202e" not in text
    text.encode()


@pytest.mark.parametrize(("lines", "found"), [(1, True), (9, True), (30, False)])
def test_what_was_said_last_is_found_before_long_lines_of_other_things(tmp_path: Path, lines: int, found: bool) -> None:
    path = tmp_path / "t.jsonl"
    snapshot = json.dumps({"type": "attachment", "attachment": {"type": "prompt_snapshot", "text": "x" * 64_000}})
    path.write_text(line("user", "[Request interrupted by user]") + f"{snapshot}\n" * lines)

    tail = transcript.tail(str(path))

    assert (rules.ending(tail.data) is not None) == found
    assert tail.changed == path.stat().st_mtime
    assert len(tail.data) <= transcript.FURTHER


def test_the_end_of_a_long_conversation_is_short(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(line("user", "hello") * 9000)

    assert len(transcript.tail(str(path)).data) == transcript.TAIL


def test_a_missing_one_is_empty(tmp_path: Path) -> None:
    assert transcript.as_text(str(tmp_path / "none")) == ""


@pytest.fixture
def config(repo: paths.Place, tmp_path: Path) -> Path:
    made = tmp_path / "config ü"
    make_agent(repo, "w1")
    agent_meta.change(repo, "w1", session_id=SESSION, config_dir=str(made))
    return made


def put(folder: str, session: str, at: float) -> str:
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/{session}.jsonl"
    Path(path).write_text(line("user", "x"))
    os.utime(path, (at, at))
    return path


def test_it_is_found_by_the_agents_folder(repo: paths.Place, config: Path) -> None:
    assert transcript.path_of(repo, "w1") == ""
    folder = transcript.folder(str(config), repo.agent_dir("w1") + "/repo")
    assert "." not in Path(folder).name
    made = put(folder, SESSION, 100)
    put(folder, "agent-7", 300)

    assert transcript.path_of(repo, "w1") == made


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("", False), ('{"type":"mode"}\n', False), ("\0" * 4096, False), (line("user", "aside", isMeta=True), False),
        ('{"type":"mode"}\n' + line("user", "Go")[:-9], False), (line("user", "Go", isSidechain=True), False),
        ('{"type":"mode"}\n' + line("user", "Go"), True), (line("user", "Go").rstrip(), True),
        ("torn\n" + line("assistant", []), True),
    ],
)  # fmt: skip
def test_a_session_has_begun_when_something_was_said_in_it(
    repo: paths.Place, config: Path, text: str, holds: bool
) -> None:
    Path(put(f"{config}/projects/p", SESSION, 100)).write_text(text)

    assert Claude().goes_on(repo, "w1") is holds
    assert Claude().has_begun(repo, "w1") is holds


def test_nobody_waits_for_a_pipe(repo: paths.Place, config: Path) -> None:
    path = Path(put(f"{config}/projects/p", SESSION, 100))
    path.unlink()
    os.mkfifo(path)

    assert not transcript.own_paths(agent_meta.read(repo, "w1"))
    assert transcript.is_begun(str(path))
    assert transcript.as_text(str(path)) == ""


def test_after_clear_its_first_session_is_what_goes_on(repo: paths.Place, config: Path) -> None:
    folder = transcript.folder(str(config), repo.agent_dir("w1") + "/repo")
    Path(put(folder, SESSION.replace("1", "2"), 200)).write_text(line("user", "Go"))

    assert Claude().has_begun(repo, "w1")
    assert not Claude().goes_on(repo, "w1")


def test_after_clear_it_is_the_new_one(repo: paths.Place, config: Path) -> None:
    folder = transcript.folder(str(config), repo.agent_dir("w1") + "/repo")
    put(folder, SESSION, 100)
    newer = put(folder, SESSION.replace("1", "2"), 200)

    assert transcript.path_of(repo, "w1") == newer


def test_it_is_found_by_its_session_where_the_folder_has_another_name(repo: paths.Place, config: Path) -> None:
    made = put(f"{config}/projects/somewhere-else", SESSION, 100)

    assert transcript.path_of(repo, "w1") == made


def test_an_agent_without_a_worktree_never_shows_the_users_sessions(repo: paths.Place, config: Path) -> None:
    agent_meta.change(repo, "w1", worktree=False)
    put(transcript.folder(str(config), repo.root), SESSION.replace("1", "2"), 200)

    assert transcript.path_of(repo, "w1") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[Request interrupted by user]", ("waiting", "input", "interrupted")),
        ("[Request interrupted by user for tool use]", ("waiting", "input", "interrupted")),
        ("go on", ("", "", "its last entry ends no turn")),
    ],
)
def test_how_a_conversation_ends(text: str, expected: tuple[str, str, str]) -> None:
    raw = json.dumps({"type": "user", "message": {"content": [{"type": "text", "text": text}]}, "timestamp": "T"})
    data = b'torn"}\n' + raw.encode() + b'\n{"type":"summary"}\n\xff\n'

    found = rules.ending(data)

    assert found is not None
    assert (found[0], found[1], found[3]) == expected


@pytest.mark.parametrize(
    ("error", "state", "reason"),
    [("rate_limit", "rate_limited", ""), ("server_error", "waiting", "error: server_error")],
)
def test_a_conversation_that_ends_in_an_error(error: str, state: str, reason: str) -> None:
    content = [{"type": "text", "text": "API Error"}]
    value = {"type": "assistant", "message": {"content": content}, "isApiErrorMessage": True, "error": error}

    found = rules.ending(json.dumps(value).encode())

    assert found is not None
    assert found[:2] == (state, reason)
    assert rules.ending(b"\x00\xff" * 99) is None
