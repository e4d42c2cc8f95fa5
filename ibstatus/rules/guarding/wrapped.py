"""Programs that run another one with arguments: judged as what they run, in the folder in which they run it."""

from ibstatus.rules.guarding import wrappers
from ibstatus.rules.guarding.course import merged
from ibstatus.rules.guarding.isolation import READ, WRITE
from ibstatus.rules.guarding.values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.rules.guarding.commands import Judged
    from ibstatus.rules.guarding.course import Ends
    from ibstatus.rules.guarding.shell import Simple
    from ibstatus.rules.guarding.values import Fields, States


def judge(
    course: "Judged",
    name: str,
    argv: "Fields",
    inner: "Fields",
    states: "States",
    command: "Simple",
    texts: list[str],
) -> "Ends":
    there = states
    if name in ("env", "sudo", "doas"):
        from ibstatus.rules.guarding import environment

        for variable, value in wrappers.assigned(argv):
            environment.judge_one(course, variable, value, states)
        splits(course, argv)
    folder = wrappers.folder(argv) if name in ("env", "sudo") else ""
    if folder:
        course.path(READ, folder, states, name, strict=True)
        from ibstatus.rules.guarding.isolation import absolute

        there = tuple([(absolute(folder, state[0], course.scope.home), "", ()) for state in states])
    if name in ("sudo", "doas") and not course.policy.yolo and not course.allow.runs(texts):
        from ibstatus.rules.guarding.commands import Refused

        raise Refused(course.unlisted(texts[-1]))
    if name == "flock":
        course.path(WRITE, argv[len(argv) - len(inner) - 1], states, name, strict=True)
        if inner[0] in ("-c", "--command"):
            course.inline(" ".join(inner[1:]), there, listed=False, who=name)
            return states, states
    if name == "xargs":
        return xargs(course, argv, inner, there, command, texts)
    done = course.judge(inner, there, command, texts)
    if name in wrappers.IN_THE_SHELL:
        return ((), done[1]) if name == "exec" else done
    return merged(states, *done) if not folder else states, states


def splits(course: "Judged", argv: "Fields") -> None:
    if any(arg.startswith("--s") or (arg[:1] == "-" and arg[1:2] != "-" and "S" in arg) for arg in argv):
        course.unsure("env -S splits a text into commands. Type the command itself")


def xargs(
    course: "Judged", argv: "Fields", inner: "Fields", states: "States", command: "Simple", texts: list[str]
) -> "Ends":
    for at, arg in enumerate(argv):
        if arg == "-a" or arg.startswith("--a"):
            file = arg.partition("=")[2] or "".join(argv[at + 1 : at + 2])
            course.path(READ, file, states, "xargs", strict=True)
    given = course.piped(states) if not any(arg.startswith(("-a", "--a")) for arg in argv) else [UNKNOWN]
    outer, course.behind = course.behind, []
    for one in given:
        for word in one.split() or [""]:
            course.judge(wrappers.placed(argv, inner, word), states, command, texts)
    course.behind = outer
    return states, states
