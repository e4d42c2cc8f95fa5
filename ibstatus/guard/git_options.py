"""The options of git commands: short ones stand in clusters, long ones may be cut short, values may be attached."""

from ibstatus.guard.shell_values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_values import Fields

    Options = list[tuple[str, str, bool]]  # option, value that it has or could have, is the value the next word

# Before the subcommand.
VALUED = frozenset(
    ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source")
)
ALONE = frozenset(
    (
        "-P", "--no-pager", "-p", "--paginate", "--no-replace-objects", "--no-lazy-fetch", "--no-optional-locks",
        "--no-advice", "--literal-pathspecs", "--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs", "-v",
        "--version", "-h", "--help", "--html-path", "--man-path", "--info-path", "--exec-path",
    )
)  # fmt: skip
# Letters that need a value, and letters that take one only when it is attached; any other letter is a switch.
DIFFS = ("SGOUlnI", "MCBXD")
LETTERS = {
    "commit": ("mFcCt", "uS"), "tag": ("mFu", "n"), "merge": ("mFsX", "S"), "rebase": ("xsXC", "S"), "stash": ("m", ""),
    "cherry-pick": ("msX", "S"), "revert": ("msX", "S"), "log": (DIFFS[0] + "L", DIFFS[1]), "show": DIFFS,
    "diff": DIFFS, "grep": ("efmABC", "O"), "add": ("", ""), "rm": ("", ""), "mv": ("", ""), "status": ("", "uM"),
    "checkout": ("bBU", ""), "switch": ("cC", ""), "restore": ("sU", ""), "reset": ("U", ""), "branch": ("u", ""),
    "push": ("o", ""), "fetch": ("jo", ""), "pull": ("sXjo", "S"), "clone": ("oubcj", ""), "archive": ("o", ""),
    "difftool": ("xt" + DIFFS[0], DIFFS[1]), "notes": ("mFcC", ""), "clean": ("e", ""), "blame": ("LS", "MC"),
    "ls-files": ("xX", ""), "format-patch": ("ov" + DIFFS[0], DIFFS[1]), "apply": ("pC", ""),
    "rev-parse": ("", ""), "merge-base": ("", ""), "describe": ("", ""),
}  # fmt: skip
# Options whose value is for people to read, or is looked for.
MESSAGE = ("-m", "--message", "--author", "--date", "--trailer")
SOUGHT = ("-S", "-G", "--grep", "--author", "--since", "--until")
TEXTS = {
    "commit": MESSAGE, "tag": MESSAGE, "stash": MESSAGE, "merge": MESSAGE, "notes": MESSAGE, "log": SOUGHT,
    "show": SOUGHT, "diff": ("-S", "-G"), "grep": ("-e",),
}  # fmt: skip
READS = {
    "commit": ("-F", "-t", "--file", "--template"), "tag": ("-F", "--file"), "merge": ("-F", "--file"),
    "notes": ("-F", "--file"), "grep": ("-f",), "log": ("-O",), "show": ("-O",), "diff": ("-O",), "blame": ("-S",),
    "ls-files": ("-X", "--exclude-from"), "config": (),
}  # fmt: skip
WRITES = ("--output", "--output-directory", "--separate-git-dir", "--export-marks")
CHANGES = frozenset(("pick", "p", "squash", "s", "fixup", "f", "edit", "e", "reword", "r", "drop", "d"))


def of(verb: str, args: "Fields") -> "tuple[Options, Fields]":
    """(its options with their values, the words that are neither options nor texts for people)."""
    options: Options = []
    words: Fields = []
    at = 0
    while at < len(args):
        arg = args[at]
        following = args[at + 1] if at + 1 < len(args) else ""
        if arg == "--":
            return options, words + args[at + 1 :]
        if not arg.startswith("-") or arg == "-":
            words.append(arg)
        elif arg.startswith("--"):
            option, mark, value = arg.partition("=")
            options.append((option, value if mark else following, not mark))
            at += not mark and option in TEXTS.get(verb, ())
        else:
            found = cluster(verb, arg, following)
            options += found
            at += found[-1][2] and found[-1][0] in TEXTS.get(verb, ())
        at += 1
    return options, words


def cluster(verb: str, arg: str, following: str) -> "Options":
    """`-qFx` of commit is -q and -F x; where the letters are not known, each may have what is behind it."""
    known = verb in LETTERS
    needs, takes = LETTERS.get(verb, ("", ""))
    made: Options = []
    for at, letter in enumerate(arg[1:], 2):
        rest = arg[at:]
        if not known or letter in needs:
            made.append(("-" + letter, rest or following, not rest))
        else:
            made.append(("-" + letter, rest if letter in takes else "", False))
        if letter in needs or letter in takes or not (letter.isalnum() or known):
            break
    return made


def means(option: str, name: str) -> bool:
    """git takes the beginning of a long option for it."""
    return option == name or (len(option) > 2 and option.startswith("--") and name.startswith(option))


def is_path(value: str) -> bool:
    return value.startswith(("/", "~", "..")) or "/.." in value


def bare(argv: "Fields") -> "Fields":
    """Without what stands before the subcommand: as rules name it."""
    at = subcommand(argv)
    return [argv[0], *argv[at:]]


def subcommand(argv: "Fields") -> int:
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] in VALUED else 1
    return at


def with_file(code: str) -> str:
    """git appends the file to be edited; what writes into the list of a rebase could make it run commands."""
    words = code.replace("'", " ").replace('"', " ").split()
    if words[:2] == ["sed", "-i"] and words[2:] and all(map(is_change, "".join(words[2:]).split(";"))):
        return code
    return f"{code} {UNKNOWN}"


def is_change(script: str) -> bool:
    """`2,$s/pick/squash/`: one word of a rebase for another."""
    script = script.lstrip("0123456789,$~! ")
    parts = script.split(script[1:2] or "/")
    return script == "d" or (
        len(parts) == 4
        and parts[0] == "s"
        and parts[1].lstrip("^") in CHANGES
        and parts[2] in CHANGES
        and parts[3] in ("", "g")
    )
