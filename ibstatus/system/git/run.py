"""git, asked about one folder; what a hook's environment says about another repository does not count."""

import os
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.system.git import start as git_start
from ibstatus.system.process import run as processes


class Seen(NamedTuple):
    """How git sees a folder. `top` is '' outside of a checkout; `common` and `own` are real, absolute paths."""

    common: str
    own: str
    top: str
    bare: bool
    submodule: bool


def run(cwd: str, *args: str) -> processes.Ended:
    """code 127 when there is no git."""
    try:
        start = git_start.prepared(cwd, *args, env=git_start.QUIET)
        return processes.run(start.argv, cwd, start.env)
    except FileNotFoundError:
        return processes.Ended(127, "", "git is not installed")
    except IbError as error:
        return processes.Ended(128, "", git_start.complaint(error))


def version() -> str:
    """As in `git version 2.43.0`; '' when there is no git."""
    return processes.first_line(git_start.prepared("/", "--version").argv)


def seen(cwd: str) -> Seen | str:
    """What git says about this folder, or its complaint. One question a call: paths may hold newlines."""
    common = run(cwd, "rev-parse", "--git-common-dir")
    if common.code:
        return common.err.strip().partition("\n")[0] or "git could not say"
    return Seen(
        common=real(cwd, common.out),
        own=real(cwd, run(cwd, "rev-parse", "--git-dir").out),
        top=run(cwd, "rev-parse", "--show-toplevel").out.removesuffix("\n"),
        bare=run(cwd, "config", "--bool", "core.bare").out.strip() == "true",
        submodule=bool(run(cwd, "rev-parse", "--show-superproject-working-tree").out.strip()),
    )


def real(cwd: str, printed: str) -> str:
    return os.path.realpath(os.path.join(cwd, printed.removesuffix("\n")))


def ignores(cwd: str, path: str) -> bool | None:
    """Would git leave this path out? None where git looks at nothing (no checkout), or there is no git."""
    return {0: True, 1: False}.get(run(cwd, "check-ignore", "--quiet", "--no-index", "--", path).code)


def tracks(cwd: str, path: str) -> bool:
    """Is anything under this path in the index?"""
    return bool(run(cwd, "ls-files", "--", path).out)
