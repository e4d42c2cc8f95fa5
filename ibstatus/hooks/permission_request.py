"""PermissionRequest of an agent: nobody is there to answer a dialog. A question is passed on, everything is denied.

In yolo and in the primary nothing is decided: only the state is noted.
"""

import _signal  # type: ignore[import-not-found]  # `signal` loads enum

from ibstatus.claude import hook_output
from ibstatus.mail import client_questions
from ibstatus.mail.rules import permission_requests
from ibstatus.project import agent_meta, agents, config, logs, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.hooks.entry import Event

PATIENCE = 0.8


class Late(BaseException):
    """An answer is due now. Not an Exception: nothing on the way may take it for an error of its own."""


def run(event: "Event") -> int:
    place = event.place
    if not event.agent or (place is not None and is_yolo(place, event.agent)):
        from ibstatus.hooks import agent_status

        return agent_status.run(event)
    event.say(hook_output.refuse(in_time(event, place)))
    return 0


def is_yolo(place: paths.Place, agent: str) -> bool:
    record = agent_meta.record_of(place, agent)
    return record is not None and record.meta.get("yolo") is True


def in_time(event: "Event", place: paths.Place | None) -> str:
    """What the agent is told. Somebody who holds a lock for long must not hold up the session."""
    if place is None or event.body is None:
        return permission_requests.UNREADABLE
    if not agents.exists(place, event.agent):
        return permission_requests.STRANGER

    def late(*_: object) -> None:
        raise Late

    _signal.signal(_signal.SIGALRM, late)
    _signal.setitimer(_signal.ITIMER_REAL, PATIENCE)
    manager = ""
    try:
        logs.write(
            place,
            event.agent,
            permission_requests.log_line(event.text("tool_name"), event.body.get("tool_input")),
            event.now,
        )
        manager = agents.living_manager(place, event.agent)
        return decided(event, place, manager)
    except Late:
        return permission_requests.LATE.format(instead=permission_requests.instead(manager))
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)


def decided(event: "Event", place: paths.Place, manager: str) -> str:
    tool = event.text("tool_name")
    if tool == permission_requests.PLAN:
        return permission_requests.NO_PLANS.format(instead=permission_requests.instead(manager))
    if tool != permission_requests.ASK:
        return permission_requests.NOT_ALLOWED.format(
            tool=permission_requests.name(tool), instead=permission_requests.instead(manager)
        )
    text = permission_requests.questions_text((event.body or {}).get("tool_input"))
    if not text:
        return permission_requests.NO_QUESTION.format(instead=permission_requests.instead(manager))
    if manager:
        item = client_questions.ask_manager(place, event.agent, manager, "QUESTION: " + text, event.now)
        return permission_requests.RECORDED.format(id=item, to=f" for {manager}")
    refused = permission_requests.may_not_ask(config.load(place))
    return refused or permission_requests.RECORDED.format(
        id=client_questions.ask_user(place, event.agent, text, event.now), to=""
    )
