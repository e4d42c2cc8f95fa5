"""The tests that a merge of the queue must pass, on the very commit that its base will be at."""

from collections.abc import Callable

from ibstatus.merge import temp_checkout, trial
from ibstatus.merge.preview import Plan
from ibstatus.merge.queue.preview import FAILED, PENDING, Stopped, becomes
from ibstatus.merge.rules import queue
from ibstatus.model.board import Entry
from ibstatus.project import config, paths
from ibstatus.system.git import refs

Say = Callable[[str], None]


class Gate:
    """`receipt` is that of the last test that counts; the same tree and commands are not tested twice."""

    def __init__(self, place: paths.Place, entry: Entry, say: Say) -> None:
        self.place = place
        self.say = say
        self.commands = queue.tests(everywhere(place), entry.test)
        self.receipt = entry.receipt

    def check(self, plan: Plan) -> None:
        tree = refs.tree_of(self.place.git_folder, plan.after)
        if not self.commands or plan.is_idle or queue.holds(self.receipt, tree, self.commands):
            return
        with becomes(PENDING), temp_checkout.checkout(self.place.git_folder, plan.after) as folder:
            for command in self.commands:
                self.try_out(command, folder, tree, plan)
        self.receipt = queue.receipt(tree, self.commands, 0)

    def try_out(self, command: str, folder: str, tree: str, plan: Plan) -> None:
        self.say(f"Testing {plan.after[:7]}: {command}")
        tried = trial.run(command, folder)
        if tried.code:
            receipt = queue.receipt(tree, [command], tried.code)
            raise Stopped(FAILED, queue.failed(command, tried.code, tried.last), receipt=receipt)

    @property
    def valid(self) -> dict[str, str | int] | None:
        """What goes into the entry: nothing where nothing is asked."""
        return self.receipt if self.commands else None


def everywhere(place: paths.Place) -> str | None:
    """The test of every merge. A file that cannot be read may ask for one."""
    known = config.load(place)
    if known.broken:
        raise Stopped(PENDING, known.broken[0].partition(";")[0])
    found = known.value("board.test")
    return str(found) if found else None
