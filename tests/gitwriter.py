"""The supervisor's keeper of the node without its patience, as a program: python -m tests.gitwriter.

Each write differs from the last. What git has taken away, node or block, is put back. It ends with its stdin.
"""

import json
import select
import sys
import time

from ibstatus.model.fleet import Agent
from ibstatus.node import block, hide_from_git
from ibstatus.node.node import Keeper
from ibstatus.project import git_files, paths
from ibstatus.state.fleet import Seen


class Writer:
    """`counts`: how often what happened."""

    def __init__(self, place: paths.Place) -> None:
        hidden = hide_from_git.hide(place)
        if hidden.local:
            block.put_in(place, True)
        self.keeper = Keeper(place)
        self.number = 0
        self.counts: dict[str, int] = {}

    def step(self) -> None:
        self.number += 1
        now = time.time()
        agent = Agent("lead", "running", "0m", f"task {self.number}", created=now)
        self.keeper.tried = 0.0  # no minute of patience after a refusal
        self.keeper.shown(now)
        if self.keeper.why:
            self.count(self.keeper.why.partition(":")[0])
            return
        size = self.keeper.sizes()
        done = self.keeper.put(Seen([agent], [], [], []), now)
        resized = ", another size" if self.keeper.sizes()[:1] != size[:1] else ""
        self.count(f"written{resized}" if done else self.keeper.why.partition(":")[0] or "held")
        self.keeper.sync(now)

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1


def main(root: str, pause: float, quiet_for: float) -> None:
    git_files.QUIET_FOR = quiet_for
    writer = Writer(paths.find(root))
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], pause)[0]:
        writer.step()
    print(json.dumps(writer.counts), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
