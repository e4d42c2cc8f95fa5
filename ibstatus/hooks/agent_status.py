"""What a session does, as an event: Stop, StopFailure, SessionEnd, PermissionRequest, Notification, compactions.

Prints nothing. Subagents' events never change their parent's state.
"""

from ibstatus.store import standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.hooks.event import Event
    from ibstatus.store.places import Place


def run(event: "Event") -> int:
    if event.place is None or event.body is None or event.of_subagent:
        return 0
    if event.agent and event.name == "Stop":
        from ibstatus.rules import delivery
        from ibstatus.store import voice

        with voice.hear_inbox(event.place, event.agent, delivery.STOP, event.prompt) as offer:
            offer.settle()
    if not event.agent and event.session and event.name == "Stop":
        confirm(event, event.place)
        event.starts_supervisor()
    standing.note(event.place, event.agent, event.session, event.name, event.body, event.now)
    if event.name == "SessionEnd" and not event.agent and event.session:
        leave(event, event.place)
    return 0


def confirm(event: "Event", place: "Place") -> None:
    """The turn has taken in what it was told."""
    from ibstatus.rules import delivery
    from ibstatus.store import fleet_seen, voice

    with voice.hear(place, event.session, delivery.STOP, event.prompt) as offer:
        offer.settle()
    mark = fleet_seen.mark(place)
    if mark and not fleet_seen.is_current(place, event.session, mark):
        from ibstatus.hooks import news

        news.confirm(event, place, delivery.STOP)


def leave(event: "Event", place: "Place") -> None:
    from ibstatus.store import rungs

    standing.forget(place, event.session)
    rungs.leave(place, event.session)
