"""FileChanged (asyncRewake): the queue has changed; the session is woken if there is news that nobody has told."""

import time

from ibstatus.mail import session_reader, wake_claim, wake_state
from ibstatus.model import constants

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.hooks.event import Event

SPEAKS_FOR = 0.5


def run(event: "Event") -> int:
    place, session = event.place, event.session
    if place is None or event.agent or not session or event.name != "FileChanged":
        return 0
    patience = time.monotonic() + SPEAKS_FOR
    while session_reader.is_speaking(place, session) and time.monotonic() < patience:
        time.sleep(0.02)  # a hook of the session is telling: what it leaves over is ours to ring for
    return constants.RING if wake_claim.claim(place, session, wake_state.WATCH, event.now) else 0
