"""The work of one agent: committed and not, against its manager's branch or the one it began at."""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.merge import preview, temp_checkout
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_meta, agents, config, paths
from ibstatus.state import fleet
from ibstatus.system.git import checkouts, diff, refs

TOOL = "externalDiffTool"


class Line(NamedTuple):
    """An agent's line of work. `base`: where it left `into`; `worktree` and `branch` are '' when it has none."""

    agent: str
    branch: str
    worktree: str
    into: str
    base: str

    @property
    def name(self) -> str:
        """The branch as people call it."""
        return refs.name_of(self.branch)


class Work(NamedTuple):
    """All of it as facts; `commits` newest first."""

    line: Line
    commits: list[refs.Commit]
    changes: list[checkouts.Change]
    files: list[diff.File]
    summary: str


class Now(NamedTuple):
    """The agent itself. `questions`: (id, text) of those that wait for the user."""

    agent: Agent | None
    questions: list[tuple[str, str]]


def now(place: paths.Place, agent: str) -> Now:
    found = fleet.show(place)
    asked = [item for item in found.questions if item.get("agent", item.get("from")) == agent]
    questions = [(str(item.get("id", "")), str(item.get("question", ""))) for item in asked]
    return Now(fleet.by_id(found.agents).get(agent), questions)


def line_of(place: paths.Place, agent: str, cwd: str) -> Line:
    """What is known of it without looking at any file."""
    where, branch, worktree = place.git_folder, preview.branch_of(agent), place.agent_dir(agent) + "/repo"
    worktree = worktree if os.path.lexists(worktree + "/.git") else ""
    tip = refs.tip_of(where, branch)
    if not tip:
        return Line(agent, "", worktree, "", "")
    ref = home_of(place, agent, cwd)
    base = refs.merge_base(where, ref, branch) if ref else ""
    begun = str(agent_meta.read(place, agent).get("base_commit") or "")
    return Line(agent, branch, worktree, refs.name_of(ref), base or refs.tip_of(where, begun or branch))


def home_of(place: paths.Place, agent: str, cwd: str) -> str:
    """Its manager's branch, or the one it began at, or the one checked out here."""
    where, branch = place.git_folder, preview.branch_of(agent)
    chief = agents.living_manager(place, agent)
    inside = cwd.startswith(place.agent_dir(agent) + "/repo")
    here = "" if inside else refs.head_of(cwd)
    candidates = (
        refs.branch_of(where, f"agent/{chief}") if chief else "",
        preview.begun_at(place, agent),
        here,
        refs.head_of(place.root),
    )
    return next((ref for ref in candidates if ref and ref != branch and refs.tip_of(where, ref)), "")


@contextmanager
def compared(place: paths.Place, line: Line, committed: bool) -> Iterator[diff.Side]:
    if line.worktree and not committed:
        agent_meta.refuse_foreign(place, line.agent, line.worktree)
        with diff.worktree(line.worktree) as side:
            yield side
    else:
        yield diff.Side(place.git_folder, line.branch)


def of(place: paths.Place, agent: str, cwd: str, committed: bool = False) -> Work:
    line = line_of(place, agent, cwd)
    if not line.branch:
        return Work(line, [], [], [], "")
    commits = refs.commits(place.git_folder, line.base, line.branch)
    with compared(place, line, committed) as side:
        changes = checkouts.changes(line.worktree) if line.worktree and not committed else []
        return Work(line, commits, changes, diff.files(side, line.base), diff.summary(side, line.base))


def show(place: paths.Place, agent: str, cwd: str, committed: bool, stat: bool) -> int:
    """Handed to git, which writes to the terminal itself."""
    line = with_branch(line_of(place, agent, cwd))
    with compared(place, line, committed) as side:
        code = diff.show(side, line.base, *(["--stat"] if stat else []))
    return 0 if code == 141 else code


def show_in_tool(place: paths.Place, agent: str, cwd: str) -> int:
    """The user's program gets two folders: a throw-away checkout of the base, and the worktree."""
    line = with_branch(line_of(place, agent, cwd))
    if not line.worktree:
        raise IbError(f"{agent} has no worktree to show", hint=f"ib diff {agent} --committed")
    agent_meta.refuse_foreign(place, agent, line.worktree)
    argv = tool(place)
    with temp_checkout.checkout(place.git_folder, line.base) as folder:
        code = diff.shown_by([*argv, folder, line.worktree], cwd)
    if code == 127:
        raise IbError(f"The program {argv[0]} could not be started", hint=f"ib config set {TOOL} 'meld'")
    return 1 if code else 0


def tool(place: paths.Place) -> list[str]:
    """The setting read as a shell would split it; no shell ever sees it."""
    text = str(config.value(place, TOOL) or "")
    try:
        argv = shlex.split(text)
    except ValueError as error:
        raise IbError(
            f"{TOOL} cannot be read: {error}", cause=text, hint=f"ib config set {TOOL} 'code --wait --diff'"
        ) from None
    if not argv:
        raise IbError(f"No program is set to show a diff ({TOOL})", hint=f"ib config set {TOOL} 'code --wait --diff'")
    return argv


def with_branch(line: Line) -> Line:
    if not line.branch:
        raise IbError(
            f"{line.agent} has no branch of its own, so there is nothing to compare", hint=f"ib status {line.agent}"
        )
    return line
