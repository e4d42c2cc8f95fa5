"""What is new in the fleet for one session: its last look against the snapshot, until a turn has confirmed it."""

from ibstatus.mail import delivery
from ibstatus.mail.rules import primary_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Fleet = dict[str, str]

MOST = 20
TOP = ("running", "waiting", "complete", "rate_limited", "compacting", "creating", "unknown", "stopped")


class Seen:
    """`head` marks the snapshot that was compared last; `sure` is what a turn took in, `told` what was told under
    `prompt` and waits for that turn."""

    __slots__ = ("head", "prompt", "sure", "told")

    def __init__(self, head: str, prompt: str, sure: "Fleet", told: "Fleet | None") -> None:
        self.head = head
        self.prompt = prompt
        self.sure = sure
        self.told = told

    def after(self, event: str, prompt: str) -> "Seen":
        """What holds once this event came: told fleets are confirmed by their own turn, and fall with another."""
        if self.told is None:
            return self
        same = prompt != "" and self.prompt in (prompt, delivery.NO_PROMPT)
        if same and event in (delivery.BATCH, delivery.STOP):
            return Seen(self.head, prompt, self.told, None)
        if same:
            return Seen(self.head, prompt, self.sure, self.told)
        return Seen("", prompt, self.sure, None)

    @property
    def known(self) -> "Fleet":
        return self.sure if self.told is None else self.told


def fleet(snapshot: "dict[str, Any]") -> "Fleet":
    """id → `state` or `state (reason)`: what counts as a change."""
    found = {}
    for agent in snapshot.get("agents") or ():
        state, reason = str(agent.get("state", "")), str(agent.get("reason") or "")
        found[str(agent.get("id", ""))] = f"{state} ({reason})" if reason else state
    return found


def text(before: "Fleet", now: "Fleet", as_of: str, room: int = 2000) -> str:
    """The difference in words, or ''; what does not fit is counted."""
    found = []
    for name, state in now.items():
        if name not in before:
            found.append(f"{name}: new, {state}")
        elif before[name] != state:
            found.append(f"{name}: {before[name]} → {state}")
    found += [f"{name}: gone" for name in before if name not in now]
    if not found:
        return ""
    shown = [f"[ib] Agents{as_of}: {summary(now)}. Changed since you last looked:"]
    room -= primary_text.size(shown[0]) + 40
    for line in found[:MOST]:
        row = primary_text.encoded(line)[1:-1].replace('\\"', '"')
        room -= primary_text.size(row) + 1
        if room < 0:
            break
        shown.append(row)
    left = len(found) - len(shown) + 1
    return "\n".join(shown + ([f"… and {left} more: ib list"] if left else []))


def summary(now: "Fleet") -> str:
    """`2 running, 1 waiting`."""
    counts: dict[str, int] = {}
    for state in now.values():
        word = state.partition(" ")[0]
        counts[word] = counts.get(word, 0) + 1
    return ", ".join([f"{counts[word]} {word}" for word in TOP if word in counts]) or "none"
