"""Merging in git's object store alone: no checkout, no branch and no index is touched."""

import os
import re
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.system.git import refs
from ibstatus.system.process import run

UNNAMED = ("a file that git does not name",)
AUTHOR = re.compile(rb"author (.*?) ?<([^>]*)> (\d+) ([+-]\d+)")
NOBODY = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in {"NAME": "ib", "EMAIL": "ib@example.invalid", "DATE": "@0 +0000"}.items()
}


class Merged(NamedTuple):
    """The tree that comes out, or the files that conflict."""

    tree: str
    conflicts: tuple[str, ...] = ()


class Carried(NamedTuple):
    """The last of the new commits, and how many were made; or what conflicts, and in which commit."""

    tip: str
    made: int = 0
    conflicts: tuple[str, ...] = ()
    at: str = ""


def merged(cwd: str, ours: str, theirs: str) -> Merged:
    """A three-way merge of two commits, as `git merge` would do it."""
    done = refs.asked(cwd, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    if done.code not in (0, 1):
        why = refs.complaint(done.err)
        hint = (
            f"git merge --allow-unrelated-histories {theirs[:12]}"
            if "unrelated" in why
            else "git --version: 2.38 or newer"
        )
        raise IbError("git could not try the merge", cause=why, hint=hint)
    tree, *names = [os.fsdecode(name) for name in done.out.split(b"\0") if name]
    return Merged(tree, (tuple(names) or UNNAMED) if done.code else ())


def commit(cwd: str, tree: str, parents: tuple[str, ...], message: bytes, env: dict[str, str], *options: str) -> str:
    named = [word for parent in parents for word in ("-p", parent)]
    done = refs.asked(cwd, *options, "commit-tree", tree, *named, *signature(cwd, env), data=message, env=env)
    if done.code:
        hint = (
            "git config user.name …; git config user.email …"
            if "ident" in done.err
            else "git commit, by hand, tells more"
        )
        raise IbError("git could not make the commit", cause=refs.complaint(done.err), hint=hint)
    return done.line


def signature(cwd: str, env: dict[str, str]) -> list[str]:
    """`commit-tree` leaves commit.gpgSign to its caller."""
    wanted = env is not NOBODY and refs.asked(cwd, "config", "--bool", "commit.gpgSign").line == "true"
    return ["-S"] if wanted else []


def carried(cwd: str, onto: str, tip: str) -> Carried:
    """Each commit that `onto` has not, one by one on top of it: as a rebase, merges and known changes left out."""
    options = ("--reverse", "--topo-order", "--no-merges", "--cherry-pick", "--right-only", "--end-of-options")
    listed = refs.asked(cwd, "rev-list", *options, f"{onto}...{tip}")
    if listed.code:
        raise IbError("git could not list the commits", cause=refs.complaint(listed.err), hint="git fsck")
    last, count = onto, 0
    for oid in listed.out.decode().split():
        made = picked(cwd, last, oid)
        if made.conflicts:
            return Carried(last, count, made.conflicts, oid)
        last, count = made.tip, count + made.made
    return Carried(last, count)


def picked(cwd: str, onto: str, oid: str) -> Carried:
    """One commit on top of another: a stand-in with the same parent makes of the pick a plain three-way merge."""
    parent = refs.tip_of(cwd, oid + "^")
    if not parent:
        raise IbError(f"{oid[:7]} has no parent: the two branches have no history in common", hint=f"git log {oid[:7]}")
    before = refs.tree_of(cwd, onto)
    stand_in = commit(cwd, before, (parent,), b"", NOBODY)
    made = merged(cwd, stand_in, oid)
    if made.conflicts:
        return Carried(onto, 0, made.conflicts)
    if made.tree == before and refs.tree_of(cwd, oid) != refs.tree_of(cwd, parent):
        return Carried(onto)  # all of it is there already
    return Carried(copied(cwd, oid, made.tree, onto), 1)


def copied(cwd: str, oid: str, tree: str, parent: str) -> str:
    """The commit once more, with another tree and parent; author, date and the message's bytes stay."""
    head, _, message = refs.asked(cwd, "cat-file", "commit", oid).out.partition(b"\n\n")
    encoding = next((line[9:] for line in head.split(b"\n") if line.startswith(b"encoding ")), b"UTF-8")
    found = AUTHOR.search(head)
    env: dict[str, str] = {}
    if found:
        name, email, at, zone = (os.fsdecode(group) for group in found.groups())
        env = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email, "GIT_AUTHOR_DATE": f"@{at} {zone}"}
    return commit(cwd, tree, (parent,), message, env, "-c", "i18n.commitEncoding=" + run.text(encoding))
