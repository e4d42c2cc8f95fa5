"""The user's rules about screens: ~/.ittybitty/screens.toml and .ittybitty/screens.toml of the repository."""

import os
import stat

from ibstatus.rules import screen_rules
from ibstatus.rules.screen_rules import Broken, Rules
from ibstatus.store import config, disk, places

NAME = "/screens.toml"
SHIPPED = os.path.join(os.path.dirname(screen_rules.__file__), "screens.toml")  # its head tells the form
LARGEST = 256 * 1024

Seen = tuple[int, int, int, int]
kept: dict[str, tuple[Seen | None, Rules]] = {}
together: dict[tuple[Rules, ...], Rules] = {}


def of(place: places.Place | None) -> Rules:
    """The repository's before the user's before ours. Never fails: what is wrong is left out and stands in `broken`."""
    layers = tuple(layer for path in paths(place) if (layer := load(path)) is not None)
    if not layers:
        return screen_rules.built_in()
    if layers not in together:
        together.clear()
        together[layers] = screen_rules.joined(layers)
    return together[layers]


def problems(place: places.Place | None) -> list[str]:
    """A sentence for each file or rule that is left out; for `ib doctor`."""
    return [f"{broken}; it is left out" for broken in of(place).broken]


def paths(place: places.Place | None) -> list[str]:
    home = config.home_folder()
    found = [place.home + NAME] if place else []
    user = home + "/.ittybitty" + NAME
    return [*found, user] if home and user not in found else found


def load(path: str) -> Rules | None:
    """As it is now; read again only when the file is another one. None when there is none."""
    try:
        about = disk.stat(path)
        if not stat.S_ISREG(about.st_mode):
            return Rules((), (Broken(path, 0, "this is no file"),))
        seen = (about.st_ino, about.st_size, about.st_mtime_ns, about.st_dev)
        if path in kept and kept[path][0] == seen:
            return kept[path][1]
        rules = read(path, about.st_size)
    except (FileNotFoundError, NotADirectoryError):
        kept.pop(path, None)
        return None
    except OSError as error:
        return Rules((), (Broken(path, 0, error.strerror or "it cannot be read"),))
    kept[path] = (seen, rules)
    return rules


def read(path: str, size: int) -> Rules:
    if size > LARGEST:
        return Rules((), (Broken(path, 0, f"it is larger than {LARGEST // 1024} kB"),))
    return screen_rules.parsed(disk.read_file(path), path)
