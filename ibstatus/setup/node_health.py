"""What `ib doctor` says of the node and of the supervisor: can CLAUDE.md be kept true, how, and by whom."""

import os
import time
from collections.abc import Iterator
from shlex import quote

import ibstatus
from ibstatus.model.fleet import Finding
from ibstatus.node import node
from ibstatus.node.rules import block
from ibstatus.project import config, paths, supervisor_process
from ibstatus.project.rules import findings
from ibstatus.state import snapshot
from ibstatus.state.fleet import STALE_AFTER
from ibstatus.system import atomic, disk, leases
from ibstatus.system.text import markers, times
from ibstatus.system.userfiles import displaced, edit


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
