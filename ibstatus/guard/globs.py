"""Paths with marks in them: which files a pattern matches now, and whether `..` stands behind what is not known."""

from ibstatus.guard.shell_values import ANY, ONE, SET, STAR, UNKNOWN
from ibstatus.system import wildcards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 200


def is_pattern(text: str) -> bool:
    return STAR in text or ONE in text or SET in text


def expanded(path: str, entries: "Callable[[str], list[str]]") -> list[str]:
    """The paths there are for an absolute path with patterns; [] without a pattern, or when none matches."""
    if not is_pattern(path):
        return []
    found = [""]
    for part in path.split("/")[1:]:
        if is_pattern(part):
            found = [f"{folder}/{name}" for folder in found for name in matching(part, entries(folder or "/"))][:MOST]
        else:
            found = [f"{folder}/{part}" for folder in found]
    return found


def matching(part: str, names: list[str]) -> list[str]:
    """A set of letters counts as any one letter, so that none is left out."""
    hidden = part.startswith(".")
    pattern = loose(part)
    return [
        name
        for name in names
        if (hidden or not name.startswith(".")) and wildcards.matches(pattern, name, star=STAR, one=ONE)
    ]


def loose(part: str) -> str:
    """`[…]` as `?`; what is in the brackets may hold a bracket itself, so from there on anything goes."""
    before, mark, after = part.partition(SET)
    return (
        before + STAR + (STAR if ANY in after else "") + after.rpartition("]")[2] if mark else before.replace(ANY, STAR)
    )


def climbs(path: str) -> bool:
    """Can `..` lead anywhere here: behind something that is not known, or made of it?"""
    unsure = False
    for part in path.split("/"):
        if part == "..":
            if unsure:
                return True
            continue
        if UNKNOWN in part:
            return True
        if ANY in part or is_pattern(part):
            unsure = unsure or ANY in part
            bare = part.replace(ANY, "")
            if part != ANY and not bare.strip("."):
                return True
            if is_pattern(part) and part.startswith(".") and wildcards.matches(loose(part), "..", star=STAR, one=ONE):
                return True
    return False


def filled(path: str) -> str:
    """With a name for every mark: a path like those that it can be."""
    for mark in (ANY, STAR, ONE, SET):
        path = path.replace(mark, "any")
    return path
