"""Where everything lies: the root of the main checkout, found from any worktree, and the names below it."""

import posix

from ibstatus.errors import IbError
from ibstatus.store import disk

AGENTS = "/.ittybitty/agents/"


class Place:
    """One repository as `ib` sees it. `agent`: the agent that calls, by its token or by where it stands, or ''.
    `proven` is False when it only stands in the worktree of an agent that has a token.
    `stranger`: what calls says that it is an agent, but of nothing here."""

    __slots__ = ("agent", "common", "home", "proven", "root", "safe", "stranger")

    def __init__(self, root: str, common: str, agent: str = "") -> None:
        self.root = root
        self.common = common
        self.agent = agent
        self.proven = True
        self.stranger = False
        self.home = (root if root != "/" else "") + "/.ittybitty"
        self.safe = common + "/ib"

    @property
    def messages(self) -> str:
        return self.home + "/user-messages.json"

    @property
    def questions(self) -> str:
        return self.home + "/user-questions.json"

    @property
    def queue(self) -> str:
        return self.home + "/notify/queue"

    @property
    def queue_base(self) -> str:
        return self.home + "/notify/base"

    @property
    def cursors(self) -> str:
        return self.home + "/notify/cursors"

    @property
    def bells(self) -> str:
        return self.home + "/notify/bells"

    @property
    def spool(self) -> str:
        return self.home + "/spool"

    @property
    def events(self) -> str:
        return self.home + "/events.jsonl"

    @property
    def version(self) -> str:
        return self.home + "/version"

    @property
    def repo_id(self) -> str:
        return self.home + "/repo-id"

    @property
    def board(self) -> str:
        """Under the git directory, where `git clean` takes nothing from those who have it open."""
        return self.safe + "/board.db"

    @property
    def board_link(self) -> str:
        """Where people look for it."""
        return self.home + "/board.db"

    @property
    def git_folder(self) -> str:
        """Where git is asked about the repository: a bare one, with worktrees beside it, has nothing at the root."""
        return self.root if disk.exists(self.root + "/.git") else self.common

    def lock(self, name: str) -> str:
        return f"{self.home}/locks/{name}"

    def cursor(self, reader: str) -> str:
        return f"{self.home}/notify/cursors/{reader}"

    def token(self, agent: str) -> str:
        return self.agent_dir(agent) + "/token"

    def agent_dir(self, agent: str) -> str:
        return f"{self.home}/agents/{agent}"

    def safe_copy(self, path: str) -> str:
        """Where the copy of one of our files lies under the common git directory."""
        return self.safe + path[len(self.home) :]


def find(cwd: str) -> Place:
    """The place of this directory; inside an agent's worktree the agent's repository, whatever is nested in it."""
    at = cwd.find(AGENTS)
    while at >= 0:
        agent, _, rest = cwd[at + len(AGENTS) :].partition("/")
        if agent and (rest == "repo" or rest.startswith("repo/")):
            found = checkout_of(cwd[:at])
            if found is not None and found[0] == (cwd[:at] or "/"):
                return Place(*found, agent)
        at = cwd.find(AGENTS, at + 1)
    found = checkout_of(cwd)
    if found is None:
        raise IbError("This is not a git repository", hint="cd into your project, or make one here: git init")
    return Place(*found)


def here() -> Place:
    try:
        cwd = posix.getcwd()
    except FileNotFoundError:
        raise IbError("The current directory is gone", hint="cd somewhere that exists") from None
    place = find(cwd)
    if place.agent or b"IB_AGENT_TOKEN" in posix.environ or b"IB_AGENT_ID" in posix.environ:
        from ibstatus.store import tokens

        bearer = tokens.bearer(place.token)
        place.proven = bool(bearer) or not tokens.of(place.token(place.agent))
        place.agent = bearer or place.agent
        place.stranger = not place.agent and tokens.claimed()
    return place


def checkout_of(start: str) -> tuple[str, str] | None:
    """(root of the main checkout, common git directory) for a directory, as git would find them."""
    folder = start
    while True:
        dot_git = f"{folder}/.git"
        if disk.exists(dot_git + "/HEAD"):
            return folder or "/", dot_git
        pointer = pointed(dot_git, folder)
        if pointer:
            return linked(pointer, folder)
        if is_git_dir(folder):
            common = common_of(folder)
            return main_checkout(common), common
        if not folder:
            return None
        folder = folder.rpartition("/")[0]


def pointed(dot_git: str, folder: str) -> str:
    """The git directory that a `.git` file names, or ''."""
    try:
        text = disk.read_file(dot_git)
    except OSError:
        return ""
    word, _, path = text.decode("utf-8", "surrogateescape").partition(": ")
    path = path.rstrip("\r\n")
    if word != "gitdir" or not path:
        return ""
    return path if path.startswith("/") else normal(f"{folder}/{path}")


def linked(git_dir: str, folder: str) -> tuple[str, str]:
    if not disk.exists(git_dir + "/HEAD"):
        raise IbError(
            f"{folder}/.git names a git directory that is gone: {git_dir}",
            hint="git worktree repair, in the main checkout",
        )
    common = common_of(git_dir)
    if common == git_dir:  # a submodule or a separate git dir: this folder is its own main checkout
        return folder or "/", common
    return main_checkout(common), common


def common_of(git_dir: str) -> str:
    try:
        text = disk.read_file(git_dir + "/commondir")
    except OSError:
        return git_dir
    path = text.decode("utf-8", "surrogateescape").rstrip("\r\n")
    return path if path.startswith("/") else normal(f"{git_dir}/{path}")


def main_checkout(common: str) -> str:
    """core.worktree (a submodule); else what we wrote down at init; else the directory that holds the common dir."""
    folder, _, leaf = common.rpartition("/")
    if leaf == ".git":
        return folder or "/"
    from ibstatus.store import checkouts

    root = checkouts.configured_root(common)
    if root:
        return root if root.startswith("/") else normal(f"{common}/{root}")
    root = checkouts.noted_root(common)
    return root if root and pointed(root + "/.git", root) == common else folder or "/"  # not when copied or moved


def is_git_dir(folder: str) -> bool:
    return disk.exists(folder + "/HEAD") and (
        disk.exists(folder + "/commondir") or (disk.exists(folder + "/objects") and disk.exists(folder + "/refs"))
    )


def normal(path: str) -> str:
    """`a/b/../c` → `a/c`. By text: git writes these paths without symlinks in between."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
