"""The options of git commands: short ones stand in clusters, long ones may be cut short, values may be attached.

Which git commands print only names, numbers and hashes, so that what comes out leads nowhere else.
"""

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


PRINTS_PATHS = ("/", ".", "~", "--git", "--abs", "--sq", "--path", "--show-s", "--show-c", "--resolve", "--prefix")
# Options that change which things are printed, not what is printed of them.
CHOOSING = (
    "--diff-filter=", "--cached", "--staged", "--no-renames", "--max-count=", "--since", "--until", "--after",
    "--before", "--author=", "--all", "--branches", "--tags", "--remotes", "--reverse", "--no-merges", "--merges",
    "--first-parent", "--follow", "--count", "--not", "--left-right", "--no-commit-id", "--root", "--no-color",
    "--untracked-files", "--ignore-submodules", "--merged", "--no-merged", "--contains", "--sort=", "--points-at",
    "--is-ancestor", "--fork-point", "--octopus", "--abbrev", "--always", "--dirty", "--exact-match", "--long",
    "--others", "--exclude-standard", "--modified", "--deleted", "--full-name", "--stdin", "--topo-order",
    "--date-order", "--no-patch", "--quiet", "--name-only", "--name-status", "--find-renames", "--color=never",
)  # fmt: skip
OUTPUT_LETTERS = {
    "diff": "z", "diff-tree": "rz", "branch": "ar", "status": "sz", "log": "n0123456789", "show": "sq0123456789",
    "grep": "lLnirwEFPIz", "ls-files": "comdzitku", "rev-list": "n0123456789", "merge-base": "a",
    "symbolic-ref": "q", "hash-object": "wt", "for-each-ref": "",
}  # fmt: skip
NAMING = ("--name-only", "--name-status", "--show-current", "--porcelain", "-s", "--short", "-sz")
FORMS = (
    "%(refname:short)", "%(refname)", "%(objectname:short)", "%(objectname)", "%(committerdate:iso)",
    "%(committerdate:short)", "%(committerdate:unix)", "%H", "%h", "%as", "%cs", "%at", "%ct",
)  # fmt: skip


def is_tame(args: "Fields") -> bool:
    """`args` begin with the subcommand; what stands before it is not known here."""
    verb, rest = (args[0], args[1:]) if args else ("", [])
    options = [arg for arg in rest if arg.startswith("-") and arg != "--"]
    if verb == "rev-parse":
        return not any(arg.startswith(PRINTS_PATHS) for arg in rest)
    if verb == "describe":
        return all(shapes_nothing("describe", arg) or arg.startswith(("--match=", "--exclude=")) for arg in options)
    if verb not in OUTPUT_LETTERS or not all(shapes_nothing(verb, arg) for arg in options):
        return False
    if verb in ("diff", "diff-tree", "branch", "status"):
        return any(arg in NAMING or arg.startswith("--format=") for arg in options)
    if verb in ("show", "log"):
        formed = any(arg.startswith(("--format=", "--pretty=")) for arg in options)
        quiet = verb == "log" or any(arg in ("-s", "--no-patch", "-q", "--quiet", *NAMING[:2]) for arg in options)
        return formed and quiet and not any(":" in arg for arg in rest if not arg.startswith("-"))
    if verb == "grep":
        return any(arg in ("-l", "-L", "--files-with-matches", "--name-only") for arg in options)
    return True


def shapes_nothing(verb: str, arg: str) -> bool:
    if arg.startswith(("--format=", "--pretty=")):
        return is_form(arg.partition("=")[2])
    if arg in NAMING:
        return verb != "log" or arg.startswith("--name")
    if arg.startswith("--"):
        if verb == "describe" and any(mark in arg for mark in "/.~"):
            return False
        return arg.startswith(CHOOSING) or (verb == "grep" and arg == "--files-with-matches")
    return not arg[1:].strip(OUTPUT_LETTERS.get(verb, ""))


def is_form(form: str) -> bool:
    """Hashes, dates and names of refs; text around them that can make no path."""
    form = form.removeprefix("format:").removeprefix("tformat:")
    for mark in FORMS:
        form = form.replace(mark, "")
    return not any(mark in form for mark in "%/.~\\")
