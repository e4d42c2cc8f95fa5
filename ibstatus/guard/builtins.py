"""Commands with rules of their own: git, ib, shells, and what the shell itself does with its words.

Each answers where the shell stands then, or None when it is judged like any program after all.
"""

from ibstatus.guard import globs, nested_shells, wrappers_rules
from ibstatus.guard.commands import Refused
from ibstatus.guard.isolation import READ, WRITE, short
from ibstatus.guard.shell_values import ANY, UNKNOWN, shown
from ibstatus.guard.shell_words import GLOB, TEXT, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.commands import Judged
    from ibstatus.guard.shell_flow import Ends
    from ibstatus.guard.shell_parse import Simple
    from ibstatus.guard.shell_values import Fields, States

DECLARES = frozenset(("export", "declare", "typeset", "local", "readonly", "alias"))
READ_CODE = frozenset(
    ("sed", "gsed", "awk", "gawk", "mawk", "nawk", "ed", "ex", "vim", "sqlite3", "make", "gdb", "m4", "bc")
)
NAMES = frozenset(("read", "mapfile", "readarray", "export", "declare", "typeset", "local", "readonly"))
# These compute what stands in brackets in their words, and that can run a command.
COMPUTES = frozenset(("let", "unset", "read", "test", "[", "wait", "getopts", "mapfile", "readarray", *DECLARES))


def judge(
    course: "Judged", name: str, argv: "Fields", states: "States", command: "Simple", listed: bool
) -> "Ends | None":
    if name == "ib":
        return ib(course, argv[1:], states, listed)
    if name in wrappers_rules.SHELLS:
        return nested_shells.judge(course, name, argv, states, command, listed)
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
        return nested_shells.from_input(course, name, argv[1], states, command, listed)
    if name in COMPUTES or name == "printf":
        of_the_shell(course, name, argv, states, command)
        return None
    if name in ("ln", "mv", "gmv", "cp", "gcp"):
        from ibstatus.guard import symlinks

        symlinks.judge_links(course, name, argv, states)
        return None
    if name in ("shopt", "set", "setopt"):
        nested_shells.options(course, name, argv)
        return None
    from ibstatus.guard import interpreters

    if interpreters.is_language(name):
        language(course, argv, states, command)
    if name in READ_CODE:
        read_code(course, name, states, command)
        for word in argv[1:]:
            course.mentions(word, name)
    if name == "env":
        from ibstatus.guard import wrappers as wrapped

        wrapped.splits(course, argv)
    return with_code(course, name, argv, states)


def ib(course: "Judged", words: "Fields", states: "States", listed: bool) -> "Ends":
    """Its words are text for others; what an agent may run of it, rules/access says."""
    from ibstatus.guard import ib_commands

    if not listed:
        raise Refused(course.unlisted("ib " + shown(" ".join(words))))
    first = words[:2]
    if any(UNKNOWN in word or ANY in word for word in words[:1]):
        course.unsure("Which ib command this is, is computed. Type its name")
    refused = ib_commands.refusal([shown(word) for word in words], course.policy.manager, course.policy.yolo)
    if refused:
        raise Refused(refused + ".")
    if ib_commands.elsewhere([shown(word) for word in words]):
        for state in states:
            if course.grounds.objection(WRITE, globs.filled(state[0]) + "/.any"):
                raise Refused(
                    f"ib {short(shown(first[0]))} is for your own repository, and this is elsewhere "
                    f"({short(shown(state[0]))}). Type it in your worktree: cd {course.grounds.worktree}"
                )
    for at, word in enumerate(words):
        option, mark, value = word.partition("=")
        value = value if mark else "".join(words[at + 1 : at + 2])
        if option in ("--prompt-file", "--body", "--body-file") and (mark or at + 1 < len(words)):
            course.path(READ, value, states, " ".join(["ib", *first[:1]]), strict=True)
        elif option == "--test" and first[:1] == ["merge"]:
            course.inline(value, states, listed=False, who="ib merge --test")
    return states, states


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
    starts, commands = wrappers_rules.of_find(argv)
    removes = "-delete" in argv
    for start in starts:
        course.path(WRITE if removes else READ, start, states, name, whole=True, strict=True)
    if commands:
        from ibstatus.guard import symlinks

        symlinks.judge_recursive_readers(course, name, argv, starts, states)
    for at, arg in enumerate(argv[:-1]):
        if arg.startswith(("-fprint", "-fls")):
            course.path(WRITE, argv[at + 1], states, name, strict=True)
        elif arg in ("-newer", "-anewer", "-cnewer", "-samefile", "-files0-from") or arg.startswith("-newer"):
            course.path(READ, argv[at + 1], states, name, strict=False)
    if any(arg.startswith("-files0-from") for arg in argv):
        course.unsure("Where find starts stands in a file. Type the folders")
    for one in commands:
        for start in starts:
            inner = [word.replace("{}", f"{start.rstrip('/')}/{ANY}") for word in one]
            if inner:
                course.judge(inner, states, command, [])
    course.moved = course.moved or removes or bool(commands)
    return states, states


def language(course: "Judged", argv: "Fields", states: "States", command: "Simple") -> None:
    """python, node and the like: their code is a matter of the rules, but what it names is seen."""
    for at, arg in enumerate(argv):
        module = arg[2:] or "".join(argv[at + 1 : at + 2]) if arg.startswith("-m") else ""
        if module.partition(".")[0] == "ibstatus":
            ib(course, argv[at + (2 if arg == "-m" else 1) :], states, True)
    from ibstatus.guard import interpreters

    who = wrappers_rules.base_of(argv[0])
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


def beginning(word: Word) -> str:
    """What of a word is there before anything is expanded."""
    text = ""
    for kind, value, _ in word.pieces:
        if kind not in (TEXT, GLOB):
            break
        text += value
    return text.removeprefix("-v")


def of_the_shell(course: "Judged", name: str, argv: "Fields", states: "States", command: "Simple") -> None:
    words = named_by(name, argv)
    if any(("$(" in word or "`" in word) and "[" in word for word in [*words, *argv[1:]] if name != "printf" or words):
        course.unsure(f"A word of {name} holds a command in brackets, which {name} would run. Leave that out")
    if any(UNKNOWN in word.partition("=")[0] for word in words):
        course.unsure(f"Which variable {name} sets is computed. Type its name")
    if name in ("read", "mapfile", "readarray", "getopts", "printf", "wait"):
        for word in words:
            course.assign_by_name(word)
    if name in NAMES or name == "printf":
        literal = [beginning(word) for word in command.words]
        if not all(any(one.startswith(shown(word).partition("=")[0]) for one in literal) for word in words):
            course.unsure(f"Which variable {name} sets is computed. Type its name")
    letters = "".join([arg[1:] for arg in argv[1:] if arg[:1] in ("-", "+") and arg[1:2] != "-"])
    if name in ("declare", "typeset", "local", "export", "readonly") and "n" in letters and name != "export":
        course.unsure("A variable that is another's name cannot be followed. Use the variable itself")
    if name in ("mapfile", "readarray") and "C" in letters:
        course.unsure(f"{name} -C runs a command. Use a loop")
    if name == "let" or (name in ("declare", "typeset", "local") and "i" in letters):
        from ibstatus.guard import shell_arithmetic

        for word in words:
            shell_arithmetic.text(course, word)
    if name == "unset" or name in DECLARES:
        from ibstatus.guard import environment

        takes = name in ("unset", "local", "declare", "typeset") or "n" in letters or "+x" in argv
        for word in words:
            if takes:
                environment.taken(course, word.partition("=")[0])
        for word in words if name != "unset" else []:
            variable, mark, value = word.partition("=")
            if mark and name == "alias":
                course.inline(value, states, listed=False, who="alias")
            elif mark:
                environment.judge_one(course, variable, value, states)


# The letters of options whose value is a word of its own, for the commands that take names of variables.
WITH_VALUE = {"read": "adinNptu", "mapfile": "dnOsuCc", "readarray": "dnOsuCc"}


def named_by(name: str, argv: "Fields") -> "Fields":
    """The words that are names of variables, or assign to them."""
    if name in ("printf", "test", "[", "wait"):
        option = {"printf": "-v", "wait": "-p"}.get(name, "-v")
        found = [argv[at + 1] for at, arg in enumerate(argv[:-1]) if arg in (option, "-R")]
        if name in ("printf", "wait"):
            found += [arg[2:] for arg in argv[1:2] if arg.startswith(option) and len(arg) > 2]
        return found if name != "printf" or (argv[1:2] != [] and argv[1].startswith("-v")) else []
    words: list[str] = []
    valued, at, options = WITH_VALUE.get(name, ""), 1, True
    while at < len(argv):
        arg = argv[at]
        if options and arg == "--":
            options = False
        elif options and arg[:1] in ("-", "+") and len(arg) > 1 and name != "let":
            stop = next((place for place, letter in enumerate(arg[1:], 1) if letter in valued), 0)
            if stop and arg[stop] == "a":
                words.append(arg[stop + 1 :] or "".join(argv[at + 1 : at + 2]))
            at += bool(stop) and stop == len(arg) - 1
        else:
            words.append(arg)
        at += 1
    return words[1:2] if name == "getopts" else words


def with_code(course: "Judged", name: str, argv: "Fields", states: "States") -> "Ends | None":
    """Programs whose words hold code for a shell, or a script that names files."""
    from ibstatus.guard import interpreters

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
