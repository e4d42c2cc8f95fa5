"""Ending processes: those of one pane and those of one agent. By pid and start time, so that nobody else is hit.

All processes of this user with what they say of themselves: one pass, whatever the number of agents.
"""

import os
import time
from collections.abc import Callable, Container, Iterable
from typing import NamedTuple

import psutil

from ibstatus.system.process import classify, run
from ibstatus.system.process.classify import Process, line_in

PATIENCE = 2.0
LAUNCHER_PATIENCE = 0.5
KILLED_WITHIN = 2.0
LAUNCHERS = ("start.sh", "resume.sh")
AGENT = "IB_AGENT_ID"


def family(pid: int) -> list[psutil.Process]:
    """This process, everything below it, and what else lives in its POSIX session; never ourselves."""
    try:
        top = psutil.Process(pid)
        found = [top, *top.children(recursive=True)]
    except psutil.Error:
        return []
    if session_of(pid) == pid:  # a session of its own: whoever is in it was started from here
        found += of_session(pid)
    return distinct(found)


def of_session(session: int) -> list[psutil.Process]:
    """Also when the process that began it is over."""
    return [other for other in run.running() if session_of(other.pid) == session]


def session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def distinct(found: Iterable[psutil.Process]) -> list[psutil.Process]:
    mine = os.getpid()
    return [process for process in dict.fromkeys(found) if process.pid != mine]


def strays(folder: str, agent: str) -> list[psutil.Process]:
    """Processes that work in this folder and say that they are this agent's, wherever their terminal is. Not what
    others may be using, such as a tmux server that was started from there, and what lives in it."""
    known = distinct(one for one in run.running() if is_in(one, folder) and says_agent(one, agent))
    return [one for one in known if not is_used(one, agent)]


def is_used(process: psutil.Process, agent: str) -> bool:
    argv = words_of(process)
    if classify.is_shared(argv):
        return True
    try:
        own, below, above = terminal_of(process), process.children(recursive=True), process.parents()
    except psutil.Error:
        return False
    if any(classify.is_shared(words_of(one)) and says_agent(one, agent) for one in above):
        return True
    return not classify.is_ours(argv) and any(terminal_of(one) not in ("", own) for one in below)


def words_of(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except (psutil.Error, OSError):
        return []


def terminal_of(process: psutil.Process) -> str:
    try:
        return run.terminal_of(process)
    except psutil.Error:
        return ""


def inside(folder: str) -> list[psutil.Process]:
    """Whoever stands in this folder."""
    return distinct(one for one in run.running() if is_in(one, folder))


def using(folder: str, agent: str) -> list[psutil.Process]:
    """Whoever stands there, has a file of it open, or is this agent, of whatever repository."""
    known = run.running()
    return distinct(one for one in known if is_in(one, folder) or says_agent(one, agent) or has_open(one, folder))


def has_open(process: psutil.Process, folder: str) -> bool:
    try:
        return any(file.path.startswith(folder + "/") for file in process.open_files())
    except (psutil.Error, OSError):
        return False


def is_in(process: psutil.Process, folder: str) -> bool:
    try:
        cwd = process.cwd().removesuffix(" (deleted)")
    except (psutil.Error, OSError):
        return False
    return cwd == folder or cwd.startswith(folder + "/")


def says_agent(process: psutil.Process, agent: str) -> bool:
    try:
        return process.environ().get(AGENT) == agent
    except (psutil.Error, OSError):
        return False


def clients(top: int, found: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Who is asked to end first, so that its last hook still runs: what the launcher has started, or the pane's own."""
    known = list(found)
    return [one for one in known if parent_of(one) == top] if is_launcher(top) else [p for p in known if p.pid == top]


def parent_of(process: psutil.Process) -> int:
    try:
        return process.ppid()
    except psutil.Error:
        return -1


def is_launcher(pid: int) -> bool:
    try:
        return any(word.endswith(LAUNCHERS) for word in psutil.Process(pid).cmdline())
    except psutil.Error:
        return False


def end_processes(
    first: Iterable[psutil.Process], known: list[psutil.Process], launchers: float = LAUNCHER_PATIENCE
) -> bool:
    """TERM to the first, at most two seconds, KILL to all that is left; True when there was somebody to end.
    `launchers`: the time that those who had started them have left."""
    asked = [process for process in first if signalled(process, process.terminate)]
    gone_within(asked, PATIENCE)
    if asked:
        gone_within(known, launchers)  # who had started them writes down how they ended
    hit = [process for process in grown(known) if is_alive(process) and signalled(process, process.kill)]
    gone_within(hit, KILLED_WITHIN)
    return bool(asked or hit)


def grown(known: list[psutil.Process]) -> list[psutil.Process]:
    """With what they have started meanwhile. Not looked up by session again: its number may be another's by now."""
    found = list(known)
    for process in known:
        try:
            found += process.children(recursive=True)
        except psutil.Error:
            continue
    return distinct(found)


def signalled(process: psutil.Process, send: Callable[[], None]) -> bool:
    """psutil looks at the start time before it sends: a pid that was given out again is left alone."""
    try:
        send()
    except psutil.Error:
        return False
    return True


def gone_within(found: list[psutil.Process], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while any(is_alive(process) for process in found):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def is_alive(process: psutil.Process) -> bool:
    """A zombie is dead: whose parent does not look is no matter of ours."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


FIRST = 1  # of a container: none that anybody would miss here
ID, TOKEN = "IB_AGENT_ID", "IB_AGENT_TOKEN"


class Pass(NamedTuple):
    """`hidden`: how many of this user's the system would not let us look into."""

    found: list[Process]
    hidden: int


def look() -> Pass:
    """Ourselves left out."""
    found: list[Process] = []
    hidden = 0
    mine = os.getuid()
    for process in run.running():
        try:
            if process.pid == os.getpid() or process.uids().real != mine:
                continue
            with process.oneshot():
                env = process.environ()
                found.append(told(process, env))
        except psutil.AccessDenied:
            hidden += process.pid != FIRST
        except (psutil.Error, OSError):
            continue
    return Pass(found, hidden)


def told(process: psutil.Process, env: dict[str, str]) -> Process:
    argv = tuple(process.cmdline())
    return Process(
        pid=process.pid,
        parent=process.ppid(),
        started=process.create_time(),
        argv=argv or (process.name(),),
        agent=env.get(ID, ""),
        token=env.get(TOKEN, ""),
        cwd=folder_of(process),
        terminal=run.terminal_of(process),
    )


def folder_of(process: psutil.Process) -> str:
    try:
        return process.cwd().removesuffix(" (deleted)")
    except (psutil.Error, OSError):
        return ""


def end_lines(socket: str, watch: str, sessions: Container[str]) -> bool:
    """Lines to this server whose holder and whose session are gone. False when there was one, or one is not quite gone
    yet: to be looked at again. Of processes that are no tmux only the names are read."""
    done = True
    for process in run.running():
        try:
            line = line_in(process.cmdline(), watch) if process.name().startswith("tmux") else None
            if line is None or line.socket != socket or line.holder == process.ppid():
                continue
            done = False
            if line.session not in sessions:
                process.terminate()
        except (psutil.Error, OSError):
            continue
    return done


def end_process(pid: int, started: float) -> bool:
    """TERM, then KILL; nobody who was given the number since."""
    try:
        process = psutil.Process(pid)
        if abs(process.create_time() - started) > 0.01:
            return False
    except psutil.Error:
        return False
    return end_processes([process], [process])
