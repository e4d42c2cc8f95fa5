"""The records of the board: what its commands print as JSON, what its stores give and take. Cold.

Times are UTC text (`2026-01-11T15:30:00Z`), made by the clock of the store, never by the caller's."""

from typing import Literal

import msgspec

Status = Literal["draft", "pending", "pending_approval", "ready", "claimed", "done", "failed", "rejected"]
MergeStatus = Literal["pending", "merging", "merged", "conflict", "failed"]
NoteKind = Literal["observation", "handoff", "result", "failure"]


class Task(msgspec.Struct, frozen=True):
    """`attempt` counts claims and never goes back: with `claimed_by` it is the fence. `after`: what it depends on;
    `waits_for`: those of them that still hold it back. `reason`: why it last failed, came back or was rejected."""

    id: str
    title: str
    status: Status
    project_id: str | None
    priority: int
    attempt: int
    claimed_by: str | None
    max_attempts: int = 3
    capability: str | None = None
    body: str = ""
    test: str = ""
    after: list[str] = []
    waits_for: list[str] = []
    requires_approval: bool = False
    approved_by: str | None = None
    done_by: str | None = None
    summary: str = ""
    reason: str = ""
    created_at: str = ""
    claimed_at: str | None = None
    lease_until: str | None = None
    done_at: str | None = None


class NewTask(msgspec.Struct, frozen=True):
    """What `add` is given; checked by rules.board before a store sees it. `after` are whole ids."""

    id: str
    title: str
    body: str = ""
    project_id: str | None = None
    priority: int = 5
    capability: str | None = None
    after: tuple[str, ...] = ()
    test: str = ""
    max_attempts: int = 3
    requires_approval: bool = False
    draft: bool = False


class Note(msgspec.Struct, frozen=True):
    """One entry of a task's context. `task_id` is the dependency's where it is handed on from there."""

    id: int
    task_id: str
    agent_id: str
    kind: NoteKind
    content: str
    created_at: str


class Hit(msgspec.Struct, frozen=True):
    """What a search found, and where: title, body, or a kind of note."""

    task_id: str
    title: str
    status: Status
    project_id: str | None
    where: str
    snippet: str


class Template(msgspec.Struct, frozen=True):
    """What a claim takes: a field that is None fits all; a task that needs a capability fits those who have it."""

    project_id: str | None = None
    capabilities: tuple[str, ...] = ()
    priority: int | None = None


class Claimer(msgspec.Struct, frozen=True):
    """Who claims, and for how many seconds without a sign of life."""

    agent: str
    lease: float = 900.0


class Fence(msgspec.Struct, frozen=True):
    """Whose word on a task counts: the agent that holds it, in the attempt it was given; None: whatever attempt."""

    task_id: str
    agent: str
    attempt: int | None = None


class Branch(msgspec.Struct, frozen=True):
    """What a finished task hands to the merge queue. `repo` names the repository in whose checkout the branch is."""

    repo: str
    branch: str
    base: str
    sha: str
    test: str = ""
    linear: bool = False


class Entry(msgspec.Struct, frozen=True):
    """One branch in the merge queue. `merge_sha` is written before the base moves; `receipt` is of the test that let it
    through. `abandoned`: nobody waits for it any more."""

    id: int
    task_id: str
    project_id: str | None
    agent_id: str
    repo: str
    branch: str
    base: str
    sha: str
    status: MergeStatus
    test: str = ""
    linear: bool = False
    merge_sha: str | None = None
    conflict_files: list[str] = []
    reason: str = ""
    receipt: dict[str, str | int] | None = None
    abandoned: bool = False
    enqueued_at: str = ""
    started_at: str | None = None
    completed_at: str | None = None


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of `board watch`. `seq` is the order in which the board changed; what does not apply is left out."""

    seq: int
    channel: str
    ts: str
    task_id: str | None = None
    project_id: str | None = None
    agent_id: str | None = None
    queue_id: str | None = None
    title: str | None = None
    summary: str | None = None
    reason: str | None = None
    priority: int | None = None
    attempt: int | None = None
    max_attempts: int | None = None
    branch: str | None = None
    base: str | None = None
    sha: str | None = None
    conflict_files: list[str] | None = None
