"""Where a path leads: every symlink followed, whether or not the end of it exists."""

from ibstatus.system import disk

NO_LINK = 22  # EINVAL: there, and no link
MISSING = (2, 20)  # ENOENT, ENOTDIR
TOO_MANY_LINKS = 40
MOST = 40
MOST_PARTS = 400
LONGEST_LIST = 2_000


class Resolver:
    """Called with an absolute path; remembers what it has seen, for the life of one hook."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        """OSError where the system refuses to tell, ValueError for what no path can be."""
        if "\0" in path:
            raise ValueError("a path cannot hold a NUL")
        todo = path.split("/")[::-1]
        real, links = "", 0
        if len(todo) > MOST_PARTS:
            raise ValueError("too long a path")
        while todo:
            part = todo.pop()
            if part in ("", "."):
                continue
            if part == "..":
                real = real.rpartition("/")[0]
                continue
            here = f"{real}/{part}"
            target = self.known.get(here)
            if target is None:
                target = self.known[here] = pointed(here)
            if not target:
                real = here
                continue
            if here.startswith("/proc/") and here.count("/") > 2:
                raise ValueError("another process would see another folder there")
            links += 1
            if links > MOST:
                raise OSError(TOO_MANY_LINKS, "Too many levels of symbolic links", path)
            if target.startswith("/"):
                real = ""
            todo += target.split("/")[::-1]
        return real or "/"


class Disk:
    """What is there now, for rules that never look themselves."""

    __slots__ = ("resolve",)

    def __init__(self) -> None:
        self.resolve = Resolver()

    def is_folder(self, path: str) -> bool:
        try:
            return disk.stat(path + "/.").st_mode & 0o170000 == 0o040000  # with the dot: one that can be entered
        except (OSError, ValueError):
            return False

    def entries(self, folder: str) -> list[str]:
        """The names in a folder, as far as it is of a size that somebody would match a pattern in."""
        try:
            return disk.listdir(folder)[:LONGEST_LIST]
        except (OSError, ValueError):
            return []


def pointed(path: str) -> str:
    """What a symlink says; '' for anything else, missing things too."""
    try:
        return disk.readlink(path)
    except OSError as error:
        if error.errno == NO_LINK or error.errno in MISSING:
            return ""
        raise
