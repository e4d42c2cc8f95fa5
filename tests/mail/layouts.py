"""Every sort of repository that a person may stand in, made with the real git."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.conftest import git


class Layout(NamedTuple):
    """Where to stand, and the root and the common git directory that ib must find from there."""

    cwd: Path
    root: Path
    common: Path


def checkout(path: Path, *options: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "-q", "-b", "main", *options)
    git(path, "commit", "-q", "--allow-empty", "-m", "first")
    return path


def worktree(repo: Path, path: Path) -> Path:
    git(repo, "worktree", "add", "-q", "--detach", str(path))
    return path


def main(base: Path) -> Layout:
    repo = checkout(base / "r")
    return Layout(repo, repo, repo / ".git")


def subfolder(base: Path) -> Layout:
    repo = checkout(base / "r")
    (repo / "a/b").mkdir(parents=True)
    return Layout(repo / "a/b", repo, repo / ".git")


def linked(base: Path) -> Layout:
    repo = checkout(base / "r")
    return Layout(worktree(repo, base / "wt"), repo, repo / ".git")


def inside_git_dir(base: Path) -> Layout:
    repo = checkout(base / "r")
    return Layout(repo / ".git/refs", repo, repo / ".git")


def bare_with_worktree(base: Path) -> Layout:
    source = checkout(base / "source")
    git(base, "clone", "-q", "--bare", str(source), str(base / "proj/.bare"))
    return Layout(worktree(base / "proj/.bare", base / "proj/wt"), base / "proj", base / "proj/.bare")


def bare_itself(base: Path) -> Layout:
    at = bare_with_worktree(base)
    return at._replace(cwd=at.common)


def bare_behind_git_file(base: Path) -> Layout:
    at = bare_with_worktree(base)
    (at.root / ".git").write_text("gitdir: ./.bare\n")
    return at._replace(cwd=at.root)


def submodule(base: Path) -> Layout:
    source, parent = checkout(base / "source"), checkout(base / "super")
    git(parent, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source), 's;u"b #x')
    return Layout(parent / 's;u"b #x', parent / 's;u"b #x', parent / '.git/modules/s;u"b #x')


def worktree_of_submodule(base: Path) -> Layout:
    at = submodule(base)
    return at._replace(cwd=worktree(at.root, base / "subwt"))


def sparse_submodule(base: Path) -> Layout:
    """`core.worktree` then stands in config.worktree."""
    at = worktree_of_submodule(base)
    git(at.root, "sparse-checkout", "init")
    assert "worktree" not in git(at.root, "config", "--file", str(at.common / "config"), "--list").replace(
        "worktreeconfig", ""
    )
    return at


def separate(base: Path) -> Layout:
    (base / "elsewhere").mkdir(parents=True)
    repo = checkout(base / "r", f"--separate-git-dir={base / 'elsewhere/gd'}")
    return Layout(repo, repo, base / "elsewhere/gd")


def git_symlink(base: Path) -> Layout:
    repo = checkout(base / "r")
    (base / "real").mkdir()
    (repo / ".git").rename(base / "real/gd")
    (repo / ".git").symlink_to(base / "real/gd")
    return Layout(repo, repo, base / "real/gd")


def symlinked_cwd(base: Path) -> Layout:
    at = main(base)
    (base / "link").symlink_to(at.root)
    return at._replace(cwd=base / "link")


ALL: tuple[Callable[[Path], Layout], ...] = (
    main,
    subfolder,
    linked,
    inside_git_dir,
    bare_with_worktree,
    bare_itself,
    bare_behind_git_file,
    submodule,
    worktree_of_submodule,
    sparse_submodule,
    separate,
    git_symlink,
    symlinked_cwd,
)
ODD_NAMES = (
    "with space",
    "quo'te\"s",
    "new\nline",
    "größe-日本",
    "-dash",
    "back\\slash",
    "trailing ",
    "$HOME;`x`",
    "a.git",
)
