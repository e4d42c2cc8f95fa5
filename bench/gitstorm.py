"""git at work beside a writer that never rests: every command does what it does in the same repository without us."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.ground import Row, repository
from bench.storm import with_path
from ibstatus.model.fleet import Agent
from ibstatus.node import block as ours
from ibstatus.node import hide_from_git
from ibstatus.node.node import Keeper
from ibstatus.node.rules import block
from ibstatus.project import git_exclude, paths
from ibstatus.state.fleet import Seen
from ibstatus.system.text import markers
from ibstatus.system.userfiles import edit as user_file

UPDATES, RESIZE_EVERY = 1000, 50
ROUNDS = 20
PAUSE = 0.01
QUIET_FOR = 0.2  # at least; the supervisor keeps still ten times as long after git has been at work
PHASES = 0.4  # a scene may begin at any moment between two resizes
FIXED = {f"GIT_{role}_DATE": "2026-01-01T00:00:00Z" for role in ("AUTHOR", "COMMITTER")}
TEXT = "".join(f"line {number} of the user's own text\n" for number in range(60))
OURS = (b"<!-- ib:room", b"\n<ittybitty-status>\n", b"<!-- ib:local")


class Side(NamedTuple):
    """One of two repositories that are led through the same commands."""

    place: paths.Place

    def git(self, *args: str, stdin: str = "") -> int:
        argv = ["git", "-c", "core.editor=true", *args]
        env = {**os.environ, **FIXED}
        done = subprocess.run(argv, cwd=self.place.root, env=env, input=stdin, capture_output=True, text=True)
        return done.returncode

    def out(self, *args: str) -> str:
        argv = ["git", *args]
        return subprocess.run(argv, cwd=self.place.root, capture_output=True, text=True, check=False).stdout

    def save(self, name: str, change: Callable[[str], str]) -> int:
        """A person saves a file with their editor, which looks whether it was changed since it was read."""
        path = Path(self.place.root, name)
        while True:
            before = user_file.read(str(path)) if path.exists() else b""
            temp = path.with_name(f".{name}.swp")
            temp.write_bytes(change(before.decode()).encode())
            if not path.exists() or user_file.read(str(path)) == before:
                temp.rename(path)
                return 0

    def seen(self) -> tuple[str, ...]:
        """All that a person can see of it: trees and not commits, for these say when."""
        heads = [self.out("log", "--format=%T %s", "-n", "6", branch, "--") for branch in ("HEAD", "main", "topic")]
        stashed = self.out("stash", "list", "--format=%gs")
        return (*heads, stashed, self.out("status", "--porcelain"), self.out("diff"), self.out("diff", "--cached"))


Step = Callable[[Side], int]


def git(*args: str, stdin: str = "") -> Step:
    return lambda side: side.git(*args, stdin=stdin)


def edit(number: int, word: str, name: str = "CLAUDE.md") -> Step:
    line = f"line {number} of"
    return lambda side: side.save(name, lambda text: text.replace(line, f"{line} {word}", 1))


def commit(number: int, word: str, name: str = "CLAUDE.md") -> tuple[Step, ...]:
    return edit(number, word, name), git("commit", "-q", "-a", "-m", word)


def scenes(n: int) -> dict[str, tuple[Step, ...]]:
    """What people do with git, each starting and ending on a clean main. `n` makes each round another one."""
    word, away, home = f"r{n}", git("checkout", "-q", "-B", "topic"), git("checkout", "-q", "main")
    other = (*commit(50, word + "m"), *commit(5, word + "x", "notes.txt"))
    topic = (away, *commit(1, word + "a"), *commit(3, word + "b"), *commit(8, word + "c", "notes.txt"), home)
    fork = (git("checkout", "-q", "-B", "topic", "HEAD~2"), *commit(10, word + "a"), *commit(12, word + "b"))
    clash = (away, *commit(20, word + "ours"), home, *commit(20, word + "theirs"))
    settle = (lambda side: side.save("CLAUDE.md", resolved), git("add", "CLAUDE.md"))
    return {
        "commit -a": (*commit(30, word), *commit(31, word, "notes.txt")),
        "checkout": (*topic, git("checkout", "-q", "topic"), home, git("checkout", "-q", "topic"), home),
        "rebase": (*other, *fork, git("rebase", "-q", "main"), home, git("merge", "-q", "topic")),
        "merge": (*other, *fork, home, git("merge", "-q", "--no-ff", "topic")),
        "cherry-pick": (*other, *fork, home, git("cherry-pick", "topic~1", "topic")),
        "revert": (*commit(33, word), git("revert", "--no-edit", "HEAD")),
        "stash": (edit(40, word), git("stash", "-q"), git("stash", "pop", "-q"), git("checkout", "-q", "CLAUDE.md")),
        "add -p": (
            *(edit(2, word), edit(45, word + "p")),
            *(git("add", "-p", "CLAUDE.md", stdin="y\nn\n"), git("commit", "-q", "-m", word)),
            git("checkout", "-q", "CLAUDE.md"),
        ),
        "worktree": (git("worktree", "add", "-q", "-f", f"../wt-{word}", "HEAD", "--detach"),),
        "merge conflict": (*clash, git("merge", "-q", "topic"), *settle, git("commit", "-q", "-m", word)),
        "merge --abort": (*clash, git("merge", "-q", "topic"), git("merge", "--abort")),
        "rebase conflict": (*clash, git("rebase", "-q", "topic"), *settle, git("rebase", "--continue")),
        "reset": (*commit(35, word), git("reset", "-q", "HEAD~1"), git("reset", "-q", "--hard")),
        "pull --rebase": (*other, *fork, git("pull", "-q", "--rebase", ".", "main"), home, git("merge", "-q", "topic")),
    }


def resolved(text: str) -> str:
    """Both sides of every conflict, one after the other."""
    return "".join(line for line in text.splitlines(True) if not line.startswith(("<<<<<<<", "=======", ">>>>>>>")))


def quiet_for(side: Side) -> float:
    """Longer than from one step to the next, in which both sides are looked at, however slow git is here."""
    looks = []
    for _ in range(3):
        began = time.monotonic()
        side.seen()
        looks.append(time.monotonic() - began)
    return max(QUIET_FOR, 4 * max(looks))


@contextmanager
def sides(local: bool) -> Iterator[tuple[Side, Side, "subprocess.Popen[str]"]]:
    """(the one with us, the same without us, the writer in the first)."""
    with repository() as place:
        git_exclude.add(place)
        text = TEXT.encode()
        ours = block.insert(text, local=False).splice
        if not local:
            text = text[: ours.start] + ours.data + text[ours.end :]
        Path(place.root, "CLAUDE.md").write_bytes(text)
        Path(place.root, "notes.txt").write_text(TEXT)
        with_us = Side(place)
        with_us.git("add", "-A")
        with_us.git("commit", "-q", "-m", "start")
        twin = str(Path(place.root).parent / "without" / "repo")
        shutil.copytree(place.root, twin, symlinks=True)
        argv = [sys.executable, "-m", "tests.gitwriter", place.root, str(PAUSE), str(quiet_for(with_us))]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        writer = subprocess.Popen(argv, env=with_path(), cwd=place.root, **pipes)  # type: ignore[call-overload]
        assert writer.stdout.readline() == "ready\n"
        try:
            yield with_us, Side(paths.find(twin)), writer
        finally:
            writer.kill()
            writer.wait()
            for pipe in (writer.stdin, writer.stdout):
                pipe.close()


def node_is_back(side: Side) -> bool:
    """The writer has put the node where git took it away, and git was told."""
    try:
        spot = markers.find(user_file.read(side.place.root + "/CLAUDE.md"))
    except markers.Malformed:
        return False
    return spot is not None and spot.node is not None


def waited(side: Side, writer: "subprocess.Popen[str]", patience: float = 20.0) -> bool:
    """Until the node is back and git's status is what it was: what the supervisor promises for quiet times."""
    until = time.monotonic() + patience
    while time.monotonic() < until and writer.poll() is None:
        if node_is_back(side) and side.out("status", "--porcelain") == "":
            return True
        time.sleep(0.02)
    return False


def play(pair: tuple[Side, Side], steps: tuple[Step, ...]) -> list[str]:
    """Both do the same; returns what differed."""
    found = []
    for number, step in enumerate(steps):
        codes = [step(side) for side in pair]
        seen = [side.seen() for side in pair]
        if codes[0] != codes[1]:
            found.append(f"step {number}: exit {codes[0]} with us, {codes[1]} without")
        elif seen[0] != seen[1]:
            found.append(f"step {number}: {[pair for pair in zip(*seen, strict=True) if pair[0] != pair[1]]}")
        if found:
            break
    return found


def same_again(pair: tuple[Side, Side]) -> None:
    """After a difference: both as the one without us, so that the next one is counted by itself."""
    for side in pair:
        for verb in ("rebase", "merge", "cherry-pick", "revert"):
            side.git(verb, "--abort")
        side.git("stash", "clear")
        side.git("checkout", "-q", "-f", "main")
    pair[0].git("fetch", "-q", pair[1].place.root, "+topic:topic", "main")
    pair[0].git("reset", "-q", "--hard", pair[1].out("rev-parse", "main").strip())


def storm(rounds: int, local: bool, shout: Callable[[str], None] = lambda text: None) -> list[Row]:
    kind = "block kept out" if local else "block committed"
    order = random.Random(7)
    commands = failed = 0
    with sides(local) as (live, plain, writer):
        for number in range(rounds):
            scenery = list(scenes(number).items())
            order.shuffle(scenery)
            for name, steps in scenery:
                if not waited(live, writer):
                    failed += 1
                    shout(f"{kind}, before {name}: {live.out('status', '--porcelain')!r} node {node_is_back(live)}")
                time.sleep(order.uniform(0, PHASES))
                differences = play((live, plain), steps)
                commands += len(steps)
                if differences:
                    failed += 1
                    shout(f"{kind}, round {number}, {name}: {differences[0]}")
                    same_again((live, plain))
        assert writer.stdin is not None
        writer.stdin.close()
        counts = json.loads(writer.stdout.read()) if writer.stdout else {}
        inside = sum(live_blobs(live).count(mark) for mark in (OURS if local else OURS[:2]))
    shout(f"{kind}: {counts}")
    written = sum(number for what, number in counts.items() if what.startswith("written"))
    figure = f"{failed} of {commands} commands beside {written} writes; {inside} times in a blob"
    return [
        Row(
            f"git beside a live writer ({kind}): results that differ from those without ib",
            figure,
            "0; 0",
            not failed + inside,
        )
    ]


def live_blobs(side: Side) -> bytes:
    """Every object that the repository ever had."""
    argv = ["git", "cat-file", "--batch-all-objects", "--batch", "--unordered"]
    return subprocess.run(argv, cwd=side.place.root, capture_output=True, check=True).stdout


def updates(count: int) -> list[Row]:
    """Nobody else at work: the status after each write."""
    with repository() as place:
        git_exclude.add(place)
        side, path = Side(place), Path(place.root, "CLAUDE.md")
        path.write_text(TEXT)
        side.git("add", "-A")
        side.git("commit", "-q", "-m", "start")
        hidden = hide_from_git.hide(place)
        ours.put_in(place, hidden.local)
        keeper = Keeper(place)
        dirty = waiting = 0
        for number in range(count):
            now = time.time()
            agents = [Agent(f"a{n}", "running", "0m", f"task {number}", created=now) for n in range(number % 50)]
            keeper.shown(now)
            while not keeper.put(Seen(agents, [], [], []), now):
                waiting += 1
                time.sleep(0.05)  # the room grows: that waits for git's index to be two seconds old
            dirty += side.out("status", "--porcelain") != ""
    figure = f"{dirty} of {count}"
    return [Row("status of git not empty after an update of the node", figure, "0", not dirty)]


def measure(count: int = UPDATES, rounds: int = ROUNDS) -> list[Row]:
    return [*updates(count), *storm(rounds, local=True), *storm(rounds, local=False)]


if __name__ == "__main__":
    for row in storm(int(sys.argv[1]), sys.argv[2] == "local", lambda text: print(text, file=sys.stderr, flush=True)):
        print(row)
