"""A worktree's files and index in one commit, byte for byte: no filter has a say, and the real index is not touched.

Its tree is what lies in the worktree, tracked or new; its parents are HEAD, a commit of the index, and one that holds
on to what else the worktree named. What git ignores or cannot hold stays outside: it is moved, not copied.
"""

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.system.git import start as git_start
from ibstatus.system.git import worktrees
from ibstatus.system.process import run

LARGEST = 64 << 20  # a bigger file is moved aside: faster, and nobody wants it in git
NAMED = (("NAME", "ib"), ("EMAIL", "ib@localhost"))
WHO = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in NAMED}
PLAINLY = ("core.splitIndex=false", "core.fsmonitor=false", "core.untrackedCache=false", "core.protectNTFS=false",
           "core.protectHFS=false", "index.sparse=false")  # fmt: skip
CONFIG = [word for setting in PLAINLY for word in ("-c", setting)]
Look = tuple[int, int, int, int]


class Snapshot(NamedTuple):
    """`files`: what stands in the commit, and how each file looked when it was read. `modes`: unusual ones."""

    commit: str
    files: dict[bytes, Look]
    modes: dict[bytes, int]


def save(worktree: str, admin: str, ref: str, message: str, also: Iterable[str] = ()) -> Snapshot:
    """Durable when it returns: the ref holds on to everything, and on the commits of `also`."""
    listed = names(worktree)
    found = dict(walk(os.fsencode(worktree), listed))
    tree = tree_of(worktree, found)
    head = worktrees.head(worktree)
    parents = [head] if head else []
    parents.append(commit(worktree, index_tree(worktree), parents, f"{message}: index"))
    others = [oid for oid in dict.fromkeys([*also, *worktrees.named_commits(worktree, admin)]) if oid != head]
    if others:
        parents.append(commit(worktree, tree, others, f"{message}: commits that it named"))
    whole = commit(worktree, tree, parents, message)
    hold(worktree, ref, whole)
    return Snapshot(whole, {path: look(status) for path, status in found.items()}, unusual(found))


def hold(root: str, ref: str, oid: str) -> None:
    asked(root, "update-ref", "-m", "ib: kept for ib undo", ref, oid)


def hold_commits(root: str, ref: str, oids: Iterable[str], message: str) -> None:
    """Without any files: where those cannot be read, and for a branch alone."""
    wanted = list(dict.fromkeys(oid for oid in oids if oid))
    if wanted:
        hold(root, ref, wanted[0] if len(wanted) == 1 else commit(root, tree_from(root, b""), wanted, message))


def names(worktree: str) -> set[bytes]:
    """Tracked and new files, as far as git could hold them."""
    out = asked(worktree, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return {path for path in out.split(b"\0") if path and not any(part.lower() == b".git" for part in path.split(b"/"))}


def ignored(worktree: str) -> list[bytes]:
    """Whole folders where everything in them is."""
    out = asked(worktree, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    return [path for path in out.split(b"\0") if path]


def walk(top: bytes, wanted: set[bytes]) -> Iterator[tuple[bytes, os.stat_result]]:
    """Those of the wanted that are readable files or links here, never looked for through a link."""
    folders = {path[:at] for path in wanted for at in slashes(path)}
    todo = [b""]
    while todo:
        at = todo.pop()
        with os.scandir(top + b"/" + at) as entries:
            for entry in entries:
                path = at + entry.name
                if entry.is_dir(follow_symlinks=False):
                    todo += [path + b"/"] if path in folders else []
                elif path in wanted and is_kept(entry):
                    yield path, entry.stat(follow_symlinks=False)


def slashes(path: bytes) -> Iterator[int]:
    at = path.find(b"/")
    while at > 0:
        yield at
        at = path.find(b"/", at + 1)


def is_kept(entry: "os.DirEntry[bytes]") -> bool:
    status = entry.stat(follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        return True
    return stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST and os.access(entry.path, os.R_OK)


def look(status: os.stat_result) -> Look:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def tree_of(worktree: str, found: dict[bytes, os.stat_result]) -> str:
    oids = hashed(worktree, found)
    entries = b"".join(b"%s %s\t%s\0" % (kind(found[path]), oid, path) for path, oid in oids.items())
    return tree_from(worktree, entries)


def kind(status: os.stat_result) -> bytes:
    if stat.S_ISLNK(status.st_mode):
        return b"120000"
    return b"100755" if status.st_mode & stat.S_IXUSR else b"100644"


def hashed(worktree: str, found: dict[bytes, os.stat_result]) -> dict[bytes, bytes]:
    """path → the blob of its raw bytes. A link is written out first: git would read what it points to."""
    top = os.fsencode(worktree)
    with tempfile.TemporaryDirectory() as folder:
        sources = {}
        for number, (path, status) in enumerate(found.items()):
            sources[path] = path
            if stat.S_ISLNK(status.st_mode):
                sources[path] = b"%s/%d" % (os.fsencode(folder), number)
                with open(sources[path], "wb") as file:
                    file.write(os.readlink(top + b"/" + path))
        listed = b"".join(quoted(source) + b"\n" for source in sources.values())
        oids = asked(worktree, "hash-object", "-w", "--no-filters", "--stdin-paths", data=listed).split()
    return dict(zip(sources, oids, strict=True))


def quoted(path: bytes) -> bytes:
    """As git reads a name on a line of its own."""
    if all(0x20 <= byte != 0x7F and byte not in b'"\\' for byte in path):
        return path
    return b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'


def tree_from(worktree: str, entries: bytes) -> str:
    with tempfile.TemporaryDirectory() as folder:
        index = folder + "/index"
        asked(worktree, "update-index", "-z", "--index-info", data=entries, index=index)
        return text(asked(worktree, "write-tree", "--missing-ok", index=index))


def index_tree(worktree: str) -> str:
    """As a commit would have it; where that cannot be (a conflict), every entry below the number of its stage."""
    entries = asked(worktree, "ls-files", "--stage", "-z").split(b"\0")[:-1]
    stages = [entry.partition(b"\t")[0][-1:] for entry in entries]
    merged = all(stage == b"0" for stage in stages)
    flat = [staged(entry, b"" if merged else stage + b"/") for entry, stage in zip(entries, stages, strict=True)]
    return tree_from(worktree, b"".join(flat))


def staged(entry: bytes, below: bytes) -> bytes:
    fields, _, path = entry.partition(b"\t")
    mode, oid, _ = fields.split(b" ")
    return b"%s %s\t%s%s\0" % (mode, oid, below, path)


def commit(worktree: str, tree: str, parents: Iterable[str], message: str) -> str:
    words = [word for parent in parents for word in ("-p", parent)]
    return text(asked(worktree, "commit-tree", tree, *words, "-m", message))


def unusual(found: dict[bytes, os.stat_result]) -> dict[bytes, int]:
    """Permissions that a new file would not get by itself."""
    mask = umask()
    modes = {path: stat.S_IMODE(status.st_mode) for path, status in found.items() if not stat.S_ISLNK(status.st_mode)}
    return {path: mode for path, mode in modes.items() if mode != (0o777 if mode & 0o100 else 0o666) & ~mask}


def umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def slim(folder: str, snapshot: Snapshot) -> None:
    """Take out of a worktree that was moved aside what the commit holds; what was changed since then stays."""
    top = os.fsencode(folder)
    for path, before in snapshot.files.items():
        full = top + b"/" + path
        try:
            now = look(os.lstat(full))
            if now == before:
                os.unlink(full)
                remove_empty(top, path)
        except OSError:
            continue


def remove_empty(top: bytes, path: bytes) -> None:
    """Folders that held nothing but what is gone, as far as they are made again just so."""
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        try:
            if stat.S_IMODE(os.lstat(top + b"/" + path).st_mode) != 0o777 & ~umask():
                return
            os.rmdir(top + b"/" + path)
        except OSError:
            return


def asked(cwd: str, *args: str, data: bytes = b"", index: str = "") -> bytes:
    """However long it takes: nothing may be removed that could not be kept."""
    env = {**git_start.LITERAL, **WHO, **({"GIT_INDEX_FILE": index} if index else {})}
    try:
        start = git_start.prepared(cwd, *CONFIG, *args, env=env)
        done = subprocess.run(start.argv, cwd=cwd, env=start.env, input=data, capture_output=True, check=False)
    except FileNotFoundError:
        raise IbError("git is not installed", hint="ib doctor") from None
    if done.returncode:
        why = run.text(done.stderr).strip()
        raise IbError("git could not keep the files", cause=why, hint=f"git -C '{cwd}' status")
    return done.stdout


def text(data: bytes) -> str:
    return data.decode("ascii").strip()
