"""Links that a command line makes or moves: they are not there yet when the line is judged."""

from ibstatus.rules.guarding.folders import normal
from ibstatus.rules.guarding.isolation import READ, absolute, short
from ibstatus.rules.guarding.values import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.rules.guarding.commands import Judged
    from ibstatus.rules.guarding.values import Fields, States


def judge(course: "Judged", name: str, argv: "Fields", states: "States") -> None:
    words = [word for word in argv[1:] if not word.startswith("-")]
    symbolic = any(arg == "--symbolic" or (arg[:1] == "-" and arg[1:2] != "-" and "s" in arg) for arg in argv)
    for state in states:
        if name != "ln":
            moved(course, [absolute(word, state[0], course.scope.home) for word in words])
        elif symbolic and words:
            made(course, words, state[0])


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
