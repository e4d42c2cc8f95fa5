"""wake check: send a canary to a session, and see which rung of the ladder carries it, and how fast."""

import time

from ibstatus.errors import IbError
from ibstatus.mail import cursors, delivery, post, queue, trace, wake_state
from ibstatus.model.fleet import Woken
from ibstatus.project import home, identity, names, paths
from ibstatus.system.text import times

CANARY = "This is a test of the way that wakes you (ib wake check). Nothing is to be done."
LOOK_EVERY = 0.02
INSIDE = 3.0  # a session that runs the check itself is at work, and hears nothing before it is over
NOTED = 1.0
NEXT = "prompt"


def check(place: paths.Place, caller: identity.Caller, timeout: float | None, most: float = 20.0) -> Woken:
    """Sends one notice and waits until the session's voice has told it."""
    if caller.kind == identity.AGENT:
        raise IbError("An agent cannot check how the user's Claude is woken", hint="ib send user-claude TEXT")
    home.enter(place)
    session = caller.session or wake_state.primary(place)
    if not session:
        raise IbError(
            "No Claude session with ib's hooks is known here",
            hint="ib hooks install, then start claude in this repository and give it a first prompt",
        )
    armed = wake_state.armed(place, session)
    began = time.time()
    item = str(post.notify(place, "cli", "complete", "system", True, CANARY, began)["id"])
    patience = timeout if timeout is not None else INSIDE if caller.session else most
    told = wait(place, session, armed, item, began, patience)
    return told or Woken(session=session, armed=armed, id=item, inside=bool(caller.session))


def wait(place: paths.Place, session: str, armed: list[str], item: str, began: float, patience: float) -> Woken | None:
    """None: it was not told in time."""
    seen = queue.view(place)
    seen.close()
    until = time.monotonic() + patience
    while not is_told(place, session, seen.end):
        if time.monotonic() > until:
            return None
        time.sleep(LOOK_EVERY)
    while True:
        steps = trace.trace(place, item)["steps"]
        rung = [step for step in steps if step["step"] == "rung" and step.get("by") and step["who"] == session]
        told = [step for step in steps if step["step"] == "offered" and step["who"] == names.cursor_file(session)]
        if told or time.monotonic() > until + NOTED:
            break
        time.sleep(LOOK_EVERY)  # the hook notes it right after it has told
    return Woken(
        session=session,
        armed=armed,
        id=item,
        by=str(rung[0]["by"]) if rung else NEXT,
        rung=since(rung, began),
        told=since(told, began),
    )


def is_told(place: paths.Place, session: str, end: int) -> bool:
    known = cursors.read(place, names.cursor_file(session))
    return known is not None and delivery.told_up_to(known) >= end


def since(steps: list[dict[str, object]], began: float) -> float | None:
    at = times.epoch(str(steps[0]["t"])) if steps else None
    return None if at is None else round(max(0.0, at - began), 3)
