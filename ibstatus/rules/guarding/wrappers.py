"""Programs that run another program: `timeout 5 …`, `env X=1 …`, `xargs …`, `find -exec …`, `sh -c '…'`."""

from ibstatus.rules.guarding.values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.rules.guarding.values import Fields

# name → (short options with a value of their own, plain words before the program)
TABLE = {
    "timeout": ("ks", 1), "gtimeout": ("ks", 1), "nice": ("n", 0), "nohup": ("", 0), "setsid": ("", 0),
    "stdbuf": ("ioe", 0), "ionice": ("cnpPu", 0), "chrt": ("TPD", 1), "taskset": ("", 1), "time": ("fo", 0),
    "command": ("", 0), "builtin": ("", 0), "exec": ("a", 0), "env": ("uC", 0), "xargs": ("aEIdLnPs", 0),
    "sudo": ("ugpCThRDrt", 0), "doas": ("uC", 0), "busybox": ("", 0), "unbuffer": ("", 0), "caffeinate": ("tw", 0),
    "chronic": ("", 0), "noglob": ("", 0), "nocorrect": ("", 0), "flock": ("wE", 1), "watch": ("nq", 0),
    "strace": ("oesSpEIau", 0), "ltrace": ("oesSpnaD", 0), "xvfb-run": ("enfspw", 0), "coverage-run": ("", 0),
}  # fmt: skip
LONG = frozenset(("--signal", "--kill-after", "--adjustment", "--unset", "--chdir", "--user", "--group", "--interval"))
IN_THE_SHELL = frozenset(("command", "builtin", "exec", "noglob", "nocorrect"))
SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash"))


def base_of(name: str) -> str:
    return name.rpartition("/")[2]


def inside(argv: "Fields") -> "Fields | None":
    """The program that this one runs, with its arguments; None when it runs none."""
    name = base_of(argv[0])
    if name not in TABLE:
        return None
    if name == "command" and any(arg in ("-v", "-V") for arg in argv[1:2]):
        return None
    at = start_of(argv, *TABLE[name], assigns=name in ("env", "sudo", "doas"))
    return argv[at:] or None


def start_of(argv: "Fields", valued: str, skipped: int, *, assigns: bool = False) -> int:
    at = 1
    while at < len(argv):
        arg = argv[at]
        if arg == "--":
            at += 1
            break
        if arg.startswith("-") and len(arg) > 1:
            at += 2 if arg in LONG or (not arg.startswith("--") and takes_next(arg, valued)) else 1
        elif assigns and "=" in arg and not arg.startswith("="):
            at += 1
        else:
            break
    at += skipped
    while assigns and at < len(argv) and "=" in argv[at]:
        at += 1
    return at


def takes_next(arg: str, valued: str) -> bool:
    """Is the next word the value of this short option, or of the last in a cluster?"""
    for at, letter in enumerate(arg[1:], 1):
        if letter in valued:
            return at == len(arg) - 1
    return False


def assigned(argv: "Fields") -> list[tuple[str, str]]:
    """The variables that env sets for its program."""
    stop = len(argv) - len(inside(argv) or [])
    return [
        (name, value) for name, mark, value in (arg.partition("=") for arg in argv[1:stop]) if mark and name[:1] != "-"
    ]


def folder(argv: "Fields") -> str:
    """Where `env -C` and `sudo -D` run it; '' for here."""
    for at, arg in enumerate(argv[: len(argv) - len(inside(argv) or [])]):
        if arg in ("-C", "--chdir", "-D"):
            return argv[at + 1] if at + 1 < len(argv) else UNKNOWN
        if (arg.startswith("--c") and "=" in arg) or (arg.startswith("-C") and len(arg) > 2):
            return arg.partition("=")[2] or arg[2:]
    return ""


def code_of_shell(argv: "Fields") -> "tuple[str | None, Fields]":
    """(the text after -c, its arguments), or (None, [script, arguments]); ('', []) for one that reads its input."""
    at, has_code, from_input = 1, False, False
    while at < len(argv):
        arg = argv[at]
        if arg in ("--rcfile", "--init-file"):
            at += 2
            continue
        if arg in ("--", "-"):
            at += 1
            break
        if arg[:1] not in ("-", "+") or len(arg) < 2:
            break
        if not arg.startswith("--"):
            has_code = has_code or "c" in arg
            from_input = from_input or "s" in arg
            at += sum([letter in "oO" for letter in arg[1:]])
        at += 1
    rest = argv[at:]
    if has_code:
        return (rest[0], rest[1:]) if rest else (UNKNOWN, [])
    return (None, rest) if rest and not from_input else ("", [])


def placed(argv: "Fields", inner: "Fields", given: str) -> "Fields":
    """xargs: its program with what it reads, at the end or where -I says."""
    options = argv[1 : len(argv) - len(inner)]
    for at, option in enumerate(options):
        mark = ""
        if option in ("-I", "-i", "--replace"):
            mark = options[at + 1] if option == "-I" and at + 1 < len(options) else "{}"
        elif option.startswith(("-I", "--replace=")):
            mark = option.removeprefix("--replace=").removeprefix("-I")
        if mark:
            return [word.replace(mark, given) for word in inner]
    return [*inner, given]


def of_find(argv: "Fields") -> "tuple[Fields, list[Fields]]":
    """(where find starts, the commands that it runs)."""
    starts: list[str] = []
    at = 1
    while at < len(argv) and argv[at] in ("-H", "-L", "-P"):
        at += 1
    while at < len(argv) and not argv[at].startswith(("-", "(", "!", ")")):
        starts.append(argv[at])
        at += 1
    commands: list[Fields] = []
    while at < len(argv):
        if argv[at] in ("-exec", "-execdir", "-ok", "-okdir"):
            stop = at + 1
            while stop < len(argv) and argv[stop] not in (";", "+"):
                stop += 1
            commands.append(argv[at + 1 : stop])
            at = stop
        at += 1
    return starts or ["."], commands
