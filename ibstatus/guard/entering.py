"""Does a command line of the primary end up in an agent's worktree? The client would stay there."""

from ibstatus.guard.isolation import short
from ibstatus.guard.shell_flow import Course
from ibstatus.guard.shell_values import Scope
from ibstatus.model.constants import AGENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_flow import Disk, Ends
    from ibstatus.guard.shell_parse import Simple
    from ibstatus.guard.shell_values import Fields, States

REASON = (
    "Do not cd into the worktree of agent {}: the session would stay there. "
    'Its work is on its branch (git log HEAD..agent/{}, git diff HEAD...agent/{}); ib send {} "…" tells it something'
)


def refusal(command: str, cwd: str, home: str, disk: "Disk") -> str:
    """Why this may not run, '' when it may. A line that cannot be read is the client's own affair."""
    if "cd" not in command and "pushd" not in command:
        return ""
    from ibstatus.guard import shell_parse
    from ibstatus.guard.shell_words import Unreadable

    walk = Entering(Scope(home, "", ""), disk)
    try:
        script = shell_parse.read(command)
        walk.script(script, ((cwd, "", ()),))
    except (Unreadable, RecursionError):
        pass
    return walk.found


class Entering(Course):
    """`found`: the reason, once there is one. A `cd` in ( … ) or $( … ) ends with it and hurts nobody."""

    def __init__(self, scope: Scope, disk: "Disk") -> None:
        super().__init__(scope, disk)
        self.found = ""

    def run(self, argv: "Fields", states: "States", command: "Simple") -> "Ends":
        if argv[0] in ("command", "builtin") and len(argv) > 1:
            argv = argv[1:]
        if argv[0] == "eval":
            from ibstatus.guard import shell_parse
            from ibstatus.guard.shell_words import Unreadable

            try:
                return self.script(shell_parse.read(" ".join(argv[1:]), 20), states)
            except Unreadable:
                return states, states
        return self.builtin(argv, states) or (states, states)

    def enter(self, folder: str, inside: bool) -> None:
        if inside:
            return
        ways = [folder]
        try:
            ways.append(self.disk.resolve(folder))
        except (OSError, ValueError):
            pass
        for way in ways:
            agent = agent_of(way)
            if agent:
                name = short(agent)
                self.found = self.found or REASON.format(name, name, name, name)


def agent_of(path: str) -> str:
    """The agent whose worktree, by whole names, the folder is in."""
    at = path.find(AGENTS)
    while at >= 0:
        agent, _, rest = path[at + len(AGENTS) :].partition("/")
        if agent and (rest == "repo" or rest.startswith("repo/")):
            return agent
        at = path.find(AGENTS, at + 1)
    return ""
