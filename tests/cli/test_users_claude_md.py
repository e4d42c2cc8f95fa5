"""A CLAUDE.md with a text of the user stays visible to git, from `ib init` to `ib uninstall`: the real program."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.project import git_exclude, originals, paths
from tests.conftest import Done, git

Ib = Callable[..., Done]
TEXT = "# Team rules\n"


@pytest.fixture
def users(repo: paths.Place, ib: Ib) -> Path:
    """Written by the user, not added yet, when `ib init` comes."""
    path = Path(repo.root, "CLAUDE.md")
    path.write_text(TEXT)
    assert ib("init").code == 0
    return path


def status(repo: paths.Place) -> str:
    return git(repo.root, "status", "--porcelain")


def as_an_older_ib_left_it(repo: paths.Place) -> None:
    git_exclude.add_file(repo, "/CLAUDE.md")
    assert status(repo) == ""


def git_nodes(done: Done) -> list[tuple[str, str, str]]:
    found = done.json()
    assert isinstance(found, list)
    return [(one["level"], one["text"], one["hint"]) for one in found if one["subject"] == "git-node"]


def test_it_is_added_with_everything_else_and_without_the_block(repo: paths.Place, ib: Ib, users: Path) -> None:
    assert "<ittybitty>" in users.read_text()
    assert status(repo) == "?? CLAUDE.md\n"
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-q", "-m", "rules")

    assert git(repo.root, "show", "HEAD:CLAUDE.md") == TEXT
    assert status(repo) == ""
    done = ib("uninstall", "--force", "--verify")
    assert (done.code, users.read_text(), status(repo)) == (0, TEXT, "")


def test_uninstall_gives_back_every_byte_of_what_was_never_added(repo: paths.Place, tmp_path: Path, ib: Ib) -> None:
    path, before = Path(repo.root, "CLAUDE.md"), Path(git_exclude.path_of(repo)).read_bytes()
    path.write_text(TEXT)
    for again in range(2):
        assert ib("init").code == 0
        assert again or ib("hooks", "install").code == 0

    done = ib("uninstall", "--force", "--verify")
    assert (done.code, path.read_text(), Path(git_exclude.path_of(repo)).read_bytes()) == (0, TEXT, before)


def test_the_doctor_mends_what_an_older_ib_kept_out(repo: paths.Place, ib: Ib, users: Path) -> None:
    before = Path(git_exclude.path_of(repo)).read_bytes()
    as_an_older_ib_left_it(repo)
    found = git_nodes(ib("doctor", "--json"))

    assert [(level, hint) for level, _, hint in found] == [("note", "git add CLAUDE.md"), ("ok", "")]
    assert f"removed from {git_exclude.path_of(repo)}" in found[0][1]
    assert status(repo) == "?? CLAUDE.md\n"
    assert Path(git_exclude.path_of(repo)).read_bytes() == before
    assert [level for level, _, _ in git_nodes(ib("doctor", "--json"))] == ["ok"]
    assert ib("uninstall", "--force", "--verify").code == 0
    assert users.read_text() == TEXT


def test_the_doctor_mends_it_without_a_block_in_the_file(repo: paths.Place, ib: Ib, users: Path) -> None:
    as_an_older_ib_left_it(repo)
    users.write_text(TEXT)

    assert [level for level, _, _ in git_nodes(ib("doctor", "--json"))] == ["note"]
    assert status(repo) == "?? CLAUDE.md\n"


def test_init_mends_what_an_older_ib_kept_out(repo: paths.Place, ib: Ib, users: Path) -> None:
    as_an_older_ib_left_it(repo)

    assert ib("init").code == 0
    assert status(repo) == "?? CLAUDE.md\n"
    assert ib("uninstall", "--force", "--verify").code == 0


def test_uninstall_straight_after_an_older_ib(repo: paths.Place, ib: Ib, users: Path) -> None:
    as_an_older_ib_left_it(repo)

    assert ib("uninstall", "--force", "--verify").code == 0
    assert (users.read_text(), status(repo)) == (TEXT, "?? CLAUDE.md\n")


@pytest.mark.parametrize("where", ["above", "below"])
def test_text_written_into_a_file_that_ib_made(repo: paths.Place, ib: Ib, where: str) -> None:
    before = Path(git_exclude.path_of(repo)).read_bytes()
    assert "keeps it out until it has text of yours" in ib("init").out
    assert status(repo) == ""
    path = Path(repo.root, "CLAUDE.md")
    path.write_text(TEXT + path.read_text() if where == "above" else path.read_text() + TEXT)
    said = ib("init").out

    assert "exclude keeps" not in said
    assert status(repo) == "?? CLAUDE.md\n"
    git(repo.root, "add", "-A")
    assert git(repo.root, "show", ":CLAUDE.md") == TEXT
    done = ib("uninstall", "--force", "--verify")
    assert path.read_text().strip() == TEXT.strip()
    assert Path(git_exclude.path_of(repo)).read_bytes() == before
    assert (done.code, "there was no such file before; others have written to it since" in done.out) == (1, True)


def test_a_file_that_the_user_ignores_stays_ignored(repo: paths.Place, ib: Ib) -> None:
    Path(repo.root, ".gitignore").write_text("CLAUDE.md\n")
    git(repo.root, "add", ".gitignore")
    git(repo.root, "commit", "-q", "-m", "not CLAUDE.md")
    Path(repo.root, "CLAUDE.md").write_text(TEXT)
    assert ib("init").code == 0

    assert (status(repo), originals.known(repo, git_exclude.FILE, "")) == ("", None)
    assert [level for level, _, _ in git_nodes(ib("doctor", "--json"))] == ["ok"]
