"""What of the board the user's Claude is told: only that for which nobody but it, or the user, can do anything."""

from ibstatus.board.rules import validation
from ibstatus.mail.rules import listing
from ibstatus.merge.rules import text
from ibstatus.model.board import Entry, Event

CHANNELS = ("merge_conflict", "merge_failed", "task_failed")
STATUS = {"merge_conflict": validation.M_CONFLICT, "merge_failed": validation.M_FAILED}
LONGEST_WHY = 300


def is_open(event: Event, entry: Entry) -> bool:
    """Does it still stand so? What was queued again or given up meanwhile needs nobody."""
    return entry.status == STATUS[event.channel] and not entry.abandoned


def of_entry(entry: Entry, how: str) -> str:
    """Who, what, where, and `how`: the command to type."""
    what = f"{entry.branch} (task {entry.task_id}, agent {entry.agent_id})"
    if entry.status == validation.M_CONFLICT:
        files = text.files(entry.conflict_files)
        return plain(f"Merge queue: {what} conflicts with {entry.base} in {files}; {how}")
    return plain(f"Merge queue: {what} could not be merged into {entry.base}: {why(entry.reason)}; {how}")


def of_task(event: Event) -> str:
    tries = f"after {event.attempt} attempts" if event.attempt != 1 else "at its only attempt"
    how = f"ib board show {event.task_id}, then: ib board retry {event.task_id}"
    return plain(f"Board: task {event.task_id} has failed {tries}: {why(event.reason or 'no reason given')}; {how}")


def why(reason: str) -> str:
    return validation.cut(reason.partition("\n")[0], LONGEST_WHY)


def plain(text: str) -> str:
    return listing.shown(text)
