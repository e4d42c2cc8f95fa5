"""A question that an agent asked its client: kept for the user, or given to the manager. The same one only once."""

from ibstatus.mail import inbox, questions, queue_lines
from ibstatus.project import agents, home, logs, paths
from ibstatus.system import disk
from ibstatus.system.text import times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.mail.json_list import Item

AGAIN = 60.0  # seconds in which the same text is the same call, tried again


def ask_user(place: paths.Place, agent: str, text: str, now: float) -> str:
    """The question's id. As `ib ask` does it."""
    home.enter(place)
    for item in questions.pending(place):
        if (item.get("agent"), item.get("question")) == (agent, text) and is_recent(item.get("timestamp"), now):
            return str(item["id"])
    agents.keep(place, agent)
    item, _ = questions.ask(place, agent, agent, True, text, now)
    logs.write(place, agent, f"Asked user question ({item['id']}): {text}", now)
    return str(item["id"])


def ask_manager(place: paths.Place, agent: str, manager: str, text: str, now: float) -> str:
    """The message's id."""
    home.enter(place)
    for line in waiting(place, manager):
        if (line["from"], line["msg"]) == (agent, text) and is_recent(line["ts"], now):
            return str(line["id"])
    item = inbox.put(place, agent, manager, agent, True, text, now)
    logs.write(place, agent, f"Sent message to {manager}: {text}", now)
    return str(item["id"])


def waiting(place: paths.Place, agent: str) -> "list[Item]":
    """What lies in an agent's inbox; a line torn by a kill does not count."""
    try:
        return queue_lines.told(disk.read_file(inbox.path_of(place, agent)), 0, 0).values
    except FileNotFoundError:
        return []


def is_recent(stamp: object, now: float) -> bool:
    at = times.epoch(str(stamp))
    return at is not None and -1 <= now - at <= AGAIN
