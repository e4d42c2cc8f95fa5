"""Tool patterns: fixtures of ours and of upstream, and what must hold for any pattern."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.guard import permissions
from ibstatus.system import wildcards
from ibstatus.testkit.fixtures import permissions as proof
from tests.conftest import PROJECT

UPSTREAM = Path(os.environ.get("UPSTREAM_FIXTURES", PROJECT.parent / "shared" / "upstream-fixtures"))
WORDS = {"match": "match", "nomatch": "no-match", "allowed": "allowed", "denied": "denied"}


def fixtures(subject: str) -> list[Path]:
    return sorted((PROJECT / "fixtures" / subject).glob("*.json"))


def upstream(subject: str) -> list[Path]:
    return sorted((UPSTREAM / subject).glob("*.json"))


def expected(path: Path) -> str:
    return WORDS[path.name.partition("-")[0]]


@pytest.mark.parametrize("path", fixtures("tool-match"), ids=lambda path: path.stem)
def test_patterns_match_as_the_name_says(path: Path) -> None:
    assert proof.tool_match(str(path)) == expected(path)


@pytest.mark.parametrize("path", fixtures("tool-allowed"), ids=lambda path: path.stem)
def test_settings_allow_as_the_name_says(path: Path) -> None:
    assert proof.tool_allowed(str(path)) == expected(path)


@pytest.mark.skipif(not UPSTREAM.is_dir(), reason="upstream's fixtures are not here")
def test_upstreams_answers_are_ours() -> None:
    for path in upstream("tool-match"):
        assert proof.tool_match(str(path)) == expected(path), path.name
    for path in upstream("tool-allowed"):
        assert proof.tool_allowed(str(path)) == expected(path), path.name


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("src/**", "/w/src/a/b.ts", True),
        ("src/**", "/w/srcx/a", False),
        ("src", "/w/src/a", True),
        (".env", "/w/deep/down/.env", True),
        ("*.ts", "/w/a/b.ts", True),
        ("*.ts", "/w/a/b.tsx", False),
        ("src/*.ts", "/w/src/a.ts", True),
        ("src/*.ts", "/w/src/a/b.ts", False),
        ("src/**/*.ts", "/w/src/a/b/c.ts", True),
        ("./docs/**", "/w/docs/x", True),
        ("/docs/**", "/docs/x", True),
        ("//docs/**", "/w/docs/x", False),
        ("~/.config/**", "/home/ann/.config/x", True),
        ("**", "/elsewhere/x", True),
        ("src/**", "/elsewhere/src/x", False),
    ],
)
def test_path_patterns(pattern: str, path: str, fits: bool) -> None:
    assert permissions.path_fits(pattern, path, ("/w", "/home/ann")) is fits


@given(st.text("ab*", max_size=12), st.text("ab", max_size=12))
def test_a_star_is_any_text(pattern: str, text: str) -> None:
    import re

    real = re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), text)
    assert wildcards.matches(pattern, text) is bool(real)


@given(st.text(max_size=30), st.text(max_size=30), st.booleans())
def test_any_pattern_gets_an_answer(pattern: str, text: str, deny: bool) -> None:
    rules = permissions.Rules([pattern], deny=deny)
    rules.names(text)
    rules.runs([text])
    rules.fits(text, {"file_path": text, "url": text}, ("/w", "/home/ann"), deny=deny)


def test_a_long_pattern_ends() -> None:
    assert not wildcards.matches("*a" * 200 + "b", "a" * 2000)
    assert not wildcards.path_matches("**/a/" * 100 + "b", "/a" * 500)


@pytest.mark.parametrize("url", ["https://a@b/", "https://a\\b/", "ftp://a/", "a b", "https://"])
def test_a_url_that_can_be_read_in_two_ways_has_no_host(url: str) -> None:
    assert permissions.host_of(url) == ""


def test_the_fixtures_are_valid_json() -> None:
    for subject in ("tool-match", "tool-allowed"):
        for path in fixtures(subject):
            json.loads(path.read_text())
