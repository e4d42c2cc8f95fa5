"""How git is started: the one place that names the program, its environment and what it must not obey.

An agent can write everything in its worktree, `.git` included. There git is told where the repository lies, by what
the main checkout has written down, and starts no program but the user's own filters.
"""

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.model.constants import AGENTS
from ibstatus.system import disk, git_layout, main_checkout

# What would make git look at another repository than the one in `cwd`.
POINTERS = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
)
QUIET = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
LITERAL = {**QUIET, "GIT_LITERAL_PATHSPECS": "1"}
# A program named by a relative path, as in core.hooksPath=.husky, would be the agent's.
SETTINGS = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.sshCommand", "ssh"),
    ("core.askPass", ""),
    ("credential.helper", ""),
    ("commit.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("safe.bareRepository", "explicit"),
    ("submodule.recurse", "false"),
    ("status.submoduleSummary", "false"),
)
# git would start itself in a submodule without any of this.
OUTSIDE = "--ignore-submodules=dirty"
DIFF = ("--no-ext-diff", "--no-textconv", "--submodule=short", OUTSIDE)
OPTIONS = {"status": (OUTSIDE,), "diff": DIFF, "diff-index": (OUTSIDE,), "diff-files": (OUTSIDE,)}
HARMLESS = re.compile(
    r"\s*(?:[#;].*|\[(?:core|index|user)\]|(?:bare|sparse\w*|filemode|symlinks|ignorecase|autocrlf|eol|name|email)"
    r"\s*=[^\\]*)?\s*",
    re.IGNORECASE,
)


class Start(NamedTuple):
    argv: list[str]
    env: dict[str, str]


class Worktree(NamedTuple):
    """That of an agent. `commons`: the git directories that it may belong to."""

    path: str
    commons: list[str]


def prepared(cwd: str, *args: str, env: Mapping[str, str] | None = None) -> Start:
    """Command line and environment of a git in this folder. Raises when it is a worktree that is not ours."""
    clean = {key: value for key, value in os.environ.items() if key not in POINTERS}
    found = agents_worktree(cwd)
    if found is None:
        return Start(["git", *args], {**clean, **(env or {})})
    common, own = repository(found)
    pointers = {"GIT_DIR": own, "GIT_COMMON_DIR": common, "GIT_WORK_TREE": found.path, **without_its_programs(clean)}
    return Start(["git", *with_options(args)], {**set_by(clean), **pointers, **(env or {})})


def agents_worktree(cwd: str) -> Worktree | None:
    """The worktree of an agent that this folder lies in, by its path alone: what is nested in it does not count."""
    at = cwd.find(AGENTS)
    while at >= 0:
        agent, _, rest = cwd[at + len(AGENTS) :].partition("/")
        commons = commons_of(cwd[:at]) if agent and (rest == "repo" or rest.startswith("repo/")) else []
        if commons:
            return Worktree(f"{cwd[:at]}{AGENTS}{agent}/repo", commons)
        at = cwd.find(AGENTS, at + 1)
    return None


def commons_of(root: str) -> list[str]:
    """The common git directories of the repositories with this root: bare ones may share it."""
    if not disk.exists(root + "/.git"):
        leaves = disk.listdir(root or "/") if disk.exists(root or "/") else []
        return [f"{root}/{leaf}" for leaf in leaves if main_checkout.noted_root(f"{root}/{leaf}") == (root or "/")]
    found = git_layout.checkout_of(root)
    return [found[1]] if found is not None and found[0] == (root or "/") else []


def repository(worktree: Worktree) -> tuple[str, str]:
    """(common git directory, its own one). `.git` may only choose among those that the main checkout has."""
    for common in worktree.commons:
        own = git_dir_of(common, worktree.path)
        if own:
            refuse_settings(own)
            return common, own
    if not disk.exists(worktree.path):
        raise FileNotFoundError(worktree.path)
    raise IbError(
        f"{worktree.path} is no worktree of this repository",
        cause="its .git is not the one that git has made",
        hint="git worktree list",
    )


def git_dir_of(common: str, worktree: str) -> str:
    """The directory in which git keeps this worktree's HEAD and index; '' when it is no worktree of the repository."""
    pointer = git_layout.pointed(worktree + "/.git", worktree)
    if not pointer or os.path.basename(pointer) in (".", "..") or not disk.exists(pointer + "/HEAD"):
        return ""
    if not is_same(os.path.dirname(pointer), common + "/worktrees"):
        return ""
    return "" if is_of_another(pointer, worktree) else f"{common}/worktrees/{os.path.basename(pointer)}"


def without_its_programs(env: Mapping[str, str]) -> dict[str, str]:
    """What the worktree holds is no program: by a relative folder of PATH, such as `node_modules/.bin`, nor by a filter
    that is called as `python -m nbstripout`."""
    folders = env.get("PATH", os.defpath).split(os.pathsep)
    return {"PATH": os.pathsep.join(folder for folder in folders if os.path.isabs(folder)), "PYTHONSAFEPATH": "1"}


def is_same(folder: str, other: str) -> bool:
    """By whichever path: through a link, through a mount."""
    try:
        return os.path.samefile(folder, other)
    except OSError:
        return False


def is_of_another(own: str, worktree: str) -> bool:
    """git's directory is that of a worktree which is still there, and this one is a copy of it, or a link to it."""
    try:
        named = os.fsdecode(disk.read_file(own + "/gitdir")).rstrip("\n")
        folder = os.path.dirname(os.path.join(own, named))
        if os.path.islink(worktree) and not os.path.islink(folder):
            return True
        return not os.path.samefile(folder, worktree)
    except OSError:
        return False


def complaint(error: IbError) -> str:
    """As git would say it."""
    return f"fatal: {error.message}: {error.cause}" if error.cause else f"fatal: {error.message}"


def refuse_settings(own: str) -> None:
    """git reads `config.worktree` from a folder that the agent's own git writes to."""
    path = own + "/config.worktree"
    try:
        lines = os.fsdecode(disk.read_file(path)).split("\n")
    except FileNotFoundError:
        return
    odd = [line for line in lines if not HARMLESS.fullmatch(line)]
    if odd:
        raise IbError(f"{path} has settings that ib does not follow", cause=odd[0].strip(), hint=f"look at {path}")


def with_options(args: tuple[str, ...]) -> list[str]:
    """What keeps this subcommand from starting other programs; `-c` and its value may stand before it."""
    at = 0
    while args[at : at + 1] == ("-c",):
        at += 2
    return [*args[: at + 1], *OPTIONS.get("".join(args[at : at + 1]), ()), *args[at + 1 :]]


def set_by(env: dict[str, str]) -> dict[str, str]:
    """SETTINGS, after those that the environment has already."""
    text = env.get("GIT_CONFIG_COUNT", "")
    first = int(text) if text.isdigit() else 0
    for number, (key, value) in enumerate(SETTINGS, first):
        env[f"GIT_CONFIG_KEY_{number}"] = key
        env[f"GIT_CONFIG_VALUE_{number}"] = value
    return {**env, "GIT_CONFIG_COUNT": str(first + len(SETTINGS))}
