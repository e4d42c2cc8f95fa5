"""Where git keeps a repository, read from its files: the main checkout and the common git directory of any folder."""

from ibstatus.errors import IbError
from ibstatus.system import disk

LONGEST = 1 << 16  # of a `.git` file; an agent can put a device in its place


def checkout_of(start: str) -> tuple[str, str] | None:
    """(root of the main checkout, common git directory) for a directory, as git would find them."""
    folder = start
    while True:
        dot_git = f"{folder}/.git"
        if disk.exists(dot_git + "/HEAD"):
            return folder or "/", dot_git
        pointer = pointed(dot_git, folder)
        if pointer:
            return linked(pointer, folder)
        if is_git_dir(folder):
            common = common_of(folder)
            return main_checkout(common), common
        if not folder:
            return None
        folder = folder.rpartition("/")[0]


def pointed(dot_git: str, folder: str) -> str:
    """The git directory that a `.git` file names, or ''."""
    try:
        text = disk.read_ours(dot_git, LONGEST)
    except OSError:
        return ""
    word, _, path = text.decode("utf-8", "surrogateescape").partition(": ")
    path = path.rstrip("\r\n")
    if word != "gitdir" or not path:
        return ""
    return path if path.startswith("/") else normal(f"{folder}/{path}")


def linked(git_dir: str, folder: str) -> tuple[str, str]:
    if not disk.exists(git_dir + "/HEAD"):
        raise IbError(
            f"{folder}/.git names a git directory that is gone: {git_dir}",
            hint="git worktree repair, in the main checkout",
        )
    common = common_of(git_dir)
    if common == git_dir:  # a submodule or a separate git dir: this folder is its own main checkout
        return folder or "/", common
    return main_checkout(common), common


def common_of(git_dir: str) -> str:
    try:
        text = disk.read_file(git_dir + "/commondir")
    except OSError:
        return git_dir
    path = text.decode("utf-8", "surrogateescape").rstrip("\r\n")
    return path if path.startswith("/") else normal(f"{git_dir}/{path}")


def main_checkout(common: str) -> str:
    """core.worktree (a submodule); else what we wrote down at init; else the directory that holds the common dir."""
    folder, _, leaf = common.rpartition("/")
    if leaf == ".git":
        return folder or "/"
    from ibstatus.system import main_checkout as checkouts

    root = checkouts.configured_root(common)
    if root:
        return root if root.startswith("/") else normal(f"{common}/{root}")
    root = checkouts.noted_root(common)
    return root if root and pointed(root + "/.git", root) == common else folder or "/"  # not when copied or moved


def is_git_dir(folder: str) -> bool:
    return disk.exists(folder + "/HEAD") and (
        disk.exists(folder + "/commondir") or (disk.exists(folder + "/objects") and disk.exists(folder + "/refs"))
    )


def normal(path: str) -> str:
    """`a/b/../c` → `a/c`. By text: git writes these paths without symlinks in between."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
