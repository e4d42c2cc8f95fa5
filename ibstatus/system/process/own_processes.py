"""All processes of this user with what they say of themselves: one pass, whatever the number of agents."""

import os
from collections.abc import Container
from typing import NamedTuple

import psutil

from ibstatus.system.process import run, user_processes
from ibstatus.system.process.classify import Process, line_in

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


def end(pid: int, started: float) -> bool:
    """TERM, then KILL; nobody who was given the number since."""
    try:
        process = psutil.Process(pid)
        if abs(process.create_time() - started) > 0.01:
            return False
    except psutil.Error:
        return False
    return user_processes.end([process], [process])
