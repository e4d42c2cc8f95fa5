"""Starting an agent's session: its worktree, its files, its client in a tmux session of its own."""

import os
import sys
import time
from typing import Any

from ibstatus.agents import role_files, settings, worktree_include
from ibstatus.agents.rules import start_script
from ibstatus.claude import clients, sessions
from ibstatus.errors import IbError
from ibstatus.project import agent_meta, agent_worktree, agents, paths, roles, tokens
from ibstatus.system import atomic, disk
from ibstatus.system.git import run as git
from ibstatus.system.tmux import server


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
    worktree_include.copy(place, folder)


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
        agent_worktree.worktree_of(place, agent, known),
        place.root,
        client.begin(launch),
        client.again(launch),
        [sys.executable, "-P", "-m", "ibstatus", "session-ended", "--repo", place.root, agent],
        client.left_behind,
        beside_python("ib"),
        [("CLAUDE_CONFIG_DIR", str(known["config_dir"]))] if known.get("config_dir") else [],
        bare=place.git_folder != place.root,
    )
    atomic.put(folder + "/start.sh", start_script.text(start).encode("utf-8", "surrogateescape"))
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
    server.start(at.socket, at.name, agent_worktree.worktree_of(place, agent, known), argv, agent)
    if at.pane() is None:
        raise IbError(f"The session of {agent} ended as soon as it began", hint=f"ib look {agent}; ib doctor")
