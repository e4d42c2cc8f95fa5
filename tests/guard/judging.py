"""What the guard's tests stand on: an agent w1 in a made-up project, with the folders that people have."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path
from typing import Any

from ibstatus.guard import decide
from ibstatus.system import symlinks

# Upstream's mandatory rules, as rules/agent_settings gives them to every agent.
GIT = ("status", "add", "commit", "diff", "show", "log", "ls-files", "grep", "rm", "merge", "rebase", "checkout")
AGENT = [
    *("Bash(ib:*)", *(f"Bash(git {verb}:*)" for verb in (*GIT, "restore", "reset"))),
    *(f"Bash({name}:*)" for name in ("pwd", "ls", "head", "tail", "cat", "grep")),
    *("Read", "Write", "Edit", "MultiEdit", "Glob", "Grep", "LS", "Agent", "NotebookEdit", "WebFetch", "WebSearch"),
]
PROGRAMS = """
git npm npx pnpm yarn node python python3 pytest pip uv ruff mypy cargo go golangci-lint make cmake ctest ninja mvn
gcc g++ clang shellcheck docker kubectl terraform curl wget jq sed awk find fd xargs sort uniq wc cut tr tee diff comm
rg tree mkdir rmdir rm cp mv touch ln chmod tar zip unzip gzip gunzip dd split install rsync truncate mktemp ps kill
lsof
pgrep env date du df stat file md5sum xxd column source . bash sh gh psql pg_isready sqlite3 redis-cli openssl
ssh-keygen perl command yes ./gradlew ./scripts/build.sh ./hello ./test
"""
LISTS = {
    "agent": AGENT,
    "developer": [*AGENT, *(f"Bash({name}:*)" for name in PROGRAMS.split())],
    "all": ["Bash"],
}
FOLDERS = (
    "src",
    "packages/web",
    "packages/api",
    "docs",
    "build",
    "tests",
    "node_modules",
    ".claude",
    "vendor",
    "links",
)


class Ground:
    """A project on disk: `root` the main checkout, `worktree` that of w1, `home` with keys in it."""

    def __init__(self, base: Path) -> None:
        self.home = str(base / "home/ann")
        self.root = self.home + "/project"
        self.agents = self.root + "/.ittybitty/agents"
        self.worktree = self.agents + "/w1/repo"
        for folder in FOLDERS:
            Path(self.worktree, folder).mkdir(parents=True)
        own = (".ittybitty/agents/w1/repo/src/app.ts", ".ittybitty/agents/w1/repo/README.md")
        for path in ("secret", "src/app.ts", ".ittybitty/agents/w1/meta.json", ".ittybitty/agents/w2/repo/x", *own):
            Path(self.root, path).parent.mkdir(parents=True, exist_ok=True)
            Path(self.root, path).write_text("x")
        Path(self.home, ".ssh").mkdir()
        Path(self.home, ".ssh/id_rsa").write_text("key")
        Path(self.worktree, "links/to-root").symlink_to(self.root)
        Path(self.worktree, "links/to-secret").symlink_to("../../../../../secret")
        Path(self.worktree, "links/to-src").symlink_to("../src")

    def policy(self, allow: list[str], deny: list[str] | None = None, **more: Any) -> decide.Policy:
        given: dict[str, Any] = {
            "worktree": self.worktree,
            "root": self.root,
            "agents": self.agents,
            "folder": self.agents + "/w1",
            "home": self.home,
            "manager": False,
        }
        return decide.Policy("w1", allow=allow, deny=deny or [], **{**given, **more})

    def placed(self, text: str) -> str:
        """@W is the worktree, @M the main checkout."""
        return text.replace("@W", self.worktree).replace("@M", self.root)

    def tool(self, tool: str, given: dict[str, Any], policy: decide.Policy) -> decide.Verdict:
        return decide.judge(tool, given, self.worktree, policy, symlinks.Disk())

    def bash(self, command: str, allow: list[str], deny: list[str] | None = None, **more: Any) -> decide.Verdict:
        return self.tool("Bash", {"command": self.placed(command)}, self.policy(allow, deny, **more))


@functools.cache
def ground() -> Ground:
    """One for the whole run: nothing is written there."""
    base = Path(tempfile.mkdtemp(prefix="ib-ground-")).resolve()
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    return Ground(base)
