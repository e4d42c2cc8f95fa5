"""Programs that read folders and follow every link in them: `grep -R`, `find -L`, `diff -r`.

Links that a command line makes or moves: they are not there yet when the line is judged.
"""

from ibstatus.guard import globs
from ibstatus.guard.cd import normal
from ibstatus.guard.isolation import READ, absolute, is_below, short
from ibstatus.guard.shell_values import shown

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


def judge_recursive_readers(course: "Judged", name: str, argv: "Fields", words: "Fields", states: "States") -> None:
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


def judge_links(course: "Judged", name: str, argv: "Fields", states: "States") -> None:
    words = [word for word in argv[1:] if not word.startswith("-")]
    symbolic = any(arg == "--symbolic" or (arg[:1] == "-" and arg[1:2] != "-" and "s" in arg) for arg in argv)
    for state in states:
        if name != "ln":
            moved(course, [absolute(word, state[0], course.scope.home) for word in words])
        elif symbolic and words:
            made(course, words, state[0])


def settle(course: "Judged", name: str, argv: "Fields") -> None:
    """After the command itself is judged: what it leaves behind for those that follow."""
    course.links |= course.new_links
    course.new_links = set()
    if name in ("unzip", "patch", "cpio", "7z"):
        unpacks(course)
    elif name in ("tar", "bsdtar"):
        from ibstatus.guard import archives

        if "x" in archives.sorted_out(argv)[0]:
            unpacks(course)


def unpacks(course: "Judged") -> None:
    """From here on in this line, links may be there that are not there now."""
    course.unpacked = True
    course.done.clear()


def fresh(course: "Judged", path: str, who: str) -> None:
    """Behind a command that puts files there, what is no plain file or folder now may be a link by then."""
    if course.links:
        through_links(course, path, who)
    if not course.unpacked:
        return
    if who in ("tar", "bsdtar", "unzip") and globs.is_pattern(path):
        return  # archives in a loop: they are unpacked, not shown
    path = normal(globs.filled(path))
    grounds = course.grounds
    scratch = grounds.scratch and is_below(path, grounds.scratch)
    if not (scratch or is_below(path, grounds.worktree) or is_below(path, course.policy.worktree)):
        return
    if any(is_below(path, one) for one in course.named) or not is_plain(course, path):
        course.unsure(
            f"{short(shown(path))} may be a link once the commands before it have run. Run {who} in a call of its own"
        )


def through_links(course: "Judged", path: str, who: str) -> None:
    """A link that this line makes is not there yet, so what lies behind it is not known."""
    at = path.find("/", 1)
    while at >= 0:
        if normal(path[:at]) in course.links:
            break
        at = path.find("/", at + 1)
    if at >= 0 or normal(path) in course.links or globs.is_pattern(path):
        course.unsure(f"{short(shown(path))} may lead through a link that this line makes. Run {who} after it")


def is_plain(course: "Judged", path: str) -> bool:
    """Is it there, and no link?"""
    folder, _, name = path.rpartition("/")
    try:
        real = course.disk.resolve(folder)
        return course.disk.resolve(path) == f"{real}/{name}" and name in course.disk.entries(folder)
    except (OSError, ValueError):
        return False


def made(course: "Judged", words: "Fields", cwd: str) -> None:
    """Where a symlink leads counts from the folder in which it lies."""
    place = absolute(words[-1] if len(words) > 1 else ".", cwd, course.scope.home)
    folder = place if course.disk.is_folder(place) else place.rpartition("/")[0] or "/"
    for word in words[:-1] or words:
        course.path(READ, word, ((folder, "", ()),), "ln", strict=True)
        parts = [part for part in word.split("/") if part not in ("", ".")]
        while parts[:1] == [".."]:
            parts.pop(0)
        if ".." in parts:
            course.unsure(f"The link to {short(shown(word))} goes up behind a folder. Link to the place itself")
        course.new_links |= {normal(place), normal(f"{place}/{leaf_of(word)}")}


def moved(course: "Judged", places: list[str]) -> None:
    """A relative link that is moved or copied leads elsewhere afterwards."""
    for place in places[:-1]:
        place = normal(place)
        try:
            is_link = course.disk.resolve(place) != f"{course.disk.resolve(place.rpartition('/')[0])}/{leaf_of(place)}"
        except (OSError, ValueError):
            is_link = True
        if is_link:
            course.new_links |= {normal(places[-1]), normal(f"{places[-1]}/{leaf_of(place)}")}


def leaf_of(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
