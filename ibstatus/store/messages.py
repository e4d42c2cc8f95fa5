"""user-messages.json: what agents told the user's Claude and it has not acknowledged. The source of truth."""

from ibstatus.model import words
from ibstatus.rules import stamps
from ibstatus.store import arrays, ids, locks, notices, places, queue, spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.store.arrays import Item


class Sent:
    """The stored message and what there is to say besides."""

    __slots__ = ("item", "note")

    def __init__(self, item: "Item", note: str) -> None:
        self.item = item
        self.note = note


def send(place: places.Place, writer: str, sender: str, verified: bool, kind: str, content: str, now: float) -> Sent:
    """File first, then the queue line with the same id, then the flag; the next writer mends a crash in between."""
    with locks.Lock(place.lock("messages")):
        loaded = arrays.load_to_change(place, place.messages)
        items = loaded.items
        item: Item = {
            "id": ids.take(place, "msg", sender, now),
            "from": sender,
            "timestamp": stamps.utc(now),
            "type": kind,
            "content": content,
        }
        if not verified:
            item["verified"] = False
        said = save(place, writer, [*items, item], now, fresh=item)
    if kind not in words.WAKES:
        spool.note(place, writer, now, {"kind": "message.queued", "who": sender, "id": item["id"], "type": kind})
    return Sent(item, "; ".join(note for note in (loaded.note, said) if note))


def save(place: places.Place, writer: str, items: "list[Item]", now: float, fresh: "Item | None" = None) -> str:
    return arrays.save(place, place.messages, items, lambda items: mend(place, writer, items, now, fresh))


def mend_owed(place: places.Place, writer: str, now: float) -> None:
    """What a killed writer owes, when no next one comes by."""
    with locks.Lock(place.lock("messages")):
        save(place, writer, arrays.load_to_change(place, place.messages).items, now)


def mend(place: places.Place, writer: str, items: "list[Item]", now: float, fresh: "Item | None") -> bool:
    """Write the queue line of every message that should wake and has none yet."""
    changed = False
    for item in items:
        kind = words.WAKES.get(str(item.get("type")), "")
        key = str(item.get("id") or "")
        if not kind or item.get("queued") or not key:
            continue
        if item is fresh or not queue.holds(place, key):
            verified = item.get("verified") is not False
            sender, content = str(item.get("from", "")), str(item.get("content", ""))
            notices.post(place, writer, key, kind, sender, verified, content, now)
        item["queued"] = changed = True
    return changed


def acknowledge(place: places.Place, writer: str, who: str, wanted: list[str], now: float) -> tuple[list[str], str]:
    """Remove these messages. Returns (the ids that went, what there is to say)."""
    before = {item for item in wanted if not item.startswith("q-")}
    if not before:
        return [], ""
    with locks.Lock(place.lock("messages")):
        loaded = arrays.load_to_change(place, place.messages)
        gone = [item for item in loaded.items if str(item.get("id")) in before]
        if gone or loaded.note:
            rest = [item for item in loaded.items if str(item.get("id")) not in before]
            save(place, writer, rest, now)
    settled = [str(item.get("id")) for item in gone]
    spool.note(place, writer, now, *[{"kind": "message.acknowledged", "who": who, "id": item} for item in settled])
    return settled, loaded.note


def open_ones(place: places.Place) -> arrays.Loaded:
    return arrays.load(place, place.messages)
