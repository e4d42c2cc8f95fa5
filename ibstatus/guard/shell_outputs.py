"""What $(…) can print, where the program makes that plain: names below a folder, a number, the words of echo.

Everything else is UNKNOWN. Read only when a command line has a substitution whose value matters.
"""

from ibstatus.guard.shell_parse import Simple
from ibstatus.guard.shell_values import ANY, UNKNOWN, is_known
from ibstatus.system import wildcards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_parse import Seq
    from ibstatus.guard.shell_values import Fields, Scope, States
    from ibstatus.guard.shell_words import Word

LONGEST = 500
NUMBERS = frozenset(("seq", "nproc", "date", "wc", "id", "whoami", "uname", "hostname", "arch", "pgrep", "getconf"))
SELECTS = frozenset(("sort", "uniq", "head", "tail", "tac", "shuf"))
JOINTS = {"%s": "", "%s\\n": "\n", "%s ": " "}  # of printf


def of(seq: "Seq", scope: "Scope", states: "States") -> list[str]:
    """Every text that the commands can print, its last newline taken off."""
    if len(seq) != 1 or len(seq[0][1]) != 1:
        return [UNKNOWN]
    pipe = seq[0][1][0][2]
    made: list[str] = []
    for at, command in enumerate(pipe):
        if not isinstance(command, Simple) or command.assigns or not command.words:
            return [UNKNOWN]
        options = scope.fields(command.words, states)
        fed = any(redirect.operator in ("<", "<<", "<<-", "<<<", "<>", "<&") for redirect in command.redirects)
        if at == 0:
            if fed:
                return document(command, options)
            made = [text for argv in options for text in printed(argv, scope, states)]
        elif fed:
            return [UNKNOWN]
        else:
            made = [text for argv in options for text in filtered(argv, made)]
        if len(made) > 64 or UNKNOWN in made:
            return [UNKNOWN]
    return made


def document(command: Simple, options: "list[Fields]") -> list[str]:
    """`cat <<EOF`: its text."""
    target: Word = command.redirects[0].target
    if options == [["cat"]] and len(command.redirects) == 1 and command.redirects[0].operator in ("<<", "<<-", "<<<"):
        return [target.text.rstrip("\n")] if target.text is not None else [UNKNOWN]
    return [UNKNOWN]


def printed(argv: "Fields", scope: "Scope", states: "States") -> list[str]:
    name, args = (argv[0], argv[1:]) if argv else ("", [])
    plain = [arg for arg in args if not arg.startswith("-")]
    if name == "pwd":
        return [state[0] for state in states]
    if name == "echo":
        return [echoed(args)]
    if name == "printf":
        end = JOINTS.get(args[0]) if args else None
        return ["".join([arg + end for arg in args[1:]]).rstrip("\n")] if end is not None else [UNKNOWN]
    if name in NUMBERS:
        return [UNKNOWN if any("/" in arg or ".." in arg or arg in ("-a", "-l", "-f") for arg in args) else ANY]
    if name == "basename":
        return [last(arg) for arg in plain[:1]] or [UNKNOWN]
    if name == "dirname":
        return [folder(arg) for arg in plain] if all(map(is_known, plain)) and len(plain) == 1 else [UNKNOWN]
    if name in ("realpath", "readlink"):
        return plain if len(plain) == 1 and not any(arg.startswith("--relative") for arg in args) else [UNKNOWN]
    if name == "mktemp":
        return [scope.scratch + "/" + ANY] if not any("/" in arg for arg in args) else [UNKNOWN]
    if name in ("which", "type") or (name == "command" and args[:1] == ["-v"]):
        return ["/usr/bin/" + ANY]
    if name == "git":
        return git(args, scope)
    if name == "ls":
        return listed(args, plain)
    if name == "find":
        return found(args)
    if name in ("fd", "fdfind", "rg", "grep"):
        return searched(name, args, plain)
    return [UNKNOWN]


def echoed(args: "Fields") -> str:
    """What a backslash and other options mean depends on the shell."""
    words = args[1:] if args[:1] == ["-n"] else args
    if any("\\" in word for word in words) or "".join(words[:1])[:1] == "-":
        return UNKNOWN
    return " ".join(words)


def last(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2] or ANY
    return ANY if ANY in name else name


def folder(path: str) -> str:
    parent, slash, _ = path.rstrip("/").rpartition("/")
    return parent or ("/" if slash else ".")


def git(args: "Fields", scope: "Scope") -> list[str]:
    if args[:1] == ["rev-parse"] and "--show-toplevel" in args:
        return [scope.project]
    from ibstatus.guard import git_options

    return [ANY if git_options.is_tame(args) else UNKNOWN]


def listed(args: "Fields", plain: "Fields") -> list[str]:
    if any(arg.startswith("-") and not set("lRaf").isdisjoint(arg) for arg in args):
        return [UNKNOWN]
    names = [arg for arg in plain if "/" not in arg or any(mark in arg for mark in "\2\3\4")]
    return [*names, ANY] if ".." not in "".join(plain) else [UNKNOWN]


def found(args: "Fields") -> list[str]:
    """`find`: paths below where it starts."""
    starts: list[str] = []
    for arg in args:
        if arg.startswith(("-", "(", "!")):
            break
        starts.append(arg)
    for action in ("-exec", "-execdir", "-ok", "-okdir", "-printf", "-fprintf", "-ls", "-files0-from"):
        if action in args:
            return [UNKNOWN]
    return below(starts)


def below(starts: "Fields") -> list[str]:
    return [f"{start.rstrip('/')}/{ANY}" for start in starts or ["."]]


def searched(name: str, args: "Fields", plain: "Fields") -> list[str]:
    """Names of files that hold a pattern: only with -l; their contents can be anything."""
    letters = "".join([arg[1:] for arg in args if arg.startswith("-") and not arg.startswith("--")])
    if name in ("fd", "fdfind"):
        return below(plain[1:]) if "x" not in letters.lower() else [UNKNOWN]
    if "l" not in letters and "--files" not in args and "--files-with-matches" not in args:
        return [UNKNOWN]
    return below(plain if "--files" in args else plain[1:])


def filtered(argv: "Fields", texts: list[str]) -> list[str]:
    """A program of a pipe that only chooses among lines, or takes away what makes no path of a name."""
    name, args = (argv[0], argv[1:]) if argv else ("", [])
    plain = [arg for arg in args if not arg.startswith("-")]
    if name in SELECTS:
        return texts if not any(not arg.lstrip("+").isdigit() for arg in plain) else [UNKNOWN]
    if name in ("grep", "egrep", "fgrep"):
        return texts if len(plain) <= 1 and "-r" not in args and "-f" not in args else [UNKNOWN]
    if name == "wc":
        return [ANY] if not plain else [UNKNOWN]
    if name == "xargs" and plain[:1] in (["basename"], ["dirname"]):
        return [ANY] if plain == ["basename"] else [UNKNOWN]
    if name in ("tr", "cut", "awk", "sed"):
        return texts if is_harmless(name, args, plain) and all(text.endswith(ANY) for text in texts) else [UNKNOWN]
    return [UNKNOWN]


def is_harmless(name: str, args: "Fields", plain: "Fields") -> bool:
    if name == "tr":
        return "-d" in args and len(plain) == 1 and "/" not in plain[0] and "." not in plain[0]
    if name == "cut":
        return args in (["-d:", "-f1"], ["-d", ":", "-f1"], ["-d", ":", "-f", "1"], ["-f1"], ["-d,", "-f1"])
    if name == "awk":
        return len(plain) == 1 and plain[0].replace(" ", "") in ("{print$1}", "{print$2}", "{print$NF}")
    if len(plain) != 1 or any(arg not in ("-E", "-e", "-r", "-n") for arg in args if arg.startswith("-")):
        return False
    script = plain[0]
    if script[:1] != "s" or len(script) < 4:
        return False
    parts = script.split(script[1])
    if len(parts) != 4 or parts[3] not in ("", "g") or "/" in parts[2] or ".." in parts[2] or "\\" in parts[2]:
        return False
    return bool(parts[2]) or parts[1] in ("^\\./", "^./") or parts[1].endswith("$")


def is_plain(text: str) -> bool:
    return is_known(text) and not any(mark in text for mark in "\2\3\4")


def replaced(text: str, operator: str, change: str) -> str:
    """${x/old/new}, where both are plain text."""
    old, _, new = change.partition("/")
    if not old or old[0] in "#%" or "/" in new or any(mark in old for mark in "*?[\\"):
        return UNKNOWN
    if not new.strip("."):  # a name of dots could come out
        return UNKNOWN if new and not is_plain(text) else text.replace(old, new, 1 if operator == "/" else -1)
    if ANY in text:
        return ANY if text == ANY else UNKNOWN
    return text.replace(old, new, 1 if operator == "/" else -1)


def cut(text: str, operator: str, pattern: str | None) -> str:
    """${x%pattern}: what is left of a text that is known; of one that is not, what can safely be said."""
    if pattern is None or UNKNOWN in text:
        return UNKNOWN
    if operator in ("/", "//"):
        return replaced(text, operator, pattern)
    if ANY in text:
        relative = not text.startswith("/") and ".." not in text
        if relative and (operator in ("%", "%%") or (operator == "##" and pattern == "*/")):
            return ANY
        return UNKNOWN
    if len(text) > LONGEST:
        return UNKNOWN
    ends = range(len(text) + 1)
    if operator == "%":
        return next((text[:at] for at in reversed(ends) if wildcards.matches(pattern, text[at:], one="?")), text)
    if operator == "%%":
        return next((text[:at] for at in ends if wildcards.matches(pattern, text[at:], one="?")), text)
    if operator == "#":
        return next((text[at:] for at in ends if wildcards.matches(pattern, text[:at], one="?")), text)
    return next((text[at:] for at in reversed(ends) if wildcards.matches(pattern, text[:at], one="?")), text)
