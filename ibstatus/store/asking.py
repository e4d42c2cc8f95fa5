"""A question that an agent asked its client: kept for the user, or given to the manager. The same one only once."""

from ibstatus.rules import ages, telling
from ibstatus.store import agent_log, agents, disk, home, inbox, places, questions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.store.arrays import Item

AGAIN = 60.0  # seconds in which the same text is the same call, tried again


def ask_user(place: places.Place, agent: str, text: str, now: float) -> str:
    """The question's id. As `ib ask` does it."""
    home.enter(place)
    for item in questions.pending(place):
        if (item.get("agent"), item.get("question")) == (agent, text) and is_recent(item.get("timestamp"), now):
            return str(item["id"])
    agents.keep(place, agent)
    item, _ = questions.ask(place, agent, agent, True, text, now)
    agent_log.write(place, agent, f"Asked user question ({item['id']}): {text}", now)
    return str(item["id"])


def ask_manager(place: places.Place, agent: str, manager: str, text: str, now: float) -> str:
    """The message's id."""
    home.enter(place)
    for line in waiting(place, manager):
        if (line["from"], line["msg"]) == (agent, text) and is_recent(line["ts"], now):
            return str(line["id"])
    item = inbox.put(place, agent, manager, agent, True, text, now)
    agent_log.write(place, agent, f"Sent message to {manager}: {text}", now)
    return str(item["id"])


def waiting(place: places.Place, agent: str) -> "list[Item]":
    """What lies in an agent's inbox; a line torn by a kill does not count."""
    try:
        return telling.told(disk.read_file(inbox.path_of(place, agent)), 0, 0).values
    except FileNotFoundError:
        return []


def is_recent(stamp: object, now: float) -> bool:
    at = ages.epoch(str(stamp))
    return at is not None and -1 <= now - at <= AGAIN
