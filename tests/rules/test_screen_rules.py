"""Rules about screens as a user writes them: what is wrong is named with its line, and the others go on."""

import pytest

from ibstatus.rules import screen_regex, screen_rules, screen_states

ONE = "[[rule]]\nname = 'one'\nstate = 'waiting'\n"


def broken(text: str) -> list[tuple[int, str]]:
    return [(wrong.line, wrong.why) for wrong in screen_rules.parsed(text.encode(), "f").broken]


def test_ours_are_whole() -> None:
    found = screen_rules.built_in()

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
        (ONE + "match = ['a', '(a+)+b']\n", 4, "for ever"),
        (ONE + "match = '(?:a|b*)*c'\n", 4, "for ever"),
        (ONE + "match = '(?:(?:a{1,9}){1,90})*c'\n", 4, "for ever"),
        (ONE + "match = 'a*b*c*d*'\n", 4, "more than 3"),
        (ONE + "match = '(a)\\1'\n", 4, "look back"),
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
    assert screen_rules.parsed(b"a = 1\n\xff", "f").broken[0].line == 2


def test_one_wrong_rule_leaves_the_others() -> None:
    found = screen_rules.parsed(("[[rule]]\nname = 'bad'\n\n" + ONE).encode(), "f")

    assert [rule.name for rule in found.rules] == ["one"]
    assert len(found.broken) == 1


def test_a_rule_of_the_user_comes_first_and_replaces_its_namesake() -> None:
    own = screen_rules.parsed(b"[[rule]]\nname='prompt'\nstate='unknown'\n\n[[rule]]\nname='x'\nstate='stopped'", "f")
    names = [rule.name for rule in screen_rules.joined([own]).rules]

    assert names[:2] == ["prompt", "x"]
    assert len(names) == len(screen_rules.built_in().rules) + 1
    assert screen_states.shown("hello", screen_rules.joined([own])).state == "unknown"


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
    rules = screen_rules.parsed((ONE + f"clients = '{clients}'\n").encode(), "f")

    assert bool(rules.of(version)) == fits


def test_glyphs_are_ours_or_the_users() -> None:
    text = ONE + "match = '^<spinner> <mine>'\n\n[glyphs]\nmine = 'ö'\n"

    assert screen_states.shown("✻ ö", screen_rules.parsed(text.encode(), "f")).rule == "one"


def test_a_regex_of_many_characters_is_refused() -> None:
    with pytest.raises(screen_regex.Unsafe):
        screen_regex.compiled("a" * 501)
