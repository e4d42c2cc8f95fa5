"""An agent's mail as its hooks tell it: inside of a turn, or at its end, which it then is not."""

from ibstatus.mail import inbox, inbox_overflow
from ibstatus.mail.rules import inbox_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.hooks.event import Event
    from ibstatus.mail import queue_lines
    from ibstatus.project.paths import Place

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
