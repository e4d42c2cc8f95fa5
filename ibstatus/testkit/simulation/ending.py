"""The end of a simulation: agents are removed, and what must be gone or still there is looked at."""

import os
import time

from ibstatus.testkit.simulation import plan, watcher, world
from ibstatus.testkit.simulation.records import Record

GONE_WITHIN = 5.0


def judge(there: world.World, drawn: plan.Plan, record: Record) -> None:
    record.outside = outside(there)
    made = commits(there, drawn)
    workers = [who.name for who in drawn.agents if who.is_worker]
    gone = workers[: max(1, len(workers) // 3)] if workers else []
    record.lost_commits += missing(made, drawn)
    if gone:
        done = there.tried("ib", "kill", *gone, "--force", primary=True)
        record.acts["removed"] = record.acts.get("removed", 0) + len(gone)
        if done.code:
            record.failures.append(f"ib kill: {done.err.strip()}")
        record.orphans += orphans(there, gone)
    for who, each in made.items():
        lost = [one for one in each if there.tried("git", "cat-file", "-e", one + "^{commit}").code]
        record.lost_commits += [f"{one} of {who} is gone" for one in lost]


def outside(there: world.World) -> str:
    """CLAUDE.md without what ib has put into it, against what it was."""
    done = there.tried("git", "diff", "--quiet", "--", "CLAUDE.md")
    if done.code:
        return f"git shows CLAUDE.md as changed: {done.err.strip()}"
    with open(there.root + "/CLAUDE.md", encoding="utf-8") as file:
        text = file.read()
    return "" if text.startswith(world.TEXT) else "its own text is changed"


def commits(there: world.World, drawn: plan.Plan) -> dict[str, list[str]]:
    found = {}
    for who in drawn.agents:
        found[who.name] = there.tried("git", "rev-list", "--no-merges", f"{there.first}..agent/{who.name}").out.split()
    return found


def missing(made: dict[str, list[str]], drawn: plan.Plan) -> list[str]:
    """Every piece of work was a commit of its own."""
    wanted: dict[str, int] = {}
    for moment in drawn.moments:
        for act in moment.acts:
            wanted[act.who] = wanted.get(act.who, 0) + (act.fate == "work")
    return [
        f"{who} made {count} commits, {len(made[who])} are there"
        for who, count in wanted.items()
        if len(made[who]) < count
    ]


def orphans(there: world.World, gone: list[str]) -> list[str]:
    deadline = time.monotonic() + GONE_WITHIN
    while (found := left(there, gone)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def left(there: world.World, gone: list[str]) -> list[str]:
    sessions = there.tried("tmux", "-L", watcher.SOCKET, "list-sessions", "-F", "#{session_name}").out.split()
    found = [f"the tmux session {name}" for name in sessions if any(name.endswith(f"-{who}") for who in gone)]
    for pid, words in there.processes():
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                entries = file.read().split(b"\0")
        except OSError:
            continue
        if any(f"IB_AGENT_ID={who}".encode() in entries for who in gone):
            found.append(f"process {pid}: {' '.join(map(os.path.basename, words))[:100]}")
    return found
