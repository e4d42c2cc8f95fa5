"""Programs on this machine: where they are, and which version they say they have."""

import shutil
import subprocess
from collections.abc import Sequence

from ibstatus.system.process import run

PATIENCE = 10.0


def path_of(program: str) -> str:
    """Where a shell would find it, or ''."""
    return shutil.which(program) or ""


def first_line(argv: Sequence[str]) -> str:
    """The first line that the program prints; '' when it is missing, fails or does not end."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.text(done.stdout).partition("\n")[0].strip() if done.returncode == 0 else ""
