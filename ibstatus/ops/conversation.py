"""What the end of an agent's transcript says of its state. Asked for where hooks and screen leave it in doubt."""

import time

from ibstatus.drivers import clients
from ibstatus.drivers.claude import transcript as files
from ibstatus.rules import ages, evidence, transcript
from ibstatus.rules.evidence import Evidence
from ibstatus.rules.fleet import Told
from ibstatus.rules.sights import Sight
from ibstatus.store import places
from ibstatus.store.fleet import Record


def where_in_doubt(place: places.Place, record: Record, told: Told | None, sight: Sight | None) -> tuple[Evidence, ...]:
    """Nothing for most agents: only of one that is said to work, and whose screen says nothing."""
    if told is None or told.state not in ("running", "compacting") or sight is None or not sight.there or sight.dead:
        return ()
    if sight.shown is not None and sight.shown.state != "unknown":
        return ()
    return (of(place, record),)


def of(place: places.Place, record: Record) -> Evidence:
    """What the end of the transcript says."""
    path = clients.of(record.meta).transcript_of(place, record.id)
    if not path:
        return Evidence(evidence.TRANSCRIPT, "", note="there is no transcript")
    now = time.time()
    tail = files.tail(path)
    if tail.why:
        return Evidence(evidence.TRANSCRIPT, "", at=now, seen=now, note=tail.why)
    found = transcript.ending(tail.data)
    if found is None:
        note = "nothing in the transcript can be read"
        return Evidence(evidence.TRANSCRIPT, "", at=tail.changed, seen=now, note=note, moved=tail.changed)
    state, reason, when, note = found
    at = ages.epoch(when) or tail.changed
    return Evidence(evidence.TRANSCRIPT, state, reason, at, now, note, moved=tail.changed)
