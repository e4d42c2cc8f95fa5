"""CwdChanged: the client forgets what it watches when the session changes its directory; it is told again."""

from ibstatus.claude import hook_output
from ibstatus.mail import wake_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.hooks.event import Event


def run(event: "Event") -> int:
    if event.place is not None and not event.agent and event.session and event.name == "CwdChanged":
        event.say(hook_output.watch(event.name, [event.place.queue]))
        wake_state.set_watched(event.place, event.session, event.now)
    return 0
