"""An agent's mail as its hooks tell it: inside of a turn, or at its end, which it then is not."""

from ibstatus.rules import letters
from ibstatus.store import inbox, message_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.hooks.event import Event
    from ibstatus.rules import telling
    from ibstatus.store.places import Place

MOST_BLOCKS = 3  # turn ends in a row that became none


def text(event: "Event", told: "telling.Told") -> str:
    """The letters; those that are too long are put where the agent can read them first."""
    long = [(value["id"], value["msg"]) for value in told.values if letters.is_long(value)]
    return letters.text(told, {item: message_files.put(event.agent, item, message) for item, message in long})


def may_block_again(event: "Event", place: "Place") -> bool:
    """Not for ever: an agent that gets mail all the time must be able to end its turn."""
    return inbox.blocks(place, event.agent) < MOST_BLOCKS


def block(event: "Event", place: "Place", told: "telling.Told", again: bool) -> None:
    """The turn goes on with this."""
    from ibstatus.rules import lines

    inbox.set_blocks(place, event.agent, inbox.blocks(place, event.agent) + 1 if again else 1)
    event.say(lines.encode({"decision": "block", "reason": text(event, told)}))
