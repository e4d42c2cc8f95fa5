"""What an agent's session runs with, put back where `git clean` has taken it: from its copy, else made anew."""

import time

from ibstatus.agents import start
from ibstatus.errors import logged
from ibstatus.project import agent_meta, agents, fleet, operations, paths
from ibstatus.system import disk, locks

REST = 2.0


def mend(place: paths.Place) -> list[str]:
    """Of everybody on whom nobody is at work; returns what could not be made."""
    said = []
    for agent in fleet.names_of(place):
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
            start.write_script(place, agent, known)
        if not disk.exists(folder + "/prompt.txt"):
            start.write_prompt(place, agent, known)
            agents.keep(place, agent)
    finally:
        lock.release()
