"""What `ib doctor` says of the board. It only looks: nothing is made, and no lease is ended."""

import time
from collections.abc import Iterator

from ibstatus.board import opening
from ibstatus.board.port import Board
from ibstatus.board.rules import validation as rule
from ibstatus.errors import IbError, visible
from ibstatus.model.fleet import Finding
from ibstatus.project import fleet, paths
from ibstatus.project.rules import counts, findings, settings_text
from ibstatus.system import timestamps

SUBJECT, UP = "board", "ib board up"


def board(place: paths.Place) -> Iterator[Finding]:
    if not opening.is_there(place):
        yield findings.ok(SUBJECT, f"none yet; {UP} makes one")
        return
    try:
        missing = opening.lacking(place)
        if missing:
            yield Finding("note", SUBJECT, f"the board lacks {', '.join(missing)}; the next command adds it", UP)
            return
        found = opening.opened(place)
        try:
            yield findings.ok(SUBJECT, where(place))
            yield from kept(place, found)
        finally:
            found.close()
    except IbError as error:
        cause = f" ({visible(error.cause)})" if error.cause else ""
        yield Finding("warn", SUBJECT, f"{visible(error.message)}{cause}", error.hint)


def where(place: paths.Place) -> str:
    dsn = opening.dsn_of(place)
    return f"PostgreSQL: {visible(settings_text.masked(dsn))}" if dsn else place.board


def kept(place: paths.Place, found: Board) -> Iterator[Finding]:
    stuck = [
        f"{entry.id} ({entry.status})"
        for entry in found.entries(fleet.repo_id(place), open_only=True)
        if entry.status in (rule.M_CONFLICT, rule.M_FAILED)
    ]
    if stuck:
        text = f"in the merge queue somebody is needed for {counts.some(stuck)}"
        yield Finding("warn", SUBJECT, text, "ib board merge list")
    now = timestamps.utc(time.time())
    late = [task.id for task in found.tasks(statuses=(rule.CLAIMED,)) if task.lease_until and task.lease_until < now]
    if late:
        text = f"no sign of life from who has {counts.some(late)}; whoever claims, watches or merges next frees it"
        yield Finding("note", SUBJECT, text, f"ib board show {late[0]}")
