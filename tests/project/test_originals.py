"""Files of others that we add lines to, and giving them back as they were."""

from pathlib import Path

import pytest

from ibstatus.errors import IbError
from ibstatus.project import originals, paths
from ibstatus.system.git import lock as git_lock

ORIGINALS = [None, b"", b"a", b"a\n", b"a\r\nb\r\n", b"a\r\nb", b"\n\n", b"\xff\xfe\0", b"# end\n\n"]
TWO = "[one]\n\tkey = value"


@pytest.fixture
def file(repo: paths.Place) -> Path:
    return Path(repo.common, "info/ours")


@pytest.mark.parametrize("before", ORIGINALS)
@pytest.mark.parametrize("text", ["/line", TWO, "a\nb\nc"])
@pytest.mark.parametrize("gits_way", [True, False])
def test_the_original_bytes_come_back(
    repo: paths.Place, file: Path, before: bytes | None, text: str, gits_way: bool
) -> None:
    if before is not None:
        file.write_bytes(before)
    add, back = (
        (originals.add_in_gits_way, originals.give_back_in_gits_way)
        if gits_way
        else (originals.add, originals.give_back)
    )
    add(repo, "ours", str(file), text)
    assert [
        line.rstrip("\r") for line in file.read_bytes().decode("latin-1").split("\n")[-len(text.split("\n")) - 1 :]
    ][:-1] == text.split("\n")
    noted = back(repo, "ours", str(file))

    assert noted is not None
    assert originals.content(str(file)) == before
    assert originals.differs(noted) == ""
    assert back(repo, "ours", str(file)) is None


@pytest.mark.parametrize(
    ("after", "wanted"),
    [
        (b"[zero]\n[one]\n\tkey = value\n[two]\n", b"[zero]\n[two]\n"),
        (b"[zero]\n[one]\n\tkey = value\n\tother = 1\n", b"[zero]\n[one]\n\tother = 1\n"),
        (b"new\n[zero]\n[one]\n\tkey = value", b"new\n[zero]\n"),
        (b"[zero]\n[one]\n\tkey = changed\n", b"[zero]\n[one]\n\tkey = changed\n"),
        (b"[one]\n\tkey = value\n[zero]\n[one]\n\tkey = value\n\n", b"[one]\n\tkey = value\n[zero]\n\n"),
    ],
    ids=["more", "in-our-section", "cut", "changed", "twice"],
)
def test_what_others_wrote_stays(repo: paths.Place, file: Path, after: bytes, wanted: bytes) -> None:
    file.write_bytes(b"[zero]\n")
    originals.add(repo, "ours", str(file), TWO)
    file.write_bytes(after)
    originals.give_back(repo, "ours", str(file))

    assert file.read_bytes() == wanted


def test_a_file_that_we_made_goes_with_its_folder(repo: paths.Place) -> None:
    path = Path(repo.common, "fresh/file")
    originals.add(repo, "ours", str(path), "line")
    originals.give_back(repo, "ours", str(path))

    assert not path.parent.exists()


def test_through_a_link_and_with_its_mode(repo: paths.Place, tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"[zero]\n")
    (tmp_path / "real").chmod(0o640)
    link = Path(repo.common, "linked")
    link.symlink_to(tmp_path / "real")
    originals.add_in_gits_way(repo, "ours", str(link), TWO)

    assert link.is_symlink()
    assert (tmp_path / "real").read_text() == f"[zero]\n{TWO}\n"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640


def test_nothing_is_written_under_a_foreign_lock(
    repo: paths.Place, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_lock, "PATIENCE", 0)
    file.write_bytes(b"[zero]\n")
    lock = file.with_name("ours.lock")
    lock.write_bytes(b"")
    with pytest.raises(IbError, match=r"ours\.lock is there"):
        originals.add_in_gits_way(repo, "ours", str(file), TWO)

    assert file.read_bytes() == b"[zero]\n"
    assert lock.exists()
    assert originals.known(repo, "ours", str(file)) is None


def test_where_no_hard_links_can_be_made(repo: paths.Place, file: Path, faults) -> None:
    import errno

    file.write_bytes(b"")
    lock = git_lock.GitLock(str(file))
    faults.arm(0)
    real = faults.real["link"]

    def refuse(*args: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    from ibstatus.system import disk

    disk.link = refuse  # type: ignore[assignment]
    try:
        assert lock.try_take()
        assert not git_lock.linked("nothing", lock.path)
    finally:
        disk.link = real
    assert git_lock.is_ours(lock.path)
    lock.release()
    assert not Path(lock.path).exists()
