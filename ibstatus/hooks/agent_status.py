"""What a session does, as an event: Stop, StopFailure, SessionEnd, PermissionRequest, Notification, compactions.

Prints nothing, except that the end of an agent's turn is none while mail waits for it.
Subagents' events never change their parent's state.
"""

from ibstatus.claude import hook_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.hooks.entry import Event
    from ibstatus.project.paths import Place


def run(event: "Event") -> int:
    if event.place is None or event.body is None or event.of_subagent:
        return 0
    if event.agent and event.name == "Stop" and goes_on(event, event.place):
        return 0
    if not event.agent and event.session and event.name == "Stop":
        confirm(event, event.place)
        event.starts_supervisor()
    hook_state.note(event.place, event.agent, event.session, event.name, event.body, event.now, event.mono)
    if event.name == "SessionEnd" and not event.agent and event.session:
        leave(event, event.place)
    return 0


def goes_on(event: "Event", place: "Place") -> bool:
    """The turn has taken in what it was told; with what came since, it is not over yet."""
    from ibstatus.mail import delivery, session_reader

    again = event.body is not None and event.body.get("stop_hook_active") is True
    tells = event.prompt != "" and not (again and is_enough(event, place))
    with session_reader.hear_inbox(
        place, event.agent, delivery.BATCH if tells else delivery.STOP, event.prompt, fitting
    ) as offer:
        if offer.told.values:
            from ibstatus.hooks import news

            news.block(event, place, offer.told, again)
        offer.settle()
        if not offer.told.values:
            return False
    hook_state.working(place, event.agent, event.session, event.now, began=False, mono=event.mono)
    return True


def is_enough(event: "Event", place: "Place") -> bool:
    from ibstatus.hooks import news

    return not news.may_block_again(event, place)


def fitting(data: bytes, at: int, least: int) -> int:
    from ibstatus.mail.rules import inbox_text

    return inbox_text.fitting(data, at, least)


def confirm(event: "Event", place: "Place") -> None:
    """The turn has taken in what it was told."""
    from ibstatus.mail import delivery, fleet_seen, session_reader

    with session_reader.hear(place, event.session, delivery.STOP, event.prompt) as offer:
        offer.settle()
    mark = fleet_seen.mark(place)
    if mark and not fleet_seen.is_current(place, event.session, mark):
        from ibstatus.hooks import news

        news.confirm(event, place, delivery.STOP)


def leave(event: "Event", place: "Place") -> None:
    from ibstatus.mail import wake_state

    hook_state.forget(place, event.session)
    wake_state.leave(place, event.session)
