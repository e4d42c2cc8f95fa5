""".ittybitty/prompts/{all,<role>}.md of the root: what a project wants its agents told, without front matter."""

from ibstatus.project import names, paths
from ibstatus.system import disk

LONGEST = 1 << 20
EVERYBODY = "all"


def of(place: paths.Place, *roles: str) -> list[tuple[str, str]]:
    """(name, text) for everybody, then for these roles; what is missing, empty or unreadable is left out."""
    found = []
    for name in (EVERYBODY, *roles):
        text = text_of(place, name) if names.is_sender(name) else ""
        if text:
            found.append((name, text))
    return found


def text_of(place: paths.Place, name: str) -> str:
    try:
        data = disk.read_file(f"{place.home}/prompts/{name}.md")[:LONGEST]
    except OSError:
        return ""
    return without_front_matter(data.decode("utf-8", "replace").removeprefix("\ufeff")).strip()


def without_front_matter(text: str) -> str:
    """YAML between two lines of dashes, when the text begins with one."""
    lines = text.split("\n")
    if lines[0].rstrip() == "---":
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip() in ("---", "..."):
                return "\n".join(lines[number + 1 :])
    return text
