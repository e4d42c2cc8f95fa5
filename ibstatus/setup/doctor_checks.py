"""What `ib doctor` says of the board. It only looks: nothing is made, and no lease is ended.

What `ib doctor` says of the agents: who was cut off, and which rules about screens are left out.

What `ib doctor` says of the node and of the supervisor: can CLAUDE.md be kept true, how, and by whom.
"""

import os
import time
from collections.abc import Iterator
from shlex import quote

import ibstatus
from ibstatus.agents import resume_all
from ibstatus.agents.rules import resume_plan
from ibstatus.board import opening
from ibstatus.board.port import Board
from ibstatus.board.rules import validation as rule
from ibstatus.claude.screens import user_rules as rules
from ibstatus.errors import IbError, visible
from ibstatus.model.fleet import Finding
from ibstatus.node import node
from ibstatus.node.rules import block
from ibstatus.project import agent_meta, agents, config, paths, supervisor_process
from ibstatus.project.rules import counts, findings, settings_text
from ibstatus.state import snapshot
from ibstatus.state.fleet import STALE_AFTER
from ibstatus.system import atomic, disk, leases, timestamps
from ibstatus.system.text import markers, times
from ibstatus.system.userfiles import displaced, edit

SUBJECT, UP = "board", "ib board up"


def board(place: paths.Place) -> Iterator[Finding]:
    if not opening.is_there(place):
        yield findings.ok(SUBJECT, f"none yet; {UP} makes one")
        return
    try:
        missing = opening.lacking(place)
        if missing:
            yield Finding("note", SUBJECT, f"the board lacks {', '.join(missing)}; the next command adds it", UP)
            return
        found = opening.opened(place)
        try:
            yield findings.ok(SUBJECT, where(place))
            yield from kept(place, found)
        finally:
            found.close()
    except IbError as error:
        cause = f" ({visible(error.cause)})" if error.cause else ""
        yield Finding("warn", SUBJECT, f"{visible(error.message)}{cause}", error.hint)


def where(place: paths.Place) -> str:
    dsn = opening.dsn_of(place)
    return f"PostgreSQL: {visible(settings_text.masked(dsn))}" if dsn else place.board


def kept(place: paths.Place, found: Board) -> Iterator[Finding]:
    stuck = [
        f"{entry.id} ({entry.status})"
        for entry in found.entries(agent_meta.repo_id(place), open_only=True)
        if entry.status in (rule.M_CONFLICT, rule.M_FAILED)
    ]
    if stuck:
        text = f"in the merge queue somebody is needed for {counts.some(stuck)}"
        yield Finding("warn", SUBJECT, text, "ib board merge list")
    now = timestamps.utc(time.time())
    late = [task.id for task in found.tasks(statuses=(rule.CLAIMED,)) if task.lease_until and task.lease_until < now]
    if late:
        text = f"no sign of life from who has {counts.some(late)}; whoever claims, watches or merges next frees it"
        yield Finding("note", SUBJECT, text, f"ib board show {late[0]}")


def cut_off(place: paths.Place) -> Iterator[Finding]:
    """By what was published last: a look of our own would write."""
    published = snapshot.read(place, ibstatus.__version__)
    names = resume_all.cut_off(place, published[0].agents) if published is not None else []
    if names:
        yield Finding("note", "agents", resume_plan.notice(len(names)), "ib resume --all")


def lost_worktrees(place: paths.Place) -> Iterator[Finding]:
    for agent in agents.all_ids(place):
        again = agent_meta.lost_worktree(place, agent)
        if again:
            yield Finding("warn", "agents", f"the worktree of {agent} is gone", again)


def screen_rules(place: paths.Place) -> Iterator[Finding]:
    broken = rules.problems(place)
    for text in broken:
        yield Finding("warn", "screen-rules", text, "ib parse-state -v FILE tells more")
    if not broken:
        yield findings.ok("screen-rules", "what screens mean is known")


def claude_md(place: paths.Place) -> Iterator[Finding]:
    """The file, its block and its node; then how it can be written."""
    if not node.is_wanted(place):
        yield Finding("note", "node", "the status node is switched off in the settings", "ib config list")
        return
    path = node.path_of(place)
    try:
        data = edit.read(path)
        spot = markers.find(data)
    except FileNotFoundError:
        yield Finding("warn", "node", "there is no CLAUDE.md, so Claude does not see its agents there", findings.INIT)
        return
    except OSError as error:
        yield Finding("warn", "node", f"CLAUDE.md cannot be read: {error.strerror}", f"ls -ld {quote(path)}")
        return
    except markers.Malformed as error:
        text = f"CLAUDE.md is left alone: line {error.line}: {error.why}"
        yield Finding("fail", "node", text, f"mend line {error.line} of {quote(path)}, then {findings.INIT}")
        return
    if spot is None:
        yield Finding("warn", "node", "CLAUDE.md has no <ittybitty> block, so there is no place for it", findings.INIT)
        return
    yield findings.block(block.version_of(data))
    yield from ways(path)
    for text in displaced.kept(node.desk_of(place)):
        yield Finding("warn", "node", text, "take out of it what you need, then remove it and its .json")


def ways(path: str) -> Iterator[Finding]:
    """How the node can be rewritten beside the programs of a person."""
    target = atomic.resolved(path)
    status = disk.lstat(target)
    if not status.st_mode & edit.OWNER_WRITES or not os.access(target, os.W_OK):
        yield Finding(
            "warn", "node", "CLAUDE.md is read-only, so its node stays as it is", f"chmod u+w {quote(target)}"
        )
        return
    alone = lease(target)
    if is_mounted(target):
        yield Finding("note", "node", "CLAUDE.md is a mount of its own: its node is written in place, and cannot grow")
    elif status.st_nlink > 1 and alone != leases.NONE:
        yield Finding("note", "node", "CLAUDE.md has another name (hard link): its node cannot grow")
    elif status.st_nlink > 1:
        text = "CLAUDE.md has another name (hard link), and there are no leases here: its node stays as it is"
        yield Finding("warn", "node", text, "remove the other name")
    elif alone == leases.NONE:
        text = "there are no leases here, or the file is not yours: CLAUDE.md is exchanged, not written in place"
        yield Finding("note", "node", text)
    else:
        yield findings.ok("node", "it can be written in place, alone with the file")


def is_mounted(target: str) -> bool:
    """A file can be a mount point by itself, as in containers."""
    try:
        lines = disk.read_file("/proc/self/mountinfo").decode("utf-8", "replace").splitlines()
    except OSError:
        return False
    return any(line.split(" ")[4].replace("\\040", " ") == target for line in lines if line.count(" ") > 4)


def lease(target: str) -> str:
    fd = disk.open(target, disk.O_RDWR | disk.O_NOFOLLOW | disk.O_NONBLOCK | disk.O_CLOEXEC)
    try:
        answer = leases.take(fd)
        if answer == leases.GRANTED:
            leases.drop(fd)
        return answer
    finally:
        disk.close(fd)


def supervisor(place: paths.Place) -> Iterator[Finding]:
    process = supervisor_process.holder(place) if supervisor_process.is_running(place) else None
    if process is None:
        off = os.environ.get(supervisor_process.SWITCH) == "off"
        then = (
            f"{supervisor_process.SWITCH}=off keeps commands from starting it"
            if off
            else "the next command that needs one starts it"
        )
        yield Finding("note", "supervisor", f"none runs now; {then}")
        return
    published = snapshot.read(place, ibstatus.__version__)
    age = time.time() - published[1] if published is not None else float("inf")
    interval = int(config.value(place, "status_node.update_interval"))
    if age > STALE_AFTER * interval:
        since = "has published nothing of this version" if published is None else f"looked last {times.age(age)} ago"
        hint = f"kill {process.pid}; see {quote(supervisor_process.log_of(place))}"
        yield Finding("warn", "supervisor", f"it runs (PID {process.pid}), but {since}", hint)
    else:
        yield findings.ok("supervisor", f"it runs (PID {process.pid}) and looked {times.age(age)} ago")
