"""The words of ib, as plain constants: this module is loaded at every hook call."""

FORMAT = 1

NOTICE_TYPES = ("complete", "waiting", "question")
MESSAGE_TYPES = ("question", "alert", "complete", "status")
# Which notice wakes the primary for a message of this type; a `status` wakes nobody.
WAKES = {"question": "question", "alert": "waiting", "complete": "complete"}

USER = "user"
PRIMARY = "user-claude"
UNKNOWN = "unknown"
COPIED = "copied"  # why a session ended that another repository has gone on with
TO_PRIMARY = ("user-claude", "user")
RESERVED = frozenset(("user", "user-claude", "system", "all", "unknown", "default"))

AGENTS = "/.ittybitty/agents/"  # an agent's worktree is <root>/.ittybitty/agents/<id>/repo

DEFAULT_READER = "default"
LISTENER = "ib listen"  # it waits for us: with it alone in the background nothing is at work

EVENT_KINDS = frozenset(
    (
        "agent.created", "agent.state", "agent.tool", "agent.stopped", "agent.removed",
        "message.queued", "message.rung", "message.offered", "message.confirmed", "message.acknowledged",
        "question.asked", "question.answered", "question.acknowledged",
        "notice.sent", "listener.started", "listener.stopped",
        "supervisor.started", "supervisor.stopped",
        "merge.started", "merge.done", "merge.failed", "undo.saved", "undo.done",
    )
)  # fmt: skip

TIMED_OUT = "No messages received. Background listener has stopped. Please restart with: ib listen"
LONGEST_TEXT = 1 << 20

RING = 42  # what a bell's process exits with when it rings; no crash of an interpreter looks like it
