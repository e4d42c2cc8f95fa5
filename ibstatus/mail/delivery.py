"""Offered, then confirmed: how a session's voice hands over queue lines so that none is lost and repeats are marked.

A cursor says: everything before `done` was taken in by a turn; [done, offered) was told, under prompt `prompt`,
and waits for that turn to confirm it. A telling is claimed first (prompt UNTOLD), then printed, then settled under
its real prompt: a voice that dies in between has confirmed nothing, and the lines are told again.

Pure: offsets in, offsets out. The same machine drives the hooks, the tests and the simulator.
"""

START = "start"  # SessionStart: has no prompt id
PROMPT = "prompt"  # UserPromptSubmit
BATCH = "batch"  # PostToolBatch
STOP = "stop"  # Stop: confirms, never tells

NO_PROMPT = "-"  # told by SessionStart; the first prompt adopts it
UNTOLD = "!"  # claimed, perhaps never printed
ORPHAN = "?"  # told by an event without a prompt id: nothing can confirm it
MARKS = (NO_PROMPT, UNTOLD, ORPHAN)


class Cursor:
    __slots__ = ("done", "offered", "prompt")

    def __init__(self, done: int, offered: int, prompt: str = NO_PROMPT) -> None:
        self.done = done
        self.offered = offered
        self.prompt = prompt

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cursor):
            return NotImplemented
        return (self.done, self.offered, self.prompt) == (other.done, other.offered, other.prompt)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Cursor({self.done}, {self.offered}, {self.prompt!r})"


class Step:
    """What to do: write `claim`, print the lines of [again_from, fresh_from) marked and [fresh_from, end) plain,
    write `settle`. Without lines only `settle` is written, and only if it differs."""

    __slots__ = ("again_from", "claim", "confirmed", "end", "fresh_from", "settle")

    def __init__(
        self, claim: Cursor, settle: Cursor, again_from: int, fresh_from: int, end: int, confirmed: int
    ) -> None:
        self.claim = claim
        self.settle = settle
        self.again_from = again_from
        self.fresh_from = fresh_from
        self.end = end
        self.confirmed = confirmed  # how far this event confirmed, or -1

    @property
    def tells(self) -> bool:
        return self.end > self.again_from


def step(cursor: Cursor, event: str, prompt: str, end: int, joined: bool = False) -> Step:
    """One hook event of a session, with the queue's end as it is now.

    `joined`: the client makes one turn of this prompt and the one before it, and the turn bears the id of this one."""
    done, offered, pending = cursor.done, cursor.offered, cursor.prompt
    if prompt in MARKS:
        prompt = ""  # a foreign id must not pass for one of our marks
    confirmed = -1
    unsettled = offered > done
    open_to_adoption = pending == NO_PROMPT or (joined and event == PROMPT and pending not in MARKS)
    adopted = unsettled and open_to_adoption and event != START and prompt != ""
    if unsettled and event in (BATCH, STOP) and prompt and (pending == prompt or adopted):
        done = confirmed = offered
        unsettled = False
    if event == STOP:
        return quiet(Cursor(done, offered, pending), confirmed)
    kept = not unsettled or adopted or (event == PROMPT and pending == prompt != "")
    again_from = offered if kept else done
    now = label(event, prompt)
    if again_from >= end and offered >= end:
        settled = Cursor(done, offered, now if adopted else pending)
        return quiet(settled, confirmed)
    end = max(end, offered)
    claim = Cursor(done, end, UNTOLD)
    return Step(claim, Cursor(done, end, now), again_from, offered, end, confirmed)


def label(event: str, prompt: str) -> str:
    if event == START:
        return NO_PROMPT
    return prompt or ORPHAN


def quiet(cursor: Cursor, confirmed: int) -> Step:
    return Step(cursor, cursor, cursor.offered, cursor.offered, cursor.offered, confirmed)


def told_up_to(cursor: Cursor) -> int:
    """From here on a voice has something to tell; what it claimed and perhaps never printed is not told."""
    return cursor.done if cursor.prompt == UNTOLD else cursor.offered


def fitted(cursor: Cursor, base: int, end: int) -> Cursor:
    """The cursor brought inside what the queue still holds: it may have been trimmed, or have lost its tail."""
    done = min(max(cursor.done, base), end)
    offered = min(max(cursor.offered, done), end)
    return Cursor(done, offered, cursor.prompt)


def first(last_confirmed: int) -> Cursor:
    """A new session starts where the repo's last confirmed telling ended."""
    return Cursor(last_confirmed, last_confirmed)
