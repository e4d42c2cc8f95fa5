"""The files of a snapshot, put back byte for byte.

The refs that hold what `ib undo` brings back: listed, put into one file, let go.
"""

import os
import stat
import subprocess
from collections.abc import Iterator, Mapping

from ibstatus.agents.undo import git_snapshot
from ibstatus.errors import IbError
from ibstatus.system.git import index
from ibstatus.system.git import start as git_start

CHUNK = 1 << 20


def fill(worktree: str, root: str, commit: str, modes: Mapping[bytes, int], part: str) -> list[str]:
    """Put back what the commit holds, except where something lies already, which is younger. Returns what could not be.

    `part`: a path on the same file system for the file that is being written, so that a kill leaves no half one."""
    top, missing = os.fsencode(worktree), []
    with Blobs(root) as blobs:
        for entry in git_snapshot.asked(root, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
            fields, _, path = entry.partition(b"\t")
            mode, _, oid = fields.split(b" ")
            if os.path.lexists(top + b"/" + path):
                continue
            if not made_folders(top, path):
                missing.append(os.fsdecode(path))
                continue
            put(top + b"/" + path, mode, blobs.read(oid), modes.get(path), os.fsencode(part))
    return missing


def made_folders(top: bytes, path: bytes) -> bool:
    """False where something else stands in the way: nothing is ever written through a link."""
    for at in git_snapshot.slashes(path):
        try:
            os.mkdir(top + b"/" + path[:at])
        except FileExistsError:
            if not stat.S_ISDIR(os.lstat(top + b"/" + path[:at]).st_mode):
                return False
    return True


def put(target: bytes, mode: bytes, chunks: Iterator[bytes], bits: int | None, part: bytes) -> None:
    if os.path.lexists(part):
        os.unlink(part)
    if mode == b"120000":
        os.symlink(b"".join(chunks), part)
    else:
        usual = 0o777 if mode == b"100755" else 0o666
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, usual), "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            if bits is not None:
                os.fchmod(file.fileno(), bits)
    os.rename(part, target)


class Blobs:
    """`git cat-file --batch`, asked for one blob after the other."""

    def __init__(self, root: str) -> None:
        start = git_start.prepared(root, "cat-file", "--batch", env=git_start.LITERAL)
        self.process = subprocess.Popen(
            start.argv,
            cwd=root,
            env=start.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> "Blobs":
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.communicate()

    def read(self, oid: bytes) -> Iterator[bytes]:
        """Its bytes in pieces, which must be taken to the end before the next one is asked for."""
        pipe_in, pipe_out = self.process.stdin, self.process.stdout
        assert pipe_in is not None
        assert pipe_out is not None
        pipe_in.write(oid + b"\n")
        pipe_in.flush()
        words = pipe_out.readline().split()
        if len(words) != 3:
            raise IbError(f"git has lost the object {oid.decode()}", hint="git fsck")
        left = int(words[2])
        while left:
            chunk = pipe_out.read(min(left, CHUNK))
            if not chunk:
                raise IbError(f"git could not read the object {oid.decode()}", hint="git fsck")
            left -= len(chunk)
            yield chunk
        pipe_out.read(1)


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
