"""Does a settings file already run this hook of ours? Then the plugin's copy of it has nothing to do.

Asked at every event of a session with the plugin, so it is a search for bytes, not a reading of JSON.
"""

import posix

from ibstatus.system import disk

FILES = ("/.claude/settings.local.json", "/.claude/settings.json")
STUB = "/ibstatus/hooks/stub.py"


def users() -> str:
    """The settings of the user for all projects; '' without a home directory."""
    folder = environ(b"CLAUDE_CONFIG_DIR")
    home = environ(b"HOME")
    if folder.startswith("/"):
        return folder.rstrip("/") + "/settings.json"
    return home.rstrip("/") + "/.claude/settings.json" if home.startswith("/") else ""


def installed(hook: str, root: str) -> bool:
    """A session in a linked worktree has the settings of the main checkout and its own."""
    folders = {root, environ(b"CLAUDE_PROJECT_DIR")}
    paths = [folder + leaf for folder in folders if folder.startswith("/") for leaf in FILES]
    return any(runs(hook, path) for path in (*paths, users()) if path)


def runs(hook: str, path: str) -> bool:
    """As `rules.hook_commands` writes it: the stub's path, in quotes or not, then the hook's name."""
    try:
        data = disk.read_file(path)
    except OSError:
        return False
    signs = [f"{STUB}{quote} {hook}{end}".encode() for quote in ("", "'") for end in (";", " ")]
    return any(is_there(data, data.find(sign)) for sign in signs if sign in data)


def is_there(data: bytes, at: int) -> bool:
    """Does the stub that stands there exist? An entry of an ib that is gone runs nothing. Odd paths are believed."""
    path = data[data.rfind(b" ", 0, at) + 1 : at].decode("utf-8", "replace")
    return not path.startswith("/") or "\\" in path or disk.exists(path + STUB)


def environ(name: bytes) -> str:
    return posix.environ.get(name, b"").decode("utf-8", "surrogateescape")
