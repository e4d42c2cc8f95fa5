"""Facts about the machine and the repository → what `ib doctor` says of them."""

from ibstatus.model.fleet import Finding

OLDEST_PYTHON = (3, 11)
OLDEST_GIT = (2, 31)
OLDEST_TMUX = (3, 2)
LITTLE_SPACE = 200 << 20
NO_SPACE = 8 << 20
BIG_QUEUE = 8 << 20
INIT = "ib init"


def ok(subject: str, text: str) -> Finding:
    return Finding("ok", subject, text)


def numbers(version: str) -> tuple[int, ...]:
    """(2, 39, 5) from `git version 2.39.5 (Apple Git-154)`, (3, 3) from `tmux 3.3a`; () when there are none."""
    for word in version.split():
        parts = word.removeprefix("next-").split(".")
        if parts[0].isdigit():
            found = []
            for part in parts:
                digits = part[: len(part) - len(part.lstrip("0123456789"))]
                if not digits:
                    break
                found.append(int(digits))
            return tuple(found)
    return ()


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def python(version: tuple[int, ...]) -> Finding:
    text = f"Python {dotted(version)}"
    if version < OLDEST_PYTHON:
        return Finding("fail", "python", f"{text} is too old", f"use Python {dotted(OLDEST_PYTHON)} or newer")
    return ok("python", text)


def git(version: str) -> Finding:
    if not version:
        return Finding("fail", "git", "git is not installed, or does not answer", "install git")
    if numbers(version) < OLDEST_GIT:
        return Finding("warn", "git", f"{version} is older than {dotted(OLDEST_GIT)}", "bring git up to date")
    return ok("git", version)


def tmux(version: str) -> Finding:
    if not version:
        return Finding("warn", "tmux", "tmux is not installed; agents live in its sessions", "install tmux")
    if (numbers(version) or OLDEST_TMUX) < OLDEST_TMUX:
        return Finding("warn", "tmux", f"{version} is older than {dotted(OLDEST_TMUX)}", "bring tmux up to date")
    return ok("tmux", version)


def client(path: str, wanted: str) -> Finding:
    """What runs in an agent's session."""
    if path:
        return ok("claude", path)
    text = f"{wanted} is not on your PATH; agents are sessions of it"
    return Finding("warn", "claude", text, "npm install -g @anthropic-ai/claude-code; or set IB_CLAUDE to its path")


def program(path: str, says: str, running: str) -> Finding:
    """The `ib` that hooks and agents will find."""
    if not path:
        return Finding(
            "warn",
            "ib",
            "there is no ib on PATH, so agents and hooks do not find it",
            "pipx ensurepath, then open a new shell",
        )
    if says != f"ib {running}":
        other = says or "something that is not this ib"
        return Finding(
            "fail",
            "ib",
            f"this is ib {running}, but {path} is {other}",
            f"remove {path}, or put the folder of this ib before it in PATH",
        )
    return ok("ib", f"ib {running} is {path}")


def kind_of(*, bare: bool, submodule: bool, linked: bool, separate: bool) -> str:
    """What sort of repository a folder belongs to, in words."""
    if bare:
        return "a worktree of a bare repository" if linked else "a bare repository"
    if linked:
        return "a linked worktree"
    if submodule:
        return "a submodule"
    return "a checkout with its git directory elsewhere" if separate else "a main checkout"


def repository(kind: str, root: str, ours: str, gits: str) -> Finding:
    """`ours` and `gits`: the common git directory as ib and as git find it."""
    if ours != gits:
        return Finding(
            "fail",
            "repository",
            f"ib takes {ours} for the git directory and git takes {gits}",
            "report this as a bug of ib",
        )
    return ok("repository", f"{kind}; the root is {root}")


def kept_out(ignored: bool | None, tracked: bool) -> Finding:
    if tracked:
        return Finding("fail", "git-ignore", "files of .ittybitty are committed", "git rm -r --cached .ittybitty")
    if ignored is False:
        return Finding("warn", "git-ignore", "git shows .ittybitty as untracked", INIT)
    if ignored is None:
        return ok("git-ignore", "no git looks at the folder of .ittybitty")
    return ok("git-ignore", ".ittybitty is kept out of git")


def space(free: int, inodes: int | None) -> Finding:
    text = f"{free >> 20} MiB are free" + ("" if inodes is None else f", and {inodes} inodes")
    if free < NO_SPACE or inodes == 0:
        return Finding("fail", "space", text, "free some space: messages cannot be kept")
    if free < LITTLE_SPACE or (inodes is not None and inodes < 1000):
        return Finding("warn", "space", text, "free some space")
    return ok("space", text)


def repo_id(here: str, copy: str, legal: bool, other: str) -> Finding:
    if not legal:
        return Finding("fail", "repo-id", f"repo-id holds {here!r}" if here else "there is no repo-id", INIT)
    if other:
        return Finding(
            "warn",
            "repo-id",
            f"ib knows this repository at {other}; it was moved or copied",
            "if it was moved: ib init --moved; if it is a copy: ib init --copied",
        )
    if here != copy:
        return Finding("warn", "repo-id", f"repo-id is {here} and its safety copy {copy or 'is missing'}", INIT)
    return ok("repo-id", here)


def block(version: str) -> Finding:
    """`version` as rules/block tells it."""
    if version == "old":
        return Finding("note", "node", "the <ittybitty> block in CLAUDE.md is of an older ib", INIT)
    if version == "edited":
        text = "the <ittybitty> block in CLAUDE.md was edited by somebody; ib keeps only its node up to date"
        return Finding("note", "node", text)
    return ok("node", "CLAUDE.md has the block that tells Claude of its agents")


def shared(home: str, others: list[str]) -> Finding:
    if others:
        hint = "give each bare repository a folder of its own"
        return Finding(
            "warn", "sharing", f"{home} also belongs to {', '.join(others)}: messages and agents are mixed", hint
        )
    return ok("sharing", "no other repository uses this .ittybitty")


def lag(reader: str, behind: int, broken: bool) -> Finding:
    if broken:
        return Finding(
            "warn", "cursors", f"the cursor of {reader} is broken: it will be told everything again, marked", ""
        )
    if behind:
        return Finding("note", "cursors", f"{reader} has {plural(behind, 'line')} to read", "")
    return ok("cursors", f"{reader} has read everything")


def queue(size: int, total: int, garbage: int, torn: bool) -> list[Finding]:
    found = []
    if garbage:
        found.append(
            Finding("note", "queue", f"{plural(garbage, 'line')} of {total} are no JSON objects and are skipped", "")
        )
    if torn:
        found.append(Finding("note", "queue", "the last line has no end yet; the next writer or listener ends it", ""))
    if size > BIG_QUEUE:
        hint = "ib listen --timeout 0 reads it; what everybody has read is trimmed"
        found.append(Finding("warn", "queue", f"the queue has {size >> 20} MiB", hint))
    return found or [ok("queue", f"{plural(total, 'line')}, {size} bytes")]


def plural(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def worst(findings: list[Finding]) -> str:
    """The level that decides the exit code."""
    order = ("ok", "note", "warn", "fail")
    return max((finding.level for finding in findings), key=order.index, default="ok")
