"""What hooks keep of each session under notify/, beside its cursor; sessions that were killed leave it behind."""

from ibstatus.project import paths
from ibstatus.system import atomic, disk

FOLDERS = ("standing", "seen", "rungs", "turns", "waiters")
OLD = 14 * 86400.0


def sweep(place: paths.Place, now: float) -> None:
    """Never fails. A session is as young as the youngest of its files."""
    found: dict[str, list[tuple[str, float]]] = {}
    for name in FOLDERS:
        folder = f"{place.home}/notify/{name}"
        try:
            for leaf in disk.listdir(folder):
                path = f"{folder}/{leaf}"
                found.setdefault(leaf, []).append((path, disk.lstat(path).st_mtime))
        except OSError:
            continue
    for files in found.values():
        if all(now - at > OLD for _, at in files):
            for path, _ in files:
                atomic.forget(path)
