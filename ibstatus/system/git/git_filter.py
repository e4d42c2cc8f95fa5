"""What git's filters make of a path: its attributes, the settings of a filter, and the object that would be stored."""

import os

from ibstatus.system.git.index import asked


def attributes(root: str, path: str, names: tuple[str, ...]) -> dict[str, str]:
    fields = os.fsdecode(asked(root, "check-attr", "-z", *names, "--", path).out).split("\0")
    return dict(zip(fields[1::3], fields[2::3], strict=False))


def settings(root: str, name: str) -> list[tuple[str, str]]:
    """(key, value) of everything that is set for this filter, wherever it is set; the last one of a key counts."""
    done = asked(root, "config", "-z", "--get-regexp", rf"^filter\.{name}\.")
    pairs = [record.partition("\n") for record in os.fsdecode(done.out).split("\0") if record]
    return [(key, value) for key, _, value in pairs]


def digest(root: str, path: str, data: bytes, without: str = "") -> str:
    """The name of the object that git would store for this content; `without` leaves the filter of that name out."""
    aside = ("-c", f"filter.{without}.clean=cat") if without else ()
    return asked(root, *aside, "hash-object", f"--path={path}", "--stdin", data=data).line


def top_of(folder: str) -> str:
    """The root of the checkout that this folder belongs to, or ''."""
    return asked(folder, "rev-parse", "--show-toplevel").line
