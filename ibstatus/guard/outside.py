"""What an agent may read outside of its repository: not keys, nor other processes, nor the scratch of other agents."""

from ibstatus.guard.isolation import READ, WRITE, Grounds, folded_case, is_below, short

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
