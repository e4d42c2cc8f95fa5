"""What hooks keep of each session under notify/, beside its cursor; sessions that were killed leave it behind."""

from ibstatus.store import atomic, disk, places

FOLDERS = ("standing", "seen", "rungs", "turns", "waiters")
OLD = 14 * 86400.0


def sweep(place: places.Place, now: float) -> None:
    """Never fails; what is in use was touched lately."""
    for name in FOLDERS:
        folder = f"{place.home}/notify/{name}"
        try:
            for leaf in disk.listdir(folder):
                if now - disk.lstat(f"{folder}/{leaf}").st_mtime > OLD:
                    atomic.forget(f"{folder}/{leaf}")
        except OSError:
            continue
