"""Which git commands print only names, numbers and hashes, so that what comes out leads nowhere else."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_values import Fields

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
LETTERS = {
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
    if verb not in LETTERS or not all(shapes_nothing(verb, arg) for arg in options):
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
    return not arg[1:].strip(LETTERS.get(verb, ""))


def is_form(form: str) -> bool:
    """Hashes, dates and names of refs; text around them that can make no path."""
    form = form.removeprefix("format:").removeprefix("tformat:")
    for mark in FORMS:
        form = form.replace(mark, "")
    return not any(mark in form for mark in "%/.~\\")
