"""agents/<id>/meta.json as far as the mail needs it: who there is, and who has a manager."""

from ibstatus.errors import IbError
from ibstatus.project import names, paths, safety_copy
from ibstatus.system import disk, jsonl

LONGEST_META = 4 << 20
STARTED = ("settings.local.json", "start.sh", "prompt.txt")  # what its session runs with, and reads at each hook
KEPT = ("meta.json", "inbox.jsonl", "token", *STARTED)


def all_ids(place: paths.Place) -> list[str]:
    """Agents, by name: the folders under agents/ that have a meta.json or a worktree."""
    try:
        found = disk.listdir(place.home + "/agents")
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in found if jsonl.is_unicode(name) and exists(place, name))


def exists(place: paths.Place, agent: str) -> bool:
    if not agent or "/" in agent:
        return False
    folder = place.agent_dir(agent)
    return disk.exists(folder + "/meta.json") or disk.exists(folder + "/repo/.git")


def keep(place: paths.Place, agent: str) -> None:
    """Safety copies of what an agent is and of what waits for it: `git clean` leaves only its worktree."""
    for leaf in KEPT:
        path = f"{place.agent_dir(agent)}/{leaf}"
        try:
            inode = disk.stat(path).st_ino
        except OSError:
            continue
        safety_copy.keep_link(place, path, inode)


def restore(place: paths.Place) -> None:
    """Put back what is missing of all agents but those that somebody is just taking away."""
    from ibstatus.project import operations

    try:
        known = disk.listdir(place.safe + "/agents")
    except OSError:
        return
    for agent in known:
        if not operations.is_at_work(place, agent):
            bring_back(place, agent)


def bring_back(place: paths.Place, agent: str) -> None:
    """What is missing of one whose folder is still there; one that is gone was removed."""
    folder = place.agent_dir(agent)
    if not disk.exists(folder) and not had_no_tree(place, agent):
        return
    for leaf in KEPT:
        if not disk.exists(f"{folder}/{leaf}"):
            safety_copy.restore(place, f"{folder}/{leaf}")


def had_no_tree(place: paths.Place, agent: str) -> bool:
    """`git clean` takes its whole folder. Who removes an agent forgets its copy, and is at work on it until then."""
    from ibstatus.project import operations

    try:
        copy = jsonl.decode((safety_copy.read_copy(place, f"{place.agent_dir(agent)}/meta.json") or b"").decode())
    except (OSError, ValueError):
        return False
    mine = isinstance(copy, dict) and copy.get("worktree") is False
    return mine and not operations.read(place, agent) and not operations.is_at_work(place, agent)


def manager_of(place: paths.Place, agent: str) -> str:
    """The manager named in meta.json, or ''."""
    try:
        meta = jsonl.decode(
            disk.read_ours(place.agent_dir(agent) + "/meta.json", LONGEST_META).decode("utf-8", "replace")
        )
    except (OSError, ValueError):
        return ""
    manager = meta.get("manager") if isinstance(meta, dict) else None
    return manager if isinstance(manager, str) else ""


def living_manager(place: paths.Place, agent: str) -> str:
    manager = manager_of(place, agent)
    return manager if exists(place, manager) else ""


def resolve(place: paths.Place, given: str) -> str:
    """An id from an id or its unique beginning; an exact match wins."""
    if exists(place, given):
        return given
    known = all_ids(place)
    matching = names.meant(given, known)
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise IbError(f"'{given}' could be {', '.join(matching)}", hint="type more of the id")
    listed = f"the agents here: {', '.join(known)}" if known else "there are no agents here"
    raise IbError(f"There is no agent '{given}'", cause=listed, hint="ib list" if known else 'ib new-agent "goal"')
