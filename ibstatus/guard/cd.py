"""cd, pushd and popd: where the shell stands afterwards.

Does a command line of the primary end up in an agent's worktree? The client would stay there.
"""

from ibstatus.guard import globs
from ibstatus.guard.isolation import absolute, short
from ibstatus.guard.shell_flow import Course
from ibstatus.guard.shell_values import UNKNOWN, Scope, shown
from ibstatus.model.constants import AGENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_flow import Course, Disk, Ends
    from ibstatus.guard.shell_parse import Simple
    from ibstatus.guard.shell_values import Fields, State, States


COMPUTED = "Where this cd leads is computed: {}. Type the folder itself, from your worktree"


def moved(course: "Course", argv: "Fields", states: "States") -> "Ends":
    ok: list[State] = []
    failed: list[State] = []
    words = [word for word in argv[1:] if word not in ("-L", "-P", "-e", "-@", "--", "-n", "-q")]
    if len(words) > 1:
        course.unsure("This cd has more than one folder. Type one")
        return states, states
    for state in states:
        for after, sure in targets(course, argv[0], words, state):
            if after not in ok:
                ok.append(after)
            if not sure and state not in failed:
                failed.append(state)
    return tuple(ok), tuple(failed)


def targets(course: "Course", name: str, words: "Fields", state: "State") -> "list[tuple[State, bool]]":
    """(where it can stand then, is it sure)."""
    cwd, before, stack = state
    word = words[0] if words else ""
    if name == "popd" or (name == "pushd" and not words):
        if words or not stack:
            course.unsure("Where this popd leads is not in this line. Type cd and the folder")
            return [(state, False)]
        kept = stack[:-1] if name == "popd" else (*stack[:-1], cwd)
        return [((stack[-1], cwd, kept), True)]
    pushed = (*stack, cwd) if name == "pushd" else stack
    if word == "-":
        if not before:
            course.unsure(COMPUTED.format("-"))
            return [(state, False)]
        course.enter(before, course.nested > 0)
        return [((before, cwd, pushed), True)]
    if word[:1] in ("+", "-") and word[1:].isdigit():
        course.unsure(COMPUTED.format(word))
        return [(state, False)]
    if not words:
        word = course.scope.home or UNKNOWN
    if UNKNOWN in word:
        course.unsure(COMPUTED.format(shown(word)))
        return [(state, False)]
    if course.scope.values_of("CDPATH") is not None:
        course.unsure("CDPATH changes where cd leads. Type the folder itself")
    return followed(course, word, (cwd, cwd, pushed))


def followed(course: "Course", word: str, state: "State") -> "list[tuple[State, bool]]":
    """cd takes `..` by the text of the path; programs, and cd -P, by where links lead: both are possible."""
    path = absolute(word, state[0], course.scope.home)
    ways: list[str] = []
    there = globs.expanded(path, course.disk.entries)
    for one in there or [path]:
        ways.append(normal(one))
        try:
            real = course.disk.resolve(one)
            if real != course.disk.resolve(ways[-1]):
                ways.append(real)
        except (OSError, ValueError):
            course.unsure(COMPUTED.format(shown(word)))
    if globs.climbs(path):
        course.unsure(COMPUTED.format(shown(word)))
    for way in ways:
        course.enter(way, course.nested > 0)
    sure = not course.moved and len(ways) == 1 and course.disk.is_folder(ways[0])
    return [((way, state[1], state[2]), sure) for way in ways]


def normal(path: str) -> str:
    """Without `.`, `..`, `//`, by text alone."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


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
