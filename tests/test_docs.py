"""What the documents say of each other and of the numbers."""

import re

import pytest

from tests.conftest import PROJECT

README, MEASURED = PROJECT / "README.md", PROJECT / "docs" / "measured.md"
PAGES = [
    README,
    *(PROJECT / name for name in ("CONTRIBUTING.md", "AGENTS.md")),
    *sorted((PROJECT / "docs").glob("*.md")),
]


def rows(text: str) -> list[str]:
    found = re.search(r"<!-- bench -->\n(.*?)<!-- /bench -->", text, re.S)
    assert found is not None
    return found[1].splitlines()


def test_what_the_readme_shows_is_what_was_measured() -> None:
    assert set(rows(README.read_text())) <= set(rows(MEASURED.read_text()))
    assert all(line.startswith("|") for line in rows(MEASURED.read_text()))


def test_what_is_missed_is_explained() -> None:
    text = MEASURED.read_text()
    missed = [line for line in rows(text) if line.endswith("✗ |")]
    bullets = re.findall(r"^- \*\*", text.partition("<!-- /bench -->")[2], re.M)

    assert len(missed) == len(bullets), missed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: object) -> None:
    path = PROJECT / str(page)
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target
