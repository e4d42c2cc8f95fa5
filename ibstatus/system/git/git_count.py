"""How many commits there are, asked quickly or not at all."""

import subprocess

from ibstatus.errors import IbError
from ibstatus.system.git import start as git_start

PATIENCE = 0.2


def since(folder: str, base: str, branch: str) -> int:
    """0 as well when git does not say so at once."""
    if not base or base.startswith("-"):
        return 0
    try:
        start = git_start.prepared(folder, "rev-list", "--count", f"{base}..refs/heads/{branch}", "--")
        done = subprocess.run(
            start.argv,
            cwd=folder,
            env=start.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, IbError):
        return 0
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip().isdigit() else 0
