"""The real Claude Code client: where it is, and one run of it against the scripted API."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import psutil

CHOSEN = os.environ.get("CLAUDE_BIN", "")  # another client; read before the tests get an environment of their own
KEPT = ("PATH", "LANG", "TZ")
KEY = "sk-no-key-of-anybody-at-all"
QUIET = {
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "IS_SANDBOX": "1",  # root may not skip permissions otherwise
    "IB_SUPERVISOR": "off",
}


def binary() -> Path | None:
    """The wheel `claude-agent-sdk` carries it; CLAUDE_BIN names another one."""
    if CHOSEN:
        return Path(CHOSEN)
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
        "ANTHROPIC_API_KEY": KEY,
    }


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Client(NamedTuple):
    binary: Path
    home: Path
    url: str

    def settle_in(self, trusted: Path) -> None:
        """The questions of a first start are answered: the theme, the key, everything below `trusted`, bypass mode."""
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {
                str(folder): {"hasTrustDialogAccepted": True}
                for folder in (trusted.resolve(), *(trusted.resolve() / name for name in ("repo", "project")))
            },
        }
        (self.home / ".claude").mkdir(parents=True)
        (self.home / ".claude.json").write_text(json.dumps(known))
        (self.home / ".claude" / "settings.json").write_text('{"skipDangerousModePermissionPrompt": true}')

    def run(
        self, cwd: Path, prompt: str, *args: str, mode: str = "acceptEdits", seconds: float = 60, **env: str
    ) -> Ran:
        """`claude -p`: the turns are played to their end."""
        done = subprocess.run(
            [self.binary, "-p", "--permission-mode", mode, *args, prompt],
            cwd=cwd,
            env={**environment(self.home, self.url), **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def processes(self) -> list[psutil.Process]:
        """Everything that lives in this home: the client, its hooks, its tools, what is left of them."""
        return [process for process in psutil.process_iter() if home_of(process) == str(self.home)]

    def end_all(self) -> None:
        """Until nothing is left: a process that is about to end may start another one."""
        while left := self.processes():
            for process in left:
                try:
                    process.kill()
                except psutil.Error:
                    continue
            psutil.wait_procs(left, timeout=1)


def home_of(process: psutil.Process) -> str:
    try:
        return str(process.environ().get("HOME", ""))
    except (psutil.Error, OSError):
        return ""


def main() -> int:
    """For `make peers`: name the client, or fail where its tests would only be skipped."""
    path = binary()
    if path is None:
        print("Error: The real client is missing. Hint: pip install '.[peer]'", file=sys.stderr)
        return 1
    return subprocess.run([path, "--version"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
