"""Where everything lies: the root of the main checkout, found from any worktree, and the names below it."""

import posix

from ibstatus.errors import IbError
from ibstatus.model.constants import AGENTS
from ibstatus.system import disk, git_layout


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
            found = git_layout.checkout_of(cwd[:at])
            if found is not None and found[0] == (cwd[:at] or "/"):
                return Place(*found, agent)
        at = cwd.find(AGENTS, at + 1)
    found = git_layout.checkout_of(cwd)
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
        from ibstatus.project import tokens

        bearer = tokens.bearer(place.token)
        place.proven = bool(bearer) or not tokens.of(place.token(place.agent))
        place.agent = bearer or place.agent
        place.stranger = not place.agent and tokens.claimed()
    return place
