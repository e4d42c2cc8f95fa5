"""Out of git's sight: set up, proven, kept in step, taken back, with the real git and the real sed."""

import errno
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.node import hide_from_git
from ibstatus.node.rules import git_filter
from ibstatus.project import git_exclude, git_files, originals, paths
from ibstatus.system.git import index
from ibstatus.system.git import lock as git_lock
from tests.children import Child
from tests.conftest import git
from tests.faults import Faults
from tests.sweeps import Sweep

NODE = "<ittybitty-status>\n<!-- Auto -->\n{}\n<!-- ib:room     -->\n</ittybitty-status>\n"
LOCAL = f"<ittybitty>\n<!-- ib:local -->\ntext\n{NODE}</ittybitty>\n"
PUBLIC = "<ittybitty>\ntext\n</ittybitty>\n"
FILES = ("config", "info/attributes", "info/exclude", "index")


@pytest.fixture
def tracked(repo: paths.Place) -> paths.Place:
    """A repository that tracks a CLAUDE.md; .ittybitty is ignored as `ib init` leaves it."""
    git_exclude.add(repo)
    return commit(repo, "# Mine\n")


def commit(place: paths.Place, text: str, name: str = "CLAUDE.md") -> paths.Place:
    (Path(place.root) / name).write_bytes(text.encode())
    git(place.root, "add", "-A")
    git(place.root, "commit", "-q", "-m", "with CLAUDE.md")
    return place


def memory(place: paths.Place) -> Path:
    return Path(place.root) / "CLAUDE.md"


def made_by_ib(place: paths.Place) -> None:
    """CLAUDE.md as `ib init` makes it where there was none."""
    originals.noted_first(place, originals.CLAUDE_MD, str(memory(place)), "<ittybitty>", None)
    memory(place).write_text(LOCAL)


def append(place: paths.Place, text: str) -> None:
    with memory(place).open("a", newline="") as file:
        file.write(text)


def status(place: paths.Place) -> str:
    return git(place.root, "status", "--porcelain")


def settled(place: paths.Place) -> None:
    """As if git had been quiet for a while: nothing is waited for."""
    index = place.common + "/index"
    then = time.time_ns() - 10 * 10**9
    os.utime(index, ns=(then, then))


def files(place: paths.Place) -> dict[str, bytes | None]:
    return {name: originals.content(f"{place.common}/{name}") for name in FILES[:3]}


def stored_anywhere(place: paths.Place, text: bytes) -> bool:
    """In any object of the repository, reachable or not."""
    argv = ["git", "cat-file", "--batch-all-objects", "--batch"]
    return text in subprocess.run(argv, cwd=place.root, capture_output=True, check=True).stdout


def test_a_block_that_git_does_not_have_is_invisible_whole(tracked: paths.Place) -> None:
    hidden = hide_from_git.hide(tracked)
    append(tracked, LOCAL)
    synced = hide_from_git.sync(tracked, hurried=True)

    assert (hidden.yes, hidden.local, hidden.path, synced) == (True, True, "CLAUDE.md", True)
    assert status(tracked) == ""
    git(tracked.root, "commit", "-q", "-a", "--allow-empty", "-m", "all")
    assert not stored_anywhere(tracked, b"ib:room")


def test_of_a_committed_block_the_node_alone_is_invisible(repo: paths.Place) -> None:
    git_exclude.add(repo)
    commit(repo, "# Mine\n" + PUBLIC)
    hidden = hide_from_git.hide(repo)
    memory(repo).write_text("# Mine\n" + PUBLIC.replace("</ittybitty>", NODE + "</ittybitty>"))
    hide_from_git.sync(repo, hurried=True)

    assert (hidden.yes, hidden.local) == (True, False)
    assert status(repo) == ""


@pytest.mark.parametrize("text", ["# a\r\nb\r\n", "\ufeff# a\n", "a\0b\n", "---\nx: y\n---\n"])
def test_any_text_can_be_hidden_in(repo: paths.Place, text: str) -> None:
    git_exclude.add(repo)
    commit(repo, text)
    hidden = hide_from_git.hide(repo)
    append(repo, LOCAL.replace("\n", "\r\n") if "\r\n" in text else LOCAL)
    hide_from_git.sync(repo, hurried=True)

    assert hidden.yes
    assert status(repo) == ""


def test_with_line_ends_that_git_changes(tracked: paths.Place) -> None:
    git(tracked.root, "config", "core.autocrlf", "true")
    memory(tracked).write_bytes(b"# Mine\r\n")
    hidden = hide_from_git.hide(tracked)
    append(tracked, LOCAL.replace("\n", "\r\n"))
    hide_from_git.sync(tracked, hurried=True)

    assert hidden.yes
    assert status(tracked) == ""


def test_a_thousand_updates_leave_the_status_empty(tracked: paths.Place) -> None:
    hide_from_git.hide(tracked)
    append(tracked, LOCAL)
    hide_from_git.sync(tracked, hurried=True)
    seen = []
    for number in range(50):  # bench/gitstorm.py does the thousand
        memory(tracked).write_text("# Mine\n" + LOCAL.replace("{}", f"{number:02}"))
        if number % 10 == 0:
            memory(tracked).write_text("# Mine\n" + LOCAL.replace("{}", "{}" * (number + 2)))
        if number % 10 in (0, 1):  # the size changed
            hide_from_git.sync(tracked, hurried=True)
        seen.append(status(tracked))

    assert set(seen) == {""}


def test_a_persons_edit_still_shows(tracked: paths.Place) -> None:
    hide_from_git.hide(tracked)
    memory(tracked).write_text("# Mine\nedit\n" + LOCAL)
    before = git(tracked.root, "diff")
    hide_from_git.sync(tracked, hurried=True)

    assert status(tracked) == " M CLAUDE.md\n"
    assert git(tracked.root, "diff") == before
    assert "+edit" in before
    assert "ittybitty" not in before


def test_what_was_staged_stays_staged(tracked: paths.Place) -> None:
    hide_from_git.hide(tracked)
    memory(tracked).write_text("# Mine\nstaged\n" + LOCAL)
    git(tracked.root, "add", "CLAUDE.md")
    memory(tracked).write_text("# Mine\nstaged\nlater\n" + LOCAL)
    (Path(tracked.root) / "file.txt").write_text("two\n")
    git(tracked.root, "add", "file.txt")

    assert hide_from_git.sync(tracked, hurried=True)
    assert status(tracked) == "MM CLAUDE.md\nM  file.txt\n"
    assert "+later" not in git(tracked.root, "diff", "--cached")


def test_an_edit_as_young_as_the_index_is_not_hidden_by_a_sync(tracked: paths.Place) -> None:
    """git takes a file for changed when it is no older than the index: a copy of the index must keep its time."""
    hide_from_git.hide(tracked)
    append(tracked, LOCAL)
    other = Path(tracked.root) / "file.txt"
    at = time.time_ns() - 60 * 10**9
    other.write_text("aaa\n")
    os.utime(other, ns=(at, at))
    git(tracked.root, "-c", "core.trustctime=false", "add", "file.txt")
    git(tracked.root, "config", "core.trustctime", "false")
    os.utime(tracked.common + "/index", ns=(at, at))
    other.write_text("bbb\n")  # the same size and time as in the index
    os.utime(other, ns=(at, at))

    assert hide_from_git.sync(tracked, hurried=True)
    assert "MM file.txt" in status(tracked) or "AM file.txt" in status(tracked)


def test_a_conflict_stays_a_conflict(tracked: paths.Place) -> None:
    hide_from_git.hide(tracked)
    git(tracked.root, "checkout", "-q", "-b", "other")
    commit(tracked, "# Other\n")
    git(tracked.root, "checkout", "-q", "main")
    commit(tracked, "# Main\n")
    assert subprocess.run(["git", "merge", "other"], cwd=tracked.root, capture_output=True, check=False).returncode
    conflict = status(tracked)

    assert hide_from_git.still(tracked, resize=True, now=time.time() + 60) == "a merge is under way"
    hide_from_git.sync(tracked, hurried=True)
    assert status(tracked) == conflict == "UU CLAUDE.md\n"
    assert not hide_from_git.hide(tracked).yes
    assert status(tracked) == conflict


@pytest.mark.parametrize(
    ("leaf", "resize", "age", "held"),
    [
        ("", True, 60, False),
        ("", True, 1, True),
        ("", True, -1, True),
        ("", True, -60, False),
        ("", False, 1, False),
        ("index.lock", True, 60, True),
        ("index.lock", False, 60, True),
        *((leaf, True, 60, True) for leaf in git_lock.OPERATIONS),
        ("MERGE_HEAD", False, 60, False),
        ("rebase-merge", False, 1, True),
    ],
)
def test_it_keeps_still_while_git_works(tracked: paths.Place, leaf: str, resize: bool, age: int, held: bool) -> None:
    if leaf:
        Path(tracked.common, leaf).write_text("")
    written = os.stat(tracked.common + "/index").st_mtime

    assert bool(hide_from_git.still(tracked, resize, written + age)) == held


def test_a_sync_waits_until_git_is_quiet(tracked: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_files, "QUIET_FOR", 9.0)  # less than `settled` makes it
    hide_from_git.hide(tracked)
    append(tracked, LOCAL)
    git(tracked.root, "update-index", "--force-write-index")
    os.utime(tracked.common + "/index")
    early = hide_from_git.sync(tracked)
    settled(tracked)

    assert (early, hide_from_git.sync(tracked)) == (False, True)
    assert status(tracked) == ""


def test_a_resize_never_shows_not_even_without_the_sync_after_it(tracked: paths.Place) -> None:
    hide_from_git.hide(tracked)
    seen = []
    for number in range(1, 4):
        settled(tracked)
        assert hide_from_git.ready(tracked, resize=True)
        memory(tracked).write_text("# Mine\n" + LOCAL.replace("{}", "{}" * number))
        seen.append(status(tracked))

    assert seen == [""] * 3


def test_our_work_on_the_index_leaves_its_time(tracked: paths.Place) -> None:
    hide_from_git.hide(tracked)
    settled(tracked)
    before = os.stat(tracked.common + "/index")

    assert hide_from_git.ready(tracked, resize=True)
    assert hide_from_git.sync(tracked)
    after = os.stat(tracked.common + "/index")
    assert before.st_mtime_ns == after.st_mtime_ns
    assert before.st_ctime_ns != after.st_ctime_ns


@pytest.mark.parametrize("resize", [True, False])
def test_nothing_is_ready_while_git_holds_the_index(tracked: paths.Place, resize: bool) -> None:
    hide_from_git.hide(tracked)
    settled(tracked)
    assert hide_from_git.ready(tracked, resize)
    Path(tracked.common, "index.lock").write_text("")

    assert not hide_from_git.ready(tracked, resize)


def test_an_index_that_changed_meanwhile_is_left_alone(tracked: paths.Place) -> None:
    copied = git_files.copy_index(tracked)
    assert copied is not None
    (Path(tracked.root) / "new").write_text("")
    git(tracked.root, "add", "new")

    assert not git_files.put_index(tracked, *copied)
    assert status(tracked) == "A  new\n"
    assert not os.path.exists(tracked.common + "/index.lock")


@pytest.mark.parametrize(
    "options",
    [
        ["core.splitIndex=true"],
        ["core.untrackedCache=true"],
        ["index.version=4"],
        ["feature.manyFiles=true"],
        ["index.threads=2"],
        ["core.splitIndex=true", "core.untrackedCache=true", "index.version=4"],
    ],
    ids=" ".join,
)
def test_every_kind_of_index(tracked: paths.Place, options: list[str]) -> None:
    for option in options:
        git(tracked.root, "config", *option.split("="))
    git(tracked.root, "update-index", "--force-write-index")
    status(tracked)
    hide_from_git.hide(tracked)
    append(tracked, LOCAL)
    (Path(tracked.root) / "staged").write_text("")
    git(tracked.root, "add", "staged")

    assert hide_from_git.sync(tracked, hurried=True)
    assert status(tracked) == "A  staged\n"
    assert git(tracked.root, "fsck") == ""
    (Path(tracked.root) / "untracked").write_text("")
    assert status(tracked) == "A  staged\n?? untracked\n"


def test_beside_an_fsmonitor(tracked: paths.Place, tmp_path: Path) -> None:
    hook = tmp_path / "monitor"
    hook.write_text("#!/bin/sh\nprintf 'token\\0CLAUDE.md\\0file.txt\\0'\n")
    hook.chmod(0o755)
    git(tracked.root, "config", "core.fsmonitor", str(hook))
    git(tracked.root, "update-index", "--fsmonitor")
    hide_from_git.hide(tracked)
    append(tracked, LOCAL)

    assert hide_from_git.sync(tracked, hurried=True)
    assert status(tracked) == ""


def test_with_sha256(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "repo")
    place = paths.find(str(tmp_path / "repo"))
    git_exclude.add(place)
    commit(place, "# Mine\n")
    hidden = hide_from_git.hide(place)
    append(place, LOCAL)

    assert hidden.yes
    assert hide_from_git.sync(place, hurried=True)
    assert status(place) == ""


def test_the_hooks_of_the_user_are_not_run_for_a_copy(tracked: paths.Place, tmp_path: Path) -> None:
    hook = Path(tracked.common, "hooks/post-index-change")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/ran\n")
    hook.chmod(0o755)
    hide_from_git.sync(tracked, hurried=True)

    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "attribute", ["filter=lfs", "filter=git-crypt", "-filter", "working-tree-encoding=UTF-16", "ident"]
)
@pytest.mark.parametrize("home", [".gitattributes", ".git/info/attributes", "global"])
def test_another_filter_is_respected(tracked: paths.Place, tmp_path: Path, attribute: str, home: str) -> None:
    path = tmp_path / "attributes" if home == "global" else Path(tracked.root, home)
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"*.md {attribute}\n")
    if home == "global":
        git(tracked.root, "config", "core.attributesFile", str(path))
    before = files(tracked)
    hidden = hide_from_git.hide(tracked)

    assert not hidden.yes
    assert attribute.partition("=")[0].strip("-") in hidden.why
    assert files(tracked) == before


@pytest.mark.parametrize(
    ("flag", "words"), [("--skip-worktree", "skip-worktree"), ("--assume-unchanged", "assume-unchanged")]
)
def test_flags_of_the_index_are_respected(tracked: paths.Place, flag: str, words: str) -> None:
    git(tracked.root, "update-index", flag, "CLAUDE.md")
    hidden = hide_from_git.hide(tracked)
    hide_from_git.sync(tracked, hurried=True)

    assert words in hidden.why
    assert index.entries(tracked.root, "CLAUDE.md")[0].tag in "Sh"


def test_a_sparse_checkout_without_the_file(tracked: paths.Place) -> None:
    git(tracked.root, "sparse-checkout", "set", "--no-cone", "file.txt")

    assert "sparse" in hide_from_git.hide(tracked).why


def test_a_node_that_is_committed_already(repo: paths.Place) -> None:
    commit(repo, f"<ittybitty>\n{NODE}</ittybitty>\n")
    before = files(repo)
    hidden = hide_from_git.hide(repo)

    assert "already has CLAUDE.md with a status node" in hidden.why
    assert files(repo) == before


def test_an_example_with_our_marks_in_a_fence_is_not_swallowed(repo: paths.Place) -> None:
    commit(repo, f"```\n{LOCAL}```\n")
    before = files(repo)
    hidden = hide_from_git.hide(repo)

    assert not hidden.yes
    assert files(repo) == before
    assert status(repo).strip() in ("", "?? .ittybitty/")


def test_a_malformed_file_is_not_hidden(repo: paths.Place) -> None:
    commit(repo, PUBLIC + PUBLIC)

    assert "line 4" in hide_from_git.hide(repo).why


def test_a_foreign_filter_of_our_name(tracked: paths.Place) -> None:
    git(tracked.root, "config", "filter.ittybitty.smudge", "cat")
    before = files(tracked)

    assert "not ours" in hide_from_git.hide(tracked).why
    assert files(tracked) == before


def test_the_filter_of_an_older_ib_is_replaced(tracked: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(tracked)
    monkeypatch.setattr(git_filter, "CLEAN", "cat # older")
    monkeypatch.setattr(git_filter, "section", lambda: '[filter "ittybitty"]\n\tclean = "cat # older"')
    monkeypatch.setattr(hide_from_git, "disproof", lambda *_: "")
    hide_from_git.hide(tracked)
    monkeypatch.undo()

    assert hide_from_git.hide(tracked).yes
    assert hide_from_git.settings(tracked) == git_filter.wanted()
    hide_from_git.unhide(tracked)
    assert files(tracked) == before


def test_without_sed(tracked: paths.Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    (tmp_path / "git").symlink_to(shutil.which("git") or "")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert "no sed" in hide_from_git.hide(tracked).why


def test_a_filter_that_does_not_work_is_taken_back(
    tracked: paths.Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sed").write_text("#!/bin/sh\nexec cat\n")
    (tmp_path / "sed").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    before = files(tracked)
    hidden = hide_from_git.hide(tracked)

    assert "does not give the text back" in hidden.why
    assert files(tracked) == before


def test_a_file_that_ib_made_is_kept_out_until_it_has_text_of_the_user(repo: paths.Place) -> None:
    git_exclude.add(repo)
    before = files(repo)
    made_by_ib(repo)
    hidden = hide_from_git.hide(repo)

    assert (hidden.yes, hidden.local, "info/exclude" in hidden.why) == (True, True, True)
    assert status(repo) == ""
    assert not hide_from_git.show_text(repo)
    append(repo, "# Mine\n")
    assert hide_from_git.show_text(repo)
    assert status(repo) == "?? CLAUDE.md\n"
    assert files(repo)["info/exclude"] == before["info/exclude"]
    assert not hide_from_git.show_text(repo)
    git(repo.root, "add", "-A")
    assert git(repo.root, "show", ":CLAUDE.md") == "# Mine\n"


def test_a_file_that_ib_made_and_the_user_added_is_shown(repo: paths.Place) -> None:
    git_exclude.add(repo)
    before = files(repo)
    made_by_ib(repo)
    hide_from_git.hide(repo)
    git(repo.root, "add", "-f", "CLAUDE.md")

    assert hide_from_git.hide(repo) == hide_from_git.Hidden(True, "", True, "CLAUDE.md")
    assert files(repo)["info/exclude"] == before["info/exclude"]


@pytest.mark.parametrize("text", ["# Mine\n", ""])
@pytest.mark.parametrize("was_tracked", [True, False])
def test_an_untracked_file_of_the_user_stays_visible(repo: paths.Place, text: str, was_tracked: bool) -> None:
    git_exclude.add(repo)
    if was_tracked:
        commit(repo, text)
        git(repo.root, "rm", "-q", "--cached", "CLAUDE.md")
        git(repo.root, "commit", "-q", "-m", "no longer tracked")
    memory(repo).write_text(text)
    originals.noted_first(repo, originals.CLAUDE_MD, str(memory(repo)), "<ittybitty>", text.encode())
    append(repo, LOCAL)
    hidden = hide_from_git.hide(repo)

    assert hidden == hide_from_git.Hidden(True, "", True, "CLAUDE.md")
    assert status(repo) == "?? CLAUDE.md\n"
    git(repo.root, "add", "CLAUDE.md")
    git(repo.root, "commit", "-q", "-m", "mine")
    assert git(repo.root, "show", "HEAD:CLAUDE.md") == text
    assert not stored_anywhere(repo, b"ib:room")
    assert status(repo) == ""


def test_text_that_an_older_ib_kept_out_is_shown_even_where_no_filter_can_be(repo: paths.Place) -> None:
    git_exclude.add(repo)
    before = files(repo)
    memory(repo).write_text("# Mine\n" + LOCAL)
    git_exclude.add_file(repo, "/CLAUDE.md")
    Path(repo.root, ".gitattributes").write_text("CLAUDE.md ident\n")

    assert not hide_from_git.hide(repo).yes
    assert files(repo) == before
    assert "?? CLAUDE.md\n" in status(repo)


@pytest.mark.parametrize("tracked_link", [True, False])
def test_a_link_binds_what_it_points_to(repo: paths.Place, tracked_link: bool) -> None:
    git_exclude.add(repo)
    if tracked_link:
        memory(repo).symlink_to("AGENTS.md")
    commit(repo, "# Mine\n", "AGENTS.md")
    if not tracked_link:
        memory(repo).symlink_to("AGENTS.md")
    before = status(repo)
    hidden = hide_from_git.hide(repo)
    append(repo, LOCAL)

    assert (hidden.yes, hidden.path) == (True, "AGENTS.md")
    assert hide_from_git.sync(repo, hurried=True)
    assert status(repo) == before


def test_a_link_out_of_the_checkout(tracked: paths.Place, tmp_path: Path) -> None:
    memory(tracked).unlink()
    (tmp_path / "shared.md").write_text("# Shared\n")
    memory(tracked).symlink_to("../shared.md")

    assert hide_from_git.hide(tracked).yes
    assert hide_from_git.settings(tracked) == {}
    git(tmp_path, "init", "-q")
    assert "another repository" in hide_from_git.hide(tracked).why


def test_paths_with_odd_names(repo: paths.Place) -> None:
    git_exclude.add(repo)
    memory(repo).symlink_to('do"cs [x]*/über mich?.md')
    folder = Path(repo.root, 'do"cs [x]*')
    folder.mkdir()
    (folder / "über mich?.md").write_text("# Mine\n")
    hidden = hide_from_git.hide(repo)

    assert hidden.yes
    git(repo.root, "add", "--", hidden.path)
    git(repo.root, "commit", "-q", "-m", "odd")
    append(repo, LOCAL)
    assert hide_from_git.sync(repo, hurried=True)
    assert status(repo) == "?? CLAUDE.md\n"


@pytest.mark.parametrize("kind", ["worktree", "submodule", "separate", "bare"])
def test_git_directories_elsewhere(tracked: paths.Place, tmp_path: Path, kind: str) -> None:
    root = tmp_path / "checkout"
    if kind == "worktree":
        git(tracked.root, "worktree", "add", "-q", str(root))
    elif kind == "submodule":
        git(tmp_path, "init", "-q", "outer")
        git(tmp_path / "outer", "-c", "protocol.file.allow=always", "submodule", "add", "-q", tracked.root, "sub")
        root = tmp_path / "outer" / "sub"
    elif kind == "separate":
        git(tmp_path, "clone", "-q", "--separate-git-dir", str(tmp_path / "elsewhere"), tracked.root, str(root))
    else:
        git(tmp_path, "clone", "-q", "--bare", tracked.root, str(root / "x.git"))
        root /= "x.git"
    place = paths.find(str(root))
    git_exclude.add(place)
    before = files(place)
    hidden = hide_from_git.hide(place)

    assert hidden.yes
    if kind == "bare":
        assert files(place) == before
        return
    append(place, LOCAL)
    assert hide_from_git.sync(place, hurried=True)
    assert status(place) == ""
    memory(place).write_text("# Mine\n")
    hide_from_git.unhide(place)
    assert status(place) == ""
    assert files(place) == before


@pytest.mark.parametrize("config", [b"", b"[core]", b"[core]\r\n\tbare = false\r\n", b"[core]\n\tbare = false\n# end"])
def test_every_touched_file_gets_its_bytes_back(tracked: paths.Place, config: bytes) -> None:
    Path(tracked.common, "config").write_bytes(config)
    Path(tracked.common, "info/attributes").write_bytes(b"*.png binary")
    before = files(tracked)
    hide_from_git.hide(tracked)
    append(tracked, LOCAL)
    hide_from_git.sync(tracked, hurried=True)
    assert files(tracked) != before
    memory(tracked).write_text("# Mine\n")
    noted = hide_from_git.unhide(tracked)

    assert status(tracked) == ""
    assert files(tracked) == before
    assert [originals.differs(one) for one in noted] == ["", ""]


def test_what_others_set_meanwhile_stays(tracked: paths.Place) -> None:
    hide_from_git.hide(tracked)
    git(tracked.root, "config", "user.nickname", "me")
    git(tracked.root, "config", "filter.ittybitty.smudge", "cat")
    hide_from_git.unhide(tracked)

    assert git(tracked.root, "config", "--get", "user.nickname") == "me\n"
    assert hide_from_git.settings(tracked) == {"filter.ittybitty.smudge": "cat"}


def test_a_lock_that_a_dead_one_of_us_left_is_taken(tracked: paths.Place) -> None:
    Path(tracked.common, "config.lock").write_bytes(git_lock.MARK + b"1\n")
    Path(tracked.common, "index.lock").write_bytes(git_lock.MARK + b"1\n")

    assert hide_from_git.hide(tracked).yes
    assert not list(Path(tracked.common).glob("*.lock"))


def test_a_foreign_lock_is_named_and_left(tracked: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_lock, "PATIENCE", 0)
    lock = Path(tracked.common, "config.lock")
    lock.write_text("git's own")
    before = files(tracked)

    assert str(lock) in hide_from_git.hide(tracked).why
    assert lock.read_text() == "git's own"
    assert files(tracked) == before


VERBS: dict[str, Callable[[paths.Place], object]] = {
    "hide": hide_from_git.hide,
    "unhide": hide_from_git.unhide,
    "ready": lambda place: hide_from_git.ready(place, True, hurried=True),
    "sync": lambda place: hide_from_git.sync(place, hurried=True),
}


def killed(verb: str, place: paths.Place, at: int) -> bool:
    """Run it in a process that dies at the n-th file operation; False when it had fewer."""

    def act() -> None:
        Faults().arm(at)
        VERBS[verb](place)

    code = Child(act).ended()
    assert code in (-signal.SIGKILL, 0)
    return code != 0


@pytest.mark.sweep
@pytest.mark.timeout(300)
def test_killed_anywhere_the_next_one_mends(tracked: paths.Place) -> None:
    before, index = files(tracked), git(tracked.root, "ls-files", "-s")
    sweep = Sweep(every=10)
    for count in sweep:
        sweep.tell(killed("hide", tracked, count))
        assert hide_from_git.hide(tracked).yes, count
        text = (files(tracked)["config"] or b"") + (files(tracked)["info/attributes"] or b"")
        assert text.count(b"clean =") == text.count(b"filter=ittybitty") == 1, count
        killed("ready", tracked, count)
        killed("sync", tracked, count)
        hide_from_git.recover(tracked)
        assert git(tracked.root, "ls-files", "-s") == index, count
        killed("unhide", tracked, count)
        hide_from_git.unhide(tracked)
        assert files(tracked) == before, count
        assert not [leaf for leaf in os.listdir(tracked.common) if "lock" in leaf or "ib-" in leaf], count

    assert sweep.last > 30


@pytest.mark.sweep
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EACCES])
def test_a_disk_that_refuses_leaves_a_reason(tracked: paths.Place, faults, error: int) -> None:
    before, sweep = files(tracked), Sweep(every=6)
    for count in sweep:
        faults.arm(count, error)
        try:
            hidden = hide_from_git.hide(tracked)
        except OSError:
            hidden = None
        faults.disarm()
        hide_from_git.unhide(tracked)
        assert files(tracked) == before, count
        sweep.tell(faults.seen >= count)
        if faults.seen < count:
            assert hidden is not None
            assert hidden.yes


def levels(place: paths.Place) -> list[tuple[str, str]]:
    return [(finding.level, finding.text) for finding in hide_from_git.judge(place)]


def test_the_doctor_proves_or_explains(tracked: paths.Place) -> None:
    assert levels(tracked) == [("ok", f"there is nothing of ib in {memory(tracked)}")]
    append(tracked, LOCAL)
    assert [level for level, _ in levels(tracked)] == ["warn"]
    hide_from_git.hide(tracked)
    assert [level for level, _ in levels(tracked)] == ["note", "ok"]
    hide_from_git.sync(tracked, hurried=True)
    assert levels(tracked) == [("ok", hide_from_git.PROVEN)]


def test_the_doctor_names_what_is_in_the_way(tracked: paths.Place) -> None:
    hide_from_git.hide(tracked)
    append(tracked, LOCAL)
    Path(tracked.root, ".gitattributes").write_text("CLAUDE.md ident\n")
    assert "ident" in levels(tracked)[0][1]
    Path(tracked.root, ".gitattributes").unlink()
    Path(tracked.common, "info/attributes").write_text("*.md -filter\n")
    assert "switches filters off" in levels(tracked)[0][1]


def test_the_doctor_sees_a_block_that_came_with_a_pull(tracked: paths.Place) -> None:
    hide_from_git.hide(tracked)
    commit(tracked, "# Mine\n" + PUBLIC)
    memory(tracked).write_text("# Mine\n" + LOCAL)

    assert "has a block in git now" in levels(tracked)[0][1]
