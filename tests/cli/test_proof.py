"""The test-* commands on fixtures: the file name carries the expectation."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.errors import IbError
from ibstatus.testkit.fixtures import proof
from tests.conftest import PROJECT, Done

FIXTURES = PROJECT / "fixtures"
UPSTREAM = PROJECT.parent / "shared" / "upstream-fixtures"


def cases(subject: str) -> list[Path]:
    return sorted((FIXTURES / subject).iterdir())


def expected(path: Path) -> str:
    return path.name.partition("-")[0]


@pytest.mark.parametrize("path", cases("notify-format"), ids=lambda path: path.stem)
def test_notify_format(path: Path) -> None:
    assert expected(path) in ("valid", "error")
    if expected(path) == "error":
        with pytest.raises(IbError):
            proof.notify_format(str(path), 1_771_360_205)
        return

    line = proof.notify_format(str(path), 1_771_360_205)

    given = json.loads(path.read_text())
    value = json.loads(line)
    assert value["msg"] == given["msg"]
    assert value["from"] == given["from"]
    assert value["type"] == given.get("type", "complete")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}", value["ts"])
    assert value["id"] == f"n-1771360205-{given['from']}"
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize("path", cases("notify-drain"), ids=lambda path: path.stem)
def test_notify_drain(path: Path) -> None:
    text, _ = proof.notify_drain(str(path))

    assert len(text.splitlines()) == int(expected(path))
    assert all(json.loads(line)["id"] for line in text.splitlines())


def test_notify_drain_keeps_the_order_and_says_what_it_skips() -> None:
    text, skipped = proof.notify_drain(str(FIXTURES / "notify-drain" / "2-garbage-between.jsonl"))

    assert [json.loads(line)["msg"] for line in text.splitlines()] == ["message 1", "message 2"]
    assert len(skipped) == 2


def test_a_missing_queue_is_an_empty_one() -> None:
    assert proof.notify_drain("/nowhere/queue") == ("", [])


@pytest.mark.parametrize("path", cases("format-age"), ids=lambda path: path.stem)
def test_format_age(path: Path) -> None:
    assert proof.format_age(str(path)) == expected(path)


@pytest.mark.parametrize("path", cases("log-format"), ids=lambda path: path.stem)
def test_log_format(path: Path) -> None:
    text = path.read_text()

    entry = proof.log_format(str(path), "2026-01-10T01:13:39-06:00")

    assert expected(path) in ("plain", "escaped")
    assert entry.startswith("[2026-01-10T01:13:39-06:00] ")
    assert len(entry.splitlines()) == 1
    assert not any(ord(char) < 32 and char != "\t" for char in entry)
    assert entry.endswith(f"] {text}") is (expected(path) == "plain")


@pytest.mark.parametrize("path", cases("resolve-id"), ids=lambda path: path.stem)
def test_resolve_id(path: Path) -> None:
    assert proof.resolved(str(path)) == expected(path)


@pytest.mark.parametrize("path", cases("relationships"), ids=lambda path: path.stem)
def test_relationships(path: Path) -> None:
    assert " ".join(proof.children(str(path))) == expected(path)


@pytest.mark.parametrize("path", cases("reassign"), ids=lambda path: path.stem)
def test_reassign(path: Path) -> None:
    word = proof.reassigned(str(path))

    assert word.partition(":")[0] == expected(path)
    assert word == "ok" or path.stem == word.replace(":", "-")


def upstream(subject: str) -> list[Path]:
    folder = UPSTREAM / subject
    return sorted(folder.iterdir()) if folder.is_dir() else []


@pytest.mark.skipif(not UPSTREAM.is_dir(), reason="../shared/upstream-fixtures is not here")
def test_the_older_tools_fixtures_hold() -> None:
    for path in upstream("format-age"):
        assert proof.format_age(str(path)) == expected(path), path.name
    for path in upstream("log-format"):
        assert proof.log_format(str(path), "2026-01-10 01:13:39") == f"[2026-01-10 01:13:39] {path.read_text()}"
    for path in upstream("resolve-id"):
        assert proof.resolved(str(path)) == expected(path), path.name
    for path in upstream("relationships"):
        assert " ".join(proof.children(str(path))) == expected(path), path.name
    for path in upstream("reassign"):
        assert proof.reassigned(str(path)).partition(":")[0] == expected(path), path.name


@pytest.mark.parametrize(
    ("command", "file", "printed"),
    [
        ("test-format-age", "format-age/5s-basic.txt", "5s\n"),
        ("test-notify-drain", "notify-drain/0-empty.jsonl", ""),
        ("test-resolve-id", "resolve-id/login-unique-prefix.json", "login\n"),
        ("test-relationships", "relationships/w1 w2-two.json", "w1 w2\n"),
        ("test-reassign", "reassign/ok-to-none.json", "ok\n"),
    ],
)
def test_the_commands_print_it(ib: Callable[..., Done], command: str, file: str, printed: str) -> None:
    done = ib(command, str(FIXTURES / file))

    assert (done.code, done.out, done.err) == (0, printed, "")


def test_a_fixture_that_is_not_there(ib: Callable[..., Done]) -> None:
    done = ib("test-notify-format", "/nowhere/x.json")

    assert done.code == 1
    assert done.err.startswith("Error: /nowhere/x.json cannot be read.\nCaused by: No such file")
