"""All evidence on one agent → what is so, and why the rest was not believed. Pure: the clock is handed in.

The freshest strong word wins: an end that tmux saw, then hooks, corrected by what the screen shows after them. A screen
raises to waiting at once; it lowers only on a positive idle prompt that has held.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

SESSION, PROCESS, HOOKS, TRANSCRIPT, SCREEN, RECORD = "session", "process", "hooks", "transcript", "screen", "record"
SUSPENDED, INTERRUPTED = "suspended", "interrupted"
DIALOGS = ("question", "plan", "permission", "trust", "limit", SUSPENDED)  # nothing goes on until somebody types
UNCOMMITTED = "uncommitted"  # its session is over, and work lies in its worktree that no commit has
ENDS = (UNCOMMITTED,)
WORKING = ("running", "compacting", "creating")

STOPPED = "the client is suspended (Ctrl-Z)"
GONE = "the client is gone, its launcher is left"

DRAWN = 0.3  # what a hook told of is on the screen by then
HELD = 0.3  # an idle prompt that was seen twice, so far apart
NEWER = 0.5
LATE = 1.5  # the words of a hook are at most this much older than what they tell of
LONG = 10.0  # other people's hooks may keep a turn on the screen that is over
RESTLESS = 3.0
STARTUP = 10.0  # ib answers the dialogs of a start itself
STILL = 600.0
TOLD = "nothing newer and as strong says otherwise"


class Evidence(NamedTuple):
    """`at`: since when it is so, `seen`: when we looked last, `moved`: when it changed last (all wall clock).
    `note`: what was seen, or why state '' says nothing. `asks`: what a dialog asks, or until when a limit lasts.
    `rule`: which rule read the screen. `since`: when it began, before a compaction; `rest`: what that comes back to."""

    source: str
    state: str
    reason: str = ""
    at: float = 0.0
    seen: float = 0.0
    note: str = ""
    asks: str = ""
    idle: bool = False
    moved: float = 0.0
    rule: str = ""
    since: float = 0.0
    rest: "Evidence | None" = None


class Verdict(NamedTuple):
    """`lost`: the evidence that was not believed, each with the reason. `why`: the rule that decided, in words."""

    state: str
    reason: str
    at: float
    source: str
    asks: str = ""
    lost: tuple[tuple[Evidence, str], ...] = ()
    note: str = ""
    why: str = ""


class Case(NamedTuple):
    """One word of each source that says something, and all that was looked at."""

    said: dict[str, Evidence]
    now: float
    present: Sequence[Evidence] = ()

    def of(self, source: str) -> Evidence | None:
        return self.said.get(source)


def judge(known: Sequence[Evidence], now: float) -> Verdict:
    """The first rule that has something to say decides."""
    present = [sane(one, now) for one in known]
    said: dict[str, Evidence] = {}
    for one in present:
        if one.state:
            said.setdefault(one.source, one)
    case = Case(said, now, present)
    for rule in RULES:
        verdict = rule(case)
        if verdict is not None:
            lost = tuple((one, why_lost(one, verdict)) for one in present if one.source != verdict.source)
            return verdict._replace(lost=lost)
    lost = tuple((one, why_lost(one, None)) for one in present)
    notes = [one.note for one in present if one.note and one.source in (SCREEN, SESSION, TRANSCRIPT)]
    return Verdict("unknown", "", now, "", lost=lost, note="; ".join(notes), why="nothing says anything")


def sane(one: Evidence, now: float) -> Evidence:
    """What comes from the future counts as now."""
    seen, since = min(one.seen or one.at, now), min(one.since, now)
    return one._replace(at=min(one.at, now), seen=seen, moved=min(one.moved, now), since=since)


def why_lost(one: Evidence, verdict: Verdict | None) -> str:
    if not one.state:
        return one.note or "says nothing"
    if verdict is None:
        return "cannot decide alone"
    if one.state == verdict.state:
        return "agrees"
    if verdict.why == TOLD:
        return untold(one)
    return f"{verdict.source}: {verdict.why}" if verdict.source else verdict.why


def untold(one: Evidence) -> str:
    """Why the last word of the hooks stands against this."""
    if one.source == SCREEN:
        return "any turn leaves an idle prompt" if one.idle else "not newer than the last hook, or not for long enough"
    return {RECORD: "says nothing of how it is now", TRANSCRIPT: "not newer than the last hook"}.get(one.source, TOLD)


def won(one: Evidence, why: str, **more: str) -> Verdict:
    reason, state = more.pop("reason", one.reason), more.pop("state", one.state)
    asks, note = more.pop("asks", one.asks), more.pop("note", one.note)
    return Verdict(state, reason, one.since or one.at, one.source, asks, note=note, why=why)


def is_end(one: Evidence) -> bool:
    return one.state == "stopped" or (one.state == "waiting" and one.reason in ENDS)


def is_dialog(one: Evidence | None) -> bool:
    return one is not None and one.state == "waiting" and one.reason in DIALOGS


def ended(case: Case) -> Verdict | None:
    """Gone is gone; how it went the events know best."""
    hooks = case.of(HOOKS)
    for source in (SESSION, PROCESS):
        end = case.of(source)
        if end is not None and end.state == "stopped":
            if hooks is not None and is_end(hooks) and (hooks.reason or not end.reason) and end.reason not in ENDS:
                return won(hooks, "its session is over")
            return won(end, end.note or "it is over", state="waiting" if end.reason in ENDS else end.state)
    return None


def suspended(case: Case) -> Verdict | None:
    process = case.of(PROCESS)
    return won(process, "a client that is stopped does nothing") if process is not None else None


def asked_at_start(case: Case) -> Verdict | None:
    """While `ib attend` may still answer it."""
    screen, hooks = case.of(SCREEN), case.of(HOOKS)
    if screen is None or screen.state != "waiting" or screen.reason not in ("trust", "permission"):
        return None
    new = hooks is None or hooks.state == "stopped"
    if new and (screen.reason == "trust" or case.of(RECORD) is not None) and case.now - screen.at < STARTUP:
        return won(screen, "a dialog of the start, which ib answers", state="creating", reason="")
    return None


def dialog(case: Case) -> Verdict | None:
    """What is asked wins over whatever hooks said before; which dialog it is they know better."""
    screen, hooks = case.of(SCREEN), case.of(HOOKS)
    if screen is None or not is_dialog(screen):
        return None
    if hooks is None:
        return won(screen, "an open dialog")
    if is_dialog(hooks):
        return won(hooks, "the hook named the dialog that is open", asks=screen.asks or hooks.asks)
    if hooks.state == "rate_limited" and screen.reason == "limit":
        return won(hooks, "the limit that the hook told of", asks=screen.asks or hooks.asks)
    if screen.seen - hooks.at >= DRAWN:
        return won(screen, "a dialog is open, seen after the last hook")
    return None


def blocked(case: Case) -> Verdict | None:
    """A rule has found that it waits for keys, by what no hook tells of: a menu, or whatever the user's rule names."""
    screen, hooks = case.of(SCREEN), case.of(HOOKS)
    if screen is None or hooks is None or screen.state != "waiting" or screen.idle or is_dialog(screen):
        return None
    if not screen.rule:
        return None
    late = screen.seen - hooks.at >= LATE
    return won(screen, "it waits for keys, seen after the last hook") if late and hooks.state in WORKING else None


def limited(case: Case) -> Verdict | None:
    screen, hooks = case.of(SCREEN), case.of(HOOKS)
    if screen is None or screen.state != "rate_limited":
        return None
    if hooks is None:
        return won(screen, "no hook has spoken")
    if hooks.state == "rate_limited":
        return won(hooks, "the hook told of the limit", asks=screen.asks or hooks.asks)
    if (screen.at - hooks.at >= DRAWN) or (hooks.state == "running" and screen.seen - hooks.at >= LATE):
        return won(screen, "a limit on the screen, newer than the last hook")
    return None


def busy(case: Case) -> Verdict | None:
    """Positively at work."""
    screen, hooks = case.of(SCREEN), case.of(HOOKS)
    if screen is None or screen.state not in ("running", "compacting") or frozen(case):
        return None
    if hooks is None:
        return won(screen, "no hook has spoken")
    if (hooks.state, screen.state) in (("running", "running"), ("compacting", "compacting")):
        more = screen.reason if screen.reason.startswith("retrying") and screen.seen - hooks.at >= DRAWN else ""
        if more:
            return won(screen, "the screen shows what the hooks cannot tell")
        if hooks.reason and not screen.reason and screen.at - hooks.at >= LATE:
            return won(screen, "a turn runs again")
        return None
    fresh = screen.at - hooks.at >= DRAWN
    if hooks.state == "running" and fresh:
        return won(screen, "the screen shows a compaction, newer than the last hook")
    if is_dialog(hooks) and (fresh or screen.seen - hooks.at >= LATE):
        return won(screen, "the dialog is answered: a turn runs, seen after the last hook")
    if not is_dialog(hooks) and ((fresh and screen.seen - hooks.at >= LATE) or screen.seen - hooks.at >= LONG):
        return won(screen, "a turn runs, newer than the last hook")
    return None


def idle(case: Case) -> Verdict | None:
    """A prompt line that waits, and has for two looks: after Esc no hook fires."""
    screen, hooks = case.of(SCREEN), case.of(HOOKS)
    if screen is None or not screen.idle:
        return None
    held = screen.seen - screen.at >= HELD
    if hooks is None:
        if screen.state != "complete" and case.of(RECORD) is not None and not held:
            return None
        return won(screen, "no hook has spoken")
    working = hooks.state in WORKING and hooks.reason != "background"
    if not (working or is_dialog(hooks) or hooks.state == "stopped"):
        return None
    wait = LATE if hooks.state == "stopped" else NEWER
    redrawn = screen.moved >= hooks.at and screen.seen - screen.moved >= HELD  # a turn came and went between two looks
    since = screen.at >= hooks.at or redrawn
    newer = screen.seen - hooks.at >= wait and (since or screen.seen - hooks.at >= RESTLESS)
    if not (held and newer):
        return None
    if hooks.rest is not None:
        return won(hooks.rest, "its compaction is over: it is as it was before")
    reason = screen.reason if screen.state == "waiting" and screen.reason else "input"
    note = INTERRUPTED if reason == "input" and hooks.state != "stopped" else screen.note
    return won(screen, "an idle prompt has held since the last hook", state="waiting", reason=reason, note=note)


def written(case: Case) -> Verdict | None:
    """The transcript has the end of a turn that no hook told of. For when the screen says nothing."""
    found, hooks, screen = case.of(TRANSCRIPT), case.of(HOOKS), case.of(SCREEN)
    if found is None or (screen is not None and screen.state != "unknown"):
        return None
    if hooks is None:
        return won(found, "no hook has spoken")
    open_ended = hooks.state in ("running", "compacting") or is_dialog(hooks)
    if not open_ended or found.at - hooks.at < NEWER:
        return None
    return won(hooks.rest or found, "written down after the last hook")


def frozen(case: Case) -> bool:
    """Hooks say that a turn runs, but neither they nor the screen nor the transcript have moved for long."""
    hooks = case.of(HOOKS)
    screen = next((one for one in case.present if one.source == SCREEN and one.moved), None)
    if hooks is None or screen is None or (hooks.state, hooks.reason) != ("running", "") or screen.idle:
        return False
    moved = max(hooks.at, *(one.moved for one in case.present))
    return case.now - screen.seen < STILL <= case.now - moved


def still(case: Case) -> Verdict | None:
    hooks = case.of(HOOKS)
    if hooks is None or not frozen(case):
        return None
    reason = f"nothing has moved for {STILL / 60:.0f} minutes"
    return won(hooks, "hooks, screen and transcript stand still", state="unknown", reason=reason, note="")


def told(case: Case) -> Verdict | None:
    hooks = case.of(HOOKS)
    return won(hooks, TOLD) if hooks is not None else None


def shown(case: Case) -> Verdict | None:
    """All there is of an agent whose hooks never spoke."""
    screen, record = case.of(SCREEN), case.of(RECORD)
    if screen is not None and screen.state != "unknown" and not (screen.idle and record is not None):
        return won(screen, "no hook has spoken")
    return won(record, "it was begun a moment ago") if record is not None else None


Rule = Callable[[Case], Verdict | None]
SURE: tuple[Rule, ...] = (ended, suspended)  # by tmux and the kernel
STRONG: tuple[Rule, ...] = (asked_at_start, dialog, blocked, limited, busy, idle)  # a screen newer than the hooks
WEAK: tuple[Rule, ...] = (written, still)  # where the screen is silent
LAST: tuple[Rule, ...] = (told, shown)  # nothing speaks against the hooks, or there are none
RULES = (*SURE, *STRONG, *WEAK, *LAST)
