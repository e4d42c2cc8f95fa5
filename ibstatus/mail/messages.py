"""user-messages.json: what agents told the user's Claude and it has not acknowledged. The source of truth."""

from ibstatus.mail import json_list, post, queue
from ibstatus.model import constants
from ibstatus.project import ids, logs, paths
from ibstatus.system import locks, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.mail.json_list import Item


class Sent:
    """The stored message and what there is to say besides."""

    __slots__ = ("item", "note")

    def __init__(self, item: "Item", note: str) -> None:
        self.item = item
        self.note = note


def send(place: paths.Place, writer: str, sender: str, verified: bool, kind: str, content: str, now: float) -> Sent:
    """File first, then the queue line with the same id, then the flag; the next writer mends a crash in between."""
    with locks.Lock(place.lock("messages")):
        loaded = json_list.load_to_change(place, place.messages)
        items = loaded.items
        item: Item = {
            "id": ids.take(place, "msg", sender, now),
            "from": sender,
            "timestamp": timestamps.utc(now),
            "type": kind,
            "content": content,
        }
        if not verified:
            item["verified"] = False
        said = save(place, writer, [*items, item], now, fresh=item)
    if kind not in constants.WAKES:
        logs.note(place, writer, now, {"kind": "message.queued", "who": sender, "id": item["id"], "type": kind})
    return Sent(item, "; ".join(note for note in (loaded.note, said) if note))


def save(place: paths.Place, writer: str, items: "list[Item]", now: float, fresh: "Item | None" = None) -> str:
    return json_list.save(place, place.messages, items, lambda items: mend(place, writer, items, now, fresh))


def mend_owed(place: paths.Place, writer: str, now: float) -> None:
    """What a killed writer owes, when no next one comes by."""
    with locks.Lock(place.lock("messages")):
        save(place, writer, json_list.load_to_change(place, place.messages).items, now)


def mend(place: paths.Place, writer: str, items: "list[Item]", now: float, fresh: "Item | None") -> bool:
    """Write the queue line of every message that should wake and has none yet."""
    changed = False
    for item in items:
        kind = constants.WAKES.get(str(item.get("type")), "")
        key = str(item.get("id") or "")
        if not kind or item.get("queued") or not key:
            continue
        if item is fresh or not queue.holds(place, key):
            verified = item.get("verified") is not False
            sender, content = str(item.get("from", "")), str(item.get("content", ""))
            post.post(place, writer, key, kind, sender, verified, content, now)
        item["queued"] = changed = True
    return changed


def acknowledge(place: paths.Place, writer: str, who: str, wanted: list[str], now: float) -> tuple[list[str], str]:
    """Remove these messages. Returns (the ids that went, what there is to say)."""
    before = {item for item in wanted if not item.startswith("q-")}
    if not before:
        return [], ""
    with locks.Lock(place.lock("messages")):
        loaded = json_list.load_to_change(place, place.messages)
        gone = [item for item in loaded.items if str(item.get("id")) in before]
        if gone or loaded.note:
            rest = [item for item in loaded.items if str(item.get("id")) not in before]
            save(place, writer, rest, now)
    settled = [str(item.get("id")) for item in gone]
    logs.note(place, writer, now, *[{"kind": "message.acknowledged", "who": who, "id": item} for item in settled])
    return settled, loaded.note


def open_ones(place: paths.Place) -> json_list.Loaded:
    return json_list.load(place, place.messages)
