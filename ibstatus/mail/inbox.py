"""agents/<id>/inbox.jsonl: what waits for an agent until one of its hooks delivers it."""

from ibstatus.mail import cursors, delivery, queue, queue_lines
from ibstatus.project import agents, ids, logs, paths
from ibstatus.system import append, atomic, disk, jsonl, locks, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.mail.json_list import Item


LONGEST_NAME = 200
ASKED = 200


class Unread:
    """What an agent was not told yet: the ids, who wrote, and where the last of it ends."""

    __slots__ = ("end", "ids", "senders")

    def __init__(self, end: int, ids: list[str], senders: list[str]) -> None:
        self.end = end
        self.ids = ids
        self.senders = senders


def path_of(place: paths.Place, agent: str) -> str:
    return place.agent_dir(agent) + "/inbox.jsonl"


def put(
    place: paths.Place, writer: str, to: str, sender: str, verified: bool, text: str, now: float, key: str = ""
) -> "Item":
    """A message to an agent; FileNotFoundError when there is no such agent. `key`: its id, taken before."""
    with locks.Lock(place.lock("agent-" + to)):
        disk.stat(place.agent_dir(to))
        key = key or ids.take(place, "in", sender, now)
        item: Item = {"id": key, "ts": timestamps.utc(now), "from": sender, "msg": text}
        if not verified:
            item["verified"] = False
        write(place, to, item)
    logs.write(place, to, f"Received message from {sender}: {text}", now)
    logs.note(place, writer, now, {"kind": "message.queued", "who": sender, "id": item["id"], "to": to})
    return item


def deliver_answer(place: paths.Place, question: "Item", now: float) -> str:
    """The answer to a question or message, once: returns the text that stands in the inbox under its id, which is an
    earlier one if there was one. '' when the agent is gone: nobody waits for it."""
    agent, who, text = str(question.get("agent", "")), str(question.get("answered_by", "")), str(question["answer"])
    if not agent or "/" in agent or "\0" in agent or len(agent.encode()) > LONGEST_NAME:
        return ""  # a name out of a file that anybody may have edited
    key = "a-" + str(question["id"])
    item = {"id": key, "ts": timestamps.utc(now), "from": who, "msg": text, "question": question["id"]}
    item["asked"] = str(question.get("question") or question.get("content") or "")[:ASKED]
    with locks.Lock(place.lock("agent-" + agent)):
        try:
            disk.stat(place.agent_dir(agent))
        except FileNotFoundError:
            return ""
        before = held(place, agent, key)
        if before:
            return before
        write(place, agent, item)
    logs.write(place, agent, f"Received message from {who}: {text}", now)
    return text


def write(place: paths.Place, agent: str, item: "Item") -> None:
    done = append.append(path_of(place, agent), jsonl.encode(item).encode() + b"\n")
    try:
        done.sync()
    finally:
        done.close()
    agents.keep(place, agent)


def held(place: paths.Place, agent: str, key: str) -> str:
    """The text that waits under this id, or ''; a line torn by a kill does not count."""
    try:
        data = disk.read_file(path_of(place, agent))
    except FileNotFoundError:
        return ""
    return next((str(line["msg"]) for line in queue_lines.told(data, 0, 0).values if line["id"] == key), "")


def unread(place: paths.Place, agent: str, unconfirmed: bool = False) -> Unread:
    """What its voice has not told; of what was told, but never confirmed, the next prompt tells again.
    `unconfirmed`: that counts too, since the turn that was told it is over."""
    seen = queue.view_of(path_of(place, agent))
    try:
        cursor = seen.fitted(cursors.read(place, cursors.INBOX + agent) or delivery.first(0))
        at, data = seen.read(cursor.done if unconfirmed else delivery.told_up_to(cursor), seen.end)
        end = seen.end
    finally:
        seen.close()
    told = queue_lines.told(data, at, 0)
    return Unread(end, told.fresh, list(dict.fromkeys(str(value["from"]) for value in told.values)))


def telling_of(place: paths.Place, agent: str) -> tuple[int, str]:
    """(up to where it was told, under which prompt): another one once it was told again."""
    cursor = cursors.read(place, cursors.INBOX + agent)
    return (cursor.offered, cursor.prompt) if cursor is not None else (0, "")


def told_at(place: paths.Place, agent: str) -> float:
    """When its voice spoke or was confirmed last; wall clock."""
    try:
        return disk.stat(cursors.path_of(place, cursors.INBOX + agent)).st_mtime
    except OSError:
        return 0.0


def is_being_told(place: paths.Place, agent: str) -> bool:
    """Has its voice told something that no turn has taken in yet?"""
    cursor = cursors.read(place, cursors.INBOX + agent)
    return cursor is not None and cursor.offered > cursor.done


def is_told(place: paths.Place, agent: str, end: int) -> bool:
    """Has its voice told everything before `end`?"""
    cursor = cursors.read(place, cursors.INBOX + agent)
    return cursor is not None and delivery.told_up_to(cursor) >= end


def blocks(place: paths.Place, agent: str) -> int:
    """How many ends of its turn in a row were none, because mail had come."""
    try:
        return int(disk.read_ours(place.agent_dir(agent) + "/blocks", 20))
    except (OSError, ValueError):
        return 0


def set_blocks(place: paths.Place, agent: str, count: int) -> None:
    try:
        atomic.put(place.agent_dir(agent) + "/blocks", b"%d\n" % count, durable=False)
    except OSError:
        return
