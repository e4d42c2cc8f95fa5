"""The client's own Bash sandbox: with the settings of an agent its mail reaches the root, and its rules stay shut."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.agents import settings
from ibstatus.claude.hooks import agent_settings
from ibstatus.project import agent_meta, home
from tests.conftest import git
from tests.peers.client import Client
from tests.peers.messages_api import MessagesApi
from tests.peers.test_hook_answers import bash

pytestmark = pytest.mark.peer

ON = {"enabled": True, "autoAllowBashIfSandboxed": True}
PROGRAM = (sys.executable, "/opt/ib/ibstatus/hooks/stub.py")
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

    def one(command: str, shipped: bool, **more: object) -> str:
        others = tuple(agent_meta.names_of(repo))
        keys = settings.keys_below(str(claude.home))
        me = agent_settings.Agent("worker-1", "worker", repo.root, repo.common, keys=keys, others=others)
        sandbox = {**ON, **(agent_settings.sandbox(me, {}, PROGRAM, "") if shipped else {})}
        api.turns[:] = [bash(command, **more)]
        with tempfile.TemporaryDirectory(prefix="ib-", dir="/tmp") as short:  # the sandbox makes sockets there
            words = ("--settings", json.dumps({"sandbox": sandbox}))
            assert claude.run(worktree, "Go.", *words, mode="default", TMPDIR=short).code == 0
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
        f"mv {path.parent} {path.parent}.away",
    )
    for attempt in tries:
        Path(repo.agent_dir("worker-1"), "repo", "try.sh").write_text(f"{attempt}\necho inside $SANDBOX_RUNTIME\n")
        assert "inside 1" in run("sh try.sh", shipped=True)
        assert path.read_text() == "{}", attempt


def test_it_reaches_its_manager(run, agent, repo) -> None:
    agent(repo, "boss")

    assert "code=0" in run(SEND.replace("user-claude", "boss"), shipped=True)

    assert "May I?" in Path(repo.agent_dir("boss"), "inbox.jsonl").read_text()


def test_git_and_the_log_work(run, repo) -> None:
    ib = f"{sys.executable} -m ibstatus"
    git(repo.root, "config", "user.name", "Test")
    git(repo.root, "config", "user.email", "test@example.invalid")
    said = run(
        "echo new > new.txt && git add new.txt && git commit -qm new && git checkout -q -b agent/try && "
        f"git rebase -q HEAD~1 && {ib} log hello && {ib} list && echo code=$?",
        shipped=True,
    )

    assert "code=0" in said
    assert "new" in git(repo.root, "log", "--format=%s", "agent/try")


def test_the_checkout_keys_and_other_agents_stay_shut(run, agent, repo, claude: Client) -> None:
    other = agent(repo, "worker-2")
    (claude.home / ".ssh").mkdir()
    key, secret, made = claude.home / ".ssh/id", Path(repo.root, "secret.txt"), other / "made"
    key.write_text("SECRET")
    secret.write_text("SECRET")
    copy = Path(repo.safe, "agents/worker-1/meta.json")
    copy.parent.mkdir(parents=True)
    os.link(repo.agent_dir("worker-1") + "/meta.json", copy)

    said = run(
        f"cat {key}; cat {secret}; touch {made}; echo x > {copy}; touch {repo.root}/made; echo end", shipped=True
    )

    assert "end" in said
    assert "SECRET" not in said
    assert not made.exists()
    assert not Path(repo.root, "made").exists()
    assert copy.read_text() == "{}"


def test_it_cannot_be_left_out(run, repo, api, claude: Client) -> None:
    Path(repo.agent_dir("worker-1"), "repo", "try.sh").write_text(f"touch {repo.root}/made\n")

    run("sh try.sh", shipped=True, dangerouslyDisableSandbox=True)

    assert not Path(repo.root, "made").exists()
