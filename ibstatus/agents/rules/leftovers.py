"""What is left over of agents → what it is, and whether it may go."""

from typing import Literal, NamedTuple

from ibstatus.project.rules.counts import counted, some

State = Literal["merged-clean", "merged-dirty", "active", "unknown", "expired", "orphan"]
MERGED_CLEAN: State = "merged-clean"
MERGED_DIRTY: State = "merged-dirty"
ACTIVE: State = "active"
UNKNOWN: State = "unknown"
EXPIRED: State = "expired"
ORPHAN: State = "orphan"
ALWAYS = (MERGED_CLEAN, EXPIRED, ORPHAN)
# What somebody may ask for besides, by a word of its own.
INCLUDED = {"dirty": MERGED_DIRTY, "unknown": UNKNOWN, "active": ACTIVE}


class Remains(NamedTuple):
    """Evidence on one id. None is what nobody can say. `own`: how many commits its branch has since it began; `alone`:
    how many of what git knows of it are in no other branch; `held`: why somebody needs it now, or ''; `papers`: what
    lies in its folder besides the worktree, where it has no meta.json."""

    has_meta: bool
    has_tree: bool
    has_branch: bool
    known_to_git: bool
    running: bool
    held: str
    files: list[str] | None
    own: int | None
    alone: int | None
    papers: list[str]


class Leftover(NamedTuple):
    """One line of `ib gc`. `kind`: agent, worktree, branch, folder, session, process, undo, archive or scratch."""

    kind: str
    name: str
    path: str
    state: State
    reason: str
    size: int = 0


def kind_of(seen: Remains) -> str:
    if seen.has_meta:
        return "agent"
    if seen.has_tree or (seen.known_to_git and not seen.has_branch):
        return "worktree"
    return "branch" if seen.has_branch else "folder"


def judged(seen: Remains) -> tuple[State, str] | None:
    """Its state and the reason; None for an agent that nobody would call a leftover."""
    if seen.running:
        return None if seen.has_meta else (ACTIVE, "its session runs")
    if seen.held:
        return None if seen.has_meta else (ACTIVE, seen.held)
    if seen.has_meta:
        return of_stopped(seen)
    return unowned(seen)


def of_stopped(seen: Remains) -> tuple[State, str] | None:
    """Only one whose work has arrived elsewhere; others may be resumed, and are no leftovers."""
    if not seen.has_branch or not seen.own or seen.alone != 0:
        return None
    if seen.files is None:
        return UNKNOWN, "stopped; git cannot read its worktree"
    return merged(seen, "stopped, and its branch is merged")


def unowned(seen: Remains) -> tuple[State, str]:
    if seen.papers:
        return UNKNOWN, f"no agent, but it has {some(seen.papers)}"
    if not seen.known_to_git and not seen.has_tree:
        return MERGED_CLEAN, "an empty folder"
    if seen.alone is None or seen.files is None:
        return UNKNOWN, "no agent, and git cannot read it"
    if seen.alone:
        return UNKNOWN, f"no agent; {counted(seen.alone, 'commit')} in no other branch"
    return merged(seen, "no agent, and every commit is in another branch")


def merged(seen: Remains, reason: str) -> tuple[State, str]:
    if seen.files:
        return MERGED_DIRTY, f"{reason}; {counted(len(seen.files), 'uncommitted file')} ({some(seen.files)})"
    return MERGED_CLEAN, reason


def removable(found: list[Leftover], include: tuple[str, ...]) -> list[Leftover]:
    """What is certain, and what was asked for by its own word."""
    states = {*ALWAYS, *(INCLUDED[word] for word in include)}
    return [one for one in found if one.state in states]


def size(count: int) -> str:
    number = float(count)
    for unit in ("B", "K", "M", "G"):
        if number < 1024:
            return f"{number:.0f}{unit}"
        number /= 1024
    return f"{number:.0f}T"


def row(one: Leftover) -> str:
    return f"{one.state:<13}{one.kind:<10}{one.name:<34}{size(one.size):>6}  {one.reason}"
