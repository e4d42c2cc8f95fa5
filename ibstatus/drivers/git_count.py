"""How many commits there are, asked quickly or not at all."""

import os
import subprocess

from ibstatus.drivers import git

PATIENCE = 0.2


def since(folder: str, base: str, branch: str) -> int:
    """0 as well when git does not say so at once."""
    if not base or base.startswith("-"):
        return 0
    env = {key: value for key, value in os.environ.items() if key not in git.POINTERS}
    argv = ["git", "rev-list", "--count", f"{base}..refs/heads/{branch}", "--"]
    try:
        done = subprocess.run(
            argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip().isdigit() else 0
