"""People save while the node is rewritten back to back: a twentieth of what bench/saves.py runs. No save is lost."""

import json
import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tests.savers import START, body
from tests.sweeps import spread

SAVES = {"editor": 100, "append": 100, "truncate": 100, "hold": 5}
SIZES, LEASES = ("same", "mixed"), (True, False)
MOUNT = 'mount --bind "$1" "$1" && shift && exec "$@"'


def storm(path: Path, style: str, *before: str, **words: object) -> dict[str, object]:
    of = {"path": str(path), "style": style, "saves": SAVES[style], **words}
    argv = [*before, sys.executable, "-m", "tests.savers", "storm", json.dumps(of)]
    done = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    tally: dict[str, object] = json.loads(done.stdout)
    return tally


@pytest.mark.sweep
@pytest.mark.parametrize(("style", "sizes", "leases"), spread([*product(SAVES, SIZES, LEASES)], 6))
def test_no_save_is_lost(tmp_path: Path, style: str, sizes: str, leases: bool) -> None:
    tally = storm(tmp_path / "CLAUDE.md", style, sizes=sizes, leases=leases)

    assert (tally["lost"], tally["corrupt"]) == (0, 0), tally
    assert tally["edits"]


@pytest.mark.parametrize("style", ["append", "truncate"])
def test_no_save_of_a_mounted_file_is_lost(tmp_path: Path, style: str) -> None:
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("no name spaces for mounts here")
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(START % body(0, 1024))

    tally = storm(path, style, "unshare", "-m", "sh", "-c", MOUNT, "sh", str(path))

    assert (tally["lost"], tally["corrupt"]) == (0, 0), tally
    assert "exchanged" not in dict(tally["edits"])  # type: ignore[call-overload]
    assert set(os.listdir(str(path) + ".desk")) <= {"looking"}
