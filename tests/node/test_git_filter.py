"""The clean filter, run with the real sed: what git is given of a text that holds our lines."""

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibstatus.node.rules import git_filter

OPEN, CLOSE = b"<ittybitty>\n", b"</ittybitty>\n"
LOCAL = b"<!-- ib:local stays out of commits -->\n"
NODE = b"<ittybitty-status>\n<!-- Auto -->\n{}\n<!-- ib:room    -->\n</ittybitty-status>\n"
EXAMPLE = b"<ittybitty-status>\n{}\n</ittybitty-status>\n"


def cleaned(data: bytes) -> bytes:
    """As git runs it."""
    return subprocess.run(["sh", "-c", git_filter.CLEAN], input=data, capture_output=True, check=True).stdout


def is_(line: bytes, tag: bytes) -> bool:
    return re.fullmatch(re.escape(tag) + rb"[ \t\r\v\f]*", line.removesuffix(b"\n")) is not None


def reference(data: bytes) -> bytes:
    """The same, slow and obvious."""
    text = re.findall(rb"[^\n]*\n|[^\n]+", data)
    out, at = [], 0

    def ends(start: int, *tags: bytes) -> int:
        return next((n for n in range(start, len(text)) if any(is_(text[n], tag) for tag in tags)), len(text))

    while at < len(text):
        stop = at + 1
        drop = False
        if is_(text[at], b"<ittybitty>") and stop < len(text) and text[stop].startswith(b"<!-- ib:local"):
            stop = ends(at + 2, b"<ittybitty>", b"</ittybitty>")
            drop = stop < len(text) and is_(text[stop], b"</ittybitty>")
            stop += drop
        elif is_(text[at], b"<ittybitty-status>"):
            stop = ends(at + 1, b"<ittybitty>", b"</ittybitty>", b"<ittybitty-status>", b"</ittybitty-status>")
            closed = stop < len(text) and is_(text[stop], b"</ittybitty-status>")
            drop = closed and any(line.startswith(b"<!-- ib:room") for line in text[at:stop])
            stop += closed
        out += [] if drop else text[at:stop]
        at = stop
    return b"".join(out)


PIECES = (
    *(b"<ittybitty>", b"</ittybitty>", b"<ittybitty-status>", b"</ittybitty-status>", b"<!-- ib:local x -->"),
    *(b"<!-- ib:room   -->", b"text", b"", b"  <ittybitty>", b"`<ittybitty-status>`", b"<ittybitty-status>{}"),
    *(b"```", b"nul\0l", b"\xff\xfe", b"<ittybitty> ", b"</ittybitty>\t", b"<!-- ib:roo", b"\r", b"<ittybitty>x"),
)
texts = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from((b"\n", b"\n", b"\r\n"))), max_size=24).map(
    lambda pairs: b"".join(piece + end for piece, end in pairs)
)


@settings(max_examples=300, deadline=None)
@given(texts, st.sampled_from((b"", b"no end", b"</ittybitty>", b"</ittybitty-status>", b"<ittybitty>")))
def test_sed_does_what_the_reference_says(text: bytes, last: bytes) -> None:
    assert cleaned(text + last) == reference(text + last)


@settings(max_examples=100, deadline=None)
@given(texts)
def test_what_is_clean_stays_as_it_is(text: bytes) -> None:
    once = reference(text)
    if reference(once) == once:
        assert cleaned(once) == once


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b"a\n" + OPEN + b"doc\n" + NODE + CLOSE + b"b\n", b"a\n" + OPEN + b"doc\n" + CLOSE + b"b\n"),
        (b"a\n" + OPEN + LOCAL + b"doc\n" + NODE + CLOSE + b"b\n", b"a\nb\n"),
        (OPEN + LOCAL + NODE + CLOSE, b""),
        (OPEN + LOCAL + NODE + b"</ittybitty>", b""),
        (b"a\n" + OPEN + LOCAL + CLOSE + b"last", b"a\nlast"),
        (b"```\n" + EXAMPLE + b"```\n", b"```\n" + EXAMPLE + b"```\n"),
        (b"", b""),
    ],
    ids=["node", "local", "only", "no-final-newline", "before-a-last-line", "example", "empty"],
)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_ours_goes_and_the_rest_stays(text: bytes, wanted: bytes, newline: bytes) -> None:
    assert cleaned(text.replace(b"\n", newline)) == wanted.replace(b"\n", newline)


@pytest.mark.parametrize(
    "text",
    [
        OPEN + LOCAL + b"never closed\n",
        OPEN + LOCAL,
        OPEN,
        OPEN + NODE[:-20] + b"\n" + CLOSE,
        b"<ittybitty-status>\n<!-- ib:room -->\nmine",
        b"<ittybitty-status>\n" + OPEN + b"<!-- ib:room -->\n" + b"</ittybitty-status>\n",
        OPEN + b"mine\n" + LOCAL + CLOSE,
    ],
)
def test_nothing_is_swallowed_that_is_not_closed(text: bytes) -> None:
    assert cleaned(text) == text


def test_a_block_opened_twice_passes_up_to_the_second() -> None:
    assert cleaned(OPEN + LOCAL + b"mine\n" + OPEN + LOCAL + CLOSE + b"too\n") == OPEN + LOCAL + b"mine\ntoo\n"


@pytest.mark.parametrize(
    "mark", [b"", OPEN + LOCAL, b"<ittybitty-status>\n<!-- ib:room -->\n"], ids=["text", "block", "node"]
)
def test_a_megabyte_goes_through_whole(mark: bytes) -> None:
    text = mark + b"".join(b"line %d\n" % number for number in range(90_000))

    assert cleaned(text) == text


def test_posix_sed_takes_it_as_well() -> None:
    strict = git_filter.CLEAN.replace("sed ", "sed --posix ", 1)
    done = subprocess.run(["sh", "-c", strict], input=b"a\n" + OPEN + LOCAL + NODE + CLOSE + b"b", capture_output=True)
    if done.returncode and b"illegal option" in done.stderr:
        pytest.skip("this sed has no --posix")

    assert done.stdout == b"a\nb"


@pytest.mark.parametrize("value", [git_filter.CLEAN, 'a "b" \\ # ; c', "tab\tand\nline", " blanks "])
def test_git_gives_a_quoted_value_back(tmp_path, value: str) -> None:
    (tmp_path / "config").write_text(f"[core]\n\tbare = false\n{git_filter.section(value)}\n")
    argv = ["git", "config", "-f", str(tmp_path / "config"), "--get", git_filter.KEY]

    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == value + "\n"


@pytest.mark.parametrize(
    "path",
    ["CLAUDE.md", "docs/a b.md", "[x]*?.md", "back\\slash.md", 'quo"te.md', "über.md", "#x", "!x", "-x"],
)
def test_the_binding_is_of_this_path_alone(repo, path: str) -> None:
    with open(repo.common + "/info/attributes", "w") as file:
        file.write(git_filter.binding(path) + "\n")
    argv = ["git", "check-attr", "-z", "filter", "--", path, "sub/" + path, "x.md", "axb.md"]
    fields = subprocess.run(argv, cwd=repo.root, capture_output=True, check=True).stdout.split(b"\0")

    assert fields[2:-1:3] == [b"ittybitty", b"unspecified", b"unspecified", b"unspecified"]


@pytest.mark.parametrize("data", [b"", b"a\n", b"a", b"a\r\nb\r\n", b"a\n\nb", NODE])
@pytest.mark.parametrize("local", [True, False])
def test_the_probe_is_taken_out_again(data: bytes, local: bool) -> None:
    assert git_filter.probed(data, local) != data
    assert cleaned(git_filter.probed(data, local)) == cleaned(data)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"filter": "lfs"}, "already has the filter lfs"),
        ({"filter": "unset"}, "switches filters off"),
        ({"working-tree-encoding": "UTF-16"}, "working-tree-encoding"),
        ({"ident": "set"}, "ident"),
        ({"filter": "ittybitty", "ident": "unset"}, ""),
        ({}, ""),
    ],
)
def test_another_filter_is_a_reason_to_stay_away(attributes: dict[str, str], words: str) -> None:
    assert words in git_filter.refusal(attributes)
    assert bool(words) == bool(git_filter.refusal(attributes))
