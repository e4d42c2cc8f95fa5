"""The documents: links, numbers, the list of commands, sizes."""

import re
from pathlib import Path

import pytest

from ibstatus.cli import app
from tests.conftest import PROJECT

DOCS, README = PROJECT / "docs", PROJECT / "README.md"
MEASURED = DOCS / "measured.md"
PAGES = [
    README,
    *(PROJECT / name for name in ("CONTRIBUTING.md", "AGENTS.md")),
    *sorted((PROJECT / "skills").rglob("*.md")),
    *sorted(DOCS.rglob("*.md")),
]
LINK = re.compile(r"\]\(([^)#:]+)\)")
CODE_PATH = re.compile(r"`(\w+/[\w./-]+)`")
# Files of a user's repository, and the column of AGENTS.md whose names are relative to a package.
NOT_OURS = ("notify/", "refs/", "agent/", "rules/")


def rows(text: str) -> list[str]:
    found = re.search(r"<!-- bench -->\n(.*?)<!-- /bench -->", text, re.S)
    assert found is not None
    return found[1].splitlines()


def targets_of(page: Path) -> list[Path]:
    return [(page.parent / target).resolve() for target in LINK.findall(page.read_text())]


def is_in_repository(path: str) -> bool:
    """True for a file or folder, and for a module named without `ibstatus/` and `.py`."""
    return any((base / name).exists() for base in (PROJECT, PROJECT / "ibstatus") for name in (path, f"{path}.py"))


def test_the_measurements_are_a_table() -> None:
    assert all(line.startswith("|") for line in rows(MEASURED.read_text()))


def test_what_is_missed_is_explained() -> None:
    text = MEASURED.read_text()
    missed = [line for line in rows(text) if line.endswith("✗ |")]
    bullets = re.findall(r"^- \*\*", text.partition("<!-- /bench -->")[2], re.M)

    assert len(missed) == len(bullets), missed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert [str(target) for target in targets_of(page) if not target.exists()] == []


@pytest.mark.parametrize(
    "page", [*PAGES, *sorted((PROJECT / "hooks").glob("*.md"))], ids=lambda page: str(page.relative_to(PROJECT))
)
def test_modules_and_files_that_are_named_exist(page: Path) -> None:
    named = [path for path in CODE_PATH.findall(page.read_text()) if not path.startswith(NOT_OURS)]

    assert [path for path in named if not is_in_repository(path)] == []


@pytest.mark.parametrize("index", [README, DOCS / "README.md"], ids=["README", "docs"])
def test_every_page_is_in_the_index(index: Path) -> None:
    assert set(DOCS.glob("*.md")) - {DOCS / "README.md"} <= {*targets_of(index)}


def test_every_decision_is_in_its_index() -> None:
    index = DOCS / "decisions" / "README.md"

    assert targets_of(index) == sorted((DOCS / "decisions").glob("[0-9]*.md"))


def test_every_command_is_documented() -> None:
    text = (DOCS / "commands.md").read_text()
    shown = [name for name in app.COMMANDS if not name.startswith("test-") and not is_hidden(name)]

    assert [name for name in shown if not re.search(rf"`{name}[` ]", text)] == []


def is_hidden(name: str) -> bool:
    command = app.ib.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    return command.hidden


@pytest.mark.parametrize("name", ["README.md", "AGENTS.md"])
def test_the_first_pages_stay_short(name: str) -> None:
    lines = (PROJECT / name).read_text().splitlines()

    assert len(lines) <= 150
    assert max(map(len, lines)) <= 160


def test_claude_reads_what_agents_read() -> None:
    """Only the beginning: in a checkout that uses ib, the block follows, which git does not see."""
    assert (PROJECT / "CLAUDE.md").read_text().startswith("@AGENTS.md\n")


def test_the_map_of_packages_is_true() -> None:
    """Every name in the last column of the table of packages is a module, a package or a file of it."""
    table = re.findall(r"^\| `(\w+)/` \|.*\|(.*)\|$", (PROJECT / "AGENTS.md").read_text(), re.MULTILINE)
    named = [f"{package}/{name}" for package, names in table for name in re.findall(r"`([\w./]+?)/?`", names)]
    base = PROJECT / "ibstatus"

    assert [name for name in named if not ((base / name).exists() or (base / f"{name}.py").exists())] == []
    assert {package for package, _ in table} == {path.parent.name for path in base.glob("*/__init__.py")}
