"""Rules about screens as a user writes them: what is wrong is named with its line, and the others go on."""

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.claude.screens import rules_file, states
from ibstatus.claude.screens.user_rules import SHIPPED

ONE = "[[rule]]\nname = 'one'\nstate = 'waiting'\n"


def broken(text: str) -> list[tuple[int, str]]:
    return [(wrong.line, wrong.why) for wrong in rules_file.parsed(text.encode(), "f").broken]


def test_ours_are_whole() -> None:
    found = rules_file.built_in()

    assert not found.broken
    assert len({rule.name for rule in found.rules}) == len(found.rules)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("[[rule]\n", 1, "Expected"),
        ("a = [\n", 2, "Invalid value"),
        (ONE + "colour = 1\n", 4, "no key of a rule"),
        ("[rules]\nx = 1\n", 1, "no word of this file"),
        ("[rule]\nname = 'x'\n", 1, "begins with [[rule]]"),
        (ONE + "\n[[rule]]\nname = 'two'\nstate = 'sleeping'\n", 7, "one of creating"),
        (ONE + "\n" + ONE, 6, "a second rule"),
        (ONE + "match = '('\n", 4, "unterminated"),
        (ONE + f"match = '{'a' * 501}'\n", 4, "longer than 500"),
        (ONE + "match = 'x{99999999999}'\n", 4, "too large"),
        (ONE + f"match = '{'(' * 400}'\n", 4, "match: "),
        (ONE + "match = 7\n", 4, "a regex"),
        (ONE + "on = 'moon'\n", 4, "on is one of"),
        (ONE + "where = 'tail 0'\n", 4, "where is one of"),
        (ONE + "on = 'box'\nwhere = 'choice'\n", 5, "only there on"),
        (ONE + "clients = '2.1'\n", 4, "clients is like"),
        (ONE + "idle = 'yes'\n", 4, "true or false"),
        ("[[rule]]\nname = 'a b'\nstate = 'waiting'\n", 2, "needs a name"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, why: str) -> None:
    assert [(at, why in said) for at, said in broken(text)] == [(line, True)]


def test_bytes_that_are_no_text() -> None:
    assert rules_file.parsed(b"a = 1\n\xff", "f").broken[0].line == 2


def test_one_wrong_rule_leaves_the_others() -> None:
    found = rules_file.parsed(("[[rule]]\nname = 'bad'\n\n" + ONE).encode(), "f")

    assert [rule.name for rule in found.rules] == ["one"]
    assert len(found.broken) == 1


def test_a_rule_of_the_user_comes_first_and_replaces_its_namesake() -> None:
    own = rules_file.parsed(b"[[rule]]\nname='prompt'\nstate='unknown'\n\n[[rule]]\nname='x'\nstate='stopped'", "f")
    names = [rule.name for rule in rules_file.joined([own]).rules]

    assert names[:2] == ["prompt", "x"]
    assert len(names) == len(rules_file.built_in().rules) + 1
    assert states.shown("hello", rules_file.joined([own])).state == "unknown"


@pytest.mark.parametrize(
    ("clients", "version", "fits"),
    [
        ("", "2.1.197", True),
        (">=2.1.300", "", True),
        (">=2.1.300", "2.1.299", False),
        (">=2.1.300", "2.1.300", True),
        (">2.1.300", "2.1.300", False),
        (">=2.1.100 <2.1.300", "2.1.197", True),
        (">=2.1.100, <2.1.300", "2.1.326", False),
        ("==2.1.326", "2.1.326", True),
        ("<=2", "2.0.0", True),
        ("<2.1.10", "2.1.9", True),
    ],
)
def test_a_rule_is_for_some_versions(clients: str, version: str, fits: bool) -> None:
    rules = rules_file.parsed((ONE + f"clients = '{clients}'\n").encode(), "f")

    assert bool(rules.of(version)) == fits


@pytest.mark.parametrize(
    ("logo", "fits"),
    [
        ("▝▜█ Claude Code v2.1.326", True),
        (" ▐▛███▛█   Claude Code v2.1.326", True),
        ("╭─── Claude Code v2.1.299 ───╮", False),
        ("╭─── Claude Code v2.1.299 ───╮\n● Claude Code v2.1.400", False),
        ("  Claude Code v2.1.299", True),
        ("", True),
    ],
)
def test_a_screen_tells_the_version_that_nobody_knows(logo: str, fits: bool) -> None:
    rules = rules_file.parsed((ONE + "clients = '>=2.1.300'\nmatch = 'here'\n").encode(), "f")
    text = f"{logo}\n\n● here\n"

    assert (states.shown(text, rules).rule == "one") == fits
    assert (states.explained(text, rules)[0].rule == "one") == fits
    assert states.shown(text, rules, "2.1.300").rule == "one"


def test_the_form_told_at_the_head_of_our_file_is_true() -> None:
    head = Path(SHIPPED).read_text().partition("[glyphs]")[0]
    example = "\n".join(line.removeprefix("#   ") for line in head.split("\n") if line.startswith("#   "))
    rules = rules_file.parsed(example.encode(), "f")
    line = "─" * 80
    found = states.shown(f"● done\n{line}\n❯\u00a0\n{line}\n  Session expired · resets 3pm\n", rules)

    assert not rules.broken
    assert [key for key in rules_file.KEYS if f"#   {key}" not in head] == []
    assert (found.rule, found.idle, found.asks) == ("my-login", True, "Session expired · resets 3pm")


@pytest.mark.parametrize("text", ["x = " + "1" * 5000, ONE + "idle = " + "9" * 5000, "a = " + "[" * 100_000])
def test_what_python_cannot_read_is_the_files_fault(text: str) -> None:
    found = rules_file.parsed(text.encode(), "f")

    assert found.rules == ()
    assert len(found.broken) == 1


def test_glyphs_are_ours_or_the_users() -> None:
    text = ONE + "match = '^<spinner> <mine>'\n\n[glyphs]\nmine = 'ö'\n"

    assert states.shown("✻ ö", rules_file.parsed(text.encode(), "f")).rule == "one"


@given(st.lists(st.sampled_from(["a", "b", ".", "^", "|", "(?:", ")", "*", "+", "?", "{1,9}", "{3}", r"\s", "[^a]"])))
def test_any_regex_is_taken_or_refused(parts: list[str]) -> None:
    with contextlib.suppress(re.error):
        rules_file.compile_regex("".join(parts))
