"""What git commands would change for everybody: all worktrees share refs, config, remotes and the stash.

What git does to the files of a worktree: links may be there afterwards, and files that it ignores.
"""

from ibstatus.guard.cd import normal
from ibstatus.guard.isolation import READ, WRITE, absolute, short
from ibstatus.guard.shell_values import UNKNOWN, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.commands import Judged
    from ibstatus.guard.shell_values import Fields, States


SHARED = {
    "update-ref": "moves branches that all worktrees share", "filter-branch": "rewrites history that all share",
    "filter-repo": "rewrites history that all share", "replace": "changes history that all share",
    "prune": "removes objects that others may need", "credential": "hands out passwords",
    "credential-store": "hands out passwords", "credential-cache": "hands out passwords",
    "daemon": "opens the repository",
    "instaweb": "opens the repository", "shell": "runs commands", "hook": "runs hooks",
    "maintenance": "is for the user",
    "send-pack": "pushes over branches that are not yours; write git push REMOTE HEAD:BRANCH",
    "http-backend": "opens the repository", "send-email": "sends mail", "imap-send": "sends mail",
    "upload-pack": "serves the repository", "receive-pack": "serves the repository", "fast-import": "rewrites branches",
    "update-server-info": "serves the repository", "svn": "runs programs", "p4": "runs programs",
}  # fmt: skip
REBASE_VALUED = frozenset(("--onto", "--exec", "--strategy", "--strategy-option", "--empty", "--whitespace"))


def objection(course: "Judged", verb: str, args: "Fields") -> str:
    """What is wrong with this in the repository that all share, as a sentence without its full stop; '' if nothing."""
    plain = [arg for arg in args if not arg.startswith("-")]
    first = "".join(plain[:1])
    if verb in SHARED:
        return f"git {verb} {SHARED[verb]}"
    if verb == "config":
        return config(args, plain)
    if verb == "worktree" and first != "list":
        return "git worktree: ib makes and removes worktrees, not an agent"
    if verb == "remote" and first not in ("", "show", "get-url"):
        return "git remote changes where everybody's branches go"
    if verb == "branch":
        return branch(course, args, plain)
    if verb in ("push", "fetch", "pull"):
        return transfer(course, verb, args, plain)
    if verb in ("stash", "reflog") and first in ("clear", "expire", "delete"):
        return f"git {verb} {first} removes what others have put there"
    if verb == "stash" and first in ("drop", "pop") and any(entry not in ("0", "stash@{0}") for entry in plain[1:]):
        return f"git stash {first} of an older entry takes what others may have put there (all share the stash)"
    if verb == "lfs" and first in ("install", "uninstall", "update", "migrate", "prune"):
        return f"git lfs {first} changes config, hooks or history that all share"
    if verb == "gc" and any(arg.startswith(("--p", "--ag")) for arg in args):
        return "git gc --prune removes objects that others may need"
    if verb == "symbolic-ref" and (len(plain) > 1 or has(verb, args, "-d", "--delete")):
        return "git symbolic-ref moves what all worktrees share"
    if verb == "tag" and has(verb, args, "-d", "--delete", "-f", "--force"):
        return "git tag -d and -f change tags that all worktrees share"
    if verb in ("checkout", "switch") and has(verb, args, "--ignore-other-worktrees"):
        return "git --ignore-other-worktrees takes a branch that is checked out elsewhere"
    if verb in ("checkout", "switch"):
        return taken(course, verb, args)
    if verb == "rebase":
        return rebased(course, args)
    return ""


def taken(course: "Judged", verb: str, args: "Fields") -> str:
    """-B and -C put a branch elsewhere."""
    from ibstatus.guard import git_options

    letter, long = ("-B", "--force-create") if verb == "checkout" else ("-C", "--force-create")
    for option, value, _ in git_options.of(verb, args)[0]:
        if (option == letter or git_options.means(option, long)) and is_foreign(course, value):
            return f"git {verb} {letter} would move {short(shown(value))}, which is not yours{own(course)}"
    return ""


def rebased(course: "Judged", args: "Fields") -> str:
    """`git rebase UPSTREAM BRANCH` moves BRANCH."""
    from ibstatus.guard import git_options

    plain: list[str] = []
    at, root = 0, False
    while at < len(args):
        arg = args[at]
        if arg.startswith("-"):
            root = root or arg == "--root"
            follows = git_options.cluster("rebase", arg, "x")[-1] if arg[1:2] not in ("", "-") else ("", "", False)
            at += arg in REBASE_VALUED or follows[2]
        else:
            plain.append(arg)
        at += 1
    if (len(plain) > 1 or (root and plain)) and plain[-1] != "HEAD" and is_foreign(course, plain[-1]):
        return f"git rebase would move {short(shown(plain[-1]))}, which is not yours{own(course)}"
    return ""


def own(course: "Judged") -> str:
    return f" (yours: agent/{course.policy.agent})"


def has(verb: str, args: "Fields", *names: str) -> bool:
    """Is one of these options given, in a cluster or cut short?"""
    from ibstatus.guard import git_options

    return any(git_options.means(option, name) for option, _, _ in git_options.of(verb, args)[0] for name in names)


def config(args: "Fields", plain: "Fields") -> str:
    if "--" in args:  # behind it stand only words
        plain = [*[arg for arg in args[: args.index("--")] if arg[:1] != "-"], *args[args.index("--") + 1 :]]
        args = args[: args.index("--")]
    reads = any(arg.startswith(("--get", "--list", "-l")) for arg in args)
    if reads or plain[:1] in (["get"], ["list"]):
        return ""
    edits = any(arg.startswith(("--a", "--u", "--rep", "-e", "--e", "--rem", "--ren")) for arg in args)
    if len(plain) == 1 and plain[0] not in ("set", "unset", "edit") and not edits:
        return ""
    return "git config changes settings that the main checkout shares; for one command write git -c key=value"


def branch(course: "Judged", args: "Fields", plain: "Fields") -> str:
    """Branches of other agents and the trunk are not this agent's to move or remove."""
    short_ = "".join([arg[1:] for arg in args if arg.startswith("-") and not arg.startswith("--")])
    moves = any(letter in short_ for letter in "dDmMfC") or has(
        "branch", args, "--delete", "--move", "--force", "--copy"
    )
    foreign = [name for name in plain if is_foreign(course, name)]
    if moves and (foreign or not plain):
        return (
            f"git branch would move or remove {short(shown(foreign[0] if foreign else 'a branch'))}, which is not yours"
        )
    return ""


def is_foreign(course: "Judged", name: str) -> bool:
    """agent/ID-more is this agent's as well, unless there is an agent of that name."""
    name = name.removeprefix("refs/").removeprefix("heads/")
    own_ = f"agent/{course.policy.agent}"
    if name.startswith(own_ + "-") and UNKNOWN not in name:
        return course.disk.is_folder(f"{course.grounds.agents}/{name.removeprefix('agent/')}")
    return name != own_ and (
        name in ("main", "master", "develop", "trunk", "HEAD") or name.startswith("agent/") or UNKNOWN in name
    )


def transfer(course: "Judged", verb: str, args: "Fields", plain: "Fields") -> str:
    """A push by force, or one into the shared repository itself, only to the agent's own branch."""
    if any("ext::" in word or "fd::" in word for word in plain):
        return f"git {verb} with ext:: runs a program"
    refspecs = plain if any(arg.startswith("--rep") for arg in args) else plain[1:]
    targets = [word.lstrip("+").rpartition(":")[2] for word in refspecs]
    here = "".join(plain[:1]).startswith((".", "/", "~", "file:")) and any(":" in word for word in refspecs)
    forced = (
        any(arg.startswith(("--fo", "--m", "--de", "--pru")) for arg in args)
        or has(verb, args, "-f", "-d")
        or any(word.startswith(("+", ":")) for word in refspecs)
    )
    into = verb != "push" and any(":" in word for word in refspecs)  # a local branch, moved without a checkout
    all_ = [arg for arg in args if verb == "push" and arg.startswith(("--al", "--br"))]
    foreign = [
        one for one in targets if verb == "push" and one and one not in ("HEAD", "@") and is_foreign(course, one)
    ]
    if all_ or (foreign and not forced):
        what = short(shown(foreign[0])) if foreign else "every branch"
        remote = short(shown(plain[0])) if refspecs is not plain and plain else "origin"
        return (
            f"git push would change {what}, which is not yours; write git push {remote} "
            f"HEAD:agent/{course.policy.agent}"
        )
    if (here or into or (verb == "push" and forced)) and (
        not targets or any(is_foreign(course, target) or target in ("", "HEAD", "@") for target in targets)
    ):
        mine = f"agent/{course.policy.agent}"
        if refspecs or verb != "push":
            return f"git {verb} would overwrite or remove branches that are not yours (yours: {mine})"
        remote = plain[0] if plain else "origin"
        return f"git push by force without a branch: write git push --force-with-lease {short(remote)} {mine}"
    return ""


CHANGE = frozenset(
    (
        "checkout", "switch", "reset", "merge", "rebase", "restore", "apply", "am", "stash", "pull", "cherry-pick",
        "revert", "clone", "submodule", "read-tree", "checkout-index", "sparse-checkout", "bisect", "mv", "subtree",
        "lfs", "worktree", "rebase-merge", "mergetool", "difftool",
    )
)  # fmt: skip


def judge(course: "Judged", verb: str, args: "Fields", states: "States") -> None:
    if verb in CHANGE and changes(verb, args):
        from ibstatus.guard import symlinks

        symlinks.unpacks(course)
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
    from ibstatus.guard import symlinks

    stop = args.index("--") if "--" in args else len(args)
    found: set[str] = set()
    for at, word in enumerate(args):
        paths = [normal(absolute(word, state[0], course.scope.home)) for state in states] if word[:1] != "-" else []
        found |= {path for path in paths if at > stop or (stop == len(args) and symlinks.is_plain(course, path))}
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
