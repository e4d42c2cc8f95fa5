"""user-messages.json and user-questions.json: a JSON list, replaced whole, with a copy under the git directory."""

import time

from ibstatus.errors import DiskError
from ibstatus.project import paths, safety_copy
from ibstatus.system import atomic, disk, jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Item = dict[str, Any]


class Loaded:
    """The items, and what there is to say about the file."""

    __slots__ = ("items", "note")

    def __init__(self, items: "list[Item]", note: str = "") -> None:
        self.items = items
        self.note = note


def load(place: paths.Place, path: str, key: str = "") -> Loaded:
    """For a look: nothing is changed, a broken file is told and its copy read instead."""
    data = present(place, path)
    if data is None:
        return Loaded([])
    items = parsed(data, key)
    if items is not None:
        return Loaded(items)
    return Loaded(from_copy(place, path, key), f"{leaf(path)} is broken; shown is its last good copy")


def load_to_change(place: paths.Place, path: str, key: str = "") -> Loaded:
    """For a writer, who holds the lock: a broken file is set aside, never emptied, and the copy goes on."""
    try:
        data = disk.read_file(path)
    except FileNotFoundError:
        return rescued(place, path, key, "")
    items = parsed(data, key)
    return rescued(place, path, key, set_aside(path)) if items is None else Loaded(items)


def rescued(place: paths.Place, path: str, key: str, aside: str) -> Loaded:
    """What the copy holds, since the file is gone, or broken and set `aside`. A broken copy is set aside as well."""
    data = safety_copy.read_copy(place, path)
    items = parsed(data, key) if data is not None else []
    kept = [aside] if aside else []
    if items is None:
        kept.append(set_aside(place.safe_copy(path)))
    if not kept:
        return Loaded(items or [])
    count = len(items or [])
    return Loaded(
        items or [], f"{leaf(path)} was broken: it is kept as {' and '.join(kept)}, and {count} from its copy go on"
    )


def set_aside(path: str) -> str:
    from ibstatus.system import folders

    aside = folders.free_name(f"{path}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}")
    disk.rename(path, aside)
    return aside


def save(
    place: paths.Place, path: str, items: "list[Item]", owed: "Callable[[list[Item]], bool]", key: str = ""
) -> str:
    """Store the items, then carry out what they still owe and store that it is done; then bring the copy up to date.

    Killed in between, the next writer finds what is owed in the file. `owed` returns True when it changed an item.
    Once stored, the items are accepted: what fails then is said, not raised, or a second try would double them."""
    data = form(items, key)
    atomic.put(path, data)
    said = ""
    try:
        if owed(items):
            data = form(items, key)
            atomic.put(path, data)
    except (OSError, DiskError) as error:
        why = getattr(error, "strerror", "") or error
        said = f"it is kept, but nobody was told yet ({why}); the next writer does that"
    safety_copy.keep_copy(place, path, data)
    return said


def form(items: "list[Item]", key: str) -> bytes:
    text = jsonl.items(items)
    if key:
        text = "{" + jsonl.encode(key) + ": " + text.rstrip("\n") + "}\n"
    return text.encode()


def present(place: paths.Place, path: str) -> bytes | None:
    try:
        return disk.read_file(path)
    except FileNotFoundError:
        return safety_copy.read_copy(place, path)


def parsed(data: bytes, key: str) -> "list[Item] | None":
    """None when this is no list of objects (also accepted: the list alone where it should stand under a key)."""
    try:
        value = jsonl.decode(data.decode())
    except ValueError:
        return None
    if key and isinstance(value, dict):
        value = value.get(key)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return None
    return value


def from_copy(place: paths.Place, path: str, key: str) -> "list[Item]":
    data = safety_copy.read_copy(place, path)
    return (parsed(data, key) if data is not None else None) or []


def leaf(path: str) -> str:
    return path.rpartition("/")[2]
