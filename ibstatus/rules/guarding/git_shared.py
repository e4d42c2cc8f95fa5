"""What git commands would change for everybody: all worktrees share refs, config, remotes and the stash."""

from ibstatus.rules.guarding.isolation import short
from ibstatus.rules.guarding.values import UNKNOWN, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.rules.guarding.commands import Judged
    from ibstatus.rules.guarding.values import Fields

SHARED = {
    "update-ref": "moves branches that all worktrees share", "filter-branch": "rewrites history that all share",
    "filter-repo": "rewrites history that all share", "replace": "changes history that all share",
    "prune": "removes objects that others may need", "credential": "hands out passwords",
    "credential-store": "hands out passwords", "credential-cache": "hands out passwords",
    "daemon": "opens the repository",
    "instaweb": "opens the repository", "shell": "runs commands", "hook": "runs hooks",
    "maintenance": "is for the user",
    "http-backend": "opens the repository", "send-email": "sends mail", "imap-send": "sends mail",
    "upload-pack": "serves the repository", "receive-pack": "serves the repository", "fast-import": "rewrites branches",
    "update-server-info": "serves the repository", "svn": "runs programs", "p4": "runs programs",
}  # fmt: skip


def objection(course: "Judged", verb: str, args: "Fields") -> str:
    """What is wrong with this in the repository that all share, as a sentence without its full stop; '' if nothing."""
    plain = [arg for arg in args if not arg.startswith("-")]
    first = "".join(plain[:1])
    if verb in SHARED:
        return f"git {verb} {SHARED[verb]}"
    if verb == "config":
        return config(args, plain)
    if verb == "worktree" and first != "list":
        return "git worktree: ib makes and removes worktrees (managers: ib new-agent, ib kill)"
    if verb == "remote" and first not in ("", "show", "get-url"):
        return "git remote changes where everybody's branches go"
    if verb == "branch":
        return branch(course, args, plain)
    if verb in ("push", "fetch", "pull"):
        return transfer(course, verb, args, plain)
    if verb in ("stash", "reflog") and first in ("clear", "expire", "delete"):
        return f"git {verb} {first} removes what others have put there"
    if verb == "gc" and any(arg.startswith(("--pru", "--agg")) for arg in args):
        return "git gc --prune removes objects that others may need"
    if verb == "symbolic-ref" and (len(plain) > 1 or any(arg in ("-d", "--delete") for arg in args)):
        return "git symbolic-ref moves what all worktrees share"
    if verb == "tag" and any(arg.startswith(("-d", "--d", "-f", "--fo")) for arg in args):
        return "git tag -d and -f change tags that all worktrees share"
    if verb in ("checkout", "switch") and any(arg.startswith("--ig") for arg in args):
        return "git --ignore-other-worktrees takes a branch that is checked out elsewhere"
    return ""


def config(args: "Fields", plain: "Fields") -> str:
    reads = any(arg.startswith(("--get", "--list", "-l", "--show")) for arg in args)
    if reads or plain[:1] in (["get"], ["list"]):
        return ""
    edits = any(arg.startswith(("--a", "--u", "--rep", "-e", "--e", "--rem", "--ren")) for arg in args)
    if len(plain) == 1 and plain[0] not in ("set", "unset", "edit") and not edits:
        return ""
    return "git config changes settings that the main checkout shares; for one command write git -c key=value"


def branch(course: "Judged", args: "Fields", plain: "Fields") -> str:
    """Branches of other agents and the trunk are not this agent's to move or remove."""
    short_ = "".join([arg[1:] for arg in args if arg.startswith("-") and not arg.startswith("--")])
    moves = any(letter in short_ for letter in "dDmMfC") or any(
        arg in ("--delete", "--move", "--force", "--copy") for arg in args
    )
    foreign = [name for name in plain if is_foreign(course, name)]
    if moves and (foreign or not plain):
        return (
            f"git branch would move or remove {short(shown(foreign[0] if foreign else 'a branch'))}, which is not yours"
        )
    return ""


def is_foreign(course: "Judged", name: str) -> bool:
    name = name.removeprefix("refs/heads/")
    own = f"agent/{course.policy.agent}"
    return name != own and (
        name in ("main", "master", "develop", "trunk", "HEAD") or name.startswith("agent/") or UNKNOWN in name
    )


def transfer(course: "Judged", verb: str, args: "Fields", plain: "Fields") -> str:
    """A push by force, or one into the shared repository itself, only to the agent's own branch."""
    if any("ext::" in word or "fd::" in word for word in plain):
        return f"git {verb} with ext:: runs a program"
    refspecs = plain[1:]
    targets = [word.lstrip("+").rpartition(":")[2] for word in refspecs]
    here = plain[:1] in (["."], ["./"]) and any(":" in word for word in refspecs)
    forced = any(arg.startswith(("--fo", "--mi", "--de", "--pru")) or arg in ("-f", "-d") for arg in args) or any(
        word.startswith(("+", ":")) for word in refspecs
    )
    if (here or (verb == "push" and forced)) and (
        not targets or any(is_foreign(course, target) or target in ("", "HEAD") for target in targets)
    ):
        return f"git {verb} would overwrite or remove branches that are not yours (yours: agent/{course.policy.agent})"
    return ""
