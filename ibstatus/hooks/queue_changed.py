"""FileChanged (asyncRewake): the queue has changed; the session is woken if there is news that nobody has told."""

import time

from ibstatus.model import words
from ibstatus.store import ringing, rungs, voice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.hooks.event import Event

SPEAKS_FOR = 0.5


def run(event: "Event") -> int:
    place, session = event.place, event.session
    if place is None or event.agent or not session or event.name != "FileChanged":
        return 0
    patience = time.monotonic() + SPEAKS_FOR
    while voice.is_speaking(place, session) and time.monotonic() < patience:
        time.sleep(0.02)  # a hook of the session is telling: what it leaves over is ours to ring for
    return words.RING if ringing.claim(place, session, rungs.WATCH, event.now) else 0
