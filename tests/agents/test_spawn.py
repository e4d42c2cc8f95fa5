"""new-agent: an agent stands as a whole, or nothing of it does."""

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ibstatus.agents import spawn
from ibstatus.errors import IbError
from ibstatus.project import home, operations, paths
from ibstatus.system import locks
from tests import killed
from tests.children import is_alive
from tests.conftest import Done, git, make_agent, make_repo, run_ib
from tests.sweeps import spread
from tests.until import until

WHEN_TOLD = "#!/bin/sh\nwhile [ ! -e '{}' ]; do sleep 0.1; done\n"


@pytest.fixture
def client(tmp_path: Path, tmux: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A client that does nothing but note how it was started; its name is in IB_CLAUDE."""
    path = tmp_path / "a client's"
    words, env = shlex.quote(str(tmp_path / "words")), shlex.quote(str(tmp_path / "env"))
    path.write_text(
        f'#!/bin/sh\nfor word in "$@"; do printf "%s\\0" "$word"; done > {words}\n'
        f"env -0 > {env}.new; mv {env}.new {env}\nexec sleep 600\n"
    )
    path.chmod(0o755)
    monkeypatch.setenv("IB_CLAUDE", str(path))
    return tmp_path


def words(client: Path) -> list[str]:
    until((client / "env").exists)
    return (client / "words").read_text().split("\0")[:-1]


def environment(client: Path) -> dict[str, str]:
    words(client)
    return dict(line.split("=", 1) for line in (client / "env").read_text().split("\0") if "=" in line)


def everything(place: paths.Place) -> tuple[str, str, list[str], list[str]]:
    """All that a spawn could leave: refs, worktrees, folders, safety copies."""
    folders = [Path(place.home, "agents"), Path(place.safe, "agents"), Path(place.safe, "operations")]
    left = [str(path) for folder in folders if folder.exists() for path in sorted(folder.iterdir())]
    return git(place.root, "for-each-ref"), git(place.root, "worktree", "list"), left, []


def test_it_prints_the_id_alone_and_the_agent_stands(ib, repo, client: Path, tmux) -> None:
    done = ib("new-agent", "--name", "w1", "--worker", "--model", "sonnet", "Do it,", "'now'")

    assert (done.code, done.out, done.err) == (0, "w1\n", "")
    folder = Path(repo.agent_dir("w1"))
    meta = json.loads((folder / "meta.json").read_text())
    assert git(folder / "repo", "symbolic-ref", "HEAD") == "refs/heads/agent/w1\n"
    assert meta["tmux_session"] in tmux("list-sessions", "-F", "#{session_name}").split()
    given = words(client)
    assert given[:6] == [
        "--session-id",
        meta["session_id"],
        "--settings",
        str(folder / "settings.local.json"),
        "--permission-mode",
        "default",
    ]
    assert given[6:9] == ["--model", "sonnet", "--"]
    assert given[9] == "<ittybitty>You are an IttyBitty worker agent.</ittybitty>\n\n[USER TASK]\nDo it, 'now'"
    assert (meta["prompt"], meta["worker"], meta["manager"], meta["base"]) == ("Do it, 'now'", True, None, "main")
    assert ib("list", "--json").json()[0]["state"] == "creating"
    assert "Agent created (prompt: Do it, 'now')" in (folder / "agent.log").read_text()
    assert git(repo.root, "status", "--short") == ""
    assert git(folder / "repo", "status", "--short") == ""


def test_its_secrets_are_its_own(ib, repo, client: Path) -> None:
    assert ib("new-agent", "--name", "w1", "task").code == 0

    token = Path(repo.agent_dir("w1"), "token")
    known = environment(client)
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert stat.S_IMODE(token.parent.stat().st_mode) == 0o700
    assert (known["IB_AGENT_ID"], known["IB_AGENT_TOKEN"]) == ("w1", token.read_text().strip())


def test_the_callers_environment_reaches_it_whoever_started_the_server(ib, client: Path, tmux) -> None:
    tmux("new-session", "-d", "-s", "other", "sleep 600")
    env = {
        "MY_KEY": "a 'b' $c",
        "CLAUDE_CONFIG_DIR": str(client / "cfg"),
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": "s",
    }

    assert ib("new-agent", "--name", "w1", "task", env=env).code == 0

    known = environment(client)
    assert (known["MY_KEY"], known["CLAUDE_CONFIG_DIR"]) == ("a 'b' $c", str(client / "cfg"))
    assert {"CLAUDECODE", "CLAUDE_CODE_SESSION_ID"}.isdisjoint(known)
    assert known["PWD"].endswith("/agents/w1/repo")


@pytest.mark.parametrize("name", ["repo", "a 'b' $c"])
def test_an_agent_that_has_lost_its_worktree_does_not_work_in_the_users_checkout(
    tmp_path: Path, client: Path, name: str
) -> None:
    """It lies inside of the repository, so git would go up to that one."""
    root = Path(make_repo(tmp_path / name).root)
    done = run_ib("new-agent", "--name", "w1", "task", cwd=root, env={"GIT_CEILING_DIRECTORIES": "/elsewhere"})
    assert done.code == 0, done.err
    known = environment(client)
    assert known["GIT_CEILING_DIRECTORIES"].endswith(":/elsewhere")
    worktree = Path(known["PWD"])
    (worktree / "deep").mkdir()

    def asked(folder: Path) -> subprocess.CompletedProcess[str]:
        argv = ["git", "rev-parse", "--show-toplevel"]
        return subprocess.run(argv, cwd=folder, env=known, capture_output=True, text=True)

    assert asked(worktree / "deep").stdout == f"{worktree}\n"
    (worktree / ".git").unlink()
    assert asked(worktree).returncode == 128
    assert asked(worktree / "deep").returncode == 128
    assert asked(root).stdout == f"{root}\n"


def configured(known: dict[str, str], folder: Path, key: str) -> str:
    argv = ["git", "config", "--get", key]
    return subprocess.run(argv, cwd=folder, env=known, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("given", [{}, {"GIT_CONFIG_COUNT": ""}, {"GIT_CONFIG_COUNT": "0"}, {
    "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "a 'b' $c",
    "GIT_CONFIG_KEY_1": "core.hooksPath", "GIT_CONFIG_VALUE_1": "mine",
}])  # fmt: skip
def test_its_git_runs_nothing_that_an_agent_can_write(ib, repo, client: Path, given: dict[str, str]) -> None:
    hook = Path(repo.root, ".git/hooks/pre-commit")
    hook.write_text(f"#!/bin/sh\ntouch '{client}/ran'\n")
    hook.chmod(0o755)
    assert ib("new-agent", "--name", "w1", "task", env=given).code == 0
    known = environment(client)
    worktree = Path(known["PWD"])
    disguised = worktree / "x"
    git(worktree, "init", "-q", "--bare", str(disguised))

    def run(*argv: str, cwd: Path = worktree) -> int:
        return subprocess.run(["git", *argv], cwd=cwd, env=known, capture_output=True).returncode

    assert run("commit", "--allow-empty", "-m", "x") == 0
    assert not (client / "ran").exists()
    assert run("rev-parse", "--git-dir", cwd=disguised) == 128
    assert run("status") == 0
    assert configured(known, worktree, "user.name") == given.get("GIT_CONFIG_VALUE_0", "")


def test_its_shell_is_bash(ib, client: Path) -> None:
    """The guard reads commands as bash does."""
    if not os.access("/bin/bash", os.X_OK):
        pytest.skip("there is no /bin/bash here")
    env = {"SHELL": "/bin/zsh", "CLAUDE_CODE_SHELL": "/bin/zsh"}

    assert ib("new-agent", "--name", "w1", "task", env=env).code == 0

    known = environment(client)
    assert known["SHELL"] == "/bin/bash"
    assert "CLAUDE_CODE_SHELL" not in known


def test_what_agents_carry_does_not_reach_other_agents(ib, repo, client: Path) -> None:
    lead = make_agent(repo, "lead")
    env = {"IB_AGENT_ID": "lead", "IB_AGENT_TOKEN": "x", "CLAUDECODE": "1"}

    assert ib("new-agent", "--name", "w1", "--worker", "task", cwd=lead, env=env).code == 0

    assert environment(client)["IB_AGENT_ID"] == "w1"
    assert json.loads(Path(repo.agent_dir("w1"), "meta.json").read_text())["manager"] == "lead"
    assert git(repo.root, "rev-parse", "agent/w1") == git(lead, "rev-parse", "HEAD")
    assert "Spawned worker subagent: w1 (prompt: task)" in Path(repo.agent_dir("lead"), "agent.log").read_text()


@pytest.mark.parametrize(
    "place", ["a path with 'quotes'", 'und "Ümlaut" $HOME', "semi;colon & more", "-dash", "new\nline", "#{pane_id}"]
)
def test_odd_paths(tmp_path: Path, client: Path, place: str) -> None:
    at = make_repo(tmp_path / "odd" / place)

    done = run_ib("new-agent", "--name", "w1", "task", cwd=at.root, env={"LC_ALL": "C"})

    assert (done.code, done.out) == (0, "w1\n"), done.err
    assert environment(client)["PWD"] == at.agent_dir("w1") + "/repo"


@pytest.mark.parametrize("name", ["-x", "a/b", "..", "A", "ä", "user", "a b", "x" * 41, "a.b", "$(reboot)"])
def test_names_are_judged_before_anything_is_made(ib, repo, client: Path, name: str) -> None:
    home.enter(repo)
    before = everything(repo)

    done = ib("new-agent", f"--name={name}", "task")

    assert done.code == 2
    assert "cannot be an agent's name" in done.err
    assert everything(repo) == before


REFUSED = {
    "no client": ({"IB_CLAUDE": "/nowhere/claude"}, (), "not on your PATH"),
    "no tmux": ({"PATH": ""}, (), "not"),
    "model": ({}, ("--model", "x; reboot"), "cannot be a model"),
    "long task": ({}, ("--prompt-file", "LONG"), "KB fit"),
    "no manager": ({}, ("--manager", "nobody"), "no agent 'nobody'"),
    "base": ({}, ("--base", "nowhere"), "no branch or commit 'nowhere'"),
    "dash base": ({}, ("--base=--all",), "no branch or commit"),
    "role": ({}, ("--role", "nobody"), "There is no role nobody"),
    "rule": ({}, ("--allow-tools", "Bash(x"), "no tool rule"),
    "taken": ({}, ("--name", "old"), "There is an agent old already"),
    "branch": ({}, ("--name", "left"), "There is a branch agent/left already"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_leaves_nothing(ib, repo, client: Path, case: str) -> None:
    env, args, text = REFUSED[case]
    home.enter(repo)
    make_agent(repo, "old")
    git(repo.root, "branch", "agent/left")
    (client / "LONG").write_text("x" * (1 << 20))
    if "PATH" in env:
        folder = client / "bin"
        folder.mkdir()
        (folder / "git").symlink_to(subprocess.run(["which", "git"], capture_output=True, text=True).stdout.strip())
        env = {"PATH": str(folder)}
    before = everything(repo)

    words = [arg.replace("LONG", str(client / "LONG")) for arg in args]
    done = ib("new-agent", *words, *([] if "--prompt-file" in words else ["task"]), env=env)

    assert done.code in (1, 2)
    assert text in done.err
    assert "Hint: " in done.err
    assert (done.out, everything(repo)) == ("", before)


def test_an_unborn_branch(tmp_path: Path, client: Path) -> None:
    git(tmp_path, "init", "-q", "fresh")

    done = run_ib("new-agent", "task", cwd=tmp_path / "fresh")

    assert done.code == 1
    assert "no commit yet" in done.err
    assert "git commit --allow-empty" in done.err


def test_a_detached_head_is_a_place_to_begin(ib, repo, client: Path) -> None:
    git(repo.root, "checkout", "-q", "--detach")

    assert ib("new-agent", "--name", "w1", "task").code == 0

    assert git(repo.root, "rev-parse", "agent/w1") == git(repo.root, "rev-parse", "HEAD")


@pytest.mark.parametrize("breaks", ["tmux", "announce", "settings", "hook"])
def test_a_failure_on_the_way_takes_everything_back(ib, repo, client: Path, breaks: str) -> None:
    home.enter(repo)
    before = everything(repo)
    if breaks == "tmux":
        (client / "bin").mkdir()
        (client / "bin/tmux").write_text('#!/bin/sh\ncase "$*" in *new-session*) echo no pty >&2; exit 1;; esac\n')
        (client / "bin/tmux").chmod(0o755)
        done = ib("new-agent", "task", env={"PATH": f"{client}/bin:{os.environ['PATH']}"})
    elif breaks == "announce":
        with open("/dev/full", "w") as full:
            ran = subprocess.run(
                [sys.executable, "-m", "ibstatus", "new-agent", "task"],
                cwd=repo.root, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
        done = Done(ran.returncode, "", ran.stderr)
    elif breaks == "settings":
        Path(repo.root, ".claude").mkdir()
        Path(repo.root, ".claude/settings.local.json").write_text("{broken")
        done = ib("new-agent", "task")
    else:
        hook = Path(repo.root, ".git/hooks/post-checkout")
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
        done = ib("new-agent", "task")

    assert done.code == 1, done
    assert done.out == ""
    assert everything(repo) == before


def test_twenty_at_once_and_ten_places(repo, client: Path) -> None:
    def one(number: int) -> Done:
        return run_ib("new-agent", "--name", f"w{number}", "task", cwd=repo.root)

    with ThreadPoolExecutor(20) as pool:
        ended = list(pool.map(one, range(20)))

    made = [done for done in ended if done.code == 0]
    refused = [done for done in ended if done.code == 1]
    assert (len(made), len(refused)) == (10, 10), [done.err for done in ended]
    assert all("maxAgents is 10" in done.err for done in refused)
    assert len(os.listdir(repo.home + "/agents")) == 10
    assert git(repo.root, "branch", "--list", "agent/*").count("agent/") == 10
    assert os.listdir(repo.safe + "/operations") == []


@pytest.mark.sweep
@pytest.mark.parametrize("at", spread(range(3, 120, 3), 8))
def test_killed_anywhere_the_next_command_mends_it(ib, repo, client: Path, tmux, at: int) -> None:
    home.enter(repo)
    before = everything(repo)

    ended = killed.run_ib(at, "new-agent", "--name", "w1", "task", cwd=repo.root)
    said = ib("list", "--json")

    assert said.code == 0, said.err
    if any(agent["id"] == "w1" for agent in said.json()):
        assert "-w1" in tmux("list-sessions")
        assert git(repo.root, "rev-parse", "agent/w1")
        assert os.listdir(repo.safe + "/operations") == []
    else:
        assert ended.code is None, ended.err
        assert everything(repo) == before
        assert "-w1" not in tmux("list-sessions")
        assert ib("new-agent", "--name", "w1", "task").code == 0


def held_checkout(place: paths.Place, folder: Path) -> tuple[Path, Path]:
    """A hook of the user holds the worktree up: (it has begun, it may go on)."""
    hook, there, go = Path(place.root, ".git/hooks/post-checkout"), folder / "there", folder / "go"
    hook.write_text(f"#!/bin/sh\ncd '{folder}' && touch there && while [ ! -e go ]; do sleep 0.1; done\n")
    hook.chmod(0o755)
    return there, go


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_before_it_has_said_the_id_nothing_is_left(repo, client: Path, number: int) -> None:
    home.enter(repo)
    before = everything(repo)
    there, go = held_checkout(repo, client)

    spawn = subprocess.Popen(
        [sys.executable, "-m", "ibstatus", "new-agent", "task"], cwd=repo.root, stdout=subprocess.PIPE, text=True
    )
    until(there.exists)
    spawn.send_signal(number)
    out, _ = spawn.communicate()
    go.touch()

    assert (spawn.returncode, out) == (130, "")
    assert everything(repo) == before


def test_worktreeinclude_brings_ignored_files(ib, repo, client: Path) -> None:
    root = Path(repo.root)
    (root / ".gitignore").write_text(".env*\nsecrets/\nbuild/\n")
    (root / ".worktreeinclude").write_text(".env*\nsecrets/\nfile.txt\nnot-ignored\n")
    (root / ".env").write_text("KEY=1\n")
    (root / "secrets").mkdir()
    (root / "secrets/a key ü").write_text("k")
    (root / "build").mkdir()
    (root / "build/big").write_text("b")
    (root / "not-ignored").write_text("n")

    assert ib("new-agent", "--name", "w1", "task").code == 0

    made = Path(repo.agent_dir("w1"), "repo")
    assert (made / ".env").read_text() == "KEY=1\n"
    assert (made / "secrets/a key ü").read_text() == "k"
    assert not (made / "build").exists()
    assert not (made / "not-ignored").exists()


def test_custom_prompts_and_roles(ib, repo, client: Path) -> None:
    prompts = Path(repo.home, "prompts")
    home.enter(repo)
    prompts.mkdir()
    (prompts / "all.md").write_text("---\nx: 1\n---\nBe brief.\n")
    (prompts / "worker.md").write_text("Test it.\n")
    agents = Path(repo.root, ".claude/agents")
    agents.mkdir(parents=True)
    (agents / "reviewer.md").write_text(
        "---\nname: reviewer\ntools: Read, Bash(npm test:*)\nmodel: opus\n---\nRead only.\n"
    )

    assert (
        ib("new-agent", "--name", "w1", "--worker", "--role", "reviewer", "--deny-tools", "Bash(rm:*)", "task").code
        == 0
    )

    folder = Path(repo.agent_dir("w1"))
    assert (folder / "prompt.txt").read_text() == (
        "<ittybitty>You are an IttyBitty worker agent.</ittybitty>\n\n[CUSTOM INSTRUCTIONS]\nBe brief.\n\n"
        "[CUSTOM WORKER INSTRUCTIONS]\nTest it.\n\n[CUSTOM REVIEWER INSTRUCTIONS]\nRead only.\n\n[USER TASK]\ntask\n"
    )
    rules = json.loads((folder / "settings.local.json").read_text())["permissions"]
    assert "Bash(npm test:*)" in rules["allow"]
    assert {"Write", "Edit", "WebFetch", "Bash(rm:*)"} <= set(rules["deny"])
    assert words(client)[6:8] == ["--model", "opus"]


def test_the_users_hook_hears_of_it(ib, repo, client: Path) -> None:
    home.enter(repo)
    hook = Path(repo.home, "hooks/post-create-agent")
    hook.parent.mkdir()
    hook.write_text(
        '#!/bin/sh\necho "$IB_AGENT_ID|$IB_AGENT_TYPE|$IB_AGENT_BRANCH|$IB_AGENT_PROMPT|$IB_AGENT_DIR"; pwd\nexit 3\n'
    )
    hook.chmod(0o755)

    assert ib("new-agent", "--name", "w1", "task").code == 0

    log = Path(repo.agent_dir("w1"), "agent.log")
    until(lambda: "exit code 3" in log.read_text())
    assert f"[post-create-agent] w1|manager|agent/w1|task|{repo.agent_dir('w1')}" in log.read_text()
    assert f"[post-create-agent] {repo.root}" in log.read_text()


def test_without_a_worktree(ib, repo, client: Path) -> None:
    assert ib("new-agent", "--name", "w1", "--no-worktree", "task").code == 0

    assert environment(client)["PWD"] == repo.root
    assert git(repo.root, "branch", "--list", "agent/*") == ""
    assert not Path(repo.agent_dir("w1"), "repo").exists()
    assert ib("list", "--json").json()[0]["id"] == "w1"


def test_the_end_of_a_session_is_noted_and_uncommitted_work_reported(ib, repo, client: Path, tmux) -> None:
    assert ib("new-agent", "--name", "w1", "task").code == 0
    words(client)
    worktree = Path(repo.agent_dir("w1"), "repo")
    (worktree / "new").write_text("work")

    tmux("kill-server")
    assert ib("status-watchdog", "--once").code == 0
    agent = ib("list", "--json").json()[0]

    assert (agent["state"], agent["reason"]) == ("waiting", "uncommitted")
    assert "1 uncommitted change" in Path(repo.agent_dir("w1"), "agent.log").read_text()


def test_a_client_that_ends_at_once_leaves_a_stopped_agent_with_its_reason(ib, repo, client: Path) -> None:
    go = client / "go"
    Path(os.environ["IB_CLAUDE"]).write_text(WHEN_TOLD.format(go) + "exit 7\n")

    assert ib("new-agent", "--name", "w1", "task").code == 0

    go.touch()
    until(lambda: ib("list", "--json").json()[0]["state"] == "stopped")
    assert ib("list", "--json").json()[0]["reason"] == "ended with exit code 7"


def test_a_bare_repository_with_worktrees_beside_it(repo, client: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    git(repo.root, "clone", "-q", "--bare", repo.root, str(project / ".bare"))
    git(project / ".bare", "worktree", "add", "-q", str(project / "main"), "main")

    done = run_ib("new-agent", "--name", "w1", "task", cwd=project / "main")

    assert (done.code, done.out) == (0, "w1\n"), done.err
    known = environment(client)
    assert known["PWD"].endswith("/agents/w1/repo")
    assert configured(known, Path(known["PWD"]), "core.hooksPath") == "/dev/null"
    assert run_ib("diff", "w1", cwd=known["PWD"], env=known).code == 0


def test_a_name_that_comes_back_meanwhile_is_taken(ib, repo, client: Path) -> None:
    """`ib undo` holds the agent's lock and brings it back while a spawn of the same name waits for it."""
    home.enter(repo)
    with operations.begin(repo, "undo", "foo") as undo:
        spawn = subprocess.Popen(
            [sys.executable, "-m", "ibstatus", "new-agent", "--name", "foo", "x"],
            cwd=repo.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        until(lambda: locks.is_held(repo.lock("spawn")))
        worktree = make_agent(repo, "foo")
        (worktree / "precious").write_text("work")
        undo.done()
    _, err = spawn.communicate()

    assert spawn.returncode == 1
    assert "foo" in err
    assert "already" in err  # an agent, or its branch, when it came between the two looks
    assert (worktree / "precious").read_text() == "work"
    assert git(repo.root, "rev-parse", "--verify", "agent/foo")
    assert operations.read(repo, "foo") == {}


def test_a_failure_takes_nothing_of_the_user_along(ib, repo, client: Path, tmp_path: Path) -> None:
    """A worktree of theirs on a disk that is away, and a branch that makes agent/… impossible."""
    git(repo.root, "worktree", "add", "-q", "--detach", str(tmp_path / "usb"))
    (tmp_path / "usb").rename(tmp_path / "away")
    git(repo.root, "branch", "agent")

    assert ib("new-agent", "--name", "foo", "x").code == 1

    (tmp_path / "away").rename(tmp_path / "usb")
    assert git(tmp_path / "usb", "status", "--short") == ""
    assert not Path(repo.agent_dir("foo")).exists()
    assert git(repo.root, "rev-parse", "--verify", "agent")


@pytest.mark.parametrize("standing", [True, False])
def test_what_has_worked_is_never_rolled_back(ib, repo, client: Path, tmux, standing: bool) -> None:
    """Killed after the session stood, and then its tmux server too."""
    assert ib("new-agent", "--name", "foo", "x").code == 0
    work = Path(repo.agent_dir("foo"), "repo/result.txt")
    work.write_text("work")
    made = {"made": ["folder", "worktree", "session"], "base_commit": git(repo.root, "rev-parse", "HEAD").strip()}
    with operations.begin(repo, "spawn", "foo", **made) as operation:
        if standing:
            operation.note(standing=True)
    tmux("kill-server")

    assert ib("list").code == 0

    assert work.read_text() == "work"
    assert ib("list", "--json").json()[0]["id"] == "foo"
    assert operations.read(repo, "foo") == {}


@pytest.mark.parametrize("kind", ["pause", "resume"])
def test_a_pause_or_resume_that_was_cut_off_is_finished(ib, repo, client: Path, kind: str) -> None:
    assert ib("new-agent", "--name", "foo", "x").code == 0
    with operations.begin(repo, kind, "foo"):
        pass  # killed here: its record stays

    said = ib("list")

    assert f"The {kind} of foo was cut off, and is finished now." in said.err
    assert (ib("list", "--json").json()[0]["state"] == "stopped") is (kind == "pause")
    assert ib("kill", "foo", "--force").code == 0


def test_a_session_that_was_renamed_split_and_filled_is_still_its_own(ib, repo, client: Path, tmux) -> None:
    assert ib("new-agent", "--name", "foo", "x").code == 0
    words(client)
    name = tmux("list-sessions", "-F", "#{session_name}").strip()
    tmux("rename-session", "-t", f"={name}", "mine")
    tmux("new-window", "-b", "-t", "=mine:", "sleep 600")
    tmux("split-window", "-b", "-t", "=mine:foo", "sleep 600")

    assert ib("resume", "foo").code == 1
    pid = ib("info", "foo", "--json").json()["now"]["pid"]
    assert "start.sh" in Path(f"/proc/{pid}/cmdline").read_text()
    assert ib("pause", "foo").code == 0
    until(lambda: not is_alive(pid))


def test_an_agent_gives_nobody_more_than_it_has(ib, repo, client: Path) -> None:
    lead = make_agent(repo, "lead")
    env = {"CLAUDECODE": "1"}

    for more in (("--no-worktree",), ("--allow-tools", "Bash")):
        done = ib("new-agent", "--worker", *more, "x", cwd=lead, env=env)
        assert (done.code, done.out) == (1, "")
        assert f"leave out {more[0]}" in done.err
    assert ib("new-agent", "--worker", "--deny-tools", "WebFetch", "x", cwd=lead, env=env).code == 0


def test_why_a_client_ended_at_its_start_can_be_seen(ib, repo, client: Path) -> None:
    go = client / "go"
    Path(os.environ["IB_CLAUDE"]).write_text(WHEN_TOLD.format(go) + "echo Cannot be used as root; exit 1\n")

    assert ib("new-agent", "--name", "foo", "x").code == 0

    go.touch()
    until(lambda: ib("list", "--json").json()[0]["state"] == "stopped")
    assert "Cannot be used as root" in ib("look", "foo").out
    log = Path(repo.agent_dir("foo"), "agent.log")
    until(lambda: "exit code 1: Cannot be used as root" in log.read_text())


@pytest.mark.skipif(sys.platform != "linux", reason="the file system wants UTF-8 there")
def test_a_path_that_is_no_text(client: Path, tmp_path: Path) -> None:
    at = make_repo(tmp_path / os.fsdecode(b"r\xff"))

    done = run_ib("new-agent", "--name", "foo", "x", cwd=at.root)

    assert done.code in (0, 1), done.err
    assert "bug" not in done.err


def test_what_may_still_come_to_life_is_said(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tmux that hangs does later what it was asked for; who tries again at once would have it done twice."""

    def hangs(operation: operations.Operation) -> None:
        raise IbError("tmux cannot be asked")

    home.enter(repo)
    monkeypatch.setattr(spawn, "roll_back", hangs)

    with operations.begin(repo, "spawn", "w") as operation, pytest.raises(IbError, match="may still come") as refused:
        spawn.take_back(operation)

    assert refused.value.cause == "tmux cannot be asked"
    assert "ib kill w" in refused.value.hint
