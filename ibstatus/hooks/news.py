"""When there is something to tell: mail, changes of the fleet, a warning; put together, kept once it is printed.

An agent's mail as its hooks tell it: inside of a turn, or at its end, which it then is not.
"""

import ibstatus
from ibstatus.claude import hook_output
from ibstatus.hooks.rules import session_overview
from ibstatus.mail import fleet_seen, inbox, inbox_overflow, queue_lines
from ibstatus.mail.rules import fleet_changes, inbox_text
from ibstatus.project import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.hooks.entry import Event
    from ibstatus.mail import queue_lines
    from ibstatus.project.paths import Place
    from ibstatus.project.settings import Settings


STALE = 3  # update intervals without a look of the supervisor
FLEET, MAIL = 2000, 6800  # characters


class News:
    __slots__ = ("place", "seen", "session", "text", "visible")

    def __init__(self, place: "Place", session: str, text: str, visible: str, seen: fleet_changes.Seen | None) -> None:
        self.place = place
        self.session = session
        self.text = text
        self.visible = visible
        self.seen = seen

    def answer(self, event: str) -> str:
        return hook_output.context(event, self.text, self.visible)

    def keep(self) -> None:
        """It is out: from now on only what differs is told."""
        if self.seen is not None:
            fleet_seen.save(self.place, self.session, self.seen)


def of(event: "Event", place: "Place", kind: str, told: queue_lines.Told, mark: str, warning: str) -> News:
    settings = config.load(place)
    seen, fleet, summary = changed(event, place, kind, mark, settings)
    text = "\n\n".join(part for part in (session_overview.shortened(told, MAIL), fleet, warning) if part)
    visible = ""
    if settings.value("hooks.statusVisible") and (fleet or told.values):
        said = [f"Agents: {summary}"] if fleet else []
        visible = "[ib] " + "; ".join(said + senders(told))
    return News(place, event.session, text, visible, seen)


def changed(
    event: "Event", place: "Place", kind: str, mark: str, settings: "Settings"
) -> tuple[fleet_changes.Seen | None, str, str]:
    """(what to keep, the difference in words, the fleet in a few words)."""
    before = fleet_seen.load(place, event.session)
    seen = before.after(kind, event.prompt)
    found = fleet_seen.snapshot(place, ibstatus.__version__) if settings.value("hooks.injectStatus") else None
    if found is None:
        return fleet_changes.Seen(mark, "", seen.known, None) if mark else None, "", ""
    snapshot, at = found
    now = fleet_changes.fleet(snapshot)
    text = fleet_changes.text(seen.known, now, as_of(event.now, at, settings), FLEET)
    if not text:
        return fleet_changes.Seen(mark, seen.prompt, seen.sure, seen.told), "", ""
    return fleet_changes.Seen(mark, event.prompt, seen.sure, now), text, fleet_changes.summary(now)


def as_of(now: float, at: float, settings: "Settings") -> str:
    """What nobody has looked at lately is dated."""
    if -1 < now - at < STALE * settings.value("status_node.update_interval"):
        return ""
    from ibstatus.system import timestamps

    return f" as of {timestamps.utc(at)}"


def senders(told: queue_lines.Told) -> list[str]:
    """For the user: who has written, not what."""
    names = sorted({str(value["from"])[:40] for value in told.values})
    if not names:
        return []
    count = len(told.values)
    shown = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
    return [f"{count} message{'' if count == 1 else 's'} from {shown}"]


def confirm(event: "Event", place: "Place", kind: str) -> None:
    """The turn ended: it has taken in the fleet that it was told."""
    before = fleet_seen.load(place, event.session)
    seen = before.after(kind, event.prompt)
    if seen is not before:
        fleet_seen.save(place, event.session, seen)


MOST_BLOCKS = 3  # turn ends in a row that became none


def text(event: "Event", told: "queue_lines.Told") -> str:
    """The letters; those that are too long are put where the agent can read them first."""
    long = [(value["id"], value["msg"]) for value in told.values if inbox_text.is_long(value)]
    return inbox_text.text(told, {item: inbox_overflow.put(event.agent, item, message) for item, message in long})


def may_block_again(event: "Event", place: "Place") -> bool:
    """Not for ever: an agent that gets mail all the time must be able to end its turn."""
    return inbox.blocks(place, event.agent) < MOST_BLOCKS


def block(event: "Event", place: "Place", told: "queue_lines.Told", again: bool) -> None:
    """The turn goes on with this."""
    from ibstatus.system import jsonl

    inbox.set_blocks(place, event.agent, inbox.blocks(place, event.agent) + 1 if again else 1)
    event.say(jsonl.encode({"decision": "block", "reason": text(event, told)}))
