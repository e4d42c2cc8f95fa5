"""Programs that read folders and follow every link in them: `grep -R`, `find -L`, `diff -r`."""

from ibstatus.guard import globs
from ibstatus.guard.isolation import READ, absolute, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.commands import Judged
    from ibstatus.guard.shell_values import Fields, States

# name → the letters, all of which it takes for that, and the beginnings of the long options.
TABLE = {
    "grep": ("R", "--deref"), "egrep": ("R", "--deref"), "fgrep": ("R", "--deref"), "zgrep": ("R", "--deref"),
    "rg": ("L", "--fol"), "find": ("L", "-follow"), "fd": ("L", "--fol"), "fdfind": ("L", "--fol"), "tree": ("l", "--"),
    "diff": ("r", "--rec"), "tar": ("h", "--deref"), "bsdtar": ("h", "--deref"), "zip": ("r", "--rec"),
    "scp": ("r", "--"), "rsync": ("L", "--copy-l"), "cp": ("L", "--deref"), "ag": ("f", "--fol"),
}  # fmt: skip
MOST = 1_500


def judge(course: "Judged", name: str, argv: "Fields", words: "Fields", states: "States") -> None:
    """`words`: the folders that it reads with all below them."""
    if name not in TABLE:
        return
    letter, long = TABLE[name]
    clusters = "".join([arg[1:] for arg in argv[1:] if arg[:1] == "-" and arg[1:2] != "-"])
    old = name in ("tar", "bsdtar") and letter in "".join(argv[1:2])
    if not (letter in clusters or old or any(len(arg) > 3 and arg.startswith(long) for arg in argv[1:])):
        return
    for word in words:
        for state in states:
            full = absolute(word, state[0], course.scope.home)
            for path in globs.expanded(full, course.disk.entries) or [full]:
                folder(course, name, globs.filled(path))


def folder(course: "Judged", name: str, path: str) -> None:
    """No link below it may lead to where the agent may not read."""
    todo, seen = [course.grounds.resolve(path)], 0
    if course.unpacked:
        course.unsure(f"{name} follows links, and others may be there by then. Run {name} in a call of its own")
    while todo:
        here = todo.pop()
        for leaf in course.disk.entries(here):
            seen += 1
            if seen > MOST:
                course.unsure(
                    f"{name} follows links, and {short(path)} is too large to look at them all. Leave out the option "
                    "that follows links (grep -r), or name a smaller folder"
                )
                return
            child = f"{here}/{leaf}"
            try:
                real = course.grounds.resolve(child)
            except (OSError, ValueError):
                continue
            if real == child:
                todo += [child] if course.disk.is_folder(child) else []
            elif course.grounds.objection(READ, real, whole=True):
                course.unsure(
                    f"{name} follows links, and {short(child)} leads out of your worktree. Leave out the option that "
                    "follows links (grep -r)"
                )
                return
