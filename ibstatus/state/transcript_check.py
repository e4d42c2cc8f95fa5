"""What the end of an agent's transcript says of its state. Asked for where hooks and screen leave it in doubt."""

import time

from ibstatus.claude import client, transcript_text
from ibstatus.claude import transcript as files
from ibstatus.project import paths
from ibstatus.project.agent_meta import Record
from ibstatus.state.rules import evidence
from ibstatus.state.rules.evidence import Evidence
from ibstatus.state.rules.known import Sight, Told
from ibstatus.system.text import times

MOST = 10
KEPT = 2.0


class Reading:
    """Of many agents, from look to look: a few transcripts a look, and none of them twice within two seconds."""

    def __init__(self, place: paths.Place) -> None:
        self.place = place
        self.kept: dict[str, Evidence] = {}
        self.now = 0.0
        self.left = MOST

    def begin(self, now: float) -> "Reading":
        self.now, self.left = now, MOST
        self.kept = {agent: one for agent, one in self.kept.items() if 0 <= now - one.seen < KEPT}
        return self

    def where_in_doubt(self, record: Record, told: Told | None, sight: Sight | None) -> tuple[Evidence, ...]:
        """Nothing for most agents."""
        if not is_in_doubt(told, sight):
            return ()
        if record.id not in self.kept and self.left > 0:
            self.left -= 1
            self.kept[record.id] = tried(self.place, record)._replace(seen=self.now)
        return (self.kept[record.id],) if record.id in self.kept else ()


def is_in_doubt(told: Told | None, sight: Sight | None) -> bool:
    """Said to be in the middle of a turn, and no screen says anything."""
    if told is None or (told.state not in ("running", "compacting") and told.reason not in evidence.DIALOGS):
        return False
    if sight is None or sight.there is False or sight.dead or sight.gone:
        return False
    return sight.shown is None or sight.shown.state == "unknown"


def tried(place: paths.Place, record: Record) -> Evidence:
    """A transcript that cannot be read says why, whatever is wrong with it."""
    try:
        return of(place, record)
    except Exception as error:
        return Evidence(evidence.TRANSCRIPT, "", note=f"the transcript cannot be read: {type(error).__name__}: {error}")


def of(place: paths.Place, record: Record) -> Evidence:
    """What the end of the transcript says."""
    path = client.of(record.meta).transcript_of(place, record.id)
    if not path:
        return Evidence(evidence.TRANSCRIPT, "", note="there is no transcript")
    now = time.time()
    tail = files.tail(path)
    if tail.why:
        return Evidence(evidence.TRANSCRIPT, "", at=now, seen=now, note=tail.why)
    found = transcript_text.ending(tail.data)
    if found is None:
        note = "nothing in the transcript can be read"
        return Evidence(evidence.TRANSCRIPT, "", at=tail.changed, seen=now, note=note, moved=tail.changed)
    state, reason, when, note = found
    at = times.epoch(when) or tail.changed
    return Evidence(evidence.TRANSCRIPT, state, reason, at, now, note, moved=tail.changed)
