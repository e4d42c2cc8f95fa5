"""Whom an agent leaves behind: its children get its manager, its open questions are settled; and the way back."""

import time
from collections.abc import Callable, Iterable

from ibstatus.errors import DiskError, IbError
from ibstatus.mail import inbox, json_list, questions
from ibstatus.project import agent_meta, authority, logs, paths
from ibstatus.system import locks, timestamps

NOTE = "note"


def children(place: paths.Place, agent: str) -> list[str]:
    return sorted(name for name, manager in authority.managers(place).items() if manager == agent)


def reparent(place: paths.Place, names: Iterable[str], before: str, after: str, say: Callable[[str], None]) -> None:
    """Those that are still under `before` come under `after`; '' means at the top. A disk that refuses stops it: the
    removal is brought to its end later. A meta.json that nobody can read must not."""
    for name in names:
        if agent_meta.read(place, name).get("manager") != before:
            continue
        try:
            agent_meta.change(place, name, manager=after or None)
        except DiskError:
            raise
        except IbError as error:
            say(f"{name} could not be given another manager: {error}")
            continue
        tell(place, name, before, after, say)


def tell(place: paths.Place, name: str, before: str, after: str, say: Callable[[str], None]) -> None:
    """Whoever it concerns and is still there. A notice that cannot be left changes nothing."""
    now = time.time()
    text = f"Reassigned from {named(before)} to {named(after)}"
    logs.write(place, name, text, now)
    say(f"{name}: {text}")
    notices = [(name, f"[watchdog]: Your manager is {after or 'nobody now: you report to the user'}")]
    if after:
        notices.append((after, f"[watchdog for {name}]: {name} is yours now; before, it was of {named(before)}"))
    for to, notice in notices:
        try:
            inbox.put(place, "cli", to, "system", True, notice, now)
        except (OSError, IbError):
            continue


def named(manager: str) -> str:
    return f"'{manager}'" if manager else "root"


def give_back(place: paths.Place, names: Iterable[str], agent: str, since: str, say: Callable[[str], None]) -> None:
    """Its children, unless somebody has given them to another one since."""
    living = [name for name in names if (agent_meta.read(place, name).get("manager") or "") == since]
    for name in living:
        agent_meta.change(place, name, manager=agent)
        tell(place, name, since, agent, say)


def open_questions(place: paths.Place, agent: str) -> list[str]:
    return [str(item["id"]) for item in questions.pending(place) if item.get("agent") == agent and "id" in item]


def settle(place: paths.Place, ids: Iterable[str], agent: str) -> None:
    """Nobody waits for these answers any more."""
    changed = {"status": questions.ACKNOWLEDGED, "acknowledged_at": timestamps.utc(time.time())}
    mark(place, set(ids), questions.PENDING, {**changed, NOTE: f"{agent} was removed"})


def ask_again(place: paths.Place, ids: Iterable[str], agent: str) -> None:
    """Only what its removal had settled."""
    mark(place, set(ids), questions.ACKNOWLEDGED, {"status": questions.PENDING}, f"{agent} was removed")


def mark(place: paths.Place, ids: set[str], status: str, new: dict[str, str], note: str = "") -> None:
    if not ids:
        return
    with locks.Lock(place.lock("questions")):
        loaded = json_list.load_to_change(place, place.questions, questions.KEY)
        found = [item for item in loaded.items if item.get("id") in ids and item.get("status") == status]
        for item in (one for one in found if not note or one.get(NOTE) == note):
            if note:
                item.pop(NOTE, None)
                item.pop("acknowledged_at", None)
            item.update(new)
        questions.save(place, "cli", loaded.items, time.time())
