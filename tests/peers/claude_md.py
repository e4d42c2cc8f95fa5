"""A project whose CLAUDE.md holds our block and node, and the updates of its node by the code that ships."""

from pathlib import Path
from typing import NamedTuple

from ibstatus.node.rules import block, node
from ibstatus.system.text import markers
from ibstatus.system.text.splices import Splice, applied
from ibstatus.system.userfiles import edit
from tests.node_schema import check_node

LIMITS = node.Limits()
TOP = "# The project\n\nText of the user above.\n"
BLOCK = "\n" + block.text(local=True).decode()
BOTTOM = "\n## Below\n\nText of the user below.\n"


def facts(agents: int) -> node.Facts:
    rows = [
        {
            "id": f"agent-{number:03}",
            "state": "running",
            "created": 1_700_000_000,
            "prompt": f"task {number} of {agents}",
        }
        for number in range(agents)
    ]
    return node.Facts(rows, [], [])


class ClaudeMd(NamedTuple):
    path: Path

    def begin(self, text: str = TOP + BLOCK + BOTTOM, newline: str = "\n") -> None:
        self.path.write_bytes(text.replace("\n", newline).encode())
        self.publish(1)

    def publish(self, agents: int) -> None:
        """As the supervisor does: the node tells of so many agents."""

        def change(text: bytes) -> Splice | None:
            return node.change(text, facts(agents), LIMITS, 1_700_000_100, may_resize=True)

        done = edit.edit(str(self.path), change, desk=str(self.path.parent.parent / "desk"), durable=False)
        assert done.how not in ("held", "busy", "gone"), done

    @property
    def agents(self) -> int:
        """How many the node tells of; it must be whole."""
        data = self.path.read_bytes()
        spot = markers.find(data)
        assert spot is not None
        assert spot.body is not None
        value = node.decoded(data[spot.body.start : spot.body.end])
        assert value is not None
        check_node(value)
        return len(value["root_agents"])

    @property
    def users(self) -> bytes:
        """The file without our node."""
        data = self.path.read_bytes()
        spot = markers.find(data)
        splice = node.remove(spot) if spot else None
        return data if splice is None else applied(data, splice)
