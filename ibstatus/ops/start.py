"""Starting an agent's session: its worktree, its files, its client in a tmux session of its own."""

import os
import sys
import time
from typing import Any

from ibstatus.drivers import clients, git, git_worktree, tmux
from ibstatus.errors import IbError, quoted
from ibstatus.ops import agent_settings, session, worktree_include
from ibstatus.rules import roles, start_script
from ibstatus.store import agents, atomic, disk, meta, operations, places, role_files, tokens


def make_worktree(place: places.Place, agent: str, commit: str) -> None:
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


def write_files(place: places.Place, agent: str) -> None:
    """Everything that the session needs, written where the agent cannot write."""
    known = meta.read(place, agent)
    if not disk.exists(place.token(agent)):
        tokens.make(place.token(agent))
    write_prompt(place, agent, known)
    write_script(place, agent, known)


def write_prompt(place: places.Place, agent: str, known: dict[str, Any]) -> None:
    role = roles.role_of(agent, known)
    text = role_files.prompt(place, role, str(known.get("role") or ""), str(known["prompt"]))
    atomic.put(place.agent_dir(agent) + "/prompt.txt", text.encode("utf-8", "replace"))


def write_script(place: places.Place, agent: str, known: dict[str, Any]) -> None:
    """Settings and start.sh, made anew: the project's settings, or where ib is, may have changed."""
    folder = place.agent_dir(agent)
    client = clients.of(known)
    launch = clients.Launch(
        str(known["client"]),
        str(known["session_id"]),
        agent_settings.written(place, agent),
        str(known.get("model") or ""),
        known.get("yolo") is True,
        known.get("print") is True,
    )
    start = start_script.Start(
        agent,
        folder,
        worktree_of(place, agent, known),
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


def worktree_of(place: places.Place, agent: str, known: dict[str, Any]) -> str:
    return place.root if known.get("worktree") is False else place.agent_dir(agent) + "/repo"


def lost_worktree(place: places.Place, agent: str, *, ours: bool = False) -> str:
    """What makes it again, where somebody has removed it; '' while it is there, and for an agent that never had one.
    Nor while a command is making or closing the agent, unless that is `ours`."""
    known = meta.read(place, agent)
    path, branch = worktree_of(place, agent, known), f"agent/{agent}"
    if "client" not in known or known.get("worktree") is False or disk.exists(path):
        return ""
    if not ours and operations.is_at_work(place, agent):
        return ""
    if git_worktree.tip(place.git_folder, branch):
        return f"git worktree add -f {quoted(path)} {branch}"
    base = str(known.get("base_commit") or "")
    return f"git worktree add -f -b {branch} {quoted(path)} {base}" if base else f"ib kill {agent}"


def refuse_foreign(place: places.Place, agent: str, worktree: str) -> None:
    """git would work in another repository there: a copied worktree points to where it was copied from."""
    if not git_worktree.admin_of(place.common, worktree):
        pointer = places.pointed(worktree + "/.git", worktree)
        raise IbError(
            f"{worktree} is no worktree of this repository",
            cause=f"its .git names {pointer}" if pointer else "",
            hint=f"ib diff {agent} --committed; or git worktree repair {quoted(worktree)}",
        )


def beside_python(program: str) -> str:
    """The folder of this installation's own `ib`, '' when it has none."""
    folder = os.path.dirname(sys.executable)
    return folder if os.access(f"{folder}/{program}", os.X_OK) else ""


def run(place: places.Place, agent: str, *words: str) -> None:
    """The session begins; `resume` as a word: it goes on."""
    known = meta.change(place, agent, ended=None, started=time.time())
    at = session.of(place, agent)
    argv = ["/bin/sh", place.agent_dir(agent) + "/start.sh", *words]
    tmux.start(at.socket, at.name, worktree_of(place, agent, known), argv, agent)
    if at.pane() is None:
        raise IbError(f"The session of {agent} ended as soon as it began", hint=f"ib look {agent}; ib doctor")
