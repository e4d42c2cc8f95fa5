"""Commands with rules of their own: git, ib, shells, and what the shell itself does with its words.

Each answers where the shell stands then, or None when it is judged like any program after all.
"""

from ibstatus.rules.guarding import wrappers
from ibstatus.rules.guarding.commands import Refused
from ibstatus.rules.guarding.course import merged
from ibstatus.rules.guarding.isolation import READ, WRITE, short
from ibstatus.rules.guarding.shell_words import TEXT, Word
from ibstatus.rules.guarding.values import ANY, UNKNOWN, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.rules.guarding.commands import Judged
    from ibstatus.rules.guarding.course import Ends
    from ibstatus.rules.guarding.shell import Simple
    from ibstatus.rules.guarding.values import Fields, States

DECLARES = frozenset(("export", "declare", "typeset", "local", "readonly", "alias"))
REREADS = frozenset(("cdablevars", "autocd", "expandaliases", "cdspell", "extglob", "extendedglob"))
READ_CODE = frozenset(
    ("sed", "gsed", "awk", "gawk", "mawk", "nawk", "ed", "ex", "vim", "sqlite3", "make", "gdb", "m4", "bc")
)
# These compute what stands in brackets in their words, and that can run a command.
COMPUTES = frozenset(("let", "unset", "read", "test", "[", "wait", "getopts", "mapfile", "readarray", *DECLARES))


def judge(
    course: "Judged", name: str, argv: "Fields", states: "States", command: "Simple", listed: bool
) -> "Ends | None":
    if name == "ib":
        return ib(course, argv[1:], states, listed)
    if name in wrappers.SHELLS:
        return shell(course, name, argv, states, command, listed)
    if name == "eval":
        return course.inline(" ".join(argv[1:]), states, listed=listed, who="eval")
    if name == "trap":
        code = [word for word in argv[1:] if not word.startswith("-")]
        if len(code) > 1 and code[0]:
            course.inline(code[0], states, listed=listed, who="trap")
        return states, states
    if name in ("find", "fd", "fdfind"):
        return find(course, name, argv, states, command, listed)
    if name in ("source", ".") and "".join(argv[1:2]).startswith("/dev/"):
        return from_input(course, name, argv[1], states, command, listed)
    if name in COMPUTES or name == "printf":
        of_the_shell(course, name, argv, states)
        return None
    if name in ("ln", "mv", "gmv", "cp", "gcp"):
        from ibstatus.rules.guarding import symlinks

        symlinks.judge(course, name, argv, states)
        return None
    if name in ("shopt", "set", "setopt"):
        options(course, name, argv)
        return None
    from ibstatus.rules.guarding import interpreters

    if interpreters.is_language(name):
        language(course, argv, states, command)
    if name in READ_CODE:
        read_code(course, name, states, command)
        for word in argv[1:]:
            course.mentions(word, name)
    if name == "env":
        from ibstatus.rules.guarding import wrapped

        wrapped.splits(course, argv)
    return with_code(course, name, argv, states)


def ib(course: "Judged", words: "Fields", states: "States", listed: bool) -> "Ends":
    """Its words are text for others; what an agent may run of it, rules/access says."""
    from ibstatus.rules import access

    if not listed:
        raise Refused(course.unlisted("ib " + shown(" ".join(words))))
    first = words[:2]
    if any(UNKNOWN in word or ANY in word for word in words[:1]):
        course.unsure("Which ib command this is, is computed. Type its name")
    refused = access.refusal([shown(word) for word in words], course.policy.manager, course.policy.yolo)
    if refused:
        raise Refused(refused + ".")
    for at, word in enumerate(words):
        if word in ("--prompt-file", "--body", "--body-file") and at + 1 < len(words):
            course.path(READ, words[at + 1], states, " ".join(["ib", *first[:1]]), strict=True)
        elif word.startswith(("--prompt-file=", "--body=", "--body-file=")):
            course.path(READ, word.partition("=")[2], states, "ib", strict=True)
    return states, states


def shell(
    course: "Judged", name: str, argv: "Fields", states: "States", command: "Simple", listed: bool
) -> "Ends | None":
    """`sh -c …` is read; a script is a matter of the rules; what comes by a pipe is read if it is known."""
    code, rest = wrappers.code_of_shell(argv)
    if any("=" in arg or UNKNOWN in arg for arg in argv[1:2]) and code is None:
        course.unsure(f"What {name} runs is computed. Type the command itself")
    if code is None:
        if rest[0].startswith("/dev/"):
            own = from_input(course, name, rest[0], states, command, listed)
            return merged(states, *own), states
        return None
    if code:
        words = tuple([Word(one, 0, len(one), [(TEXT, one, True)], True, None) for one in rest[1:]])
        if words:
            from ibstatus.rules.guarding import variables

            course.scope.values_of("@")
            variables.arguments(course.scope.assigned, words)
            course.scope.seen.clear()
        own_shell(course, code, states, listed, name)
        return states, states
    for text in given(course, command, states):
        if text == UNKNOWN:
            course.unsure(f"What is piped into {name} is not known. Type the commands in the line itself")
        else:
            own_shell(course, text, states, listed, name)
    return states, states


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
    """A shell of its own knows no function of this one."""
    outer, course.functions = course.functions, {}
    course.apart(lambda: course.inline(code, states, listed=listed, who=who))
    course.functions = outer


def given(course: "Judged", command: "Simple", states: "States") -> list[str]:
    """What a program reads on its standard input, where the line says it."""
    for redirect in command.redirects:
        if redirect.operator in ("<<", "<<-", "<<<"):
            return [" ".join(fields) for fields in course.scope.alternatives(redirect.target, states)]
        if redirect.operator == "<":
            return [UNKNOWN]
    return course.piped(states)


def find(course: "Judged", name: str, argv: "Fields", states: "States", command: "Simple", listed: bool) -> "Ends":
    if not listed:
        raise Refused(course.unlisted(shown(" ".join([name, *argv[1:]]))))
    if name != "find":
        if any(arg in ("-x", "-X", "--exec", "--exec-batch") for arg in argv):
            at = next(at for at, arg in enumerate(argv) if arg in ("-x", "-X", "--exec", "--exec-batch"))
            inner = [ANY if arg == "{}" else arg for arg in argv[at + 1 :]]
            argv = argv[:at]
            if inner:
                course.judge(inner, states, command, [])
        course.files(name, argv, states)
        return states, states
    starts, commands = wrappers.of_find(argv)
    removes = "-delete" in argv
    for start in starts:
        course.path(WRITE if removes else READ, start, states, name, whole=True, strict=True)
    for at, arg in enumerate(argv[:-1]):
        if arg.startswith(("-fprint", "-fls")):
            course.path(WRITE, argv[at + 1], states, name, strict=True)
        elif arg in ("-newer", "-anewer", "-cnewer", "-samefile", "-files0-from") or arg.startswith("-newer"):
            course.path(READ, argv[at + 1], states, name, strict=False)
    for one in commands:
        for start in starts:
            inner = [word.replace("{}", f"{start.rstrip('/')}/{ANY}") for word in one]
            if inner:
                course.judge(inner, states, command, [])
    course.moved = course.moved or removes or bool(commands)
    return states, states


def options(course: "Judged", name: str, argv: "Fields") -> None:
    """Options of the shell that change how the rest of the line is read."""
    for word in argv[1:]:
        if word.replace("_", "").lower() in REREADS:
            course.unsure(f"{name} {short(shown(word))} changes how this line is read. Leave it out")


def language(course: "Judged", argv: "Fields", states: "States", command: "Simple") -> None:
    """python, node and the like: their code is a matter of the rules, but what it names is seen."""
    for at, arg in enumerate(argv):
        module = arg[2:] or "".join(argv[at + 1 : at + 2]) if arg.startswith("-m") else ""
        if module.partition(".")[0] == "ibstatus":
            ib(course, argv[at + (2 if arg == "-m" else 1) :], states, True)
    from ibstatus.rules.guarding import interpreters

    who = wrappers.base_of(argv[0])
    for code in interpreters.code_of(argv):
        course.mentions(code, who)
    read_code(course, who, states, command)


def read_code(course: "Judged", who: str, states: "States", command: "Simple") -> None:
    """Code that stands in a here-document or comes by a pipe."""
    for redirect in command.redirects:
        if redirect.operator in ("<<", "<<-", "<<<"):
            for fields in course.scope.alternatives(redirect.target, states):
                course.mentions(" ".join(fields), who)
    if course.behind:
        for text in course.piped(states):
            course.mentions(text, who)


def of_the_shell(course: "Judged", name: str, argv: "Fields", states: "States") -> None:
    words = argv[1:] if name != "printf" else argv[2:3] if argv[1:2] == ["-v"] else []
    if any(("$(" in word or "`" in word) and "[" in word for word in words):
        course.unsure(f"A word of {name} holds a command in brackets, which {name} would run. Leave that out")
    if name in ("read", "mapfile", "readarray", "getopts") or (name == "printf" and words):
        for word in words:
            course.assign_by_name(word)
    if name in ("declare", "typeset", "local") and any(arg[:1] == "-" and "n" in arg for arg in argv[1:]):
        course.unsure("A variable that is another's name cannot be followed. Use the variable itself")
    if name in ("mapfile", "readarray") and "-C" in argv:
        course.unsure(f"{name} -C runs a command. Use a loop")
    if name in DECLARES:
        from ibstatus.rules.guarding import environment

        for word in words:
            variable, mark, value = word.partition("=")
            if mark and name == "alias":
                course.inline(value, states, listed=False, who="alias")
            elif mark:
                environment.judge_one(course, variable.rstrip("+"), value, states)


def with_code(course: "Judged", name: str, argv: "Fields", states: "States") -> "Ends | None":
    """Programs whose words hold code for a shell, or a script that names files."""
    from ibstatus.rules.guarding import interpreters

    for code in interpreters.codes(name, argv):
        if code not in ("ssh", "gzip", "zstd", "xz", "bzip2", "pigz", "pbzip2", "pixz", "lz4", "dot"):
            course.inline(code, states, listed=False, who=name)
    if name in interpreters.SED or name in interpreters.AWK:
        scripts = interpreters.script_of(name, argv)
        for script in scripts:
            check = interpreters.sed_uses if name in interpreters.SED else interpreters.awk_uses
            found, understood = check(script)
            for access, field, whole in found:
                course.path(access, field, states, name, whole=whole, strict=True)
            course.mentions(script, name)
            if not understood and not (course.allow.all_shell and UNKNOWN not in script):
                computed = UNKNOWN in script
                if not computed or name in interpreters.AWK:
                    course.unsure(
                        f"This {name} program runs commands, or is computed: {short(shown(script))}. "
                        "Use the commands themselves"
                    )
    return None
