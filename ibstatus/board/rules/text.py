"""The board as people read it."""

from collections.abc import Mapping, Sequence

from ibstatus.board.rules import validation
from ibstatus.mail.rules import listing
from ibstatus.model.board import Entry, Hit, Note, Task
from ibstatus.state.rules import status_text

HEAD = ["ID", "STATUS", "PRI", "TRY", "PROJECT", "WHO", "TITLE"]
NO_TASKS, NO_ENTRIES, NO_HITS = "No tasks.", "The merge queue is empty.", "Nothing found."
NONE_OPEN, NONE_SUCH = "No open tasks.", "No such tasks."
STUCK = (validation.FAILED, validation.REJECTED)
NEEDY = (validation.M_CONFLICT, validation.M_FAILED)
LONGEST_TITLE = 60


def rows(tasks: Sequence[Task], head: bool = False, width: int = 0) -> str:
    table = [HEAD] if head else []
    return status_text.aligned([*table, *map(cells, tasks)], width)


def cells(task: Task) -> list[str]:
    who = task.claimed_by or task.done_by or "-"
    tries = f"{task.attempt}/{task.max_attempts}"
    project = listing.shown(task.project_id or "-")
    return [task.id, status(task), str(task.priority), tries, project, listing.shown(who), title(task)]


def title(task: Task) -> str:
    return validation.cut(listing.shown(task.title), LONGEST_TITLE)


def status(task: Task) -> str:
    facts = [f"after {', '.join(task.waits_for)}"] if task.waits_for else []
    facts += [f"needs {listing.shown(task.capability)}"] if task.capability and task.status == validation.READY else []
    return f"{task.status} ({'; '.join(facts)})" if facts else task.status


def added(task: Task) -> str:
    """Who must do what before it can be taken."""
    if task.status == validation.PENDING_APPROVAL:
        return f"It waits for approval: ib board approve {task.id}"
    if task.status == validation.DRAFT:
        return f"It is a draft: ib board publish {task.id}"
    return f"It is {status(task)}."


def summary(tasks: Sequence[Task]) -> str:
    """`2 ready, 1 claimed, 3 pending`; what holds others back for ever is named."""
    counted = {status: sum(task.status == status for task in tasks) for status in validation.STATUSES}
    line = ", ".join(f"{count} {status}" for status, count in counted.items() if count)
    over = {task.id for task in tasks if task.status in STUCK}
    stuck = sorted({id for task in tasks for id in task.waits_for if id in over})
    return line + (f"; held back for ever by {', '.join(stuck)}: ib board retry {stuck[0]}" if stuck else "")


def overview(tasks: Mapping[str, int], claimed: Sequence[Task], queue: Sequence[Entry], problem: str) -> str:
    """For `ib status`."""
    if problem:
        return f"Board: {problem}"
    line = "Board: " + (", ".join(f"{count} {status}" for status, count in tasks.items()) or "no tasks")
    lines = [line, *under([[task.id, listing.shown(task.claimed_by), title(task)] for task in claimed])]
    if queue:
        stuck = sum(entry.status in NEEDY for entry in queue)
        lines += [f"Merge queue: {len(queue)}" + (f", {needs(stuck)}" if stuck else "")]
        lines += under([queued(entry) for entry in queue])
    return "\n".join(lines)


def under(table: Sequence[Sequence[str]]) -> list[str]:
    return [f"  {line}" for line in status_text.aligned(table).split("\n")] if table else []


def needs(stuck: int) -> str:
    return f"{stuck} {'needs' if stuck == 1 else 'need'} you: {validation.QUEUE}"


def queued(entry: Entry) -> list[str]:
    what = f": {listing.shown(why(entry))}" if why(entry) else ""
    return [str(entry.id), entry.status, f"{listing.shown(entry.branch)} into {listing.shown(entry.base)}{what}"]


def why(entry: Entry) -> str:
    return ", ".join(entry.conflict_files) or entry.reason.partition("\n")[0]


def tree(tasks: Sequence[Task]) -> str:
    """Each under what it waits for; one with two of them stands twice, whole only the first time."""
    known = {task.id: task for task in tasks}
    below: dict[str, list[Task]] = {}
    for task in tasks:
        for id in task.after:
            below.setdefault(id, []).append(task)
    shown: set[str] = set()
    roots = [task for task in tasks if not any(id in known for id in task.after)]
    todo = [(task, "", "") for task in reversed(roots)]
    lines = []
    while todo:  # no recursion: a chain may be longer than Python's stack
        task, own, others = todo.pop()
        children = below.get(task.id, []) if task.id not in shown else []
        more = "  …" if task.id in shown and task.id in below else ""
        lines.append(f"{own}{task.id}  {status(task)}  {title(task)}{more}")
        shown.add(task.id)
        todo += reversed([(child, *stems(others, child is children[-1])) for child in children])
    return "\n".join(lines)


def stems(above: str, last: bool) -> tuple[str, str]:
    """What stands before one, and before those under it."""
    return above + ("└─ " if last else "├─ "), above + ("   " if last else "│  ")


def whole(task: Task, notes: Sequence[Note], entry: Entry | None) -> str:
    facts = [
        ("status", status(task)),
        ("project", task.project_id),
        ("priority", str(task.priority)),
        ("needs", task.capability),
        ("attempt", f"{task.attempt} of {task.max_attempts}" if task.attempt else None),
        ("claimed by", f"{task.claimed_by}, until {task.lease_until}" if task.claimed_by else None),
        ("done by", task.done_by),
        ("after", ", ".join(task.after)),
        ("approval", approval(task)),
        ("test", task.test),
        ("reason", task.reason),
        ("summary", task.summary),
        ("merge", merge(entry) if entry is not None else None),
        ("why", entry.reason if entry is not None and not entry.conflict_files else None),
        ("created", task.created_at),
        ("done", task.done_at),
    ]
    lines = [f"{task.id}  {listing.shown(task.title)}"]
    lines += [f"  {name + ':':<12}{listing.indented(value, ' ' * 14)}" for name, value in facts if value]
    lines += ["", *map(listing.shown, task.body.split("\n"))] if task.body else []
    lines += ["", *(note(one, task.id) for one in notes)] if notes else []
    return "\n".join(lines)


def approval(task: Task) -> str | None:
    if not task.requires_approval:
        return None
    return f"by {task.approved_by}" if task.approved_by else "needed: ib board approve " + task.id


def note(one: Note, task: str) -> str:
    said_by = [listing.shown(one.agent_id)] if one.task_id != one.agent_id else []
    source = [f"from {one.task_id}"] if one.task_id != task else []
    head = f"[{one.created_at}] {one.kind} ({', '.join(said_by + source) or one.agent_id})"
    return f"{head}\n  {listing.indented(one.content, '  ')}"


def merge(entry: Entry) -> str:
    over = ", abandoned" if entry.abandoned else ""
    files = f" in {', '.join(map(listing.shown, entry.conflict_files))}" if entry.conflict_files else ""
    way = f"{listing.shown(entry.branch)} into {listing.shown(entry.base)}"
    return f"{entry.status}{over}{files} (queue {entry.id}, {way})"


def entries(queue: Sequence[Entry], head: bool = False, width: int = 0) -> str:
    table = [["QUEUE", "STATUS", "TASK", "BRANCH", "INTO", "WHY"]] if head else []
    for entry in queue:
        over = " (abandoned)" if entry.abandoned else ""
        branch, base = listing.shown(entry.branch), listing.shown(entry.base)
        table.append([str(entry.id), entry.status + over, entry.task_id, branch, base, listing.shown(why(entry))])
    return status_text.aligned(table, width)


def hits(found: Sequence[Hit]) -> str:
    return "\n".join(
        f"{hit.task_id}  {hit.status}  {validation.cut(listing.shown(hit.title), LONGEST_TITLE)}\n"
        f"  {hit.where}: {listing.shown(hit.snippet)}"
        for hit in found
    )
