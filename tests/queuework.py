"""The merge queue as agents and people fill it: a task that is done, and a branch that it hands over."""

from pathlib import Path

from ibstatus.board.port import Board
from ibstatus.board.sqlite.store import open_board
from ibstatus.merge.queue.drain import drain
from ibstatus.model.board import Branch, Entry
from ibstatus.project import agent_meta, home, paths
from tests.board import doing
from tests.conftest import git
from tests.gitwork import commit, tip


def opened(place: paths.Place) -> Board:
    home.enter(place)
    return open_board(place.board)


def queue(
    place: paths.Place, board: Board, branch: str, base: str = "main", test: str = "", linear: bool = False
) -> Entry:
    """A task of this branch's name is added, claimed and done; its entry."""
    task = branch.replace("/", "-") + f"-{len(board.entries())}"
    doing.add(board, task)
    given = Branch(agent_meta.repo_id(place), branch, base, tip(place.root, f"refs/heads/{branch}"), test, linear)
    doing.finish(board, task, given, agent=branch.removeprefix("agent/"))
    return board.entries()[-1]


def side(place: paths.Place, branch: str, name: str, text: str, start: str = "main") -> str:
    """A branch with one commit more, made in a worktree that is gone again: no checkout has it."""
    folder = Path(place.root).parent / "side"
    has = git(place.root, "branch", "--list", branch).strip()
    git(place.root, "worktree", "add", "-q", str(folder), *([branch] if has else ["-b", branch, start]))
    made = commit(folder, name, text)
    git(place.root, "worktree", "remove", "--force", str(folder))
    return made


def drained(place: paths.Place, board: Board) -> tuple[list[Entry], list[str]]:
    said: list[str] = []
    return drain(place, board, said.append), said


def one(place: paths.Place, board: Board) -> Entry:
    """What became of the only one that was pending."""
    ((entry,), _) = drained(place, board)
    return entry


def resolve_by_hand(place: paths.Place, text: str = "both\n") -> None:
    """main is merged into topic; where the two conflict, file.txt gets this text."""
    folder = Path(place.root).parent / "side"
    git(place.root, "worktree", "add", "-q", str(folder), "topic")
    git(folder, "merge", "-q", "-s", "ours", "-m", "resolved", "main")
    (folder / "file.txt").write_text(text)
    git(folder, "commit", "-q", "-a", "-m", "as it shall be")
    git(place.root, "worktree", "remove", "--force", str(folder))
