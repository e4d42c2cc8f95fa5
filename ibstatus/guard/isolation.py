"""Where an agent may read and write. Judged on resolved paths; the resolver is handed in, so that nothing here looks.

Reading: everything but the main checkout, the other agents, ib's own files, keys and passwords, and what other
processes hold. Writing: its worktree and its scratch folder, but not what decides over the agent itself.

What an agent may read outside of its repository: not keys, nor other processes, nor the scratch of other agents.
"""

from ibstatus.errors import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


READ, WRITE = "read", "write"
ALWAYS = frozenset(
    (
        "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/stdin", "/dev/stdout",
        "/dev/stderr",
    )
)  # fmt: skip
SETTINGS = ("settings.json", "settings.local.json")
LONGEST_SHOWN = 120


class Grounds:
    """The folders that decide, resolved. `scratch` is the agent's own folder under /tmp, `log` its agent.log,
    `safe` what ib keeps in the git directory, not resolved. `entries`: the names in a folder."""

    __slots__ = ("agents", "entries", "home", "log", "resolve", "root", "safe", "scratch", "seen", "worktree")

    def __init__(
        self,
        worktree: str,
        root: str,
        agents: str,
        folder: str,
        agent: str,
        home: str,
        resolve: "Callable[[str], str]",
        safe: str = "",
        entries: "Callable[[str], list[str]] | None" = None,
    ) -> None:
        self.resolve = resolve
        self.safe = safe or root + "/.git/ib"
        self.entries = entries
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
        if access == WRITE and path == "/dev/tty":
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
        if is_below(folded, folded_case(self.resolve(self.safe))):
            return self.data_of_others(real)
        if whole and (is_below(self.root, real) or is_below(self.agents, real)):
            return f"{short(path)} holds the main checkout and other agents. Start below your worktree {self.worktree}"
        if self.scratch and is_below(real, self.real_scratch()):
            inside = access == WRITE and "/.git/" in folded + "/"
            return "What is in .git is git's own. Use git commands" if inside else ""

        return objection(self, access, path, real, whole)

    def real(self, path: str) -> str:
        """Of a path to which there is no objection; what leads to the own process cannot be followed."""
        return path if path in ALWAYS or path.startswith("/dev/") else self.resolve(path)

    def real_scratch(self) -> str:
        """/tmp itself may be a link; the folder in it may not, or it would be a way to anywhere."""
        return self.resolve("/tmp") + self.scratch[len("/tmp") :]

    def own(self, access: str, real: str, whole: bool) -> str:
        """In the worktree everything but what would change the rules that hold for the agent itself."""
        if self.worktree == self.root:
            objection = self.without_tree(access, real, whole)
            if objection:
                return objection
        elif self.safe.startswith(self.worktree) and is_below(folded_case(real), folded_case(self.resolve(self.safe))):
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

    def without_tree(self, access: str, real: str, whole: bool) -> str:
        """In the main checkout, where ib's own files and what it keeps in the git directory lie as well."""
        safe, folded = folded_case(self.resolve(self.safe)), folded_case(real)
        if self.is_ours(access, real, whole) or is_below(folded, safe):
            return self.data_of_others(real)
        if whole and (is_below(safe, folded) or is_below(folded_case(self.agents), folded)):
            return (
                f"{short(real)} holds ib's files and other agents as well. Name what you need in it (as {real}/src), "
                "or type git grep PATTERN, git ls-files"
            )
        return ""

    def is_ours(self, access: str, real: str, whole: bool) -> bool:
        """Of an agent without a worktree of its own: is it in .ittybitty, or does it set what agents may do?"""
        ours, folded = folded_case(self.agents).rpartition("/")[0], folded_case(real)
        if is_below(folded, ours):
            return access != READ or real != self.log
        return access != READ and (folded == ours + ".json" or (whole and is_below(ours, folded)))

    def data_of_others(self, real: str) -> str:
        own = self.log.removesuffix("/agent.log")
        if is_below(real, own):
            return f"{short(real)} is beside your worktree, not in it. Work in your worktree {self.worktree}"
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
HOMES = ("/home/.", "/users/.")  # what holds everybody's
NO_PROCESS = frozenset(("sys", "net", "fs", "bus", "irq", "driver", "tty", "acpi", "scsi", "pressure"))


def objection(grounds: Grounds, access: str, path: str, real: str, whole: bool) -> str:
    """`real` is where `path` leads, and is in none of the places that are its own."""
    scratch = of_another(grounds, real)
    if scratch:
        return f"{short(scratch)} is the scratch folder of another agent. Yours is {grounds.scratch}/"
    if is_key(real, folded_case(grounds.home)):
        return f"{short(path)} holds keys or passwords, or belongs to other processes. Do without it, or ask"
    if whole and access == READ and holds_keys(grounds, real):
        return (
            f"Below {short(path)} there are keys, other processes or other agents' files, so it is not read as a "
            "whole. Name the folder or the file that you need in it"
        )
    if access == WRITE:
        return f"You may not write {short(path)}. Write {instead(grounds, real)}"
    return ""


def instead(grounds: Grounds, real: str) -> str:
    if not grounds.scratch:
        return f"in your worktree {grounds.worktree}"
    temporary = grounds.resolve("/tmp")
    if is_below(real, temporary) and real != temporary:
        return f"{grounds.scratch}/{short(real.rpartition('/')[2])} (mkdir -p {grounds.scratch}), or in your worktree"
    return f"in your worktree {grounds.worktree} or {grounds.scratch}/"


def of_another(grounds: Grounds, real: str) -> str:
    """The scratch folder of another agent that this is or lies in; what the project itself lies in is none."""
    begin = grounds.resolve("/tmp") + "/ib-"
    if not folded_case(real).startswith(folded_case(begin)) or not grounds.scratch:
        return ""
    folder = begin + real[len(begin) :].partition("/")[0]
    number = folder.removeprefix(grounds.real_scratch() + "-")
    mine = number.isdigit() and not is_agent(grounds, folder[len(begin) :])
    return "" if mine or is_below(grounds.root, folder) or is_below(grounds.worktree, folder) else folder


def is_agent(grounds: Grounds, name: str) -> bool:
    return grounds.entries is not None and name in grounds.entries(grounds.agents)


def holds_keys(grounds: Grounds, real: str) -> bool:
    """Is anything of what is_key names below it? Of foreign folders only what lies directly in them is looked at."""
    folded = folded_case(real)
    home = folded_case(grounds.home)
    below_home = [home + key for key in KEYS_BELOW_HOME] if home else []
    if any(is_below(one, folded) for one in (*SYSTEM_KEYS, *below_home, "/proc/1", "/dev/pts", *HOMES)):
        return True
    if (home and is_below(home, folded)) or (is_below(folded, "/proc") and folded.split("/")[2] not in NO_PROCESS):
        return True
    names = [folded_case(name) for name in grounds.entries(real)] if grounds.entries is not None else []
    if not KEY_FOLDERS.isdisjoint(names) or not KEY_FILES.isdisjoint(names):
        return True
    return folded == folded_case(grounds.resolve("/tmp")) and any(
        name.startswith("ib-") and of_another(grounds, f"{real}/{name}") for name in names
    )


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
    return folded.startswith("/dev/") and not is_below(folded, "/dev/shm")
