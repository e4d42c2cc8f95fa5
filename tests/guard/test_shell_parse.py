"""The reader of command lines, held against bash itself."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ibstatus.guard import shell_parse
from ibstatus.guard.shell_parse import Simple
from ibstatus.guard.shell_values import UNKNOWN, Scope
from ibstatus.guard.shell_words import Unreadable
from tests.conftest import PROJECT

CORPUS = sorted((PROJECT / "fixtures" / "shell-commands").glob("*.jsonl"))
HERE = (("/w", "", ()),)


def commands(path: Path) -> list[str]:
    return [json.loads(line)["command"] for line in path.read_text().splitlines()]


def words(text: str) -> list[list[str]]:
    """The words of every simple command, as far as they are known."""
    scope = Scope("/home/ann", "/tmp/ib-w1", "/w")
    script = shell_parse.read(text)
    scope.add(script.seq)
    return [field for one in simples(script.seq) for field in scope.fields(one.words, HERE)]


def simples(seq: "shell_parse.Seq") -> list[Simple]:
    found: list[Simple] = []
    for _, parts in seq:
        for _, _, pipe in parts:
            for command in pipe:
                if isinstance(command, Simple):
                    found.append(command)
                else:
                    for part in command.parts:
                        found += simples(part)
    return found


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_bash_reads_is_read_and_what_it_refuses_is_not(path: Path) -> None:
    wrong = []
    for command in commands(path):
        accepted = subprocess.run(["bash", "-n"], input=command.encode(), capture_output=True, check=False)
        try:
            shell_parse.read(command)
            read = True
        except Unreadable:
            read = False
        complains = b"syntax error" in accepted.stderr or b"unexpected EOF" in accepted.stderr
        if (read and complains) or (not read and not complains and path.stem.startswith("allow")):
            wrong.append(command)
    assert wrong == []


PIECES = st.sampled_from(
    [
        "a",
        "B7",
        " ",
        "  ",
        "'",
        '"',
        "\\",
        "$'",
        "\\n",
        "\\'",
        '\\"',
        "x=1",
        "-",
        "/",
        ".",
        "é",
        "%",
        "=",
        ",",
        "{",
        "}",
        "{a,b}",
        "{1..2}",
        "{a..c}",
        "'q r'",
        '"s t"',
        "$'\\x41'",
        "\\ ",
        "\\\n",
        "#",
        " #c",
        "~",
        "^",
        "@",
        "+",
        "]",
        ":",
    ]
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=9).map("".join))
@example("a{b,'c d'}e")
@example("{a,{b,c}}{d,}")
@example("$'a\\'b' \"a\\\"b\\c\" 'a\\b'")
@example("a\\\nb # c")
def test_words_are_those_of_bash(text: str) -> None:
    if "~" in text or "{1..2}" in text:
        return  # the home of whoever runs this; a number, whichever
    line = f"printf '%s\\0' _ {text}"
    real = subprocess.run(["bash", "-c", line], capture_output=True, check=False)
    try:
        read = words(line)
    except Unreadable:
        return  # said, not guessed
    assert b"syntax error" not in real.stderr
    assert b"unexpected EOF" not in real.stderr
    assert read[0][2:] == real.stdout.decode().split("\0")[:-1]


@settings(max_examples=400)
@given(st.text(alphabet="ab \t\n'\"\\$(){}[]`;&|<>#!~*?=-/x0.:%@,^+", max_size=60))
def test_any_text_is_read_or_refused_and_never_by_accident(text: str) -> None:
    try:
        script = shell_parse.read(text)
        scope = Scope("/home/ann", "/tmp/ib-w1", "/w")
        scope.add(script.seq)
        for one in simples(script.seq):
            scope.fields(one.words, HERE)
    except Unreadable:
        pass


@settings(max_examples=300)
@given(st.lists(st.sampled_from(
    [
        *("if a", "then b", "else c", "fi", "for i in x", "do y", "done", "while z", "case q in",),
        *("r) s;;", "esac", "{ t", "}", "(u", ")", "f() { v; }", "w && x", "| y", "<<E\nz\nE\n", "$(a",),
        *("[[ b ]]", "((c))", "! d", "time e", "&", ";",),
    ]
), max_size=8))  # fmt: skip
def test_nothing_is_read_that_bash_refuses(parts: list[str]) -> None:
    text = "\n".join(parts)
    try:
        shell_parse.read(text)
    except Unreadable:
        return
    if not text.strip():
        return
    real = subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True, check=False)
    assert b"syntax error" not in real.stderr
    assert b"unexpected EOF" not in real.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b", [["a", "b"]]),
        ("a 'b c' \"d e\"", [["a", "b c", "d e"]]),
        ("a|b&&c||d;e&f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("A=1 b", [["b"]]),
        ("x=1; a $x", [[], ["a", "1"]]),
        ("for i in 1 2; do a $i; done", [["a", "1"], ["a", "2"]]),
        ("a=(1 '2 3'); b \"${a[@]}\"", [[], ["b", "1", "2 3"]]),
        ("a=(1 '2 3'); b \"${a[0]}\"", [[], ["b", "1"], ["b", "2 3"]]),
        ("x='1 2'; a $x \"$x\"", [[], ["a", "1", "2", "1 2"]]),
        ("a $HOME ~ ~/b", [["a", "/home/ann", "/home/ann", "/home/ann/b"]]),
        ("a $PWD", [["a", "/w"]]),
        ("a $nobody", [["a", UNKNOWN]]),
        ("x=abc.py; a ${x%.py}.js", [[], ["a", "abc.js"]]),
        ("a ${x:-b}", [["a", "b"]]),
        ("a $(echo b)", [["a", "b"]]),
        ("a 2>&1 >x <y", [["a"]]),
        ("a <<E\n$x\nE\nb", [["a"], ["b"]]),
        ("a # b", [["a"]]),
        ("a#b", [["a#b"]]),
        ("\n\n a \n", [["a"]]),
        ("", []),
    ],
)  # fmt: skip
def test_commands_are_taken_apart(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "'a",
        '"a',
        "$(a",
        "`a",
        "a && ",
        "| a",
        "if a; then b",
        "fi",
        "a (",
        "a() b",
        "for",
        "case x in",
        "[[ a",
        "${x",
        "((a",
        "a\x00b",
        "a\x01b",
        "$[1]",
        "coproc a",
        "<<$(x)\n",
        "a > ",
        "{ a",
        "(a",
        "a ;; b",
        "${x@P}",
        "a[$(b)]=1",
    ],
)
def test_what_cannot_be_read_is_said(text: str) -> None:
    with pytest.raises(Unreadable):
        shell_parse.read(text)


@pytest.mark.parametrize(
    "text",
    [
        "a " + "b" * 1_000_000,
        "a '" + "b" * 1_000_000 + "'",
        'a "' + "b $c " * 200_000 + '"',
        "a <<'E'\n" + "b $(c)\n" * 100_000 + "E\n",
        "a <<E\n" + "b $c\\\n" * 100_000 + "E\n",
        "$(" * 100_000,
        "(" * 100_000,
        "((" * 100_000,
        "{ " * 100_000,
        "`" * 100_001,
        '"$(' * 50_000,
        "if " * 100_000,
        "a;" * 500_000,
        "a " * 500_000,
        "a|" * 300_000 + "a",
        "{a," * 50_000,
        "{a,b}" * 1000,
        "${x:-" * 50_000,
        "\\\n" * 300_000,
        "x=$x$x;" * 1000,
        "".join(f"x{n}=$x{n - 1}$x{n - 1};" for n in range(1, 400)) + "a $x399",
        "a <<E " * 1000 + "\n",
    ],
    ids=lambda text: text[:8],
)
def test_a_huge_input_ends(text: str) -> None:
    try:
        words(text)
    except Unreadable:
        pass
