"""A checkout that a git which failed or died half-way has left between two commits goes back to the first one."""

import os
import tempfile

from ibstatus.merge import checkout_update
from ibstatus.system.git import refs


def put_back(checkout: str, ref: str, before: str, after: str) -> str:
    """Index and files of this branch, as far as they are what `after` has; a person's changes stay. '' when done."""
    if refs.head_of(checkout) != ref:
        return ""
    options = ("--name-status", "--no-renames", "-r", "-z")
    listed = names(refs.asked(checkout, "diff-tree", *options, before, after).out)
    changed = dict(zip(listed[1::2], listed[::2], strict=False))
    staged = names(refs.asked(checkout, "diff-index", "--cached", "--name-only", "-z", before).out)
    if not changed.keys().isdisjoint(staged):  # it came to the end of its checkout, and wrote the index
        return checkout_update.bring(checkout, ref, after, before)
    unwind(checkout, before, after, changed)
    return ""


def unwind(checkout: str, before: str, after: str, changed: dict[str, str]) -> None:
    """Files alone: the index is still that of `before`. `changed`: path → A, D, M or T, as git calls it."""
    with tempfile.TemporaryDirectory(prefix="ib-index-") as folder:
        env = {"GIT_INDEX_FILE": folder + "/after"}
        refs.asked(checkout, "read-tree", after, env=env)
        refs.asked(checkout, "update-index", "-q", "--refresh", env=env)
        other = set(names(refs.asked(checkout, "diff-files", "--name-only", "-z", env=env).out))
        written = [path for path, status in changed.items() if status != "D" and path not in other]
        out = left_out(checkout)
        gone = [path for path, status in changed.items() if status == "D" and not is_there(checkout, path)]
        removed = [path for path in gone if path not in out]
        for path in written:
            if changed[path] == "A":
                remove(checkout, path)
        env = {"GIT_INDEX_FILE": folder + "/before"}
        refs.asked(checkout, "read-tree", before, env=env)
        missing = removed + [path for path in written if changed[path] != "A"]
        data = os.fsencode("\0".join(missing))
        refs.asked(checkout, "checkout-index", "--force", "--quiet", "-z", "--stdin", data=data, env=env)


def left_out(checkout: str) -> set[str]:
    """Of a sparse checkout: what the user does not want to have as a file."""
    listed = names(refs.asked(checkout, "ls-files", "-t", "-z").out)
    return {entry[2:] for entry in listed if entry.startswith("S ")}


def is_there(checkout: str, path: str) -> bool:
    return os.path.lexists(f"{checkout}/{path}")


def names(data: bytes) -> list[str]:
    return [name for name in os.fsdecode(data).split("\0") if name]


def remove(checkout: str, path: str) -> None:
    """The file and the folders that are empty without it; a submodule's folder stays."""
    try:
        os.unlink(f"{checkout}/{path}")
        while path := path.rpartition("/")[0]:
            os.rmdir(f"{checkout}/{path}")
    except OSError:
        pass
