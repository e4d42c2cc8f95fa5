"""How many agents may live at once: counted and taken under one lock, so that no two take the last place."""

import secrets
from typing import Any

from ibstatus.claude import sessions
from ibstatus.errors import IbError, quoted
from ibstatus.project import agent_meta, config, operations, paths
from ibstatus.state import fleet
from ibstatus.system import disk, locks
from ibstatus.system.git import run
from ibstatus.system.tmux import server

LOCK = "spawn"


def reserve(place: paths.Place, name: str, known: dict[str, Any]) -> operations.Operation:
    """A folder with meta.json, and the operation that answers for it. Refused when all places or the name are taken."""
    with locks.Lock(place.lock(LOCK)):
        check_limit(place)
        agent = name or free_name(place)
        socket = str(known["tmux_socket"])
        refuse_taken(place, agent, socket)
        facts = {"base_commit": known["base_commit"], "manager": known["manager"], "made": []}
        operation = operations.begin_if(place, "spawn", agent, lambda: refuse_taken(place, agent, socket), **facts)
        try:
            disk.make_dirs(place.home + "/agents")
            operation.note(made=["folder"])
            disk.mkdir(place.agent_dir(agent), 0o700)
            named = {"id": agent, **known, "tmux_session": f"ittybitty-{agent_meta.repo_id(place)}-{agent}"}
            agent_meta.write(place, agent, named)
        except BaseException:
            operation.lock.release()  # its record stays: the next command takes back what there is
            raise
    return operation


def check_limit(place: paths.Place) -> None:
    most = int(config.value(place, "maxAgents"))
    count = living(place)
    if count >= most:
        raise IbError(
            f"{count} agents are alive, and maxAgents is {most}",
            hint=f"ib list; merge or kill one, or ib config set maxAgents {most + 5}",
        )


def living(place: paths.Place) -> int:
    """Those with a session, and those that are being made; all of them when tmux cannot be asked."""
    records = agent_meta.records(place)
    there = fleet.sessions(place, records)
    return sum(there[record.id] is not False or is_being_made(place, record.id) for record in records)


def is_being_made(place: paths.Place, agent: str) -> bool:
    return operations.read(place, agent).get("kind") == "spawn" and operations.is_at_work(place, agent)


def free_name(place: paths.Place) -> str:
    while True:
        name = f"agent-{secrets.token_hex(4)}"
        if not disk.exists(place.agent_dir(name)):
            return name


def refuse_taken(place: paths.Place, agent: str, socket: str) -> None:
    if disk.exists(place.agent_dir(agent)):
        raise IbError(f"There is an agent {agent} already", hint=f"ib status {agent}; choose another --name")
    if run.run(place.git_folder, "rev-parse", "--quiet", "--verify", f"refs/heads/agent/{agent}").code == 0:
        raise IbError(
            f"There is a branch agent/{agent} already, and no agent of that name",
            hint=f"choose another --name; or git branch -m agent/{agent} {quoted('kept/' + agent)}; ib gc",
        )
    at = sessions.Session(socket, f"ittybitty-{agent_meta.repo_id(place)}-{agent}")
    if at.name in (server.sessions(socket) or ()):
        raise IbError(f"A tmux session {at.name} is left over from an agent of that name", hint="ib gc")
