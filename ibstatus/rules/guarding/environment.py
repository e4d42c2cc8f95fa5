"""Variables that decide what programs do: which of them an agent may set, and to what."""

from ibstatus.rules.guarding.isolation import READ, WRITE, short
from ibstatus.rules.guarding.shell_words import Word
from ibstatus.rules.guarding.values import UNKNOWN, shown, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.rules.guarding.commands import Judged
    from ibstatus.rules.guarding.values import States

# Programs or libraries are loaded by these before anything else: who may run anything may set them.
LOADS = frozenset(
    (
        "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "GCONV_PATH",
        "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "XDG_CONFIG_HOME", "GIT_ALLOW_PROTOCOL", "PROMPT_COMMAND",
        "CDPATH", "HOME", "EXECIGNORE", "GLOBIGNORE", "POSIXLY_CORRECT", "LOCPATH", "CLAUDE_CONFIG_DIR",
        "CLAUDE_PROJECT_DIR", "SHELL",
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
        "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_TRACE", "GIT_TRACE2", "GIT_TRACE2_EVENT",
    )
)  # fmt: skip
HARMLESS = frozenset(
    ("true", ":", "cat", "less", "more", "", "false", "less -R", "less -FRX", "head", "echo", "vim", "vi", "nano")
)

DECIDING = LOADS | CODES | {"PATH", "GIT_DIR", "GIT_WORK_TREE"}


def judge(course: "Judged", assigns: "list[tuple[str, Word | list[Word]]]", states: "States") -> None:
    for name, value in assigns:
        words = [value] if isinstance(value, Word) else value
        for word in words:
            for text in texts(course.scope.alternatives(word, states)) or [""]:
                judge_one(course, name, text, states)


def judge_one(course: "Judged", name: str, text: str, states: "States") -> None:
    if ("$(" in text or "`" in text) and "[" in text:
        course.unsure("A variable holds a command in brackets, which arithmetic would run. Leave that out")
    if name == "PATH":
        path(course, text, states)
    elif name in CODES:
        if text not in HARMLESS:
            course.inline(text, states, listed=False, who=name)
    elif name in PLACES:
        if name in DECIDING and not (course.allow.all_shell or course.policy.yolo):
            course.unsure(f"{name} changes which rules of git hold. Leave it out")
        course.path(WRITE, text, states, name, strict=True)
    elif name in LOADS or name.startswith(("DYLD_", "BASH_FUNC_", "GIT_CONFIG_", "IB_")):
        if not (course.allow.all_shell or course.policy.yolo):
            course.unsure(f"{name} changes which programs or rules hold. Leave it out")
        elif text.startswith(("/", "~", ".")):
            course.path(READ, text, states, name, strict=False)
    elif text.startswith(("/", "~/", "..")) or "/.." in text:
        for part in text.split(":"):
            course.path(READ, part, states, name, strict=False)


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
