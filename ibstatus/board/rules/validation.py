"""What may stand on the board: names, texts, ids, channels; and the words that other programs hear of an event."""

import re
import unicodedata

from ibstatus.errors import IbError, UsageError
from ibstatus.project import names

DRAFT, PENDING, PENDING_APPROVAL, READY = "draft", "pending", "pending_approval", "ready"
CLAIMED, DONE, FAILED, REJECTED = "claimed", "done", "failed", "rejected"
STATUSES = (DRAFT, PENDING, PENDING_APPROVAL, READY, CLAIMED, DONE, FAILED, REJECTED)
OVER = (DONE, FAILED, REJECTED)

M_PENDING, M_MERGING, M_MERGED, M_CONFLICT, M_FAILED = "pending", "merging", "merged", "conflict", "failed"

SEEDS = ("task_ready", "task_done", "task_failed", "merge_ready", "merge_merged", "merge_conflict", "merge_failed")
ON_REQUEST = ("task_claimed", "task_retry", "task_pending_approval", "task_rejected")
CHANNELS = SEEDS + ON_REQUEST
WAKE = "ib_board"  # rings with every change; says nothing

LOWEST, HIGHEST, USUAL = 0, 10, 5
MOST_ATTEMPTS = 1000
LONGEST_LEASE = 604800.0
LONGEST_NAME = 100
LONGEST_TEXT = 1 << 20
LONGEST_SLUG = 24
# What a dependency's notes tell those who come after it; why an attempt failed is no matter of theirs.
HANDED_ON = ("observation", "handoff", "result")
NO_SIGN = "no sign of life: the lease ran out"
LISTED, QUEUE = "ib board list", "ib board merge list"
# An event's line stays readable and fits a NOTIFY; the whole text stands in the task.
LONGEST_TITLE_IN_EVENT, LONGEST_TEXT_IN_EVENT = 200, 2000
ID = re.compile(r"[a-z0-9][a-z0-9-]*")


def task_id(title: str, random_hex: str) -> str:
    """`Add dark mode!` → `add-dark-mode-3f9a1`: a slug that ends at a word, and five digits that nobody guesses."""
    plain = unicodedata.normalize("NFKD", title[:400]).encode("ascii", "ignore").decode().lower()
    slug = "-".join(re.findall(r"[a-z0-9]+", plain))
    if len(slug) > LONGEST_SLUG:
        slug = slug[: LONGEST_SLUG + 1].rpartition("-")[0] or slug[:LONGEST_SLUG]
    return f"{slug or 'task'}-{random_hex[:5]}"


def meant(given: str, known: list[str]) -> str:
    """The one task whose id this is, or begins with; an exact match wins."""
    found = names.meant(given, known)
    if not found:
        raise IbError(f"There is no task '{cut(given, 60)}'", hint=LISTED)
    if len(found) > 1:
        raise IbError(f"'{cut(given, 60)}' can mean {', '.join(found[:5])}", hint="type more of the id")
    return found[0]


def is_prefix(given: str) -> bool:
    """Can an id begin so?"""
    return bool(ID.fullmatch(given))


def checked_title(given: str) -> str:
    title = " ".join(text_of(given, "A title").split())
    if not title:
        raise UsageError("A task needs a title", hint='ib board add "Add dark mode"')
    return title


def checked_name(given: str, what: str) -> str:
    """A project, a capability, an agent: one line that can stand in a seed's `a|b` payload."""
    name = text_of(given, what).strip()
    if not name or len(name) > LONGEST_NAME or "|" in name or not name.isprintable():
        raise UsageError(f"{what} is 1 to {LONGEST_NAME} printable characters without |: {cut(name, 40)!r}")
    return name


def checked_priority(given: int) -> int:
    if not LOWEST <= given <= HIGHEST:
        raise UsageError(f"A priority is {LOWEST} to {HIGHEST}, higher first: {given}")
    return given


def text_of(given: str, what: str) -> str:
    """Text that both stores can hold: no NUL, no half characters."""
    if "\0" in given:
        raise UsageError(f"{what} cannot hold a NUL character")
    text = given.encode("utf-8", "replace").decode() if not given.isascii() else given
    if len(text.encode()) > LONGEST_TEXT:
        raise UsageError(f"{what} is longer than 1 MiB", hint="put it into a file of the repository and name that")
    return text


def checked_channels(given: str) -> tuple[str, ...]:
    """`a,b` → its channels; all that a consumer of the seed knows when nothing is given."""
    wanted = [word.strip() for word in given.split(",") if word.strip()]
    unknown = [word for word in wanted if word not in CHANNELS]
    if unknown:
        raise UsageError(f"There is no channel '{cut(unknown[0], 40)}'", hint=f"channels: {', '.join(CHANNELS)}")
    return tuple(dict.fromkeys(wanted)) or SEEDS


def cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def shown(id: str) -> str:
    """What to type to see a task."""
    return f"ib board show {id}"


def told(status: str) -> str:
    """A status as it stands in a sentence."""
    return {PENDING_APPROVAL: "waiting for approval", DRAFT: "a draft"}.get(status, status)


def way_round(edges: dict[str, list[str]], start: str, on: str) -> list[str]:
    """The circle that `start` waiting for `on` would close: [start, on, …, start]; [] when there is none."""
    before: dict[str, str] = {on: start}
    todo = [on]
    while todo:
        at = todo.pop()
        if at == start:
            return [start, *walked(before, on, start)]
        fresh = [one for one in edges.get(at, []) if one not in before]
        before.update(dict.fromkeys(fresh, at))
        todo += fresh
    return []


def walked(before: dict[str, str], first: str, last: str) -> list[str]:
    """The way from `first` to `last`, from where each one was reached."""
    way = [last]
    while way[-1] != first:
        way.append(before[way[-1]])
    return way[::-1]
