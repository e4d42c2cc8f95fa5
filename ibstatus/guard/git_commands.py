"""git: in its own worktree an agent may do what the rules allow, but not change what all worktrees share.

Refs, config, remotes and hooks are the main checkout's too; some options run programs.
"""

from ibstatus.guard import globs
from ibstatus.guard.commands import Refused
from ibstatus.guard.isolation import READ, WRITE, absolute, is_below, short
from ibstatus.guard.shell_values import ANY, UNKNOWN, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.commands import Judged
    from ibstatus.guard.git_options import Options
    from ibstatus.guard.shell_flow import Ends
    from ibstatus.guard.shell_values import Fields, States

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
        "status", "add", "commit", "diff", "show", "log", "ls-files", "grep", "rm", "mv", "merge",
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
# Options after the subcommand whose value is code or a program.
CODES = {"rebase": ("-x", "--exec"), "difftool": ("-x", "--extcmd")}
PACKS = ("--upload-pack", "--receive-pack", "--exec")
RUNS = {
    "fetch": PACKS, "pull": PACKS, "push": PACKS, "clone": (*PACKS, "-u", "--template", "-c", "--config"),
    "init": ("--template",), "ls-remote": PACKS, "archive": ("--exec", "--remote"), "fetch-pack": PACKS,
    "send-pack": PACKS, "grep": ("--open-files-in-pager", "-O"),
}  # fmt: skip
# Wherever they work, these run what they are given or ask other programs for secrets.
RUNNERS = frozenset(
    ("filter-branch", "filter-repo", "remote-ext", "remote-fd", "shell", "hook", "instaweb", "svn", "p4", "send-email")
)
# What leads to files that stand nowhere in the line.
BLIND = {"apply": ("--unsafe-paths",), "hash-object": ("--stdin-paths",)}
EXACT = ("--stdin",)  # no beginning of a longer one


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
    if verb in RUNNERS or verb.startswith("credential"):
        raise Refused(f"git {verb} runs programs or hands out passwords. Do without it, or ask with ib send or ib ask")
    for state in there:
        disguised(course, state[0])
    own = [state for state in there if state not in away and inside(course, state[0])]
    if own and verb not in QUIET:
        from ibstatus.guard import git_shared

        reason = git_shared.objection(course, verb, args)
        if reason:
            raise Refused(f"{reason}. Do without it, or ask with ib send or ib ask")
    if verb == "config":
        settings(course, args, states)
    from ibstatus.guard import git_options

    options, plain = git_options.of(verb, args)
    code(course, verb, args, plain, there, options)
    judge_options(course, verb, options, there)
    judge_words(course, verb, plain, there, options)
    course.moved = True
    if verb not in LOOKS:
        from ibstatus.guard import git_shared

        git_shared.judge(course, verb, args, there)
    return states, states


def disguised(course: "Judged", folder: str) -> None:
    """A folder that git takes for a bare repository brings its own config, and that runs programs."""
    grounds = course.grounds
    if folder == grounds.worktree:
        return
    folder = resolved(course, folder)
    scratch = grounds.real_scratch() if grounds.scratch else ""
    while (folder != grounds.worktree and is_below(folder, grounds.worktree)) or (
        scratch and is_below(folder, scratch)
    ):
        names = {name.lower() for name in course.disk.entries(folder)}
        if "head" in names and (names >= {"objects", "refs"} or not names.isdisjoint(("config", "commondir"))):
            course.unsure(f"{short(folder)} looks like a repository of its own. Use git in your worktree")
        folder = folder.rpartition("/")[0]


def resolved(course: "Judged", folder: str) -> str:
    try:
        return course.grounds.resolve(globs.filled(folder))
    except (OSError, ValueError):
        course.unsure(f"{short(shown(folder))} cannot be followed to a folder. Use git in your worktree")
        return folder


def inside(course: "Judged", folder: str) -> bool:
    """In the worktree, and not in the scratch folder, where repositories are the agent's own."""
    scratch = course.grounds.scratch
    if not scratch or not folder.startswith(scratch + "/"):
        return True
    return not is_below(resolved(course, folder), course.grounds.real_scratch())


def front(course: "Judged", argv: "Fields", states: "States") -> "tuple[States, int]":
    """The options before the subcommand: (where it then works, where the subcommand stands)."""
    from ibstatus.guard import git_options

    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        option, mark, value = argv[at].partition("=")
        if option not in git_options.VALUED and option not in git_options.ALONE:
            course.unsure(f"git {short(shown(option))} in front of the command is not known. Leave it out")
        if option in git_options.VALUED and not mark:
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
    if key.startswith(PLAIN_KEYS) or (key in PLAIN and (key, value) != ("push.default", "matching")):
        return
    if key in CODE_KEYS or key.startswith("pager."):
        if value not in HARMLESS:
            course.inline(value, states, listed=False, who=f"git -c {short(key)}")
        return
    course.unsure(f"git -c {short(shown(key))} may run a program or lead elsewhere. Leave it out")


def settings(course: "Judged", args: "Fields", states: "States") -> None:
    """Which word is the key depends on options, so each that could be one is judged."""
    from ibstatus.guard import git_shared

    stop = args.index("--") if "--" in args else len(args)
    plain = [*[arg for arg in args[:stop] if not arg.startswith("-")], *args[stop + 1 :]]
    if git_shared.config(args, plain):
        for key, value in zip(plain, [*plain[1:], ""], strict=True):
            if "." in key.partition("=")[0] and (value or key == plain[0]):
                setting(course, f"{key}={value}", states)
        if any(arg.startswith(("--g", "--sy", "--f", "-f", "--w")) and not arg.startswith("--get") for arg in args):
            course.unsure("git config would write settings of other repositories. Leave the option out")


def code(course: "Judged", verb: str, args: "Fields", plain: "Fields", states: "States", options: "Options") -> None:
    from ibstatus.guard.git_options import means

    for option, value, _ in options:
        for run in CODES.get(verb, ()):
            if means(option, run):
                course.inline(value, states, listed=False, who=f"git {verb}")
        for run in RUNS.get(verb, ()):
            if means(option, run):
                course.unsure(f"git {verb} {run} runs a program. Leave it out")
        for run in BLIND.get(verb, ()):
            if means(option, run) and option not in EXACT:
                course.unsure(f"git {verb} {run} leads to files that are not in the line. Name them")
    if verb == "bisect" and plain[:1] == ["run"]:
        course.inline(" ".join(args[args.index("run") + 1 :]), states, listed=False, who="git bisect")
    if verb == "submodule" and "foreach" in plain:
        course.inline(
            " ".join(args[args.index("foreach") + 1 :]).removeprefix("--recursive "),
            states,
            listed=False,
            who="git submodule",
        )


def judge_options(course: "Judged", verb: str, options: "Options", states: "States") -> None:
    """Files that options name: read, written, or only looking like one."""
    from ibstatus.guard import git_options

    reads = git_options.READS.get(verb, ("-F", "--file"))
    for option, value, following in options:
        if verb == "grep" and any(git_options.means(option, one) for one in ("--no-index", "--no-exclude-standard")):
            course.path(READ, ".", states, "git grep", whole=True, strict=True)
        if any(git_options.means(option, one) for one in git_options.WRITES) or (
            option == "-o" and verb in ("archive", "format-patch", "bundle")
        ):
            course.path(WRITE, value, states, f"git {verb}", strict=True)
        elif any(git_options.means(option, one) for one in reads):
            course.path(READ, value, states, f"git {verb}", strict=True)
        elif not following and git_options.is_path(value) and option not in git_options.TEXTS.get(verb, ()):
            access = WRITE if verb in ("apply", "am", "checkout-index", "read-tree") else READ
            course.path(access, value, states, f"git {verb}", strict=False)


def judge_words(course: "Judged", verb: str, plain: "Fields", states: "States", options: "Options") -> None:
    """Paths among the words: pathspecs, other repositories. The first word of grep is what is looked for."""
    given = verb != "grep" or any(option in ("-e", "-f") for option, _, _ in options)
    for arg in plain if given else plain[1:]:
        words(course, verb, arg, states)


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
    elif verb in ("add", "diff", "apply", "am", "hash-object", "stripspace", "check-ignore", "blame", "update-index"):
        course.path(READ, field, states, f"git {verb}", strict=False)
