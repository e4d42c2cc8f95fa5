"""Variables that decide what programs do: which of them an agent may set, and to what."""

from ibstatus.guard.isolation import READ, WRITE, short
from ibstatus.guard.shell_values import UNKNOWN, shown, texts
from ibstatus.guard.shell_words import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.commands import Judged
    from ibstatus.guard.shell_values import States

# Programs or libraries are loaded by these before anything else: who may run anything may set them.
LOADS = frozenset(
    (
        "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "GCONV_PATH",
        "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "XDG_CONFIG_HOME", "GIT_ALLOW_PROTOCOL", "PROMPT_COMMAND",
        "CDPATH", "HOME", "EXECIGNORE", "GLOBIGNORE", "POSIXLY_CORRECT", "LOCPATH", "CLAUDE_CONFIG_DIR",
        "CLAUDE_PROJECT_DIR", "SHELL", "BASH_CMDS", "BASH_ALIASES", "BASH_LOADABLES_PATH", "ZDOTDIR", "FPATH",
        "TMUX_TMPDIR", "GNUPGHOME", "NODE_OPTIONS", "NODE_PATH", "TAR_OPTIONS", "RSYNC_RSH", "RIPGREP_CONFIG_PATH",
    )
)  # fmt: skip
# A shell runs the value.
CODES = frozenset(
    (
        "EDITOR", "VISUAL", "PAGER", "GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "LESSOPEN", "LESSCLOSE", "MANPAGER", "BROWSER",
        "GIT_PROXY_COMMAND",
    )
)  # fmt: skip
PLACES = frozenset(
    (
        "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "PYTHONPYCACHEPREFIX",
    )
)  # fmt: skip
# Only text for git and python, or names that people use for themselves.
OF_GIT = frozenset(
    (
        "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_DATE", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_MERGE_AUTOEDIT", "GIT_PAGER_IN_USE",
        "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_FLUSH",
        "GIT_ADVICE", "GIT_REFLOG_ACTION", "GIT_MERGE_VERBOSITY", "GIT_LFS_SKIP_SMUDGE", "GIT_PROGRESS_DELAY",
        "GIT_SHA", "GIT_COMMIT", "GIT_BRANCH", "GIT_TAG", "GIT_HASH", "GIT_REV", "GIT_ROOT", "GIT_VERSION",
    )
)  # fmt: skip
OF_PYTHON = frozenset(
    (
        "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUTF8",
        "PYTHONFAULTHANDLER", "PYTHONNOUSERSITE", "PYTHONSAFEPATH", "PYTHONOPTIMIZE", "PYTHONASYNCIODEBUG",
        "PYTHONDEVMODE", "PYTHONTRACEMALLOC",
    )
)  # fmt: skip
# Whoever may run one of these runs code of their own in any case.
LANGUAGES = ("PYTHON", "NODE_", "PERL5", "RUBY")
RUN_CODE = [
    f"{program} {word}"
    for program in ("python", "python3", "pytest", "uv", "node", "npm", "npx", "pnpm", "yarn", "make", "perl", "ruby")
    for word in ("x", "test", "run test", "run build", "run pytest", "run python")
]
HARMLESS = frozenset(
    ("true", ":", "cat", "less", "more", "", "false", "less -R", "less -FRX", "head", "echo", "vim", "vi", "nano")
)

DECIDING = LOADS | CODES | {"PATH", "GIT_DIR", "GIT_WORK_TREE"}


# By these ib knows which agent calls.
OF_AGENT = ("IB_AGENT_", "CLAUDECODE")
IS_AGENT = "{} says which agent you are, so it is not changed or taken away. Leave that out"


def taken(course: "Judged", name: str) -> None:
    """Without some variables ib would take an agent for somebody else, or look elsewhere."""
    name = shown(name).partition("[")[0]
    if name.startswith(OF_AGENT) or UNKNOWN in name:
        course.unsure(IS_AGENT.format(short(name)))
    elif (name.startswith("IB_") or name in ("HOME", "TMUX_TMPDIR")) and not may_load(course, name):
        course.unsure(f"{name} decides which rules hold. Leave it out")


def decides(name: str) -> bool:
    """With its subscript, as read and printf -v take it."""
    name = shown(name).partition("[")[0].rstrip("+")
    return name in DECIDING or loads(name)


def loads(name: str) -> bool:
    """Does it load code, or decide what git, python and the like take for true?"""
    if name.startswith("GIT_"):
        return name not in OF_GIT and name not in CODES and name not in PLACES and not name.startswith("GIT_TRACE")
    if name.startswith("PYTHON"):
        return name[6:7].isalpha() and name not in OF_PYTHON
    return name in LOADS or name.startswith(("DYLD_", "LD_", "BASH_FUNC_", "IB_", "PERL5", "RUBY", OF_AGENT[1]))


def judge(course: "Judged", assigns: "list[tuple[str, Word | list[Word]]]", states: "States") -> None:
    for name, value in assigns:
        words = [value] if isinstance(value, Word) else value
        for word in words:
            for text in texts(course.scope.alternatives(word, states)) or [""]:
                judge_one(course, name, text, states)


def judge_one(course: "Judged", name: str, text: str, states: "States") -> None:
    adds, name = name.endswith("+"), shown(name).partition("[")[0].rstrip("+")
    if adds and name != "PATH" and (decides(name) or name in PLACES or name.startswith("GIT_TRACE")):
        course.unsure(f"What {name} becomes is put together. Type it whole")
    if course.computes and ("$(" in text or "`" in text) and "[" in text:
        course.unsure("A variable holds a command in brackets, which arithmetic would run. Leave that out")
    if name == "PATH":
        path(course, text, states)
    elif name in CODES:
        if text not in HARMLESS:
            course.inline(text, states, listed=False, who=name)
    elif name in PLACES or name.startswith("GIT_TRACE"):
        if text.startswith("af_unix"):
            course.unsure(f"{name} may not lead to a socket. Name a file in your worktree")
        if name in DECIDING and not (course.allow.all_shell or course.policy.yolo):
            course.unsure(f"{name} changes which rules of git hold. Leave it out")
        if loads(name) and not may_load(course, name):
            course.unsure(f"{name} changes which programs or rules hold. Leave it out")
        course.path(WRITE, text, states, name, strict=True)
    elif loads(name):
        if not may_load(course, name):
            course.unsure(f"{name} changes which programs or rules hold. Leave it out")
        elif text.startswith(("/", "~", ".")):
            course.path(READ, text, states, name, strict=False)
    elif text.startswith(("/", "~/", "..")) or "/.." in text:
        if name.endswith("_OUTPUT"):
            course.path(WRITE, text, states, name, strict=True)
        for part in text.split(":"):
            course.path(READ, part, states, name, strict=False)


def may_load(course: "Judged", name: str) -> bool:
    if name.startswith(OF_AGENT) and not course.policy.yolo:
        return False
    if course.allow.all_shell or course.policy.yolo:
        return True
    return name.startswith(LANGUAGES) and course.allow.runs(RUN_CODE)


def path(course: "Judged", text: str, states: "States") -> None:
    """Programs may be found in folders of the system and of the home, not in what the agent can write."""
    for part in text.split(":"):
        if part == UNKNOWN or course.allow.all_shell or course.policy.yolo:
            continue
        if UNKNOWN in part or not part.startswith("/") or not course.grounds.objection(WRITE, part):
            course.unsure(
                f"PATH would lead to programs in {short(shown(part)) or 'the folder itself'}. "
                "Run a program by its path instead, as ./bin/x"
            )
