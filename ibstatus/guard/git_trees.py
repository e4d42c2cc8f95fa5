"""What git does to the files of a worktree: links may be there afterwards, and files that it ignores."""

from ibstatus.guard.cd import normal
from ibstatus.guard.isolation import READ, WRITE, absolute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.commands import Judged
    from ibstatus.guard.shell_values import Fields, States

CHANGE = frozenset(
    (
        "checkout", "switch", "reset", "merge", "rebase", "restore", "apply", "am", "stash", "pull", "cherry-pick",
        "revert", "clone", "submodule", "read-tree", "checkout-index", "sparse-checkout", "bisect", "mv", "subtree",
        "lfs", "worktree", "rebase-merge", "mergetool", "difftool",
    )
)  # fmt: skip


def judge(course: "Judged", verb: str, args: "Fields", states: "States") -> None:
    if verb in CHANGE and changes(verb, args):
        from ibstatus.guard import symlinks_rules

        symlinks_rules.unpacks(course)
        if verb in ("checkout", "restore"):
            course.named |= named(course, args, states)
    if course.grounds.worktree != course.grounds.root:
        return
    letters = "".join([arg[1:] for arg in args if arg.startswith("-") and not arg.startswith("--")])
    words = [arg for arg in args if not arg.startswith("-")] or ["."]
    # In the main checkout these take what git ignores as well, and ib's files are ignored.
    forced = "f" in letters or any(arg.startswith("--f") for arg in args)
    if (verb == "add" and forced) or (verb == "stash" and ("a" in letters or "--all" in args)):
        everything = verb == "stash" or any(mark in word for word in words for mark in ":*?[")
        for word in [course.grounds.worktree] if everything else words:
            course.path(READ, word, states, f"git {verb}", whole=True, strict=True)
    if verb == "clean" and ("x" in letters.lower() or not forced):
        course.path(WRITE, ".", states, "git clean", whole=True, strict=True)


def named(course: "Judged", args: "Fields", states: "States") -> set[str]:
    """The paths that it puts there anew: behind `--`, or words that are there now."""
    from ibstatus.guard import symlinks_rules

    stop = args.index("--") if "--" in args else len(args)
    found: set[str] = set()
    for at, word in enumerate(args):
        paths = [normal(absolute(word, state[0], course.scope.home)) for state in states] if word[:1] != "-" else []
        found |= {path for path in paths if at > stop or (stop == len(args) and symlinks_rules.is_plain(course, path))}
    return found - {course.grounds.worktree, course.policy.worktree}


def changes(verb: str, args: "Fields") -> bool:
    """Can other files stand in the worktree after it?"""
    words = [arg for arg in args if not arg.startswith("-")]
    if verb in ("checkout", "switch"):
        new = any(arg in ("-b", "-c", "--create") for arg in args)
        return not (new and len(words) == 1)
    if verb == "reset":
        return any(arg.startswith(("--h", "--m", "--k")) for arg in args)
    if verb == "restore":
        staged = any(arg == "-S" or arg.startswith("--st") for arg in args)
        return not staged or any(arg == "-W" or arg.startswith("--w") for arg in args)
    if verb == "stash":
        return words[:1] not in (["list"], ["show"], ["drop"], ["store"], ["create"])
    return verb != "apply" or not any(arg in ("--check", "--stat", "--numstat", "--summary") for arg in args)
