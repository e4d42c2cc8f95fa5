"""What is printed as JSON: frozen records. Cold: the hot set never loads this."""

from typing import Any, Literal

import msgspec

Level = Literal["ok", "note", "warn", "fail"]


class Finding(msgspec.Struct, frozen=True):
    """One line of `ib doctor`: how bad, about what, a sentence, and what to type where something can be done."""

    level: Level
    subject: str
    text: str
    hint: str = ""


class Setup(msgspec.Struct, frozen=True):
    """What `ib init` made or found. `kept_out_by`: the file that keeps .ittybitty out of git, '' where none has to;
    `claude_md`: the file with the block for Claude, '' where it is switched off,
    and `hidden` what there is to know of how git is kept from seeing it."""

    root: str
    home: str
    repo_id: str
    made: bool
    kept_out_by: str
    claude_md: str = ""
    hidden: str = ""
    notes: list[str] = []


class Loss(msgspec.Struct, frozen=True):
    """What would go with .ittybitty: counts, and the names of the agents."""

    messages: int
    questions: int
    unread: int
    agents: list[str]
    saves: int = 0
    tasks: int = 0
    merges: int = 0

    def parts(self) -> list[str]:
        """As words, without what is none."""
        counted = (
            (self.messages, "unacknowledged message"),
            (self.questions, "open question"),
            (self.unread, "unread queue line"),
            (self.saves, "unmerged CLAUDE.md save"),
            (self.tasks, "open task"),
            (self.merges, "queued merge"),
        )
        found = [f"{count} {what}{'' if count == 1 else 's'}" for count, what in counted if count]
        if self.agents:
            found.append(f"the records of {', '.join(self.agents)}")
        return found


class GivenBack(msgspec.Struct, frozen=True):
    """A file of the user that ib had touched. `differs` is '' when it has its original bytes."""

    path: str
    differs: str


class Left(msgspec.Struct, frozen=True):
    """What `ib uninstall` removed, where it is kept, and how the touched files are now."""

    removed: list[str]
    kept_in: str
    lost: Loss
    files: list[GivenBack]


class Agent(msgspec.Struct, frozen=True):
    """One agent as `status.json` and `ib list --json` show it. Times are seconds since 1970. `marks`: what is unusual
    about it: yolo, no-worktree, its role. `source`: which evidence decided its state. `asks`: what a dialog asks, or
    until when a limit lasts. `note`: what was seen besides, such as `interrupted`. `said`: the end of what it said
    last; `silent`: it ended its turn with neither phrase."""

    id: str
    state: str
    age: str
    prompt: str
    children: int = 0
    children_complete: int = 0
    manager: str | None = None
    reason: str = ""
    since: float | None = None
    created: float | None = None
    model: str = ""
    worker: bool = False
    problem: str = ""
    marks: list[str] = []
    source: str = ""
    asks: str = ""
    said: str = ""
    silent: bool = False
    note: str = ""


class Wake(msgspec.Struct, frozen=True):
    """Who would hear news at once: readers whose `ib listen` waits; and, asked just now, the session that the user
    talks to with the rungs that would wake it."""

    listening: list[str] = []
    primary: str = ""
    armed: list[str] = []


class Snapshot(msgspec.Struct, frozen=True):
    """What the supervisor publishes: the fleet and what waits for the user's Claude."""

    seq: int
    at: str
    version: str
    agents: list[Agent]
    messages: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    wake: Wake


class Woken(msgspec.Struct, frozen=True):
    """How a test notice reached a session: `by` which rung, seconds until it rang and until it was told."""

    session: str
    armed: list[str]
    id: str
    by: str = ""
    rung: float | None = None
    told: float | None = None
    inside: bool = False
