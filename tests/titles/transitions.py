"""Every transition of a window's title, each with what brings it about: the document's rows, as recorded payloads."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ibstatus.titles import machine
from ibstatus.titles.machine import (
    ACTIVE_FOCUSED,
    ACTIVE_UNFOCUSED,
    ALERT,
    BASE,
    COMPLETED,
    IDLE,
    REAL_TIME,
    STOP_ONLY,
    WORKING,
    Known,
)
from tests.hooks.payloads import recorded

NOW = 1_800_000_000.0
TURN = "turn-1"
AGENT = "a52df4f4b3c1e8d07"
SHELL = "bl9lsp6q1"  # of Stop.with-background

SETTLED = (IDLE, WORKING, COMPLETED, BASE)
ACTIVE = (ACTIVE_UNFOCUSED, ACTIVE_FOCUSED)
STATES = (*SETTLED, *ACTIVE, ALERT)
NAMES = {ACTIVE: "ACTIVE", STATES: "every state", (IDLE, COMPLETED, BASE): "IDLE, COMPLETED, BASE"}


def known(state: str, **more: Any) -> Known:
    """As it is two seconds after the state was entered."""
    at = {"completed": NOW - 2} if state == COMPLETED else {"background": (AGENT,)} if state == WORKING else {}
    tool = {"tool": "Bash"} if state in ACTIVE else {}
    return machine.but(Known(state, NOW - 2), **{**at, **tool, **more})


def agents(*ids: str) -> list[dict[str, Any]]:
    return [{"id": one, "type": "subagent", "status": "running", "description": "d", "agent_type": "x"} for one in ids]


class Step(NamedTuple):
    """An event that meets a session. `event` '' is none at all: only time goes by."""

    start: Known
    event: str
    more: dict[str, Any]
    mode: str = STOP_ONLY
    focused: bool = False
    later: float = 0.0

    def end(self, version: str = "2.1.326") -> Known:
        if not self.event:
            return machine.decayed(self.start, NOW + self.later)
        body = recorded(self.event, version, **self.more)
        now = NOW + self.later
        return machine.after(body["hook_event_name"], body, self.start, self.mode, self.focused, now)


class Row(NamedTuple):
    """One transition, as the document has it, and steps that go this way."""

    name: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    trigger: str
    steps: tuple[Step, ...]

    def line(self) -> str:
        way = f"{called(self.sources)} → {called(self.targets)}"
        return f"| {self.name} | {way} | {self.trigger} | `test_a_transition[{self.name}-…]` |"


def called(states: tuple[str, ...]) -> str:
    return NAMES.get(states) or ", ".join(states)


def stops(state: str, background: bool = False, worked: bool = False, **more: Any) -> Iterator[Step]:
    """The same Stop in both modes."""
    event = "Stop.with-background" if background else "Stop"
    start = known(state, visible=worked, prompt=TURN if worked else "", **more)
    for mode in (STOP_ONLY, REAL_TIME):
        yield Step(start, event, {"prompt_id": TURN}, mode)


def live(start: Known, event: str, focused: bool = False, later: float = 0.0, **more: Any) -> Step:
    return Step(start, event, {"prompt_id": TURN, **more}, REAL_TIME, focused, later)


def alert(**more: Any) -> Known:
    return known(ALERT, **{"asked": "Bash", "before": ACTIVE_UNFOCUSED, **more})


def begins(state: str) -> tuple[Step, ...]:
    return (
        live(known(state), "UserPromptSubmit"),
        live(known(state), "UserPromptSubmit.task-notification", prompt_id="another turn"),
        live(known(state), "PreToolUse.Bash", True),
        live(known(state), "PreToolUse.Read"),
    )


BY_AGENT: dict[str, Any] = {"agent_id": AGENT, "agent_type": "general-purpose"}
ENDS = {**BY_AGENT, "background_tasks": agents(AGENT)}  # the client still lists the one that ends
OLD = {"completed": NOW - 1801, "since": NOW - 1801}

SEED = (
    Row("S1", (IDLE,), (WORKING,), "Stop, and something runs in the background", (*stops(IDLE, background=True),)),
    Row(
        "S2", (IDLE,), (COMPLETED,), "Stop after visible work",
        (*stops(IDLE, worked=True), *stops(IDLE, worked=True, ended=("x",))),
    ),
    Row("S3", (IDLE,), (BASE,), "Stop, and nothing was done but reading and planning", (*stops(IDLE),)),
    Row(
        "S4", (WORKING,), (COMPLETED,),
        "SubagentStop of the last one in the background; Stop after visible work with nothing in the background",
        (
            Step(known(WORKING), "SubagentStop", ENDS),
            Step(known(WORKING), "SubagentStop", {**BY_AGENT, "background_tasks": None}),
            *stops(WORKING, worked=True),
            *stops(WORKING, completed=NOW - 1800),
        ),
    ),
    Row(
        "S5", (WORKING,), (WORKING,), "Stop or SubagentStop while something still runs in the background",
        (
            *stops(WORKING, background=True),
            *stops(WORKING, background=True, worked=True),
            Step(known(WORKING), "SubagentStop", {**ENDS, "background_tasks": agents(AGENT, "x")}),
        ),
    ),
    Row("S6", (COMPLETED,), (IDLE,), "more than 1,800 s", (Step(known(COMPLETED), "", {}, later=1799),)),
    Row("S7", (BASE,), (IDLE,), "more than 1,800 s", (Step(known(BASE), "", {}, later=1799),)),
    Row("S8", (BASE,), (WORKING,), "Stop, and something runs in the background", (*stops(BASE, background=True),)),
    Row("S9", (BASE,), (COMPLETED,), "Stop after visible work", (*stops(BASE, worked=True),)),
)  # fmt: skip

LIVE = (
    Row("R1", (IDLE,), ACTIVE, "UserPromptSubmit; PreToolUse", begins(IDLE)),
    Row("R2", (WORKING,), ACTIVE, "UserPromptSubmit (also a wake); PreToolUse", begins(WORKING)),
    Row("R3", (COMPLETED,), ACTIVE, "UserPromptSubmit; PreToolUse", begins(COMPLETED)),
    Row("R4", (BASE,), ACTIVE, "UserPromptSubmit; PreToolUse", begins(BASE)),
    Row(
        "R5", ACTIVE, ACTIVE, "PreToolUse of another tool (another title); UserPromptSubmit of another turn",
        (
            live(known(ACTIVE_UNFOCUSED), "PreToolUse.Edit"),
            live(known(ACTIVE_FOCUSED), "PreToolUse.Read", True),
            live(known(ACTIVE_UNFOCUSED), "UserPromptSubmit"),
        ),
    ),
    Row(
        "R6", (ACTIVE_UNFOCUSED,), (ACTIVE_FOCUSED,), "PreToolUse or the end of a tool while the window is looked at",
        (
            live(known(ACTIVE_UNFOCUSED), "PreToolUse.Bash", True),
            live(known(ACTIVE_UNFOCUSED), "PostToolBatch", True),
        ),
    ),
    Row(
        "R7", (ACTIVE_FOCUSED,), (ACTIVE_UNFOCUSED,),
        "PreToolUse or the end of a tool while another window is looked at",
        (live(known(ACTIVE_FOCUSED), "PreToolUse.Bash"), live(known(ACTIVE_FOCUSED), "PostToolUse.Bash")),
    ),
    Row(
        "R8", ACTIVE, (ALERT,),
        "PreToolUse of AskUserQuestion; PermissionRequest; Elicitation; "
        "Notification permission_prompt, elicitation_dialog, agent_needs_input",
        (
            live(known(ACTIVE_UNFOCUSED), "PreToolUse.AskUserQuestion"),
            live(known(ACTIVE_FOCUSED), "PermissionRequest.AskUserQuestion"),
            live(known(ACTIVE_FOCUSED), "PermissionRequest.ExitPlanMode"),
            live(known(ACTIVE_UNFOCUSED), "PermissionRequest.Bash"),
            live(known(ACTIVE_UNFOCUSED), "PermissionRequest.Bash", **BY_AGENT),
            live(known(ACTIVE_UNFOCUSED), "Notification.permission_prompt"),
            live(known(ACTIVE_UNFOCUSED), "Notification.permission_prompt", notification_type="elicitation_dialog"),
            live(known(ACTIVE_UNFOCUSED), "Notification.permission_prompt", notification_type="agent_needs_input"),
            live(known(ACTIVE_UNFOCUSED), "Stop", hook_event_name="Elicitation"),
        ),
    ),
    Row(
        "R9", (ALERT,), ACTIVE,
        "the tool that was asked for has ended (PostToolBatch, PostToolUse, PostToolUseFailure of who asked); "
        "ElicitationResult; SubagentStop of who asked; the next UserPromptSubmit",
        (
            live(alert(), "PostToolBatch"),
            live(alert(), "PostToolUse.Bash", True),
            live(alert(), "PostToolUseFailure.Bash"),
            live(alert(asked="AskUserQuestion"), "PostToolUse.AskUserQuestion"),
            live(alert(asked="AskUserQuestion"), "PostToolBatch"),
            live(alert(asked=""), "Stop", hook_event_name="ElicitationResult"),
            live(alert(asker=AGENT), "PostToolBatch", **BY_AGENT),
            live(alert(asker=AGENT), "PostToolUse.Bash", **BY_AGENT),
            live(alert(asker=AGENT), "SubagentStop", **ENDS),
            live(alert(), "UserPromptSubmit"),
        ),
    ),
    Row("R10", ACTIVE, (WORKING,), "Stop, and something runs in the background", (*stops(ACTIVE[0], background=True),)),
    Row(
        "R11", ACTIVE, (COMPLETED,), "Stop after visible work; or after other work while COMPLETED is not too old",
        (*stops(ACTIVE[1], worked=True), *stops(ACTIVE[0], completed=NOW - 1800)),
    ),
    Row(
        "R12", ACTIVE, (BASE,),
        "Stop, and nothing was done but reading and planning; StopFailure; idle_prompt, had no Stop come",
        (
            *stops(ACTIVE[0]),
            *stops(ACTIVE[1], completed=NOW - 1801),
            live(known(ACTIVE[0], visible=True), "StopFailure.rate_limit"),
            live(known(ACTIVE[1], visible=True), "Notification.idle_prompt"),
        ),
    ),
    Row(
        "R13", (WORKING,), (ALERT,), "PermissionRequest of a background agent; Elicitation; Notification as in R8",
        (
            live(known(WORKING), "PermissionRequest.Bash", **BY_AGENT),
            live(known(WORKING), "Notification.permission_prompt"),
            live(known(WORKING), "PreToolUse.AskUserQuestion"),
        ),
    ),
)  # fmt: skip

OTHERS = (
    Row(
        "X1", (COMPLETED,), (WORKING,), "Stop, and something runs in the background",
        (*stops(COMPLETED, background=True),),
    ),
    Row("X2", (COMPLETED,), (COMPLETED,), "Stop after visible work: a new stamp", (*stops(COMPLETED, worked=True),)),
    Row(
        "X3", (COMPLETED,), (BASE,), "Stop, nothing was done, and COMPLETED is more than 1,800 s old",
        (*stops(COMPLETED, **OLD),),
    ),
    Row("X4", (BASE,), (BASE,), "Stop, and nothing was done: its clock begins anew", (*stops(BASE),)),
    Row(
        "X5", (WORKING,), (BASE,), "Stop, nothing runs any more, nothing was done",
        (*stops(WORKING), Step(known(WORKING, background=()), "StopFailure.rate_limit", {})),
    ),
    Row(
        "X6", (ALERT,), (WORKING,), "Stop, and something runs in the background; a background agent was answered",
        (
            *stops(ALERT, background=True),
            live(alert(asker=AGENT, before=WORKING, background=(AGENT,)), "PostToolBatch", **BY_AGENT),
        ),
    ),
    Row(
        "X7", (ALERT,), (COMPLETED,), "Stop as in R11; SubagentStop of the background agent that asked",
        (
            *stops(ALERT, worked=True),
            *stops(ALERT, completed=NOW - 5),
            live(alert(asker=AGENT, before=WORKING, background=(AGENT,)), "SubagentStop", **ENDS),
            live(alert(asker=AGENT, before=COMPLETED, completed=NOW - 5), "PostToolBatch", **BY_AGENT),
        ),
    ),
    Row(
        "X8", (ALERT,), (BASE,), "Stop as in R12; idle_prompt, had no Stop come",
        (
            *stops(ALERT),
            live(alert(), "Notification.idle_prompt"),
            live(alert(asker=AGENT, before=BASE), "PostToolBatch", **BY_AGENT),
        ),
    ),
    Row(
        "X9", (ALERT,), (ALERT,), "another dialog; Stop while the background agent that asked still waits",
        (
            live(alert(), "PermissionRequest.Write"),
            live(alert(), "PermissionRequest.Bash", **BY_AGENT),
            live(alert(asker=AGENT), "Stop", background_tasks=agents(AGENT)),
        ),
    ),
    Row(
        "X10", (IDLE, COMPLETED, BASE), (ALERT,), "PermissionRequest; Elicitation; PreToolUse of AskUserQuestion",
        (
            live(known(IDLE), "PermissionRequest.Bash"),
            live(known(COMPLETED), "PermissionRequest.Edit", **BY_AGENT),
            live(known(BASE), "PreToolUse.AskUserQuestion"),
        ),
    ),
    Row(
        "X11", (ALERT,), (IDLE,), "a subagent that had asked in IDLE (or COMPLETED, too old by now) was answered",
        (
            live(alert(asker=AGENT, before=IDLE), "PostToolBatch", **BY_AGENT),
            live(alert(asker=AGENT, before=COMPLETED, completed=NOW - 5), "PostToolBatch", later=1800, **BY_AGENT),
        ),
    ),
    Row(
        "X12", STATES, (IDLE,), "SessionStart (startup, resume, clear)",
        tuple(
            Step(known(state), f"SessionStart.{source}", {}, mode)
            for state in STATES for source in ("startup", "resume", "clear") for mode in (STOP_ONLY, REAL_TIME)
        ),
    ),
)  # fmt: skip

ROWS = (*SEED, *LIVE, *OTHERS)
