"""The refs that hold what `ib undo` brings back: listed, put into one file, let go."""

from ibstatus.agents.undo import git_snapshot
from ibstatus.errors import IbError
from ibstatus.system.git import index

OURS = "refs/ib/"
THEIRS = ("--not", "--branches", "--tags", "--remotes")


def refs(root: str) -> list[str]:
    return index.asked(root, "for-each-ref", "--format=%(refname)", OURS).out.decode().splitlines()


def bundle(root: str, path: str, names: list[str]) -> None:
    """`git fetch <path> 'refs/ib/*:refs/ib/*'` brings them back. Without what the repository's own branches hold, as
    long as git finds anything else: an empty bundle it refuses."""
    try:
        git_snapshot.asked(root, "bundle", "create", "-q", path, *names, *THEIRS)
        if listed(root, path) == set(names):
            return
    except IbError:
        pass
    git_snapshot.asked(root, "bundle", "create", "-q", path, *names)


def listed(root: str, path: str) -> set[str]:
    out = git_snapshot.asked(root, "bundle", "list-heads", path).decode()
    return {line.partition(" ")[2] for line in out.splitlines()}


def let_go(root: str, names: list[str]) -> None:
    lines = "".join(f"delete {name}\n" for name in names)
    git_snapshot.asked(root, "update-ref", "--stdin", data=lines.encode())
