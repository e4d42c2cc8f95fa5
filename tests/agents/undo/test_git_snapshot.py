"""A worktree that was taken away and brought back has the same bytes, and git says the same of it."""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibstatus.agents.undo import git_restore, git_snapshot
from ibstatus.errors import IbError
from ibstatus.project import paths
from ibstatus.system.git import worktrees
from tests.conftest import git, make_repo

REF = "refs/ib/undo/test"


class World:
    """A repository with one worktree, removed and restored by hand as retire and undo do it."""

    def __init__(self, root: Path) -> None:
        self.place = make_repo(root / "repo")
        self.tree = root / "wörk 'tree"
        git(self.place.root, "worktree", "add", "-q", "-b", "agent/x", str(self.tree))

    def seen(self) -> dict[str, Any]:
        status = git_snapshot.asked(str(self.tree), "status", "--porcelain=v2", "--ignored", "-z", "--branch")
        staged = git_snapshot.asked(str(self.tree), "ls-files", "--stage", "-v", "-z")
        return {"status": sorted(status.split(b"\0")), "staged": staged, "files": files(self.tree)}

    def around(self) -> None:
        """Away, and back again."""
        tree = str(self.tree)
        admin = worktrees.admin_of(self.place.common, tree)
        kept = git_snapshot.save(tree, admin, REF, "test")
        aside = str(self.tree.parent / "aside")
        os.rename(admin, aside + "-admin")
        os.rename(tree, aside)
        git_snapshot.slim(aside, kept)
        assert not any(os.path.lexists(os.fsencode(aside) + b"/" + path) for path in kept.files)
        missing = git_restore.fill(aside, self.place.root, kept.commit, kept.modes, aside + "-part")
        assert missing == []
        os.rename(aside, tree)
        os.rename(aside + "-admin", admin)


def files(top: Path) -> dict[bytes, tuple[int, bytes]]:
    """Everything below, with its kind, its permissions and its bytes."""
    found = {}
    for at, folders, leaves in os.walk(os.fsencode(top)):
        for leaf in (*folders, *leaves):
            path = at + b"/" + leaf
            mode = os.lstat(path).st_mode
            data = os.readlink(path) if stat.S_ISLNK(mode) else b""
            if stat.S_ISREG(mode):
                data = Path(os.fsdecode(path)).read_bytes()
            found[path] = (mode, data)
    return found


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


NAMES = [b"a", b"b.txt", b"d/e", b"d/f/g.bin", b"sp ace", b'qu"ote', b"new\nline", b"back\\slash", b"-dash", "ümlaut".encode(), b"raw\xff", b"ign/x", b"z.ign", b"keep.crlf", b".GIT/x"]  # fmt: skip  # noqa: E501
BODIES = [b"", b"one\n", b"two\r\nlines\r\n", b"mixed\r\nand\n", b"\0binary\xff\n", b"no end", b"$Id$\n", b"x" * 70_000]
ATTRIBUTES = [b"", b"* text=auto\n", b"*.txt text eol=crlf\n* -text\n", b"* ident\n", b"* filter=rot\n"]

step = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(BODIES)),
    st.tuples(st.just("link"), st.sampled_from(NAMES), st.sampled_from([b"a", b"nowhere", b"/etc", b"d"])),
    st.tuples(st.just("remove"), st.sampled_from(NAMES), st.none()),
    st.tuples(st.just("exec"), st.sampled_from(NAMES), st.sampled_from([0o755, 0o600, 0o711, 0o640])),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("folder"), st.sampled_from(NAMES), st.none()),
    st.tuples(st.just("add"), st.sampled_from([*NAMES, b"."]), st.none()),
    st.tuples(st.just("intend"), st.sampled_from(NAMES), st.none()),
    st.tuples(st.just("assume"), st.sampled_from(NAMES), st.none()),
    st.tuples(st.just("skip"), st.sampled_from(NAMES), st.none()),
    st.tuples(st.just("commit"), st.none(), st.none()),
)


def act(tree: Path, what: str, name: bytes | None, more: Any) -> None:
    """One step of somebody's work; what does not fit what lies there is left out, as a person would see an error."""
    path = os.fsencode(tree) + b"/" + (name or b"")
    words = {
        "add": ["add", "--"],
        "intend": ["add", "-N", "--"],
        "assume": ["update-index", "--assume-unchanged"],
        "skip": ["update-index", "--skip-worktree"],
    }
    try:
        if what in ("write", "link", "folder"):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        if what == "write":
            with open(path, "wb") as file:
                file.write(more)
        elif what == "link":
            os.symlink(more, path)
        elif what == "folder":
            os.mkdir(path)
        elif what == "remove":
            os.unlink(path)
        elif what == "exec":
            os.chmod(path, more)
        elif what == "rename":
            os.rename(path, os.fsencode(tree) + b"/" + more)
        elif what in words:
            subprocess.run(["git", *words[what], os.fsdecode(name or b"")], cwd=tree, capture_output=True, check=False)
        elif what == "commit":
            subprocess.run(["git", "commit", "-qm", "more"], cwd=tree, capture_output=True, check=False)
    except OSError:
        return


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(attributes=st.sampled_from(ATTRIBUTES), steps=st.lists(step, max_size=14))
def test_whatever_lies_in_it_comes_back(room: Path, attributes: bytes, steps: list[Any]) -> None:
    root = Path(tempfile.mkdtemp(dir=room))
    try:
        world = World(root)
        git(world.place.root, "config", "filter.rot.clean", "tr a-z b-za")
        git(world.place.root, "config", "filter.rot.smudge", "tr b-za a-z")
        (world.tree / ".gitignore").write_bytes(b"*.ign\nign/\n")
        (world.tree / ".gitattributes").write_bytes(attributes)
        for one in steps:
            act(world.tree, *one)
        before = world.seen()
        world.around()
        assert world.seen() == before
    finally:
        shutil.rmtree(root)


def test_a_conflict_comes_back(world: World) -> None:
    tree = world.tree
    (world.tree / "file.txt").write_text("theirs\n")
    git(tree, "commit", "-qam", "theirs")
    git(tree, "checkout", "-q", "-b", "ours", "HEAD^")
    (world.tree / "file.txt").write_text("ours\n")
    git(tree, "commit", "-qam", "ours")
    subprocess.run(["git", "merge", "agent/x"], cwd=tree, capture_output=True, check=False)
    before = world.seen()
    assert b"UU" in b" ".join(before["status"])

    world.around()

    assert world.seen() == before
    git(tree, "merge", "--abort")


def test_a_rebase_in_progress_comes_back_after_gc(world: World) -> None:
    """What only its own files name is kept from git's gc, too."""
    tree = world.tree
    git(tree, "commit", "-q", "--allow-empty", "-m", "x1")
    (tree / "file.txt").write_text("theirs\n")
    git(tree, "commit", "-qam", "theirs")
    git(tree, "checkout", "-q", "-b", "ours", "HEAD~2")
    (tree / "file.txt").write_text("ours\n")
    git(tree, "commit", "-qam", "ours")
    (tree / "loose.txt").write_text("loose\n")
    git(tree, "add", "loose.txt")
    subprocess.run(["git", "rebase", "--autostash", "agent/x"], cwd=tree, capture_output=True, check=False)
    before = world.seen()
    admin = worktrees.admin_of(world.place.common, str(tree))
    kept = git_snapshot.save(str(tree), admin, REF, "test")
    os.rename(admin, str(tree.parent / "admin"))
    git(world.place.root, "reflog", "expire", "--expire=now", "--all")
    git(world.place.root, "branch", "-q", "-D", "agent/x", "ours")
    git(world.place.root, "gc", "-q", "--prune=now")
    os.makedirs(os.path.dirname(admin), exist_ok=True)  # gone with its last worktree
    os.rename(str(tree.parent / "admin"), admin)

    git(tree, "rebase", "--abort")

    assert (tree / "loose.txt").read_text() == "loose\n"
    assert (tree / "file.txt").read_text() == "ours\n"
    assert kept.commit
    assert before


def test_what_git_cannot_hold_stays_where_it_is(world: World) -> None:
    tree = world.tree
    os.mkfifo(tree / "pipe")
    (tree / "empty" / "er").mkdir(parents=True)
    make_repo(tree / "embedded")
    (tree / "embedded" / "loose").write_text("x")
    git(tree, "-c", "protocol.file.allow=always", "submodule", "-q", "add", world.place.root, "sub")
    before = world.seen()

    world.around()

    assert world.seen() == before
    assert git(tree / "embedded", "log", "--format=%s") == "first\n"
    assert git(tree / "sub", "log", "--format=%s") == "first\n"


def test_a_file_that_is_changed_after_the_look_wins(world: World) -> None:
    tree = str(world.tree)
    kept = git_snapshot.save(tree, worktrees.admin_of(world.place.common, tree), REF, "test")
    (world.tree / "file.txt").write_text("changed at the last moment\n")

    git_snapshot.slim(tree, kept)
    git_restore.fill(tree, world.place.root, kept.commit, kept.modes, tree + "-part")

    assert (world.tree / "file.txt").read_text() == "changed at the last moment\n"


def test_nothing_is_written_through_a_link(world: World, tmp_path: Path) -> None:
    tree = str(world.tree)
    (world.tree / "d").mkdir()
    (world.tree / "d" / "f").write_text("x")
    kept = git_snapshot.save(tree, worktrees.admin_of(world.place.common, tree), REF, "test")
    shutil.rmtree(world.tree / "d")
    (tmp_path / "outside").mkdir()
    (world.tree / "d").symlink_to(tmp_path / "outside")

    missing = git_restore.fill(tree, world.place.root, kept.commit, kept.modes, tree + "-part")

    assert missing == ["d/f"]
    assert list((tmp_path / "outside").iterdir()) == []


def test_the_index_is_not_touched(world: World) -> None:
    admin = worktrees.admin_of(world.place.common, str(world.tree))
    before = Path(admin, "index").read_bytes(), os.stat(admin + "/index").st_mtime_ns

    git_snapshot.save(str(world.tree), admin, REF, "test")

    assert (Path(admin, "index").read_bytes(), os.stat(admin + "/index").st_mtime_ns) == before


def test_split_and_sparse_indexes_come_back(world: World) -> None:
    git(world.tree, "update-index", "--split-index")
    (world.tree / "d").mkdir()
    (world.tree / "d" / "f").write_text("x\n")
    git(world.tree, "add", "d/f")
    git(world.tree, "commit", "-qm", "d")
    git(world.tree, "sparse-checkout", "set", "--cone", "--sparse-index", "nothing")
    (world.tree / "new").write_text("x\n")
    before = world.seen()

    world.around()

    assert world.seen() == before


def test_without_an_identity_and_with_hostile_settings(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL"):
        monkeypatch.delenv(f"GIT_{key}")
    monkeypatch.setenv("LC_ALL", "C")
    git(world.place.root, "config", "user.useConfigOnly", "true")
    git(world.place.root, "config", "commit.gpgSign", "true")
    git(world.place.root, "config", "core.autocrlf", "input")
    git(world.place.root, "config", "core.safecrlf", "true")
    git(world.place.root, "config", "status.showUntrackedFiles", "no")
    (world.tree / "crlf.txt").write_bytes(b"a\r\nb\r\n")
    before = files(world.tree)

    world.around()

    assert files(world.tree) == before


def test_a_broken_index_is_told(world: World) -> None:
    admin = worktrees.admin_of(world.place.common, str(world.tree))
    Path(admin, "index").write_bytes(b"broken")

    with pytest.raises(IbError, match="could not keep"):
        git_snapshot.save(str(world.tree), admin, REF, "test")


def test_an_own_repository_in_its_place_is_no_worktree(repo: paths.Place, tmp_path: Path) -> None:
    other = make_repo(tmp_path / "other")

    assert worktrees.admin_of(repo.common, other.root) == ""
    assert worktrees.admin_of(repo.common, str(tmp_path / "nothing")) == ""
