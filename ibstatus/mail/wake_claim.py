"""May a bell ring? Bells ring, and only one of them rings for the same news; the telling is the voice's."""

from ibstatus.mail import cursors, delivery, queue, queue_lines, session_reader, wake_state
from ibstatus.mail.wake_state import LISTENER, Rungs
from ibstatus.project import logs, names, paths
from ibstatus.system import disk, locks

PATIENCE = 10.0  # seconds until a ring that nobody answered is repeated, then four times as long, and so on:
LONGEST_PATIENCE = 3600.0  # where the voice is broken, each ring costs a turn, and each turn's end a new ring
SILENT = 600.0  # so long without a sign, and another session may be rung instead
OLD_QUESTION = 300.0


def unheard(place: paths.Place, session: str) -> tuple[int, bytes]:
    """(where the news ends, its lines) that stand behind what this session was told; (0, b'') without any that
    would be worth a ring."""
    seen = queue.view(place)
    try:
        known = cursors.read(place, names.cursor_file(session))
        if known is None:
            known = delivery.first(cursors.last_confirmed(place))
        heard = delivery.told_up_to(seen.fitted(known))
        own = cursors.read(place, names.listener_file(session))
        if own is not None:
            heard = max(heard, min(own.done, seen.end))
        news = seen.read(heard, seen.end)[1] if seen.end > heard else b""
        return (seen.end, news) if news and not queue_lines.is_quiet(news) else (0, b"")
    finally:
        seen.close()


def claim(place: paths.Place, session: str, by: str, now: float) -> bool:
    """May this bell ring now? Only for news that nobody has told, and that no other bell has just rung for."""
    if session_reader.is_speaking(place, session):
        return False  # it tells at this very moment; whoever asks looks again
    lock = locks.Lock(place.lock("rung-" + names.cursor_file(session)))
    if not lock.try_take():
        return False
    try:
        end, news = unheard(place, session)
        if not end or not queue_lines.told(news, 0, 0).values:
            return False
        known = wake_state.read(place, session)
        pending = known.rung_for > 0 and is_pending(place, session, known.rung_for)
        patience = min(PATIENCE * 4 ** min(known.repeats, 9), LONGEST_PATIENCE)
        if pending and 0 <= now - known.rung_at < patience:
            return False
        if by != LISTENER and not concerns(place, session, news, now):
            return False
        repeats = known.repeats + 1 if pending else 0
        wake_state.write(place, session, Rungs(known.watched, end, int(now), known.warned_at, repeats))
    finally:
        lock.release()
    ids = queue_lines.told(news, 0, 0).fresh
    logs.note(place, names.cursor_file(session), now, {"kind": "message.rung", "who": session, "by": by, "ids": ids})
    return True


def is_pending(place: paths.Place, session: str, rung_for: int) -> bool:
    """Has the voice not yet told all that was rung for? A ring on its way brings what came meanwhile as well."""
    told = cursors.read(place, names.cursor_file(session))
    return told is None or delivery.told_up_to(told) < rung_for


def concerns(place: paths.Place, session: str, news: bytes, now: float) -> bool:
    """News wakes the session that the user talks to; the others hear it at their next prompt. Unless that one is
    gone, or a question has been open for too long."""
    first = wake_state.primary(place)
    if first in ("", names.cursor_file(session)) or not is_alive(place, first, now):
        return True
    from ibstatus.system.text import times as ages

    asked = [line["ts"] for line in queue_lines.told(news, 0, 0).values if line["type"] == "question"]
    times = [at for at in map(ages.epoch, asked) if at is not None]
    return bool(times) and now - min(times) >= OLD_QUESTION


def is_alive(place: paths.Place, session: str, now: float) -> bool:
    """Does the first session wait for news, or is a turn of it not long ago?"""
    if locks.is_held(wake_state.waiter_lock(place, session)) or wake_state.is_listening(place, session):
        return True
    try:
        return 0 <= now - disk.stat(wake_state.primary_path(place)).st_mtime < SILENT
    except OSError:
        return False
