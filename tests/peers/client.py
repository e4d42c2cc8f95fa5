"""The real Claude Code client: where it is, and one run of it against the scripted API."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

KEPT = ("PATH", "LANG", "TZ")
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}


def binary() -> Path | None:
    """The wheel `claude-agent-sdk` carries it."""
    found = importlib.util.find_spec("claude_agent_sdk")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / "_bundled" / "claude"
    return path if os.access(path, os.X_OK) else None


def environment(home: Path, url: str) -> dict[str, str]:
    """Nothing of the machine's own; whatever would leave it goes to `url` as its proxy."""
    kept = {key: os.environ[key] for key in KEPT if key in os.environ}
    proxies = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "NO_PROXY": "127.0.0.1"}
    return {
        **kept,
        **QUIET,
        **proxies,
        "HOME": str(home),
        "TMPDIR": str(home),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "not-a-key",
    }


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Client(NamedTuple):
    binary: Path
    home: Path
    url: str

    def run(self, cwd: Path, prompt: str, *args: str) -> Ran:
        """`claude -p`: the turns are played to their end."""
        done = subprocess.run(
            [self.binary, "-p", "--permission-mode", "acceptEdits", *args, prompt],
            cwd=cwd,
            env=environment(self.home, self.url),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


def main() -> int:
    """For `make peers`: name the client, or fail where its tests would only be skipped."""
    path = binary()
    if path is None:
        print("Error: The real client is missing. Hint: pip install '.[peer]'", file=sys.stderr)
        return 1
    return subprocess.run([path, "--version"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
