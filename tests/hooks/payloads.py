"""Recorded payloads of the real client, as an event of a repository."""

import json
from pathlib import Path
from typing import Any

from tests.conftest import PROJECT
from tests.sweeps import SOAK

FOLDER = PROJECT / "fixtures" / "hook-payloads"
ALL = sorted(FOLDER.glob("*/*.json"))
FIRST = {path.stem.partition(".")[0]: path for path in reversed(ALL)}  # one of each event
SOME = ALL if SOAK else sorted(FIRST.values())


def recorded(name: str, version: str = "2.1.326", **more: Any) -> dict[str, Any]:
    """`more` takes the place of what was recorded."""
    value: dict[str, Any] = json.loads((FOLDER / version / f"{name}.json").read_text())
    return {**value, **more}


def ident(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"
