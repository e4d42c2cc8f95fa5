"""A repository that lies elsewhere than before. Moved, it takes what is its own along; copied, it is parted from the
other one, whose agents go on living there. Every step can be done twice: `ib init` after a kill does it all.

What tells one board from another, and the queue of this repository from that of the one that it was copied from.
"""

import hashlib
import json
import os
import time
import uuid
from typing import Any

from ibstatus.errors import IbError
from ibstatus.model import constants
from ibstatus.project import agent_meta, agents, operations, paths, tokens
from ibstatus.system import atomic, disk, folders, git_layout, jsonl


def follow(place: paths.Place, other: str) -> None:
    """Moved from `other`: paths in records lead to here, and what was taken from the board's file was taken from this
    one."""
    mend_operations(place, other)
    mend_worktrees(place, other)
    for agent in agents.all_ids(place):
        known = agent_meta.read(place, agent)
        if known != {**known, **marked(place, other, known)}:
            agent_meta.rework(place, agent, lambda known: marked(place, other, known))


def part(place: paths.Place, other: str, former: str, ident: str) -> None:
    """Copied from `other`, whose id is `former`; under the init lock, before our own id is written."""
    if git_layout.pointed(other + "/.git", other) == place.common:
        raise IbError(
            f"This checkout shares its git directory with {other}", hint="git worktree add, or git clone, makes another"
        )
    note_former(place, former)
    mend_operations(place, other)
    mend_worktrees(place, other)
    for name in folders.names_in(place.safe + "/undo"):  # see undo_log, which stands above this module
        part_removed(place, other, f"{place.safe}/undo/{name}/agent", ident)
    for agent in agents.all_ids(place):
        part_agent(place, other, agent, ident)


def there(place: paths.Place, other: str, path: str) -> str:
    """Where this path of ours lay while the repository was at `other`."""
    return other + path.removeprefix(place.root) if path.startswith(place.root + "/") else path


def here(place: paths.Place, other: str, path: str) -> str:
    """Where what lay at this path lies now; a path outside of the repository stays as it is."""
    return place.root + path.removeprefix(other) if path == other or path.startswith(other + "/") else path


def part_agent(place: paths.Place, other: str, agent: str, ident: str) -> None:
    known = agent_meta.read(place, agent)
    if known:
        agent_meta.write(place, agent, parted(place, other, agent, known, ident))
    if disk.exists(place.token(agent)):
        tokens.renew(place.token(agent))
        agents.keep(place, agent)


def part_removed(place: paths.Place, other: str, folder: str, ident: str) -> None:
    """The same for one that `ib undo` can bring back, in both repositories."""
    try:
        known = jsonl.decode(disk.read_ours(folder + "/meta.json", agents.LONGEST_META).decode())
    except (OSError, ValueError):
        return
    if isinstance(known, dict) and isinstance(agent := known.get("id"), str):
        atomic.put(folder + "/meta.json", agent_meta.form(parted(place, other, agent, known, ident)))
    if disk.exists(folder + "/token"):
        tokens.renew(folder + "/token")


def parted(place: paths.Place, other: str, agent: str, known: dict[str, Any], ident: str) -> dict[str, Any]:
    """Its session, its conversation, its tasks on a server, and what proves that a process runs in that session belong
    to the agent that it was copied from."""
    fresh = of_file(place, {**known, **marked(place, other, known)})
    fresh["tmux_session"] = f"ittybitty-{ident}-{agent}"
    if "session_id" in fresh:
        fresh |= {"session_id": str(uuid.uuid4()), "prompted": True, "ended": ended(fresh.get("ended"))}
    return fresh


def ended(known: object) -> dict[str, Any]:
    """It has no session here, and nothing has cut it off."""
    before = known if isinstance(known, dict) else {"code": None, "at": time.time()}
    return {**before, "why": before.get("why") or constants.COPIED}


def marked(place: paths.Place, other: str, known: dict[str, Any]) -> dict[str, Any]:
    """What it has taken from the board's file, with the mark of where that lies now."""
    old, new = of(there(place, other, place.board)), of(place.board)

    def mark(one: object) -> object:
        return {**one, "board": new} if isinstance(one, dict) and one.get("board") == old else one

    changed: dict[str, Any] = {agent_meta.TASK: mark(known[agent_meta.TASK])} if agent_meta.TASK in known else {}
    claims = known.get(agent_meta.CLAIMS)
    return {**changed, agent_meta.CLAIMS: [mark(one) for one in claims]} if isinstance(claims, list) else changed


def of_file(place: paths.Place, known: dict[str, Any]) -> dict[str, Any]:
    """Without tasks of any other board: the agent that it was copied from works on them."""

    def is_ours(one: object) -> bool:
        return isinstance(one, dict) and one.get("board") == of(place.board)

    left = {key: value for key, value in known.items() if key not in (agent_meta.TASK, agent_meta.CLAIMS)}
    claims = known.get(agent_meta.CLAIMS)
    kept = [one for one in claims if is_ours(one)] if isinstance(claims, list) else []
    return (
        left
        | ({agent_meta.TASK: known[agent_meta.TASK]} if is_ours(known.get(agent_meta.TASK)) else {})
        | ({agent_meta.CLAIMS: kept} if kept else {})
    )


def mend_operations(place: paths.Place, other: str) -> None:
    """What was being done to an agent is finished here as well, and here alone: no path leads to the other one."""
    for agent in operations.open_ones(place):
        facts = operations.read(place, agent)
        mended = translated(place, other, facts)
        if mended != facts:
            atomic.put(operations.path_of(place, agent), json.dumps(mended).encode() + b"\n")


def translated(place: paths.Place, other: str, value: Any) -> Any:
    if isinstance(value, str):
        return here(place, other, value)
    if isinstance(value, list):
        return [translated(place, other, one) for one in value]
    if isinstance(value, dict):
        return {key: translated(place, other, one) for key, one in value.items()}
    return value


def mend_worktrees(place: paths.Place, other: str) -> None:
    """git writes down whole paths: the worktrees inside of the repository and git's own folders of them have each other
    again. One whose counterpart is not here keeps what it has."""
    for name in folders.names_in(place.common + "/worktrees"):
        admin = f"{place.common}/worktrees/{name}"
        try:
            named = os.fsdecode(disk.read_file(admin + "/gitdir")).rstrip("\n")
        except OSError:
            continue
        if not named.startswith("/"):
            continue
        pointer = here(place, other, named)
        if not pointer.startswith(place.root + "/") or not disk.exists(admin + "/HEAD"):
            continue
        known = git_layout.pointed(pointer, pointer.rpartition("/")[0])
        if known not in (admin, f"{there(place, other, place.common)}/worktrees/{name}"):
            continue
        if known != admin:
            atomic.put(pointer, b"gitdir: " + os.fsencode(admin) + b"\n")
        if pointer != named:
            atomic.put(admin + "/gitdir", os.fsencode(pointer) + b"\n")


def of(where: str) -> str:
    """A DSN, or the path of a board's file; says nothing of what is in a DSN."""
    return hashlib.sha256(where.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def folder(place: paths.Place) -> str:
    """A file for each id that this repository had as a copy: in the board's file its queue has that one still."""
    return place.safe + "/formerly"


def note_former(place: paths.Place, ident: str) -> None:
    disk.make_dirs(folder(place))
    atomic.put(f"{folder(place)}/{ident}", b"")


def formers(place: paths.Place) -> list[str]:
    return [name for name in folders.names_in(folder(place)) if "." not in name]


def forget_former(place: paths.Place, ident: str) -> None:
    atomic.forget(f"{folder(place)}/{ident}")
