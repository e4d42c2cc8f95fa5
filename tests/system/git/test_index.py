"""The index asked about one path, and made to look again, on a copy."""

import os
from pathlib import Path

import pytest

from ibstatus.project import paths
from ibstatus.system.git import index
from tests.conftest import git


def test_an_entry_and_its_flags(repo: paths.Place) -> None:
    (entry,) = index.entries(repo.root, "file.txt")
    assert (entry.tag, entry.mode, entry.stage, entry.is_plain_file) == ("H", "100644", 0, True)
    assert index.blob(repo.root, entry.oid) == b"one\n"
    assert index.committed(repo.root, "file.txt") == entry.oid

    git(repo.root, "update-index", "--assume-unchanged", "file.txt")
    assert not index.entries(repo.root, "file.txt")[0].is_plain_file


def test_nothing_is_known_of_an_untracked_path(repo: paths.Place) -> None:
    assert index.entries(repo.root, "none") == []
    assert index.committed(repo.root, "none") == ""
    assert index.status(repo.root, "none") == ""


@pytest.mark.parametrize("name", ["*", "[a].md", "a b\n.md", ":(top)x", "über.md"])
def test_a_path_is_never_a_pattern(repo: paths.Place, name: str) -> None:
    Path(repo.root, name).write_text("odd\n")
    git(repo.root, "add", "-A")

    assert [index.blob(repo.root, entry.oid) for entry in index.entries(repo.root, name)] == [b"odd\n"]
    assert index.status(repo.root, name) == "A "


def test_only_the_copy_forgets(repo: paths.Place) -> None:
    copy = repo.common + "/copy"
    Path(copy).write_bytes(Path(repo.common, "index").read_bytes())
    before = Path(repo.common, "index").read_bytes()
    (entry,) = index.entries(repo.root, "file.txt", copy)

    assert index.forget_look(repo.root, "file.txt", entry, copy)
    assert sizes(repo, copy) == ["0"]
    assert index.look_again(repo.root, "file.txt", copy)
    assert sizes(repo, copy) == ["4"]
    assert Path(repo.common, "index").read_bytes() == before
    assert index.entries(repo.root, "file.txt", copy) == [entry]


def sizes(repo: paths.Place, index: str) -> list[str]:
    os.environ["GIT_INDEX_FILE"] = index
    try:
        fields = git(repo.root, "ls-files", "--debug", "file.txt").split()
    finally:
        del os.environ["GIT_INDEX_FILE"]
    return [fields[at + 1] for at, field in enumerate(fields) if field == "size:"]


def test_an_edit_is_not_taken_in_by_looking_again(repo: paths.Place) -> None:
    Path(repo.root, "file.txt").write_text("two\n")
    (entry,) = index.entries(repo.root, "file.txt")

    assert index.look_again(repo.root, "file.txt", "")
    assert index.entries(repo.root, "file.txt") == [entry]
    assert index.status(repo.root, "file.txt") == " M"


def test_what_git_would_store_with_and_without_a_filter(repo: paths.Place) -> None:
    git(repo.root, "config", "filter.up.clean", "tr a-z A-Z")
    Path(repo.root, ".gitattributes").write_text("file.txt filter=up\n")
    plain = index.digest(repo.root, "file.txt", b"one\n", without="up")

    assert index.attributes(repo.root, "file.txt", ("filter", "ident")) == {"filter": "up", "ident": "unspecified"}
    assert index.settings(repo.root, "up") == [("filter.up.clean", "tr a-z A-Z")]
    assert plain == index.entries(repo.root, "file.txt")[0].oid
    assert index.digest(repo.root, "file.txt", b"one\n") not in (plain, "")
