"""Programs that run another one with arguments: judged as what they run, in the folder in which they run it.

The options of programs that run another program: which take the next word, so that it is clear where that begins.
"""

from ibstatus.guard import wrappers_rules
from ibstatus.guard.isolation import READ, WRITE, short
from ibstatus.guard.shell_flow import merged
from ibstatus.guard.shell_values import UNKNOWN, is_known, shown
from ibstatus.guard.shell_words import TEXT, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.commands import Judged
    from ibstatus.guard.shell_flow import Ends
    from ibstatus.guard.shell_parse import Simple
    from ibstatus.guard.shell_values import Fields, States


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
    unknown = wrappers_rules.start_of(argv)[1]
    if unknown:
        course.unsure(
            f"Where the program of {name} begins is not sure behind {short(shown(unknown))}. Write options in full, "
            "their values behind ="
        )
    if name in ("env", "sudo", "doas"):
        from ibstatus.guard import environment

        for variable, value in wrappers_rules.assigned(argv):
            environment.judge_one(course, variable, value, states)
            word = Word(value, 0, len(value), [(TEXT, value, True)], True, None) if is_known(value) else None
            course.scope.values_of(variable)
            course.scope.assigned.setdefault(variable, []).append(word)
            course.scope.seen.clear()
        splits(course, argv)
    if name in ("env", "exec", "sudo", "doas"):
        bared(course, name, argv[1 : len(argv) - len(inner)], inner)
    folder = wrappers_rules.folder(argv) if name in ("env", "sudo") else ""
    if folder:
        course.path(READ, folder, states, name, strict=True)
        from ibstatus.guard.isolation import absolute

        there = tuple([(absolute(folder, state[0], course.scope.home), "", ()) for state in states])
    if name in ("sudo", "doas") and not course.policy.yolo and not course.allow.runs(texts):
        from ibstatus.guard.commands import Refused

        raise Refused(course.unlisted(texts[-1]))
    if name in ("strace", "ltrace", "time"):
        options = argv[1 : len(argv) - len(inner)]
        for at, arg in enumerate(options):
            if arg.startswith(("-", "+")) and "o" in arg:
                target = arg.partition("=")[2] or arg.partition("o")[2] if arg[:2] != "--" else arg.partition("=")[2]
                course.path(WRITE, target or "".join(options[at + 1 : at + 2]), states, name, strict=True)
    if name == "flock":
        course.path(WRITE, argv[len(argv) - len(inner) - 1], states, name, strict=True)
        if inner[0] in ("-c", "--command"):
            course.inline(" ".join(inner[1:]), there, listed=False, who=name)
            return states, states
    if name == "xargs":
        return xargs(course, argv, inner, there, command, texts)
    done = course.judge(inner, there, command, texts)
    if name in wrappers_rules.IN_THE_SHELL:
        return ((), done[1]) if name == "exec" else done
    return merged(states, *done) if not folder else states, states


def bared(course: "Judged", name: str, options: "Fields", inner: "Fields") -> None:
    """Variables that are taken away: ib would not know its agent."""
    from ibstatus.guard import environment

    if name in ("sudo", "doas"):
        if wrappers_rules.base_of(inner[0]) == "ib":
            course.unsure(f"{name} takes away which agent you are. Type ib without it")
        return
    for at, arg in enumerate(options):
        cluster = arg[1:] if arg[:1] == "-" and arg[1:2] != "-" else ""
        all_ = arg == "-" or (arg.startswith("--i") and not arg.startswith("--ignore-s"))
        if name == "exec":
            all_ = "c" in cluster.partition("a")[0]
        elif "u" in cluster or arg.startswith("--u"):
            before, _, value = cluster.partition("u") if cluster else ("", "", arg.partition("=")[2])
            environment.taken(course, value or "".join(options[at + 1 : at + 2]))
            cluster = before
        all_ = all_ or (name == "env" and "i" in cluster.partition("C")[0].partition("a")[0])
        if all_ and not is_reader(inner):
            course.unsure(
                f"{name} would take away who you are (IB_AGENT_ID and its like). Take single ones: env -u NAME"
            )


def is_reader(inner: "Fields") -> bool:
    """Does it only show files, and never run ib?"""
    from ibstatus.guard import commands, file_arguments

    return inner[0] in file_arguments.READS and inner[0] not in commands.SPECIAL


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
    from ibstatus.guard import nested_shells

    options = argv[: len(argv) - len(inner)]
    from_file = any(arg.startswith("--a") or (arg[:1] == "-" and arg[1:2] != "-" and "a" in arg) for arg in options)
    given = nested_shells.given(course, command, states) if not from_file else [UNKNOWN]
    outer, course.behind = course.behind, []
    for one in given:
        for word in one.split() or [""]:
            course.judge(wrappers_rules.placed(argv, inner, word), states, command, texts)
    course.behind = outer
    return states, states


# name → (short ones with a value, short ones without, long ones with a value, long ones without, plain words before)
TABLE = {
    "timeout": ("ks", "fpv", "--kill-after --signal", "--foreground --preserve-status --verbose", 1),
    "nice": ("n", "", "--adjustment", "", 0),
    "setsid": ("", "cfw", "", "--ctty --fork --wait", 0),
    "stdbuf": ("ioe", "", "--input --output --error", "", 0),
    "ionice": ("cnpPu", "t", "--class --classdata --pid --pgid --uid", "--ignore", 0),
    "chrt": ("TPD", "abdfimorRv", "--sched-runtime --sched-period --sched-deadline",
             "--batch --deadline --fifo --idle --other --rr --reset-on-fork --verbose --all-tasks", 1),
    "taskset": ("", "ac", "", "--all-tasks --cpu-list", 1),
    "time": ("fo", "apvq", "--format --output", "--append --portability --verbose --quiet", 0),
    "command": ("", "p", "", "", 0),
    "exec": ("a", "cl", "", "", 0),
    "env": ("uCaS", "iv0", "--unset --chdir --argv0 --split-string",
            "--ignore-environment --null --debug --block-signal --default-signal --ignore-signal", 0),
    "xargs": ("aEIdLnPs", "0oprtx", "--arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var",
              "--null --interactive --no-run-if-empty --verbose --exit --open-tty --show-limits --replace --max-lines "
              "--eof", 0),
    "sudo": ("ugpCThRDrt", "AbEHknPS", "--user --group --prompt --chdir --host --chroot --role --type",
             "--non-interactive --preserve-env --set-home --background --stdin --askpass", 0),
    "doas": ("uC", "n", "", "", 0),
    "unbuffer": ("", "p", "", "", 0),
    "caffeinate": ("tw", "dimsu", "", "", 0),
    "chronic": ("", "ve", "", "", 0),
    "flock": ("wE", "sxeunoFv", "--timeout --wait --conflict-exit-code",
              "--shared --exclusive --unlock --nonblock --nb --close --no-fork --verbose", 1),
    "watch": ("nq", "bcCdegprtwx", "--interval --equexit",
              "--differences --errexit --chgexit --beep --color --no-color --no-title --precise --exec --no-wrap "
              "--no-rerun", 0),
    "strace": ("abeEIoOpPsSuUX", "cCdDfFhiknqrtTvVwxyYzZ", "", "", 0),
    "ltrace": ("aADeFlnopsuwx", "bcCfhiLrStTV", "", "", 0),
    "xvfb-run": ("enfspw", "al", "", "--auto-servernum --listen-tcp", 0),
}  # fmt: skip
ATTACHED = {"xargs": "eil"}  # with a value only in the same word
PLAIN = ("", "", "", "", 0)


def start_of(argv: "Fields", name: str, *, assigns: bool) -> "tuple[int, str]":
    """(where its program begins, the option that is not known or '')."""
    valued, flags, long_valued, long_flags, skipped = TABLE.get(name, PLAIN)
    at, unknown = 1, ""
    while at < len(argv):
        arg = argv[at]
        if arg == "--":
            at += 1
            break
        if arg == "-" and name == "env":  # as -i
            at += 1
            continue
        if arg.startswith("--"):
            option, mark, _ = arg.partition("=")
            meant = full(option, [*long_valued.split(), *long_flags.split()])
            unknown = unknown or ("" if meant or mark else arg)
            at += 2 if not mark and meant in long_valued.split() else 1
        elif arg.startswith("-") and len(arg) > 1:
            if name == "nice" and arg[1:].lstrip("+-").isdigit():
                at += 1
                continue
            takes, known = cluster(arg[1:], valued, flags, ATTACHED.get(name, ""))
            unknown = unknown or ("" if known else arg)
            at += 1 + takes
        elif assigns and "=" in arg and not arg.startswith("="):
            at += 1
        else:
            break
    at += skipped
    while assigns and at < len(argv) and "=" in argv[at]:
        at += 1
    return at, unknown


def full(option: str, longs: list[str]) -> str:
    """The option that an abbreviation means; '' when it is not one of them alone."""
    if option in longs:
        return option
    found = [one for one in longs if one.startswith(option)]
    return found[0] if len(found) == 1 else ""


def cluster(letters: str, valued: str, flags: str, attached: str) -> tuple[bool, bool]:
    """(is the next word the value of the last letter, are all letters known)."""
    for at, letter in enumerate(letters):
        if letter in attached:
            return False, True
        if letter in valued:
            return at == len(letters) - 1, True
        if letter not in flags:
            return False, False
    return False, True
