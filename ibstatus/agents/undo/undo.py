"""undo: what a kill, merge, nuke or gc took away comes back as it was. Every step can be done twice."""

import os
import time
from collections.abc import Callable
from itertools import count

from ibstatus.agents import reassign
from ibstatus.agents import recover as mending
from ibstatus.agents.undo import git_restore, log, mail
from ibstatus.errors import IbError, quoted
from ibstatus.project import agent_meta, agents, home, logs, operations, paths
from ibstatus.project.rules import counts
from ibstatus.system import atomic, disk, folders, git_layout
from ibstatus.system.git import index, worktrees

Say = Callable[[str], None]
OURS = b"ib undo\n"


def undo(place: paths.Place, wanted: str, say: Say, keep_merge: bool = False) -> list[log.Record]:
    """The whole group of one command, the last removed first. Refused before anything is changed. `keep_merge`: the
    agents alone; the branch that one was merged into stays as it is."""
    home.look(place)
    mending.everything(place, say)
    group = log.chosen(place, wanted)
    for record in group:
        check(place, record)
    for record in group:
        with operations.begin(place, "undo", record.agent, record=record.name, keep_merge=keep_merge) as op:
            look_again(op, record)
            take_back_merge(op, record, say)
            bring_back(op, say)
            op.done()
    return group


def check(place: paths.Place, record: log.Record) -> None:
    agent = record.agent
    if agent == log.MAIL:
        return
    if agents.exists(place, agent) or folders.is_there(place.agent_dir(agent)):
        raise IbError(
            f"There is an agent {agent} again, so the earlier one cannot come back",
            hint=f"ib kill {agent}, then this again",
        )
    clash = in_the_way(place, record.branch) if record.branch else ""
    if clash:
        hint = f"git branch -m {quoted(clash)} {quoted('kept-' + clash.replace('/', '-'))}"
        raise IbError(f"There is a branch {clash}, and git allows none called {record.branch} beside it", hint=hint)
    now = worktrees.tip(place.git_folder, record.branch) if record.branch else ""
    if now and now != record.tip:
        hint = f"git branch -m {quoted(record.branch)} {quoted(record.branch + '-newer')}"
        raise IbError(f"There is a branch {record.branch} again, at another commit", hint=hint)
    for commit in (record.commit, record.tip):
        if commit and index.asked(place.git_folder, "cat-file", "-e", commit).code:
            raise IbError(f"git has lost the commit {commit[:12]}, which kept {agent}", hint="git fsck --lost-found")


def in_the_way(place: paths.Place, branch: str) -> str:
    """A branch below this one, or one that is the beginning of its name; ''."""
    below = index.asked(place.git_folder, "for-each-ref", "--format=%(refname:short)", f"refs/heads/{branch}/").line
    parts = branch.split("/")
    above = ("/".join(parts[:count]) for count in range(1, len(parts)))
    return below.partition("\n")[0] or next((name for name in above if worktrees.tip(place.git_folder, name)), "")


def look_again(op: operations.Operation, record: log.Record) -> None:
    """Now that nobody else can be at work on it."""
    try:
        if log.read(op.place, record.name) is None:
            raise IbError(f"{record.name} was undone already, by somebody else", hint="ib undo --list")
        check(op.place, record)
    except IbError:
        op.done()
        raise


def take_back_merge(op: operations.Operation, record: log.Record, say: Say) -> None:
    """First of all: where the branch has gone on, it is refused, and nothing was changed."""
    if not record.merge or op.facts.get("taken_back") or op.facts.get("keep_merge"):
        return
    try:
        mending.take_back_merge(op.place, record.merge, say)
    except IbError:
        op.done()
        raise
    op.note(taken_back=True)


def bring_back(op: operations.Operation, say: Say) -> None:
    place, record = op.place, log.read(op.place, str(op.facts["record"]))
    if record is None:  # cut off after all was back
        log.forget_removals(place, [str(op.facts["record"])])
        return
    if record.agent == log.MAIL:
        mail.bring_back(place, record)
    else:
        bring_agent(op, record, say)
    now = time.time()
    logs.note(place, "cli", now, {"kind": "undo.done", "who": record.agent, "id": record.name})
    log.forget_removals(place, [record.name], keep_commits=bool(op.facts.get("missing")))


def bring_agent(op: operations.Operation, record: log.Record, say: Say) -> None:
    place = op.place
    missing = refill(place, record)
    if missing:
        op.note(missing=True)
    for path in missing:
        say(f"Warning: something lies in the way of {path}; it is kept in {log.ref_of(record.name)}")
    if record.branch and not worktrees.make_branch(place.git_folder, record.branch, record.tip):
        raise IbError(f"There is a branch {record.branch} again, at another commit", hint="git branch -m")
    admin = put_admin(op, record)
    folder, target = f"{log.folder(place, record.name)}/{log.AGENT}", place.agent_dir(record.agent)
    if folders.is_there(folder):
        if folders.is_there(target):
            raise IbError(f"{target} is there again, so {record.agent} cannot come back", hint=f"ls {quoted(target)}")
        folders.move(folder, target)
    settle(place, record, admin, say)
    if record.dropped:
        say(f"Warning: what git ignored went earlier, to save space: {counts.some(record.dropped)}")


def refill(place: paths.Place, record: log.Record) -> list[str]:
    """Back into the worktree that was moved aside, and this back into the agent's folder. Returns what did not fit."""
    folder = log.folder(place, record.name)
    rest = f"{folder}/{log.REST}"
    if not folders.is_there(rest):
        return []
    modes = {path.encode("latin-1"): mode for path, mode in record.modes.items()}
    part = f"{folder}/{log.PART}"
    missing = git_restore.fill(rest, place.git_folder, record.commit, modes, part) if record.commit else []
    disk.make_dirs(f"{folder}/{log.AGENT}")
    disk.rename(rest, f"{folder}/{log.AGENT}/repo")
    return missing


def put_admin(op: operations.Operation, record: log.Record) -> str:
    """git's own directory, locked until its worktree is there too: nobody may prune it in between."""
    place, source = op.place, f"{log.folder(op.place, record.name)}/{log.ADMIN}"
    if not record.admin:
        return ""
    if folders.is_there(source):
        target = free_admin(place, record.admin)
        op.note(admin=target)
        if not disk.exists(source + "/locked"):
            atomic.put(source + "/locked", OURS)
        atomic.put(source + "/gitdir", os.fsencode(place.agent_dir(record.agent)) + b"/repo/.git\n")
        folders.move(source, target)
    return str(op.facts.get("admin") or "")


def free_admin(place: paths.Place, name: str) -> str:
    """git hands names out again; what is inside and holds on to the old one is put right by `join`."""
    number, path = 0, f"{place.common}/worktrees/{name}"
    while folders.is_there(path):
        number += 1
        path = f"{place.common}/worktrees/{name}{number}"
    return path


def settle(place: paths.Place, record: log.Record, admin: str, say: Say) -> None:
    """The links between the two, the mail, the children; the agent is there, and does not run."""
    agent = record.agent
    if admin:
        join(place.agent_dir(agent) + "/repo", admin, say)
    now = time.time()
    known = agent_meta.read(place, agent)
    if known and not known.get("ended"):
        agent_meta.change(place, agent, ended={"code": None, "at": now})
    agents.keep(place, agent)
    reassign.ask_again(place, record.questions, agent)
    reassign.give_back(place, record.children, agent, record.manager, say)
    logs.write(place, agent, f"Brought back by undo ({record.kind})", now)
    logs.note(place, agent, now, {"kind": "agent.stopped", "who": agent, "reason": "brought back"})


def join(repo: str, admin: str, say: Say) -> None:
    """The worktree points to git's directory of it, which may have another name by now; that need not be locked."""
    is_link = os.path.islink(repo)  # what it leads to is somebody else's
    if os.path.isdir(repo + "/.git") and not is_link:
        aside = next(name for number in count() if not folders.is_there(name := f"{repo}/.git-{number}"))
        disk.rename(repo + "/.git", aside)
        say(f"{repo}/.git was a folder, and is now {aside}")
    if folders.is_there(repo) and not is_link and git_layout.pointed(repo + "/.git", repo) != admin:
        atomic.put(repo + "/.git", b"gitdir: " + os.fsencode(admin) + b"\n")
    if disk.exists(admin + "/locked") and disk.read_file(admin + "/locked") == OURS:
        disk.unlink(admin + "/locked")
    if folders.is_there(repo) and not is_link:
        worktrees.join(admin, repo)
        worktrees.look_again(repo)


def recover(op: operations.Operation, say: Say) -> None:
    """An undo that was cut off was wanted: it is brought to its end."""
    record = log.read(op.place, str(op.facts.get("record") or ""))
    if record is not None:
        take_back_merge(op, record, say)
    if "record" in op.facts:  # else it was cut off before anything was said
        bring_back(op, say)
        say(f"Finished what was cut off: {op.agent} is back")
    op.done()
