"""Twenty clean merges by two mergers that are killed at random: each branch merged once, none left in between."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from bench.ground import Row, repository
from bench.storm import with_path
from ibstatus.board.port import Board
from ibstatus.board.sqlite.store import open_board
from ibstatus.merge.queue.drain import drain
from ibstatus.model.board import Branch, Claimer, Entry, Fence, NewTask
from ibstatus.project import agent_meta, paths

BRANCHES, MERGERS, SEED = 20, 2, 1
LIVES = (20, 500)  # when a merger is killed: right before or after one of its programs; a merge runs about 75
WAYS = (False, True)


def measure(branches: int = BRANCHES, ways: tuple[bool, ...] = WAYS) -> list[Row]:
    return [one_way(branches, linear) for linear in ways]


def one_way(branches: int, linear: bool) -> Row:
    with repository() as place:
        board = open_board(place.board)
        for number in range(branches):
            hand_over(place, board, f"b{number:02}", linear)
        began = time.monotonic()
        kills = merged_under_fire(place)
        spent = time.monotonic() - began
        entries = board.entries()
        board.close()
        once, odd = merged_once(place, entries, linear), changed(place)
    left = sum(entry.status != "merged" for entry in entries)
    how = "as a line" if linear else "as merge commits"
    return Row(
        f"{branches} branches merged {how} by {MERGERS} mergers that are killed and started again",
        f"{once} merged once, {left} left, {odd} files changed in the checkout ({kills} kills); {spent:.0f} s",
        f"{branches}, 0, 0",
        (once, left, odd) == (branches, 0, 0),
    )


def git(place: paths.Place, *args: str, data: str = "") -> str:
    done = subprocess.run(["git", *args], cwd=place.root, input=data, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def hand_over(place: paths.Place, board: Board, name: str, linear: bool) -> None:
    """A branch with a file of its own, made without a checkout; its task is done."""
    blob = git(place, "hash-object", "-w", "--stdin", data=name)
    tree = git(place, "mktree", data=f"100644 blob {blob}\t{name}.txt\n")
    sha = git(place, "commit-tree", tree, "-p", "main", "-m", f"write {name}")
    git(place, "update-ref", f"refs/heads/{name}", sha)
    board.add(NewTask(name, f"Task {name}"))
    board.claim_task(name, Claimer(name))
    board.done([Fence(name, name)], branch=Branch(agent_meta.repo_id(place), name, "main", sha, "true", linear))


def merged_under_fire(place: paths.Place) -> int:
    """How many were killed. Each is begun again until one comes to its end."""
    kills: list[int] = []
    threads = [threading.Thread(target=lives, args=(place, SEED + number, kills)) for number in range(MERGERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(kills)


def lives(place: paths.Place, seed: int, kills: list[int]) -> None:
    dice, code = random.Random(seed), -1
    while code:
        argv = [sys.executable, "-m", "bench.board_merge", str(dice.randint(*LIVES))]
        code = subprocess.run(argv, cwd=place.root, env=with_path(), stdout=subprocess.DEVNULL, check=False).returncode
        kills.append(code == -signal.SIGKILL)


def merged_once(place: paths.Place, entries: list[Entry], linear: bool) -> int:
    """How many branches the base has just once, in the way that was asked for."""
    subjects = git(place, "log", "--format=%s", "main").splitlines()
    merges = git(place, "log", "--merges", "--format=%s", "main").splitlines()
    once = sum(subjects.count(f"write {entry.branch}") == 1 for entry in entries)
    wanted = [] if linear else [f"Merge {entry.branch}: Task {entry.branch}" for entry in entries]
    return once if sorted(merges) == sorted(wanted) else 0


def changed(place: paths.Place) -> int:
    return len(git(place, "status", "--porcelain", "--untracked-files=no").splitlines())


def mortal(left: int, real: Callable[..., Any]) -> Callable[..., Any]:
    """Dies right before or right after one of the programs that it runs."""
    steps = iter(range(left - 1))

    def step() -> None:
        if next(steps, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    def run(*args: Any, **options: Any) -> Any:
        step()
        done = real(*args, **options)
        step()
        return done

    return run


def merger(left: int) -> int:
    """All that is pending, to its end."""
    subprocess.run = mortal(left, subprocess.run)
    place = paths.here()
    board = open_board(place.board)
    merged = [entry.status == "merged" for entry in drain(place, board, lambda text: None)]
    board.close()
    return 0 if all(merged) else 1


if __name__ == "__main__":
    sys.exit(merger(int(sys.argv[1])))
