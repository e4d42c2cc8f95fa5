"""What a board can do, whatever keeps it. tests/board holds every store to the same promises.

- Each call is one transaction: all of it, or nothing. What a change has returned, and what was told of events, survives
  a kill, of the server too; what was only looked at may be younger than the disk.
- Whoever changes a task that is claimed shows the fence; a stale one raises `Lost` and changes nothing.
- Events are written by the store itself, in the transaction of what they tell of, in the order of commits; within one,
  a completion stands before the readiness it causes.
- Time is the store's: the server's clock, or this machine's since its start, which nobody sets.
"""

from collections.abc import Sequence
from typing import Protocol

from ibstatus.errors import IbError
from ibstatus.model.board import Branch, Claimer, Entry, Event, Fence, Hit, NewTask, Note, NoteKind, Task, Template


class Lost(IbError):
    """The task is not this agent's any more, or this attempt of it is over."""


class Doorbell(Protocol):
    """Rings when the board may have changed since it was made or last waited for. Never the news itself."""

    def wait(self, seconds: float) -> bool:
        """True when rung; False when the time is over. Raises `Gone` when the store must be opened anew."""

    def fileno(self) -> int: ...

    def close(self) -> None: ...


class Gone(IbError):
    """The store cannot be reached, for now: opening it anew may help."""


class Broken(Gone):
    """In the midst of a call: if that was to change something, it may be changed, or not."""


class Board(Protocol):
    """`id` is a whole id everywhere; `rules.board.meant` makes one of what people type."""

    def close(self) -> None: ...

    # out, rd

    def add(self, new: NewTask) -> Task:
        """Ready, pending, waiting for approval, or a draft. Dependencies that do not exist: IbError, nothing added."""

    def ids(self, prefix: str) -> list[str]: ...

    def task(self, id: str) -> Task | None: ...

    def tasks(self, project_id: str | None = None, statuses: Sequence[str] = (), limit: int = 0) -> list[Task]:
        """Without bodies. Highest priority first, then oldest; `limit` 0 is all."""

    def context(self, id: str) -> list[Note]:
        """Its own notes, and what its direct dependencies hand on, oldest first."""

    def search(self, query: str, project_id: str | None = None, limit: int = 50) -> list[Hit]:
        """All words, anywhere in title, body or notes; case does not matter."""

    # in

    def claim(self, template: Template, who: Claimer, count: int = 1) -> list[Task]:
        """The best that fit, highest priority first, then oldest; [] when none is ready. Looks for leases that have
        run out before it says so."""

    def claim_task(self, id: str, who: Claimer) -> Task:
        """Just this one. Raises IbError when it is not ready."""

    # eval

    def done(self, fences: Sequence[Fence], summary: str = "", branch: Branch | None = None) -> list[Task]:
        """All or none. With a branch (one fence only) it is queued for the merge, and dependents wait for that.

        Said once more by the same agent and attempt, when the first answer got lost, it is the same answer."""

    def done_and_claim(
        self,
        fences: Sequence[Fence],
        template: Template,
        who: Claimer,
        summary: str = "",
        branch: Branch | None = None,
        count: int = 1,
    ) -> list[Task]:
        """Both in one transaction, which costs half: what was claimed. What the finished ones set free may be among it;
        a stale fence claims nothing."""

    def fail(self, fence: Fence, reason: str) -> Task:
        """Ready again while attempts are left, else failed."""

    def release(self, fence: Fence, reason: str = "") -> Task:
        """Ready again; this attempt does not count against the most."""

    def beat(self, fence: Fence, lease: float) -> Task:
        """A sign of life: the lease runs on from now."""

    def note(self, id: str, agent: str, kind: NoteKind, content: str) -> Note: ...

    # people

    def take_back(self, id: str, reason: str) -> Task:
        """From whoever has it: ready again, and what they still say is refused."""

    def publish(self, id: str) -> Task:
        """A draft becomes a task."""

    def approve(self, id: str, by: str) -> Task: ...

    def reject(self, id: str, by: str, reason: str) -> Task:
        """Nobody shall do it: from everywhere but claimed and done."""

    def depend(self, id: str, on: Sequence[str]) -> Task:
        """One that is not claimed or over waits for these, too. A cycle is refused, with its way round."""

    def undepend(self, id: str, on: Sequence[str]) -> Task: ...

    def retry(self, id: str) -> Task:
        """A failed or rejected one gets as many attempts as it was added with."""

    def sweep(self) -> list[str]:
        """Leases that have run out: back to ready, or failed when that was the last attempt. Their ids."""

    # the stream

    def events(
        self, since: int, limit: int = 1000, channels: Sequence[str] = (), project_id: str | None = None
    ) -> list[Event]:
        """With a greater `seq`, in order."""

    def last_seq(self) -> int: ...

    def doorbell(self) -> Doorbell: ...

    # the merge queue

    def entries(self, repo: str | None = None, open_only: bool = False) -> list[Entry]:
        """Oldest first. Open is what dependents still wait for: neither merged nor abandoned."""

    def entry(self, id: int) -> Entry | None: ...

    def enqueue(self, task_id: str, agent: str, branch: Branch) -> Entry:
        """For a task that is done. One open entry a task: a second one is refused."""

    def merging(self, id: int) -> Entry | None:
        """pending → merging; None when somebody else was faster. The receipt stays, here and when it is requeued:
        the merger judges what it is worth."""

    def intend(self, id: int, merge_sha: str, receipt: dict[str, str | int] | None) -> None:
        """What the base is about to become: written before it moves, so that a kill in between can be judged."""

    def merged(self, id: int, merge_sha: str) -> Entry: ...

    def conflicted(self, id: int, files: Sequence[str], reason: str) -> Entry: ...

    def merge_failed(self, id: int, reason: str, receipt: dict[str, str | int] | None = None) -> Entry: ...

    def requeue(self, id: int, sha: str | None = None, reason: str = "") -> Entry:
        """Back to pending, from wherever but merged; `sha`: the branch's new tip. An abandoned one counts again."""

    def abandon(self, id: int, reason: str) -> Entry:
        """It will not be merged: dependents wait for it no more."""
