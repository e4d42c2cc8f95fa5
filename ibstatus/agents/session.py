"""What an agent's session runs with, put back where `git clean` has taken it: from its copy, else made anew.

Starting an agent's session: its worktree, its files, its client in a tmux session of its own.

Ending an agent's client and its terminal session; its files stay. Used by pause, kill and merge.

.worktreeinclude: what git ignores and an agent needs all the same (.env and the like), copied to its worktree.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

from ibstatus.agents import role_files, settings
from ibstatus.agents.rules import start_script
from ibstatus.claude import client as clients
from ibstatus.claude import sessions
from ibstatus.errors import IbError, logged
from ibstatus.project import agent_meta, agents, logs, operations, paths, roles, tokens
from ibstatus.system import atomic, disk, locks
from ibstatus.system.git import index
from ibstatus.system.git import run as git
from ibstatus.system.process import user_processes
from ibstatus.system.tmux import connect_lock, server

REST = 2.0


def mend(place: paths.Place) -> list[str]:
    """Of everybody on whom nobody is at work; returns what could not be made."""
    said = []
    for agent in agent_meta.names_of(place):
        if agents.exists(place, agent) and not is_going(place, agent) and is_missing(place, agent):
            try:
                mend_one(place, agent)
            except Exception as error:
                said.append(f"the files of {agent}: {logged(error)}")
    return said


def is_going(place: paths.Place, agent: str) -> bool:
    """Who removes all of the repository may have begun here: a moment later it is gone, or a clean has come further."""
    try:
        return 0 <= time.time() - disk.stat(place.agent_dir(agent)).st_mtime < REST
    except OSError:
        return True


def is_missing(place: paths.Place, agent: str) -> bool:
    """A letter is missing only where there is a copy of it; so is all the rest of one that was made by hand."""
    lost = [leaf for leaf in agents.KEPT if not disk.exists(f"{place.agent_dir(agent)}/{leaf}")]
    if not lost:
        return False
    ours = any(leaf in agents.STARTED for leaf in lost) and is_ours(agent_meta.read(place, agent))
    return ours or any(disk.exists(place.safe_copy(f"{place.agent_dir(agent)}/{leaf}")) for leaf in lost)


def is_ours(known: dict[str, object]) -> bool:
    """Begun by `ib new-agent`, which has written all of them."""
    return "client" in known and "session_id" in known and isinstance(known.get("started"), int | float)


def mend_one(place: paths.Place, agent: str) -> None:
    lock = locks.Lock(operations.lock_of(place, agent))
    if not lock.try_take():
        return
    try:
        if operations.read(place, agent) or not agents.exists(place, agent):
            return
        agents.bring_back(place, agent)
        known, folder = agent_meta.read(place, agent), place.agent_dir(agent)
        if not is_ours(known):
            return
        if not (disk.exists(folder + "/settings.local.json") and disk.exists(folder + "/start.sh")):
            write_script(place, agent, known)
        if not disk.exists(folder + "/prompt.txt"):
            write_prompt(place, agent, known)
            agents.keep(place, agent)
    finally:
        lock.release()


def make_worktree(place: paths.Place, agent: str, commit: str) -> None:
    """On a branch of its own; what git says of it goes nowhere but into the error."""
    folder = place.agent_dir(agent) + "/repo"
    done = git.run(place.git_folder, "worktree", "add", "--quiet", "-b", f"agent/{agent}", "--", folder, commit)
    if done.code:
        why = (
            last_line(done.err)
            or f"git worktree add ended with exit code {done.code}, as a post-checkout hook makes it"
        )
        raise IbError(f"git could not make a worktree for {agent}", cause=why, hint="git worktree list")
    copy(place, folder)


def last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def write_files(place: paths.Place, agent: str) -> None:
    """Everything that the session needs, written where the agent cannot write."""
    known = agent_meta.read(place, agent)
    if not disk.exists(place.token(agent)):
        tokens.make(place.token(agent))
    write_prompt(place, agent, known)
    write_script(place, agent, known)


def write_prompt(place: paths.Place, agent: str, known: dict[str, Any]) -> None:
    role = roles.role_of(agent, known)
    text = role_files.prompt(place, role, str(known.get("role") or ""), str(known["prompt"]))
    atomic.put(place.agent_dir(agent) + "/prompt.txt", text.encode("utf-8", "replace"))


def write_script(place: paths.Place, agent: str, known: dict[str, Any]) -> None:
    """Settings and start.sh, made anew: the project's settings, or where ib is, may have changed."""
    folder = place.agent_dir(agent)
    client = clients.of(known)
    launch = clients.Launch(
        str(known["client"]),
        str(known["session_id"]),
        settings.written(place, agent),
        str(known.get("model") or ""),
        known.get("yolo") is True,
        known.get("print") is True,
    )
    start = start_script.Start(
        agent,
        folder,
        agent_meta.worktree_of(place, agent, known),
        place.root,
        client.begin(launch),
        client.again(launch),
        [sys.executable, "-P", "-m", "ibstatus", "session-ended", "--repo", place.root, agent],
        client.left_behind,
        beside_python("ib"),
        [("CLAUDE_CONFIG_DIR", str(known["config_dir"]))] if known.get("config_dir") else [],
        bare=place.git_folder != place.root,
    )
    atomic.put(folder + "/start.sh", start_script.script_text(start).encode("utf-8", "surrogateescape"))
    disk.chmod(folder + "/start.sh", 0o700)
    agents.keep(place, agent)


def beside_python(program: str) -> str:
    """The folder of this installation's own `ib`, '' when it has none."""
    folder = os.path.dirname(sys.executable)
    return folder if os.access(f"{folder}/{program}", os.X_OK) else ""


def run(place: paths.Place, agent: str, *words: str) -> None:
    """The session begins; `resume` as a word: it goes on."""
    known = agent_meta.change(place, agent, ended=None, started=time.time())
    at = sessions.of(place, agent)
    argv = ["/bin/sh", place.agent_dir(agent) + "/start.sh", *words]
    server.start(at.socket, at.name, agent_meta.worktree_of(place, agent, known), argv, agent)
    if at.pane() is None:
        raise IbError(f"The session of {agent} ended as soon as it began", hint=f"ib look {agent}; ib doctor")


Say = Callable[[str], None]


def stop(place: paths.Place, agent: str, say: Say) -> bool:
    """True when there was something to end. The client is asked first: its last hook writes into the agent's folder."""
    where = sessions.of(place, agent)
    pane = where.pane()
    with connect_lock.changing(where.socket):  # its session ends with it
        ended = pane is not None and not pane.dead and end_pane(pane.pid)
        ended = end_strays(place, agent) or ended
    if ended:
        told(place, agent, "Terminated Claude process", say)
    if pane is not None:
        server.end(where.socket, where.name)
        told(place, agent, "Killed tmux session", say)
    return ended or pane is not None


def end_pane(top: int) -> bool:
    known = user_processes.family(top)
    return user_processes.end_processes(user_processes.clients(top, known), known)


def end_strays(place: paths.Place, agent: str) -> bool:
    """What has lost its terminal: the tmux server died, or the client was started by hand."""
    known = user_processes.strays(agent_meta.worktree_of(place, agent, agent_meta.read(place, agent)), agent)
    return user_processes.end_processes(known, known)


def told(place: paths.Place, agent: str, text: str, say: Say) -> None:
    logs.write(place, agent, text, time.time())
    say(text)


LIST = ".worktreeinclude"
OURS = (".ittybitty/", ".git/")


def copy(place: paths.Place, worktree: str) -> list[str]:
    """Those that match a line of the list and are ignored; a file that the worktree has already stays as it is."""
    if not os.path.isfile(f"{place.root}/{LIST}"):
        return []
    wanted = listed(place.root, f"--exclude-from={LIST}")
    ignored = set(listed(place.root, "--exclude-standard"))
    return [path for path in wanted if path in ignored and not path.startswith(OURS) and copied(place, worktree, path)]


def listed(root: str, exclude: str) -> list[str]:
    found = index.asked(root, "ls-files", "--others", "--ignored", "-z", exclude).out
    return [os.fsdecode(path) for path in found.split(b"\0") if path]


def copied(place: paths.Place, worktree: str, path: str) -> bool:
    target = f"{worktree}/{path}"
    if os.path.lexists(target):
        return False
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(f"{place.root}/{path}", target, follow_symlinks=False)
    except OSError:
        return False
    return True
