"""What an agent writes where git looks for its repository: nothing of it is run by what a person types."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ibstatus.project import home, paths
from tests.conftest import Done, git, make_repo, run_ib
from tests.gitwork import commit, subjects

pytestmark = pytest.mark.usefixtures("tmux")
Ib = Callable[..., Done]
Agent = Callable[..., Path]
READING = (
    ("status", "w"),
    ("diff", "w"),
    ("diff", "w", "--stat"),
    ("diff", "w", "--json"),
    ("merge-check", "w"),
    ("list",),
    ("look", "w"),
    ("why", "w"),
    ("doctor",),
    ("gc",),
)
CHANGING = (
    ("merge", "k", "--into", "agent/w", "--force"),
    ("merge", "w", "--force"),
    ("undo",),
    ("status", "w"),
    ("diff", "w"),
    ("kill", "w", "--force"),
    ("undo",),
    ("diff", "w"),
    ("gc", "--include", "unknown", "--force"),
)


class World(NamedTuple):
    """`program` leaves `proof` behind, whatever it is run for, and gives back what it is given."""

    place: paths.Place
    tree: Path
    program: Path
    proof: Path

    @property
    def admin(self) -> Path:
        return Path(self.place.common, "worktrees", "repo")

    def git_dir(self, path: Path, *settings: tuple[str, str]) -> Path:
        """A git directory of the agent's own, in which git finds everything that the real one has."""
        shutil.copytree(self.place.common, path, ignore=shutil.ignore_patterns("ib", "worktrees"))
        shutil.copy(self.admin / "index", path / "index")
        (path / "HEAD").write_text("ref: refs/heads/agent/w\n")
        for key, value in settings:
            git(self.tree.parent, "config", "-f", str(path / "config"), key, value)
        return path

    def replace(self, *settings: tuple[str, str]) -> Path:
        """`.git`, a file, becomes a folder."""
        (self.tree / ".git").unlink()
        return self.git_dir(self.tree / ".git", *settings)

    def redirect(self, *settings: tuple[str, str]) -> Path:
        """`.git` stays; git's own directory of the worktree names another common one."""
        common = self.git_dir(self.tree.parent / "common", *settings)
        (self.admin / "commondir").write_text(f"{common}\n")
        return common

    def change_file(self) -> None:
        (self.tree / "file.txt").write_text("one\nchanged\n")


@pytest.fixture
def world(repo: paths.Place, agent: Agent, tmp_path: Path) -> World:
    """Two agents with a commit each."""
    home.enter(repo)
    tree = agent(repo, "w")
    commit(agent(repo, "k"), "k.txt", "k\n")
    commit(tree, "work.txt", "work\n")
    program, proof = tmp_path / "program", tmp_path / "proof"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {proof}\ncat 2>/dev/null\nexit 0\n')
    program.chmod(0o755)
    return World(repo, tree, program, proof)


def a_folder_with_fsmonitor(world: World) -> None:
    world.replace(("core.fsmonitor", str(world.program)))


def a_file_that_points_elsewhere(world: World) -> None:
    own = world.git_dir(world.tree / "own", ("core.fsmonitor", str(world.program)))
    (world.tree / ".git").write_text(f"gitdir: {own}\n")


def a_common_dir_elsewhere(world: World) -> None:
    """The git directory itself has no setting at all."""
    common = world.git_dir(world.tree / "common", ("core.fsmonitor", str(world.program)))
    own = world.tree / "own"
    own.mkdir()
    for leaf in ("HEAD", "index"):
        shutil.copy(common / leaf, own / leaf)
    (own / "commondir").write_text(f"{common}\n")
    (own / "gitdir").write_text(f"{world.tree}/.git\n")
    (world.tree / ".git").write_text(f"gitdir: {own}\n")


def the_real_one_with_another_common_dir(world: World) -> None:
    world.redirect(("core.fsmonitor", str(world.program)))


def an_external_diff(world: World) -> None:
    world.change_file()
    world.redirect(("diff.external", str(world.program)))


def a_filter(world: World) -> None:
    world.change_file()
    (world.tree / ".gitattributes").write_text("* filter=f\n")
    world.replace(("filter.f.clean", str(world.program)), ("filter.f.smudge", str(world.program)))


def a_textconv(world: World) -> None:
    world.change_file()
    (world.tree / ".gitattributes").write_text("* diff=t\n")
    world.redirect(("diff.t.textconv", str(world.program)))


def a_hooks_folder(world: World) -> None:
    own = world.redirect()
    for name in ("post-index-change", "reference-transaction", "post-checkout", "post-merge", "fsmonitor-watchman"):
        (own / "hooks").mkdir(exist_ok=True)
        (own / "hooks" / name).unlink(missing_ok=True)
        (own / "hooks" / name).symlink_to(world.program)


def a_hooks_path_and_an_alias(world: World) -> None:
    hooks = world.tree / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "post-merge"):
        (hooks / name).symlink_to(world.program)
    aliases = [(f"alias.{name}", f"!{world.program}") for name in ("status", "diff", "rev-parse")]
    world.replace(("core.hooksPath", str(hooks)), ("core.pager", str(world.program)), *aliases)


def an_included_file(world: World) -> None:
    (world.tree / "more").write_text(f"[core]\n\tfsmonitor = {world.program}\n")
    world.replace(("include.path", str(world.tree / "more")), ("core.worktree", str(world.tree)))


def a_remote_that_has_what_is_missing(world: World) -> None:
    own = world.redirect(
        ("remote.origin.url", "ssh://nobody@localhost/x"),
        ("remote.origin.promisor", "true"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryFormatVersion", "1"),
        ("core.sshCommand", str(world.program)),
        ("credential.helper", f"!{world.program}"),
    )
    world.change_file()
    oid = git(world.place.root, "rev-parse", "main:file.txt").strip()
    (own / "objects" / oid[:2] / oid[2:]).unlink()


def a_signing_program(world: World) -> None:
    world.redirect(("commit.gpgSign", "true"), ("gpg.program", str(world.program)), ("log.showSignature", "true"))


def settings_of_the_worktree(world: World) -> None:
    """The user has a sparse checkout somewhere, which turns these on."""
    git(world.place.root, "config", "extensions.worktreeConfig", "true")
    world.change_file()
    (world.tree / ".gitattributes").write_text("* filter=f diff=f\n")
    text = f'[core]\n\tfsmonitor = {world.program}\n[filter "f"]\n\tclean = {world.program}\n'
    (world.admin / "config.worktree").write_text(text)


def settings_of_the_worktree_in_one_line(world: World) -> None:
    git(world.place.root, "config", "extensions.worktreeConfig", "true")
    (world.tree / ".gitattributes").write_text("* filter=f\n")
    world.change_file()
    lines = ("[core]", "sparseCheckout = false", f'[filter "f"] clean = {world.program}')
    (world.admin / "config.worktree").write_text("\n".join(lines) + "\n")


def a_submodule(world: World) -> None:
    """Registered, as with `git submodule add`, and its settings are nobody's but the agent's."""
    inside = world.tree / "sub"
    make_repo(inside)
    git(world.tree, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    (world.tree / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n')
    git(world.tree, "add", ".gitmodules")
    git(world.tree, "commit", "-q", "-m", "a submodule")
    (inside / "file.txt").write_text("one\nchanged\n")
    (inside / ".gitattributes").write_text("* filter=f diff=f\n")
    for key in ("core.fsmonitor", "filter.f.clean", "diff.external", "diff.f.textconv"):
        git(inside, "config", key, str(world.program))
    git(world.place.root, "config", "diff.submodule", "diff")
    git(world.place.root, "config", "diff.ignoreSubmodules", "none")


def programs_that_the_user_names_by_a_relative_path(world: World) -> None:
    """What a tool such as husky sets up: in the worktree the same path is the agent's."""
    (world.tree / "tools").mkdir()
    for name in ("post-index-change", "reference-transaction", "post-merge", "program"):
        (world.tree / "tools" / name).symlink_to(world.program)
    world.change_file()
    for key, value in (
        ("core.hooksPath", "tools"),
        ("core.fsmonitor", "tools/program"),
        ("diff.external", "tools/program"),
    ):
        git(world.place.root, "config", key, value)
    world.proof.unlink(missing_ok=True)


ATTACKS = (
    a_folder_with_fsmonitor,
    a_file_that_points_elsewhere,
    a_common_dir_elsewhere,
    the_real_one_with_another_common_dir,
    an_external_diff,
    a_filter,
    a_textconv,
    a_hooks_folder,
    a_hooks_path_and_an_alias,
    an_included_file,
    a_remote_that_has_what_is_missing,
    a_signing_program,
    settings_of_the_worktree,
    settings_of_the_worktree_in_one_line,
    a_submodule,
    programs_that_the_user_names_by_a_relative_path,
)


def ran(world: World, where: str, *commands: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The commands, each with what it has started."""
    found = []
    for command in commands:
        done = run_ib(*command, cwd=where)
        assert "Traceback" not in done.err
        if world.proof.exists():
            found.append((*command, world.proof.read_text()))
            world.proof.unlink()
    return found


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_nothing_of_the_agents_is_run(world: World, attack: Callable[[World], None]) -> None:
    attack(world)
    world.proof.unlink(missing_ok=True)

    assert ran(world, str(world.tree), ("diff",), ("status", "w")) == []
    assert ran(world, world.place.root, *READING, *CHANGING) == []


def test_one_stands_in_a_repository_inside_of_the_worktree(world: World) -> None:
    nested = world.tree / "nested"
    make_repo(nested)
    git(nested, "config", "core.fsmonitor", str(world.program))

    done = run_ib("diff", "--stat", cwd=nested)

    assert (done.code, done.err) == (0, "")
    assert "work.txt" in done.out
    assert not world.proof.exists()


def test_a_git_of_its_own_is_told_of(world: World, ib: Ib) -> None:
    a_folder_with_fsmonitor(world)

    for command in (("diff", "w"), ("merge-check", "w")):
        done = ib(*command)
        assert (done.code, f"{world.tree} is no worktree of this repository" in done.err) == (1, True)
    assert ib("diff", "w", "--committed", "--stat").code == 0
    assert ib("kill", "w", "--force").code == 0
    assert git(world.place.root, "for-each-ref", "--format=%(refname)", "refs/heads/agent/w") == ""
    done = ib("undo")
    assert (done.code, f"{world.tree}/.git was a folder, and is now {world.tree}/.git-0\n" in done.err) == (0, True)
    assert "fsmonitor" in (world.tree / ".git-0/config").read_text()
    assert ib("merge-check", "w").code == 1  # what was moved aside is not committed
    assert subjects(world.place.root, "-1", "agent/w") == ["write work.txt"]


def test_settings_of_its_own_are_told_of(world: World, ib: Ib) -> None:
    settings_of_the_worktree(world)

    assert "config.worktree has settings that ib does not follow" in ib("merge-check", "w").err


def test_a_sparse_worktree_is_none_of_these(world: World, ib: Ib) -> None:
    git(world.tree, "sparse-checkout", "set", "--cone", "docs")

    assert (world.admin / "config.worktree").exists()
    assert ib("merge-check", "w").code == 0


def test_a_common_dir_elsewhere_does_not_keep_the_work(world: World, ib: Ib) -> None:
    the_real_one_with_another_common_dir(world)

    assert ib("merge", "w", "--force").code == 0

    assert subjects(world.place.root, "-1") == ["Merge agent w work"]


def test_the_users_own_filter_counts_in_both(world: World, ib: Ib) -> None:
    """As that of git-lfs does."""
    git(world.place.root, "config", "filter.up.clean", "tr a-z A-Z")
    git(world.place.root, "config", "filter.up.smudge", "tr A-Z a-z")
    commit(world.tree, ".gitattributes", "*.up filter=up\n")
    commit(world.tree, "word.up", "word\n")
    (world.tree / "word.up").write_text("word\n")

    assert ib("merge", "w", "--force").code == 0

    assert git(world.place.root, "show", "HEAD:word.up") == "WORD\n"
    assert Path(world.place.root, "word.up").read_text() == "word\n"


@pytest.mark.parametrize("lost", ["file", "commit"])
def test_what_is_only_in_a_submodule_still_stops_the_merge(world: World, ib: Ib, tmp_path: Path, lost: str) -> None:
    library, allow = make_repo(tmp_path / "library").root, ("-c", "protocol.file.allow=always")
    git(world.tree, *allow, "submodule", "add", "-q", library, "deep/lib")
    git(world.tree, "commit", "-q", "-m", "with a library")
    assert ib("merge-check", "w").code == 0
    if lost == "file":
        (world.tree / "deep/lib/new.txt").write_text("new\n")
    else:
        commit(world.tree / "deep/lib", "new.txt", "new\n")

    found = ib("merge-check", "w", "--json").json()

    assert isinstance(found, dict)
    assert found["files"] == ["deep/lib"]


def test_a_relative_folder_of_path_is_not_looked_into(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (world.tree / "node_modules/.bin").mkdir(parents=True)
    (world.tree / "node_modules/.bin/git").symlink_to(world.program)
    monkeypatch.setenv("PATH", f"node_modules/.bin:{os.environ['PATH']}")

    assert ran(world, world.place.root, *READING, *CHANGING) == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python has no safe path before 3.11")
def test_a_filter_in_python_imports_nothing_of_the_worktree(world: World) -> None:
    git(world.place.root, "config", "filter.up.clean", f"{sys.executable} -m tokenizer")
    (world.tree / ".gitattributes").write_text("*.txt filter=up\n")
    (world.tree / "tokenizer.py").write_text(f"open({str(world.proof)!r}, 'w').write('imported')\n")
    world.change_file()

    assert ran(world, world.place.root, *READING, *CHANGING) == []


def test_a_checkout_in_a_scratch_folder_does_not_go_along(repo: paths.Place, agent: Agent, tmp_path: Path) -> None:
    """With main in it, and with the hooks that the user names by a relative path."""
    home.enter(repo)
    name = f"w{os.getpid()}"
    scratch, proof = Path(f"/tmp/ib-{name}"), tmp_path / "proof"
    tree = agent(repo, name)
    commit(tree, "work.txt", "work\n")
    try:
        git(tree, "worktree", "add", "-q", "--detach", str(scratch / "other"), "main")
        git(scratch / "other", "symbolic-ref", "HEAD", "refs/heads/main")
        (scratch / "other/tools").mkdir()
        for hook in ("post-index-change", "reference-transaction", "post-merge"):
            (scratch / "other/tools" / hook).write_text(f"#!/bin/sh\necho {hook} >> {proof}\n")
            (scratch / "other/tools" / hook).chmod(0o755)
        git(repo.root, "config", "core.hooksPath", "tools")

        assert run_ib("merge", name, "--force", cwd=repo.root).code == 0
    finally:
        shutil.rmtree(scratch, ignore_errors=True)

    assert not proof.exists()
    assert subjects(repo.root, "-1") == [f"Merge agent {name} work"]


@pytest.mark.parametrize("form", ["the common directory", "a device", "a huge file"])
def test_an_odd_file_instead_of_its_own_does_not_keep_the_agent(world: World, ib: Ib, form: str) -> None:
    dot_git = world.tree / ".git"
    if form == "the common directory":
        dot_git.write_text(f"gitdir: {world.place.common}/worktrees/..\n")
    elif form == "a device":
        dot_git.unlink()
        dot_git.symlink_to("/dev/zero")
    else:
        os.truncate(dot_git, 2 << 30)

    assert f"{world.tree} is no worktree of this repository" in ib("diff", "w").err
    assert ib("kill", "w", "--force").code == 0
    assert ib("undo").code == 0
    assert ib("diff", "w").code == 0


@pytest.mark.parametrize("whose", ["the main checkout", "another agent's", "the user's own"])
def test_a_link_instead_of_the_worktree_is_all_that_kill_and_undo_touch(
    world: World, ib: Ib, tmp_path: Path, whose: str
) -> None:
    other = Path(world.place.root)
    if whose == "another agent's":
        other = Path(world.place.agent_dir("k"), "repo")
    elif whose == "the user's own":
        other = tmp_path / "own"
        git(world.place.root, "worktree", "add", "-q", "-b", "own", str(other))
    (other / "new.txt").write_text("not committed\n")
    world.tree.rename(world.tree.parent / "before")
    world.tree.symlink_to(other)
    before = git(other, "status", "--porcelain"), git(other, "rev-parse", "--git-dir")

    assert ib("kill", "w", "--force").code == 0
    assert (git(other, "status", "--porcelain"), git(other, "rev-parse", "--git-dir")) == before
    assert ib("undo").code == 0
    assert (git(other, "status", "--porcelain"), git(other, "rev-parse", "--git-dir")) == before
