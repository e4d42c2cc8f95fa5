"""user-questions.json: what agents asked, kept with its answer. Marked when acknowledged, never removed while open."""

from ibstatus.errors import IbError, quoted
from ibstatus.mail import inbox, json_list, post, queue
from ibstatus.model import constants
from ibstatus.project import ids, logs, paths
from ibstatus.system import locks, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.mail.json_list import Item

KEY = "questions"
PENDING = "pending"
ACKNOWLEDGED = "acknowledged"
KEPT_ACKNOWLEDGED = 200


def ask(place: paths.Place, writer: str, agent: str, verified: bool, text: str, now: float) -> "tuple[Item, str]":
    with locks.Lock(place.lock("questions")):
        loaded = json_list.load_to_change(place, place.questions, KEY)
        item: Item = {
            "id": ids.take(place, "q", agent, now),
            "agent": agent,
            "question": text,
            "timestamp": timestamps.utc(now),
            "status": PENDING,
        }
        if not verified:
            item["verified"] = False
        items = [*thinned(loaded.items), item]
        logs.note(place, writer, now, {"kind": "question.asked", "who": agent, "id": item["id"]})
        said = save(place, writer, items, now, fresh=item)
    return item, "; ".join(note for note in (loaded.note, said) if note)


def thinned(items: "list[Item]") -> "list[Item]":
    """Old acknowledged questions go in the end; open ones never do."""
    settled = [item for item in items if item.get("status") == ACKNOWLEDGED and not unsent(item)]
    drop = {id(item) for item in settled[: max(0, len(settled) - KEPT_ACKNOWLEDGED)]}
    return [item for item in items if id(item) not in drop]


def save(place: paths.Place, writer: str, items: "list[Item]", now: float, fresh: "Item | None" = None) -> str:
    """Store, then carry out what is still owed: the queue line of a question, the inbox line of an answer."""
    return json_list.save(place, place.questions, items, lambda items: mend(place, writer, items, now, fresh), KEY)


def mend_owed(place: paths.Place, writer: str, now: float) -> None:
    """What a killed writer owes, when no next one comes by."""
    with locks.Lock(place.lock("questions")):
        save(place, writer, json_list.load_to_change(place, place.questions, KEY).items, now)


def mend(place: paths.Place, writer: str, items: "list[Item]", now: float, fresh: "Item | None") -> bool:
    changed = False
    for item in items:
        key = str(item.get("id") or "")
        if item.get("status") == PENDING and not item.get("queued") and key:
            if item is fresh or not queue.holds(place, key):
                agent = str(item.get("agent", constants.UNKNOWN))
                text = f"Agent {agent} asks: {item.get('question', '')}"
                post.post(place, writer, key, "question", agent, item.get("verified") is not False, text, now)
            item["queued"] = changed = True
    for item in items:
        if unsent(item) and delivered(place, item, now):
            item["sent"] = changed = True
    return changed


def delivered(place: paths.Place, item: "Item", now: float) -> bool:
    """False when the agent's inbox cannot be written: the answer stays owed, and stops nobody else's question."""
    try:
        inbox.deliver_answer(place, item, now)
    except (OSError, IbError):
        return False
    return True


def unsent(item: "Item") -> bool:
    """Answered by us (another tool's item has no `sent`), and the agent has not got it yet."""
    return item.get("sent") is False and "answer" in item and "id" in item


def answer(
    place: paths.Place, writer: str, who: str, question: str, text: str, now: float
) -> "tuple[Item | None, str]":
    """Answer and acknowledge in one step: stored first, then sent; a crash in between is mended by the next writer."""
    with locks.Lock(place.lock("questions")):
        loaded = json_list.load_to_change(place, place.questions, KEY)
        found = next((item for item in loaded.items if item.get("id") == question), None)
        if found is None:
            return None, loaded.note
        if "answer" in found:
            if unsent(found):
                save(place, writer, loaded.items, now)
            raise answered(found)
        found.update(status=ACKNOWLEDGED, acknowledged_at=timestamps.utc(now), answer=text, answered_by=who, sent=False)
        save(place, writer, loaded.items, now)
    if unsent(found):
        agent = str(found.get("agent"))
        raise IbError(
            f"The answer is kept, but the inbox of {agent} cannot be written; the next ib ask or answer tries again",
            hint=f"ls -l {quoted(inbox.path_of(place, agent))}",
        )
    logs.note(
        place,
        writer,
        now,
        {"kind": "question.answered", "who": who, "id": question, "to": found.get("agent")},
        {"kind": "question.acknowledged", "who": who, "id": question},
    )
    return found, loaded.note


def answered(item: "Item") -> IbError:
    return IbError(
        f"{item['id']} was answered already: {str(item['answer'])[:80]}",
        hint=f'say more: ib send {quoted(item.get("agent"))} "…"',
    )


def acknowledge(place: paths.Place, writer: str, who: str, wanted: list[str], now: float) -> tuple[list[str], str]:
    """Mark these questions. Once more is fine: the id is settled either way."""
    before = {item for item in wanted if not item.startswith("msg-")}
    if not before:
        return [], ""
    with locks.Lock(place.lock("questions")):
        loaded = json_list.load_to_change(place, place.questions, KEY)
        found = [item for item in loaded.items if str(item.get("id")) in before]
        fresh = [item for item in found if item.get("status") != ACKNOWLEDGED]
        for item in fresh:
            item.update(status=ACKNOWLEDGED, acknowledged_at=timestamps.utc(now))
        if fresh or loaded.note:
            save(place, writer, loaded.items, now)
    logs.note(
        place,
        writer,
        now,
        *[{"kind": "question.acknowledged", "who": who, "id": str(item.get("id"))} for item in fresh],
    )
    return [str(item.get("id")) for item in found], loaded.note


def all_of(place: paths.Place) -> json_list.Loaded:
    return json_list.load(place, place.questions, KEY)


def pending(place: paths.Place) -> "list[Item]":
    return [item for item in all_of(place).items if item.get("status") == PENDING]
