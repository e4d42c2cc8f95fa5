"""The client's own Bash sandbox: with the settings of an agent its mail reaches the root, and its rules stay shut."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.rules import agent_settings
from ibstatus.store import home
from tests.peers.client import Client
from tests.peers.messages_api import MessagesApi
from tests.peers.test_hook_answers import bash

pytestmark = pytest.mark.peer

ON = {"enabled": True, "autoAllowBashIfSandboxed": True, "allowUnsandboxedCommands": False}
SEND = f"{sys.executable} -m ibstatus send user-claude '? May I?'; echo code=$?"
RULES = ("settings.local.json", "meta.json")


@pytest.fixture(autouse=True)
def able() -> None:
    if not all(map(shutil.which, ("bwrap", "socat"))):
        pytest.skip("the client's sandbox needs bwrap and socat")
    tried = subprocess.run(["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip(f"bwrap cannot run here: {tried.stderr.decode().strip()}")


@pytest.fixture
def run(repo, agent, api: MessagesApi, claude: Client) -> Callable[..., str]:
    """What a command of the agent says, in the sandbox. `shipped`: with what is written into an agent's settings."""
    home.enter(repo)
    worktree: Path = agent(repo, "worker-1")
    for name in RULES:
        (worktree.parent / name).write_text("{}")

    def one(command: str, shipped: bool) -> str:
        me = agent_settings.Agent("worker-1", "worker", repo.root, repo.common)
        sandbox = {**ON, **(agent_settings.sandbox(me, {}, "") if shipped else {})}
        api.turns[:] = [bash(command)]
        with tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp") as short:  # the sandbox makes sockets there
            more = ("--settings", json.dumps({"sandbox": sandbox}))
            assert claude.run(worktree, "Go.", *more, mode="default", TMPDIR=short).code == 0
        [(_, said)] = api.shown[-1].results
        assert "Sandbox is enabled but failed" not in said
        return said

    return one


def test_without_the_setting_a_message_is_refused_and_says_why(run, repo) -> None:
    said = run(SEND, shipped=False)
    assert "code=1" in said
    assert "sandbox.filesystem.allowWrite" in said
    assert not Path(repo.messages).exists()


def test_with_the_setting_it_reaches_the_root(run, repo) -> None:
    said = run(SEND, shipped=True)
    assert "code=0" in said
    [message] = json.loads(Path(repo.messages).read_text())
    assert (message["from"], message["content"], message["queued"]) == ("worker-1", "May I?", True)
    assert message["id"] in Path(repo.queue).read_text()


@pytest.mark.parametrize("rule", RULES)
def test_its_own_rules_stay_shut(run, repo, rule: str) -> None:
    """A file that may not be written, below a folder that may: no wins."""
    path = Path(repo.agent_dir("worker-1"), rule)
    tries = (
        f"echo changed > {path}",
        f"rm -f {path}",
        f"mv {path} {path}.away",
        f"echo changed > {path}.new; mv {path}.new {path}",
    )
    for attempt in tries:
        Path(repo.agent_dir("worker-1"), "repo", "try.sh").write_text(f"{attempt}\necho inside $SANDBOX_RUNTIME\n")
        assert "inside 1" in run("sh try.sh", shipped=True)
        assert path.read_text() == "{}", attempt
