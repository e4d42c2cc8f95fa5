"""Programs that run another program: `timeout 5 …`, `env X=1 …`, `xargs …`, `find -exec …`, `sh -c '…'`."""

from ibstatus.guard.shell_values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_values import Fields

TABLE = frozenset(
    (
        "timeout", "gtimeout", "nice", "nohup", "setsid", "stdbuf", "ionice", "chrt", "taskset", "time", "command",
        "builtin", "exec", "env", "xargs", "sudo", "doas", "busybox", "unbuffer", "caffeinate", "chronic", "noglob",
        "nocorrect", "flock", "watch", "strace", "ltrace", "xvfb-run", "coverage-run",
    )
)  # fmt: skip
IN_THE_SHELL = frozenset(("command", "builtin", "exec", "noglob", "nocorrect"))
SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash"))


def base_of(name: str) -> str:
    return name.rpartition("/")[2]


def is_own(program: str) -> bool:
    """A path that is not the system's: the agent's own program, whatever its name."""
    return "/" in program and (
        not program.startswith(("/bin/", "/usr/", "/sbin/", "/opt/", "/nix/")) or "/.." in program
    )


def inside(argv: "Fields") -> "Fields | None":
    """The program that this one runs, with its arguments; None when it runs none."""
    name = base_of(argv[0])
    if name not in TABLE:
        return None
    if name == "command" and any(arg in ("-v", "-V") for arg in argv[1:2]):
        return None
    return argv[start_of(argv)[0] :] or None


def start_of(argv: "Fields") -> "tuple[int, str]":
    """(where its program begins, an option that is not known or '')."""
    from ibstatus.guard import wrappers

    name = base_of(argv[0])
    name = "timeout" if name == "gtimeout" else name
    return wrappers.start_of(argv, name, assigns=name in ("env", "sudo", "doas"))


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
    while at < len(argv) and (argv[at] in ("-H", "-L", "-P", "-D") or argv[at].startswith("-O")):
        at += 2 if argv[at] == "-D" else 1
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
