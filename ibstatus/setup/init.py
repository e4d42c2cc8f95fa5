"""init: make .ittybitty, or put right what is there."""

import os
import stat
import time
from shlex import quote

from ibstatus.errors import IbError
from ibstatus.mail import cursors, json_list, questions
from ibstatus.model.fleet import Setup
from ibstatus.node import block, hide_from_git, node
from ibstatus.project import founding, git_exclude, home, identity, paths, safety_copy
from ibstatus.setup import hooks
from ibstatus.system import atomic, disk, locks
from ibstatus.system.userfiles import displaced


def init(place: paths.Place, caller: identity.Caller, gitignore: bool, answer: str = "") -> Setup:
    """Once more is fine: what is missing is made, what is there stays. `answer`: see `founding.settle`."""
    if caller.kind == identity.AGENT:
        raise IbError(
            f"An agent cannot set up its repository, and this is the worktree of {caller.name}",
            hint=f"cd {quote(place.root)} && ib init",
        )
    known, before = home.format_of(place), disk.exists(place.home)
    if answer and not founding.other_path(place):
        raise IbError(f"This repository was not {answer}: it is at {place.root}, as ib knows", hint="ib init")
    founding.settle(place, gitignore=gitignore, answer=answer)
    with locks.Lock(place.lock("setup")):
        founding.settle(place, gitignore=gitignore)  # an uninstall may have come in between
        mend(place)
        said, hidden = claude_md(place)
    hooks.remember()
    return Setup(
        root=place.root,
        home=place.home,
        repo_id=disk.read_file(place.repo_id).decode("ascii", "replace").strip(),
        made=not before,
        kept_out_by=kept_out_by(place),
        hidden=hidden,
        notes=notes(place, before and not known) + said,
        claude_md=node.path_of(place) if block.has_block(node.path_of(place)) else "",
    )


def claude_md(place: paths.Place) -> tuple[list[str], str]:
    """The block for Claude, out of git's sight; (what there is to warn of, how git is kept from seeing it).

    What cannot be hidden is said, and works all the same."""
    recovered = displaced.recover(node.desk_of(place))
    hide_from_git.recover(place)
    if not node.is_wanted(place):
        return recovered, ""
    hidden = hide_from_git.hide(place)
    said = [] if hidden.yes else [f"git will show what ib writes into CLAUDE.md: {hidden.why}"]
    return recovered + said + block.put_in(place, hidden.yes and hidden.local), hidden.why if hidden.yes else ""


def kept_out_by(place: paths.Place) -> str:
    for name in git_exclude.BOTH:
        if git_exclude.says(place, name):
            return git_exclude.path_of(place, name)
    return ""


def notes(place: paths.Place, taken_over: bool) -> list[str]:
    found = ["what an older tool left in .ittybitty was taken over"] if taken_over else []
    shared = founding.sharers(place)
    if shared:
        found.append(f"{place.home} is shared with {', '.join(shared)}: their agents and messages are mixed with yours")
    if not kept_out_by(place) and git_exclude.in_checkout(place):
        found.append(f"{git_exclude.path_of(place)} could not be written, so git shows .ittybitty as untracked")
    return found


def mend(place: paths.Place) -> None:
    """What `ib init` puts right besides: safety copies that are gone or old, modes, leftovers of killed writers."""
    with locks.Lock(place.lock("messages")):
        keep_array(place, place.messages, "")
    with locks.Lock(place.lock("questions")):
        keep_array(place, place.questions, questions.KEY)
    with locks.Lock(place.lock("queue")):
        relink(place, place.queue)
    for name in cursors.names(place):
        relink(place, place.cursor(name))
    for folder in ("", "/notify", "/notify/cursors"):
        atomic.sweep(place.home + folder, time.time())
        tighten(place.home + folder)


def keep_array(place: paths.Place, path: str, key: str) -> None:
    """Only a file that can be read becomes the copy: a broken one must not push out the last good one."""
    try:
        data = disk.read_file(path)
    except FileNotFoundError:
        return
    if json_list.parsed(data, key) is not None and safety_copy.read_copy(place, path) != data:
        safety_copy.keep_copy(place, path, data)


def relink(place: paths.Place, path: str) -> None:
    try:
        safety_copy.keep_link(place, path, disk.stat(path).st_ino)
    except FileNotFoundError:
        return


def tighten(folder: str) -> None:
    """Our own files lose what others may do with them."""
    for leaf in disk.listdir(folder):
        status = disk.lstat(f"{folder}/{leaf}")
        if stat.S_ISREG(status.st_mode) and status.st_mode & founding.OPEN_TO_OTHERS and status.st_uid == os.geteuid():
            disk.chmod(f"{folder}/{leaf}", stat.S_IMODE(status.st_mode) & ~founding.OPEN_TO_OTHERS)
