"""A writer of the node that never rests, as a program: `python -m tests.gitwriter ROOT PAUSE QUIET_FOR`.

It keeps the rules of the supervisor (`ready`, `sync`) and none of its patience, and ends with its stdin. A node that
git has taken away is put back, each write differs from the last, every twentieth has another size.
"""

import json
import select
import sys

from ibstatus.ops import hide
from ibstatus.rules import block, markers, node
from ibstatus.rules.splices import Splice
from ibstatus.store import git_files, places, user_file

RESIZE_EVERY = 20
CAPACITIES = (512, 1024)


class Writer:
    """`counts`: how often what happened; `owed`: git has yet to be told a size."""

    def __init__(self, place: places.Place) -> None:
        self.place = place
        self.path = place.root + "/CLAUDE.md"
        self.local = hide.hide(place).local
        self.number = 0
        self.owed = False
        self.counts: dict[str, int] = {}

    def step(self) -> None:
        self.number += 1
        resizing = False

        def change(data: bytes) -> Splice | None:
            nonlocal resizing
            splice = self.splice(data)
            resizing = splice is not None and not splice.fits
            return splice

        try:
            done: str = user_file.edit(
                self.path,
                change,
                desk=self.place.home + "/tmp",
                may_resize=False,
                now_ok=lambda: hide.ready(self.place, resizing),
                durable=False,
            ).how
        except markers.Malformed:  # the markers of a conflict around our block
            done = "malformed"
        self.count(f"{done}, another size" if resizing else done)
        self.owed = self.owed or (resizing and done not in ("held", "malformed", "busy"))
        if self.owed and hide.sync(self.place):
            self.owed = False
            self.count("synced")

    def splice(self, data: bytes) -> Splice | None:
        spot = markers.find(data)
        if spot is None:
            return block.insert(data, self.local).splice if self.local else None
        resize = self.number % RESIZE_EVERY == 0
        if spot.body is None:
            return node.insert(spot, data, self.body(CAPACITIES[0], spot.newline))
        capacity = spot.body.end - spot.body.start
        if resize:
            capacity = CAPACITIES[0] if capacity == CAPACITIES[1] else CAPACITIES[1]
        return node.set_body(spot, data, self.body(capacity, spot.newline))

    def body(self, capacity: int, newline: bytes) -> bytes:
        made = node.body({"last_updated": self.number, "root_agents": [], "messages": []}, capacity, newline)
        assert made is not None
        return made

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1


def main(root: str, pause: float, quiet_for: float) -> None:
    git_files.QUIET_FOR = quiet_for
    writer = Writer(places.find(root))
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], pause)[0]:
        writer.step()
    print(json.dumps(writer.counts), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
