"""A compaction begins no turn and ends none: who rested before it rests after it, in the same words and since then."""

from typing import TYPE_CHECKING

from ibstatus.claude import hook_events

if TYPE_CHECKING:
    from ibstatus.state.rules.known import Told


def resumed(said: "Told", before: "Told | None") -> "Told":
    """The word that came after `before`, with what a compaction leaves as it was."""
    if before is None:
        return said
    if said.state == hook_events.COMPACTING:
        rest = before.rest if before.state == hook_events.COMPACTING else before
        if rest is None or not hook_events.is_rest(rest.state, rest.reason):
            return said
        return said._replace(said=rest.said, silent=rest.silent, rest=rest)
    rest = before.rest
    if rest is None or (said.state, said.reason) != (rest.state, rest.reason) or said.said or said.silent:
        return said
    return rest._replace(at=said.at, since=rest.since or rest.at)
