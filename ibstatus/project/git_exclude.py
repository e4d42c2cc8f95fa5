"""What keeps `.ittybitty/` out of git: `.git/info/exclude`, nothing tracked; or `.gitignore` on request.

A CLAUDE.md that ib made has its line there too, until the user writes into it or adds it; so has
.claude/settings.local.json.
"""

from ibstatus.project import originals, paths
from ibstatus.system import disk

LINE = "/.ittybitty/"
SAME = (b"/.ittybitty/", b".ittybitty/", b".ittybitty", b"/.ittybitty")
EXCLUDE, GITIGNORE = "exclude", "gitignore"
BOTH = (EXCLUDE, GITIGNORE)
FILE = "exclude-file"
SETTINGS = "exclude-settings"
SETTINGS_LINE = "/.claude/settings.local.json"


def path_of(place: paths.Place, name: str = EXCLUDE) -> str:
    return place.common + "/info/exclude" if name == EXCLUDE else place.root + "/.gitignore"


def says(place: paths.Place, name: str) -> bool:
    """Does this file keep .ittybitty out, whoever wrote the line?"""
    try:
        data = originals.content(path_of(place, name))
    except OSError:
        return False
    return data is not None and any(line.strip() in SAME for line in data.splitlines())


def in_checkout(place: paths.Place) -> bool:
    """False for the folder that holds a bare repository: no git looks at what lies there."""
    return disk.exists(place.root + "/.git")


def add(place: paths.Place) -> bool:
    """True when a line was added to .git/info/exclude. Untracked is a nuisance, not a loss: `ib doctor` tells."""
    if not in_checkout(place) or says(place, EXCLUDE) or says(place, GITIGNORE):
        return False
    try:
        originals.add(place, EXCLUDE, path_of(place), LINE)
    except OSError:
        return False
    return True


def add_to_gitignore(place: paths.Place) -> bool:
    """True when a line was added to the tracked .gitignore; ours in .git/info/exclude then goes."""
    added = in_checkout(place) and not says(place, GITIGNORE)
    if added:
        originals.add(place, GITIGNORE, path_of(place, GITIGNORE), LINE[1:])
    originals.give_back(place, EXCLUDE, path_of(place))
    return added


def add_file(place: paths.Place, line: str) -> None:
    originals.add(place, FILE, path_of(place), line)


def remove_file(place: paths.Place) -> originals.Touched | None:
    """What was noted; None also where the note on the line for .ittybitty, made earlier, speaks for both."""
    noted = originals.give_back(place, FILE, path_of(place))
    first = originals.known(place, EXCLUDE, path_of(place))
    if noted is not None and noted.before is not None:
        noted.before = noted.before.replace(SETTINGS_LINE.encode() + b"\n", b"")  # ours too, and gone by then
    return noted if first is None or noted is None or noted.before != (first.before or b"") + first.added else None


def add_settings(place: paths.Place) -> bool:
    """False when it could not be written, and git shows the file."""
    try:
        originals.add(place, SETTINGS, path_of(place), SETTINGS_LINE)
    except OSError:
        return False
    return True


def has_settings(place: paths.Place) -> bool:
    return originals.known(place, SETTINGS, path_of(place)) is not None


def remove_settings(place: paths.Place) -> None:
    originals.give_back(place, SETTINGS, path_of(place))


def remove(place: paths.Place) -> list[originals.Touched]:
    """Take our lines out again. Returns what was noted of each file that we had touched."""
    for name in (SETTINGS, FILE):  # the youngest first, so that each finds what it noted
        originals.give_back(place, name, path_of(place))
    given_back = [originals.give_back(place, name, path_of(place, name)) for name in BOTH]
    return [noted for noted in given_back if noted is not None]
