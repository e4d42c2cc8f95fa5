"""git: in its own worktree an agent may do what the rules allow, but not change what all worktrees share.

Refs, config, remotes and hooks are the main checkout's too; some options run programs.
"""

from ibstatus.rules.guarding import globs
from ibstatus.rules.guarding.commands import Refused
from ibstatus.rules.guarding.isolation import READ, WRITE, absolute, short
from ibstatus.rules.guarding.values import ANY, UNKNOWN, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.rules.guarding.commands import Judged
    from ibstatus.rules.guarding.course import Ends
    from ibstatus.rules.guarding.values import Fields, States

VALUED = frozenset(
    ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix")
)
LOOKS = frozenset(
    (
        "log", "show", "diff", "status", "ls-files", "ls-tree", "rev-parse", "rev-list", "blame", "grep", "cat-file",
        "describe", "shortlog", "merge-base", "name-rev", "diff-tree", "for-each-ref", "ls-remote", "count-objects",
        "help",
    )
)  # fmt: skip
# In its own worktree these change nothing that others share.
QUIET = frozenset(
    (
        "status", "add", "commit", "diff", "show", "log", "ls-files", "grep", "rm", "mv", "merge", "rebase",
        "restore", "reset", "blame", "rev-parse", "cherry-pick", "revert", "clean", "apply", "describe", "merge-base",
    )
)  # fmt: skip
# Keys of -c that run nothing and lead nowhere.
PLAIN_KEYS = ("color.", "advice.", "user.", "author.", "committer.", "column.", "i18n.", "log.", "status.", "apply.")
PLAIN = frozenset(
    (
        "core.quotepath", "core.autocrlf", "core.eol", "core.safecrlf", "core.filemode", "core.abbrev",
        "core.ignorecase", "core.longpaths", "core.whitespace", "core.preloadindex", "diff.algorithm", "diff.renames",
        "diff.context", "diff.noprefix", "diff.mnemonicprefix", "diff.colormoved", "diff.wserrorhighlight",
        "diff.renamelimit", "merge.conflictstyle", "merge.renamelimit", "merge.ff", "merge.renames", "pull.rebase",
        "pull.ff", "rebase.autosquash", "rebase.autostash", "rebase.updaterefs", "commit.gpgsign", "commit.verbose",
        "tag.gpgsign", "init.defaultbranch", "gc.auto", "fetch.prune", "push.default", "rerere.enabled",
        "versionsort.suffix", "http.postbuffer", "protocol.version", "grep.linenumber", "blame.coloring",
        "checkout.defaultremote", "maintenance.auto",
    )
)  # fmt: skip
CODE_KEYS = frozenset(("core.editor", "core.pager", "sequence.editor", "core.sshcommand", "diff.external"))
HARMLESS = frozenset(("true", ":", "cat", "less", "", "false", "less -R", "less -FRX", "vim", "vi", "nano", "emacs"))
# Options after the subcommand whose value is text, code, or a program.
MESSAGE = ("-m", "--message", "--author", "--date", "--trailer")
TEXTS = {
    "commit": MESSAGE,
    "tag": MESSAGE,
    "stash": MESSAGE,
    "merge": MESSAGE,
    "log": ("-S", "-G", "--grep", "--author"),
}
CODES = {"rebase": ("-x", "--exec"), "difftool": ("-x", "--extcmd")}
PACKS = ("--upload-pack", "--receive-pack", "--exec")
RUNS = {
    "fetch": PACKS, "pull": PACKS, "push": PACKS, "clone": (*PACKS, "-u", "--template"), "init": ("--template",),
    "ls-remote": PACKS, "archive": ("--exec", "--remote"), "fetch-pack": PACKS, "send-pack": PACKS,
    "grep": ("--open-files-in-pager", "-O"),
}  # fmt: skip
WRITES = ("--output", "-o", "--output-directory", "--template", "--separate-git-dir")


def judge(course: "Judged", argv: "Fields", states: "States", listed: bool) -> "Ends":
    if not listed:
        raise Refused(course.unlisted(shown(" ".join(["git", *argv[1:]]))))
    there, at = front(course, argv, states)
    verb, args = (argv[at], argv[at + 1 :]) if at < len(argv) else ("", [])
    if UNKNOWN in verb or ANY in verb:
        course.unsure("Which git command this is, is computed. Type its name")
    away = [state for state in there if course.grounds.objection(WRITE, globs.filled(state[0]) + "/.any")]
    if away and verb not in LOOKS and verb:
        raise Refused(
            f"git {short(verb)} would change another repository ({short(away[0][0])}). "
            f"Work in your worktree {course.grounds.worktree}",
            globs.filled(away[0][0]),
        )
    for state in there:
        disguised(course, state[0])
    own = [state for state in there if state not in away and inside(course, state[0])]
    if own and verb not in QUIET:
        from ibstatus.rules.guarding import git_shared

        reason = git_shared.objection(course, verb, args)
        if reason:
            raise Refused(f"{reason}. Do without it, or ask with ib send or ib ask")
    plain = [arg for arg in args if not arg.startswith("-")]
    if verb == "config" and len(plain) > 1 and plain[0] not in ("get", "list", "unset"):
        setting(course, "=".join(plain[-2:]), states)
    code(course, verb, args, plain, there)
    judge_words(course, verb, args, there)
    course.moved = True
    return states, states


def disguised(course: "Judged", folder: str) -> None:
    """A folder that git takes for a bare repository brings its own config, and that runs programs."""
    while len(folder) > len(course.grounds.worktree) or folder.startswith(course.grounds.scratch + "/"):
        if course.disk.is_folder(folder + "/objects") and course.disk.is_folder(folder + "/refs"):
            course.unsure(f"{short(folder)} looks like a repository of its own. Use git in your worktree")
        folder = folder.rpartition("/")[0]


def inside(course: "Judged", folder: str) -> bool:
    """In the worktree, and not in the scratch folder, where repositories are the agent's own."""
    return not folder.startswith(course.grounds.scratch + "/")


def front(course: "Judged", argv: "Fields", states: "States") -> "tuple[States, int]":
    """The options before the subcommand: (where it then works, where the subcommand stands)."""
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        option, mark, value = argv[at].partition("=")
        if option in VALUED and not mark:
            value = argv[at + 1] if at + 1 < len(argv) else UNKNOWN
            at += 1
        at += 1
        if option == "-C":
            course.path(READ, value, states, "git -C", strict=True)
            states = tuple([(absolute(value, state[0], course.scope.home), "", ()) for state in states])
        elif option in ("--git-dir", "--work-tree"):
            course.path(WRITE, value, states, f"git {option}", strict=True)
            if not course.allow.all_shell:
                course.unsure(f"git {option} changes which rules of git hold. Use git in the folder itself")
        elif option == "-c":
            setting(course, value, states)
        elif option in ("--exec-path", "--config-env") and value:
            course.unsure(f"git {option} changes which programs run. Leave it out")
    return states, at


def setting(course: "Judged", text: str, states: "States") -> None:
    key, _, value = text.partition("=")
    key = key.lower()
    if key.startswith(PLAIN_KEYS) or key in PLAIN:
        return
    if key in CODE_KEYS or key.startswith("pager."):
        if value not in HARMLESS:
            course.inline(value, states, listed=False, who=f"git -c {short(key)}")
        return
    course.unsure(f"git -c {short(shown(key))} may run a program or lead elsewhere. Leave it out")


def code(course: "Judged", verb: str, args: "Fields", plain: "Fields", states: "States") -> None:
    for at, arg in enumerate(args):
        option, mark, value = arg.partition("=")
        for run in CODES.get(verb, ()):
            if len(run) == 2 and arg.startswith(run) and len(arg) > 2:
                course.inline(arg[2:], states, listed=False, who=f"git {verb}")
            elif means(option, run):
                course.inline(
                    value if mark else (args[at + 1] if at + 1 < len(args) else ""),
                    states,
                    listed=False,
                    who=f"git {verb}",
                )
        for run in RUNS.get(verb, ()):
            if means(option, run) or (len(run) == 2 and arg.startswith(run) and arg[1:2] != "-"):
                course.unsure(f"git {verb} {run} runs a program. Leave it out")
    if verb == "bisect" and plain[:1] == ["run"]:
        course.inline(" ".join(args[args.index("run") + 1 :]), states, listed=False, who="git bisect")
    if verb == "submodule" and "foreach" in plain:
        course.inline(
            " ".join(args[args.index("foreach") + 1 :]).removeprefix("--recursive "),
            states,
            listed=False,
            who="git submodule",
        )
    if verb == "clone" and any(arg in ("-c", "--config") or arg.startswith("--config=") for arg in args):
        course.unsure("git clone -c may run a program. Leave it out")


def means(option: str, name: str) -> bool:
    """git takes the beginning of a long option for it."""
    return option == name or (len(option) > 3 and option.startswith("--") and name.startswith(option))


def judge_words(course: "Judged", verb: str, args: "Fields", states: "States") -> None:
    """Paths among the words: pathspecs, files that are written, other repositories."""
    at = 0
    while at < len(args):
        arg = args[at]
        option, mark, value = arg.partition("=")
        if arg in TEXTS.get(verb, ()):
            at += 2
            continue
        if any(means(option, one) for one in WRITES) and writes(verb, option):
            target = value if mark else (args[at + 1] if at + 1 < len(args) else "")
            course.path(WRITE, target, states, f"git {verb}", strict=True)
        elif option in ("-F", "--file") and verb != "config":
            target = value if mark else (args[at + 1] if at + 1 < len(args) else "")
            course.path(READ, target, states, f"git {verb}", strict=True)
        elif not arg.startswith("-"):
            words(course, verb, arg, states)
        elif arg[1:2] != "-" and (arg[2:].startswith(("/", "~", "..")) or "/.." in arg):
            course.path(READ, arg[2:], states, f"git {verb}", strict=False)
        elif mark and (value.startswith(("/", "~", "..")) or "/.." in value):
            access = WRITE if verb in ("apply", "am", "checkout-index", "read-tree") else READ
            course.path(access, value, states, f"git {verb}", strict=False)
        at += 1


def writes(verb: str, option: str) -> bool:
    return option != "-o" or verb in ("archive", "format-patch", "bundle")


def words(course: "Judged", verb: str, arg: str, states: "States") -> None:
    """`main..HEAD`, `HEAD:file` and the like are names of git, a path begins with /, ~ or has `..` for a folder."""
    writing = verb in ("clone", "init", "worktree", "mv", "rm", "bundle")
    if "://" in arg and not arg.startswith("file://"):
        return
    field = arg.removeprefix("file://")
    if field.startswith(("/", "~", "../", "./")) or field == ".." or "/../" in field or field.endswith("/.."):
        whole = writing or verb in ("grep", "diff")
        course.path(WRITE if writing else READ, field, states, f"git {verb}", whole=whole, strict=False)
    elif writing and ":" not in field:
        course.path(WRITE, field, states, f"git {verb}", whole=False, strict=False)
    elif verb in ("add", "diff", "apply", "am", "hash-object", "stripspace", "check-ignore", "blame"):
        course.path(READ, field, states, f"git {verb}", strict=False)
