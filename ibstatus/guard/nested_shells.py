"""bash, sh and the like: the code behind -c and what comes by a pipe are read, a script is a matter of the rules."""

from ibstatus.guard import wrappers_rules
from ibstatus.guard.isolation import short
from ibstatus.guard.shell_flow import merged
from ibstatus.guard.shell_values import UNKNOWN, shown
from ibstatus.guard.shell_words import TEXT, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.commands import Judged
    from ibstatus.guard.shell_flow import Ends
    from ibstatus.guard.shell_parse import Redirect, Simple
    from ibstatus.guard.shell_values import Fields, States

# Others read files of the person's or the project's at the start (-i, -l, --rcfile), or change how words are read (-k).
SHORT = frozenset("abcefhmnpstuvxBCEHPTroO")
LONG = frozenset(("--norc", "--noprofile", "--posix", "--verbose", "--restricted", "--help", "--version", "--no-rcs"))
REREADS = frozenset(
    (
        "cdablevars", "autocd", "expandaliases", "cdspell", "extglob", "extendedglob", "keyword", "xpgecho", "history",
        "histexpand", "bareglobqual", "shwordsplit",
    )
)  # fmt: skip


def judge(
    course: "Judged", name: str, argv: "Fields", states: "States", command: "Simple", listed: bool
) -> "Ends | None":
    code, rest = wrappers_rules.code_of_shell(argv)
    if any("=" in arg or UNKNOWN in arg for arg in argv[1:2]) and code is None:
        course.unsure(f"What {name} runs is computed. Type the command itself")
    if not course.allow.all_shell:
        startup(course, name, argv[1 : len(argv) - len(rest)])
    if code is None:
        if rest[0].startswith("/dev/"):
            own = from_input(course, name, rest[0], states, command, listed)
            return merged(states, *own), states
        return None
    if code:
        words = tuple([Word(one, 0, len(one), [(TEXT, one, True)], True, None) for one in rest])
        if words[1:]:
            from ibstatus.guard import shell_assignments

            course.scope.values_of("@")
            shell_assignments.arguments(course.scope.assigned, words)
            course.scope.seen.clear()
        own_shell(course, code, states, listed, name)
        return states, states
    for text in given(course, command, states):
        if text == UNKNOWN:
            course.unsure(f"What is piped into {name} is not known. Type the commands in the line itself")
        else:
            own_shell(course, text, states, listed, name)
    return states, states


def startup(course: "Judged", name: str, options: "Fields") -> None:
    for at, arg in enumerate(options):
        if arg in ("-", "--") or arg[:1] not in ("-", "+"):
            break
        known = arg in LONG if arg.startswith("--") else SHORT.issuperset(arg[1:])
        if not known:
            course.unsure(
                f"{name} {short(shown(arg))} runs files of its own at the start, or is not known. Leave it out"
            )
        if arg[:2] != "--" and not {"o", "O"}.isdisjoint(arg):
            named(course, name, options[at + 1 : at + 2])


def named(course: "Judged", name: str, words: "Fields") -> None:
    """Options of the shell, by their names, that change how the rest of the line is read."""
    for word in words:
        if UNKNOWN in word or word.replace("_", "").lower() in REREADS:
            course.unsure(f"{name} {short(shown(word))} changes how this line is read. Leave it out")


def options(course: "Judged", name: str, argv: "Fields") -> None:
    named(course, name, argv[1:])
    if name == "set":
        for at, word in enumerate(argv[1:], 1):
            if word[:1] not in ("-", "+") or word in ("-", "--"):
                if argv[at - 1][:1] in ("-", "+") and argv[at - 1][-1:] == "o":
                    continue
                break
            if "k" in word:
                course.unsure("set -k makes words into variables. Leave it out")


def from_input(course: "Judged", name: str, path: str, states: "States", command: "Simple", listed: bool) -> "Ends":
    """Commands that are read from /dev/stdin: known when the line holds them."""
    ends: Ends = ((), ())
    for text in given(course, command, states) if path == "/dev/stdin" else [UNKNOWN]:
        if text == UNKNOWN:
            course.unsure(f"What {name} reads is computed. Type the commands in the line itself")
            return states, states
        done = course.inline(text, states, listed=listed, who=name)
        ends = merged(ends[0], done[0]), merged(ends[1], done[1])
    return ends


def own_shell(course: "Judged", code: str, states: "States", listed: bool, who: str) -> None:
    """A shell of its own knows no function of this one; what it leaves of the input, nobody knows."""
    outer, course.functions = course.functions, {}
    behind, course.behind = course.behind, []
    course.apart(lambda: course.inline(code, states, listed=listed, who=who))
    course.functions, course.behind = outer, behind


def given(course: "Judged", command: "Simple", states: "States") -> list[str]:
    """What a program reads on its standard input, where the line says it: the last redirect counts."""
    last: Redirect | None = None
    for redirect in command.redirects:
        descriptor = redirect.descriptor or ("0" if redirect.operator[0] == "<" else "1")
        if not descriptor.strip("0"):
            last = redirect
    if last is None:
        return course.piped(states)
    if last.operator in ("<<", "<<-", "<<<"):
        return [" ".join(fields) for fields in course.scope.alternatives(last.target, states)]
    return [UNKNOWN]
