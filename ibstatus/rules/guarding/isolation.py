"""Where an agent may read and write. Judged on resolved paths; the resolver is handed in, so that nothing here looks.

Reading: everything but the main checkout, the other agents, ib's own files, keys and passwords, and what other
processes hold. Writing: its worktree and its scratch folder, but not what decides over the agent itself.
"""

from ibstatus.errors import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

READ, WRITE = "read", "write"
ALWAYS = frozenset(
    (
        "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/stdin", "/dev/stdout",
        "/dev/stderr",
    )
)  # fmt: skip
# Below any home, at any depth: what opens other doors.
KEY_FOLDERS = frozenset((".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store", ".docker"))
KEY_FILES = frozenset(
    (
        ".netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".git-credentials", ".credentials.json", ".claude.json",
        ".bash_history", ".zsh_history", ".python_history", ".psql_history", ".node_repl_history", ".vault-token",
    )
)  # fmt: skip
KEYS_BELOW_HOME = (
    *("/.config/gh", "/.config/gcloud", "/.config/git/credentials", "/.config/op", "/.config/rclone", "/.config/hub"),
    *("/.cargo/credentials", "/.cargo/credentials.toml", "/.gem/credentials", "/.m2/settings.xml", "/.terraform.d"),
    *("/.local/share/keyrings", "/.mozilla", "/.config/google-chrome", "/.config/chromium", "/Library/Keychains"),
)
SYSTEM_KEYS = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/run/secrets", "/var/run/secrets")
NO_PROCESS = frozenset(("sys", "net", "fs", "bus", "irq", "driver", "tty", "acpi", "scsi", "pressure"))
SETTINGS = ("settings.json", "settings.local.json")
LONGEST_SHOWN = 120


class Grounds:
    """The folders that decide, resolved. `scratch` is the agent's own folder under /tmp, `log` its agent.log."""

    __slots__ = ("agents", "home", "log", "resolve", "root", "scratch", "seen", "worktree")

    def __init__(
        self, worktree: str, root: str, agents: str, folder: str, agent: str, home: str, resolve: "Callable[[str], str]"
    ) -> None:
        self.resolve = resolve
        self.worktree = resolve(worktree)
        self.root = resolve(root)
        self.agents = resolve(agents)
        self.log = resolve(folder) + "/agent.log"
        self.home = resolve(home) if home else ""
        self.scratch = f"/tmp/ib-{agent}" if agent else ""
        self.seen: dict[tuple[str, str, bool], str] = {}

    def objection(self, access: str, path: str, *, whole: bool = False) -> str:
        """Why this absolute path may not be read or written, '' when it may. `whole`: with everything below it."""
        key = (access, path, whole)
        if key not in self.seen:
            self.seen[key] = self.judged(access, path, whole)
        return self.seen[key]

    def judged(self, access: str, path: str, whole: bool) -> str:
        if path in ALWAYS or (path.startswith("/dev/fd/") and path[8:].isdigit()):
            return ""
        try:
            real = self.resolve(path)
        except (OSError, ValueError):
            return f"{short(path)} cannot be followed to a file. Name a file in your worktree {self.worktree}"
        if is_below(real, self.worktree):
            return self.own(access, real, whole)
        folded = folded_case(real)
        if is_below(folded, folded_case(self.agents)):
            if access == READ and real == self.log:
                return ""
            return self.data_of_others(real)
        if is_below(folded, folded_case(self.root)):
            return (
                f"{short(path)} is in the main checkout, which is not yours. "
                f"Your worktree {self.worktree} has the same files: work there"
            )
        if whole and (is_below(self.root, real) or is_below(self.agents, real)):
            return f"{short(path)} holds the main checkout and other agents. Start below your worktree {self.worktree}"
        if self.scratch and is_below(real, self.real_scratch()):
            inside = access == WRITE and "/.git/" in folded + "/"
            return "What is in .git is git's own. Use git commands" if inside else ""
        if is_key(real, folded_case(self.home)):
            return f"{short(path)} holds keys or passwords, or belongs to other processes. Do without it, or ask"
        if access == WRITE:
            where = f" or {self.scratch}/" if self.scratch else ""
            return f"You may not write {short(path)}. Write in your worktree {self.worktree}{where}"
        return ""

    def real_scratch(self) -> str:
        """/tmp itself may be a link; the folder in it may not, or it would be a way to anywhere."""
        return self.resolve("/tmp") + self.scratch[len("/tmp") :]

    def own(self, access: str, real: str, whole: bool) -> str:
        """In the worktree everything but what would change the rules that hold for the agent itself."""
        if self.worktree == self.root and self.is_ours(access, real, whole):
            return self.data_of_others(real)
        if access == READ:
            return ""
        folded = folded_case(real)
        below = folded[len(self.worktree) :]
        if "/.git/" in below + "/":
            return "What is in .git is git's own. Use git commands"
        folder, _, leaf = below.rpartition("/")
        if (folder.endswith("/.claude") and leaf in SETTINGS) or (whole and leaf == ".claude"):
            return f"{short(real)} holds the rules of the session. Ask for what you need with ib send or ib ask"
        return ""

    def is_ours(self, access: str, real: str, whole: bool) -> bool:
        """Of an agent without a worktree of its own: is it in .ittybitty, or does it set what agents may do?"""
        ours, folded = folded_case(self.agents).rpartition("/")[0], folded_case(real)
        if is_below(folded, ours):
            return access != READ or real != self.log
        return access != READ and (folded == ours + ".json" or (whole and is_below(ours, folded)))

    def data_of_others(self, real: str) -> str:
        return (
            f"{short(real)} is another agent's or ib's own data. "
            f"Work in your worktree {self.worktree}; what others did is on their branches (git diff HEAD...agent/ID)"
        )

    def kind_of(self, path: str) -> str:
        """For the log: 'agent', 'root' or ''."""
        try:
            folded = folded_case(self.resolve(path))
        except (OSError, ValueError):
            return ""
        if is_below(folded, folded_case(self.agents)):
            return "agent"
        return "root" if is_below(folded, folded_case(self.root)) else ""


def is_below(path: str, folder: str) -> bool:
    """Is it the folder or in it, by whole names?"""
    return path == folder or path.startswith(folder if folder.endswith("/") else folder + "/")


def is_key(real: str, home: str) -> bool:
    """Keys, passwords, histories, other processes."""
    folded = folded_case(real)
    names = folded.split("/")
    if not KEY_FOLDERS.isdisjoint(names) or names[-1] in KEY_FILES:
        return True
    if home and folded.startswith(home) and any(is_below(folded, home + key) for key in KEYS_BELOW_HOME):
        return True
    if any(is_below(folded, key) for key in SYSTEM_KEYS):
        return True
    if folded.startswith("/proc/") and names[2] not in NO_PROCESS:
        return len(names) > 3 and names[3] not in ("status", "stat", "limits", "cgroup", "comm", "statm")
    return folded.startswith("/dev/") and not folded.startswith(("/dev/shm", "/dev/pts"))


def folded_case(path: str) -> str:
    """As a disk that ignores case, or how accents are written, sees it."""
    if path.isascii():
        return path.lower()
    import unicodedata

    return unicodedata.normalize("NFC", path).casefold()


def absolute(path: str, cwd: str, home: str) -> str:
    """A path as tools take it: from the working directory, `~` for the home."""
    if path.startswith("/"):
        return path
    if path == "~" or path.startswith("~/"):
        return home + path[1:]
    return f"{cwd}/{path}" if path else cwd


def short(path: str) -> str:
    """For a reason: never a control character, never long."""
    text = visible(path)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
