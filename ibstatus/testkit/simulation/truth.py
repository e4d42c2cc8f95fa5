"""What is really so with each agent, by what was ordered of it."""

from typing import NamedTuple

from ibstatus.testkit.simulation.plan import REMOVALS, Act

RUNNING, WAITING, COMPLETE, LIMITED, STOPPED = "running", "waiting", "complete", "rate_limited", "stopped"
COMPACTING = "compacting"
ASKING = {"question": "question", "plan": "plan"}  # permissions are given or denied by ib, whoever the agent is


TROUBLE = "529 Overloaded"


class Truth(NamedTuple):
    """`reason` '' is not compared. `hears`: can it be told something now?"""

    state: str
    reason: str = ""
    hears: bool = True

    def fits(self, state: str, reason: str) -> bool:
        return self.state == state and self.reason in ("", reason)

    def __str__(self) -> str:
        return f"{self.state} ({self.reason})" if self.reason else self.state or "removed"


IDLE = Truth(WAITING, "input")
DONE = Truth(COMPLETE)
UNCOMMITTED = Truth(WAITING, "uncommitted", hears=False)
GONE = Truth("", hears=False)


def orders(act: Act, mark: str, manager: str, reset: str) -> list[str]:
    """The steps that an act begins with."""
    tell = f'run ib send {manager or "user-claude"} "DONE: {mark} by {act.who}"'
    asked = f'run ib send {manager} "? {mark} by {act.who}"' if manager else f'run ib ask "{mark} by {act.who}?"'
    return {
        "turn": [f"say Turn {act.number}", "wait"],
        "work": [f"write f{act.number}.txt Work {act.number}", f"commit Work {act.number}", "finish"],
        "tell": [tell, "finish"],
        "ask": [asked, "wait"],
        "silent": ["end I looked at it."],
        "compact": ["compact", "wait"],
        "long": [f"say A long turn, {act.number}", "hold"],
        "escape": [f"say A turn to interrupt, {act.number}", "hold"],
        "permission": [f"dialog permission touch p{act.number}", "wait"],
        "question": [f"ask Which one, {act.number}? | A | B", "wait"],
        "plan": [f"plan Do it, {act.number}", "wait"],
        "limit": [f"limit usage {reset}"],
        "retry": [f"say A turn in trouble, {act.number}", f"hold {TROUBLE}"],
    }.get(act.fate, [])


def after(act: Act, before: Truth, idle: Truth, *, yolo: bool = True) -> Truth:
    """The truth once this act has begun, or ended. `idle`: how its last turn ended. `yolo`: its dialogs stay open."""
    if act.ends:
        return idle if act.fate in ("crash", "lost", *REMOVALS) else IDLE
    if act.fate in ("long", "escape"):
        return Truth(RUNNING, hears=False)
    if act.fate == "retry":
        return Truth(RUNNING, f"retrying: {TROUBLE}", hears=False)
    if act.fate in ASKING and yolo:
        return Truth(WAITING, ASKING[act.fate], hears=False)
    if act.fate in REMOVALS:
        return GONE
    if act.fate in ("crash", "lost"):
        return Truth(STOPPED, hears=False)
    if act.fate == "limit":
        return Truth(LIMITED, hears=False)
    if act.fate == "mail":
        return before
    return DONE if act.fate in ("work", "tell") else IDLE
