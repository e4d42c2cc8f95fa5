"""What a new agent is to be: everything that can be refused is refused here, before anything is made."""

import os
import time
import uuid
from typing import Any, NamedTuple

from ibstatus.agents import role_files
from ibstatus.agents.rules import start_script
from ibstatus.claude import client as clients
from ibstatus.claude.hooks import agent_settings
from ibstatus.errors import IbError, UsageError, visible
from ibstatus.project import agent_meta, authority, config, identity, names, paths, roles, settings
from ibstatus.system import timestamps
from ibstatus.system.git import run
from ibstatus.system.process import run as installed

NAMES = "use a-z, 0-9 and -, begin with a letter or digit, at most 40 characters"


class Wanted(NamedTuple):
    """What the user asked for. An empty `name` is chosen; an empty `base`: where the caller's checkout stands. `task`:
    the whole id of one on the board."""

    prompt: str
    name: str = ""
    manager: str = ""
    worker: bool = False
    model: str = ""
    worktree: bool = True
    yolo: bool = False
    printing: bool = False
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    role: str = ""
    base: str = ""
    task: str = ""


class Plan(NamedTuple):
    """`meta` is all of meta.json but for the name."""

    name: str
    meta: dict[str, Any]


def made(place: paths.Place, caller: identity.Caller, wanted: Wanted, cwd: str) -> Plan:
    check_words(wanted)
    if caller.kind == identity.AGENT:
        check_rights(place, caller.name, wanted)
    manager = manager_of(place, caller, wanted)
    role = role_files.load(place, wanted.role) if wanted.role else role_files.NONE
    program = client()
    known = config.load(place)
    if known.broken:
        raise IbError(known.broken[0], hint="ib doctor; without its rules an agent would be unguarded")
    model = wanted.model or role.model or str(known.value("model") or "")
    check_model(model)
    base, commit = base_of(place, manager, wanted, cwd)
    worker = wanted.worker or role.worker
    check_prompt(place, wanted, "worker" if worker else "manager")
    now = time.time()
    return Plan(
        wanted.name,
        {
            "session_id": str(uuid.uuid4()),
            "tmux_socket": str(known.value("tmux.socket")),
            "prompt": wanted.prompt,
            "manager": manager or None,
            "created": timestamps.log(now),
            "created_epoch": int(now),
            "worktree": wanted.worktree,
            "worker": worker,
            "yolo": wanted.yolo,
            "model": model,
            "role": wanted.role,
            "base": base,
            "base_commit": commit,
            "kind": clients.DEFAULT.kind,
            "client": program,
            "config_dir": os.environ.get("CLAUDE_CONFIG_DIR", ""),
            "allow": [*role.allow, *wanted.allow],
            "deny": [*role.deny, *wanted.deny],
            "print": wanted.printing,
            "ended": None,
            **({agent_meta.TASK: {"id": wanted.task}} if wanted.task else {}),
        },
    )


def check_words(wanted: Wanted) -> None:
    if not wanted.prompt.strip():
        raise UsageError("An agent needs a task", hint='ib new-agent "Add dark mode to the settings page"')
    if "\0" in wanted.prompt:
        raise UsageError("The task holds a NUL character", hint="write it to a text file: ib new-agent --prompt-file F")
    if wanted.name and not names.is_agent_id(wanted.name):
        raise UsageError(f"'{visible(wanted.name)}' cannot be an agent's name", hint=NAMES)
    if wanted.role and not names.is_sender(wanted.role):
        raise UsageError(f"'{visible(wanted.role)}' cannot be a role", hint=NAMES)
    if wanted.base and not wanted.worktree:
        raise UsageError(
            "Without a worktree there is no branch that could begin at --base", hint="leave one of them out"
        )
    for rule in (*wanted.allow, *wanted.deny):
        if not agent_settings.is_rule(rule):
            raise UsageError(
                f"'{visible(rule)}' is no tool rule", hint='as in --allow-tools "Bash(npm test:*),WebFetch"'
            )


def check_rights(place: paths.Place, agent: str, wanted: Wanted) -> None:
    """Nobody gives away more than they have."""
    record = agent_meta.record_of(place, agent)
    own = record.meta if record is not None else {}
    if not wanted.worktree and own.get("worktree") is not False:
        raise IbError("Only an agent without a worktree may make another one without", hint="leave out --no-worktree")
    if wanted.yolo and own.get("yolo") is not True:
        raise IbError("Only an agent that runs with --yolo may give it to others", hint="leave out --yolo")
    more = [rule for rule in wanted.allow if rule not in listed(own.get("allow"))]
    if more:
        raise IbError(f"You may not allow what you were not given: {', '.join(more)}", hint="leave out --allow-tools")


def listed(rules: object) -> list[object]:
    return rules if isinstance(rules, list) else []


def check_model(model: str) -> None:
    why = settings.objection(settings.KEYS["model"], model) if model else ""
    if why:
        raise UsageError(f"'{visible(model)}' cannot be a model: it {why}", hint="sonnet, opus, haiku or a full name")


def check_prompt(place: paths.Place, wanted: Wanted, role: str) -> None:
    size = len(role_files.prompt(place, role, wanted.role, wanted.prompt).encode("utf-8", "replace"))
    if size > start_script.LONGEST:
        most = start_script.LONGEST // 1000
        raise IbError(
            f"With the project's instructions the task is {size // 1000} KB long, and {most} KB fit",
            hint="put it into a file of the repository, commit it, and name the file in the task",
        )


def manager_of(place: paths.Place, caller: identity.Caller, wanted: Wanted) -> str:
    """'' for an agent of the user. What an agent spawns is below it."""
    if not wanted.manager and caller.kind != identity.AGENT:
        return ""
    manager = authority.resolved(place, caller, wanted.manager or caller.name, "spawn under")
    record = agent_meta.record_of(place, manager)
    if roles.role_of(manager, record.meta if record is not None else {}) == roles.WORKER:
        raise IbError(
            f"{manager} is a worker, and workers have no agents",
            hint="name a manager (ib tree), or leave its worktree for an agent of your own",
        )
    return manager


def client() -> str:
    """tmux and the client are there, or it is said before anything is made."""
    if not installed.path_of("tmux"):
        raise IbError("tmux is not installed, and an agent lives in it", hint="install tmux 3.2 or newer")
    program = clients.DEFAULT.program()
    if not program:
        what = clients.DEFAULT.wanted()
        raise IbError(
            f"{what} is not on your PATH", hint="npm install -g @anthropic-ai/claude-code; or set IB_CLAUDE to its path"
        )
    return os.path.abspath(program)


def base_of(place: paths.Place, manager: str, wanted: Wanted, cwd: str) -> tuple[str, str]:
    """(its name, the commit): of a managed agent its manager's branch, else what the caller has checked out."""
    if wanted.base.startswith("-"):
        raise UsageError(f"'{visible(wanted.base)}' is no branch or commit", hint="ib new-agent --base main …")
    own = place.agent_dir(manager) + "/repo" if manager else cwd
    there = own if os.path.isdir(own) else place.git_folder
    branch = run.run(there, "symbolic-ref", "--quiet", "--short", "HEAD").out.strip()
    name = wanted.base or branch or "HEAD"
    done = run.run(there, "rev-parse", "--quiet", "--verify", "--end-of-options", f"{wanted.base or 'HEAD'}^{{commit}}")
    if done.code == 0:
        return name if name != "HEAD" else done.out.strip()[:12], done.out.strip()
    if wanted.base:
        raise IbError(f"There is no branch or commit '{visible(wanted.base)}'", hint="git branch --all")
    raise IbError(
        "This repository has no commit yet, and an agent's branch begins at one",
        hint='git commit --allow-empty -m "first"',
    )
