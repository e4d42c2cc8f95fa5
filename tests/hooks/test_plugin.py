"""The repository as a plugin: what its hooks start, found or not, whole or broken, and never twice."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ibstatus
from ibstatus.claude import hooks_installed
from ibstatus.claude.hooks import command_lines, events
from ibstatus.cli import app
from ibstatus.errors import quoted
from ibstatus.hooks import entry
from ibstatus.model import constants
from ibstatus.project import home, identity, paths
from ibstatus.setup import hooks
from tests.conftest import PROJECT, make_agent
from tests.hooks.test_command_lines import MEGABYTE, PAYLOAD, SHELLS, Ended, run

RUN = PROJECT / "hooks" / "run"
STUB = str(PROJECT / "ibstatus" / "hooks" / "stub.py")
PERSON = identity.Caller(identity.PERSON, "user")
BELLS = ("wait-for-news", "queue-changed")
QUIET = sorted({want.hook for want in events.wanted_by_plugin()} - set(BELLS))
shells = pytest.mark.parametrize("shell", SHELLS)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home, and in it the file that says which ib it is."""
    folder = tmp_path / "home"
    file = folder / ".local/state/ib/program"
    file.parent.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    return file


def environment(**more: str) -> dict[str, str]:
    """Of a client with the plugin, in a pane of a tmux that is gone."""
    tmux = {"TMUX": "/nowhere/tmux,1,0", "TMUX_PANE": "%1"}
    return {**os.environ, **tmux, "CLAUDE_PLUGIN_ROOT": str(PROJECT), **more}


def line_of(hook: str) -> str:
    """As it stands in hooks/hooks.json."""
    found = next(want for want in events.wanted_by_plugin() if want.hook == hook)
    return str(found.value["command"])


def scripted(state: Path, text: str) -> None:
    """A program that does what a test wants."""
    python, stub = state.parent / "a python", state.parent / "a stub"
    python.write_text("#!/bin/sh\n" + text + "\n")
    python.chmod(0o755)
    stub.write_text("")
    assert hooks.write((str(python), str(stub)))


class TestManifest:
    def test_hooks_are_those_that_an_install_would_make(self) -> None:
        """Made anew by: {"description": …, "hooks": as_values(wanted_by_plugin())}, indented by two blanks."""
        told = json.loads((PROJECT / "hooks/hooks.json").read_text())

        assert told["hooks"] == events.as_values(events.wanted_by_plugin())

    def test_same_events_and_hooks_as_in_the_settings(self) -> None:
        ours = events.wanted(("/p", "/x" + command_lines.STUB))
        assert [want[:3] for want in ours] == [want[:3] for want in events.wanted_by_plugin()]
        assert {want.hook for want in ours} <= set(entry.HOOKS)

    def test_the_version_is_that_of_the_package(self) -> None:
        told = json.loads((PROJECT / ".claude-plugin/plugin.json").read_text())

        assert (told["name"], told["version"]) == ("ib", ibstatus.__version__)

    def test_the_script_and_the_package_say_the_same(self) -> None:
        text = RUN.read_text()

        assert f'ring="{command_lines.RUNG}"\n' in text
        assert f'"$code" -eq {constants.RING} ' in text
        assert " | ".join(BELLS) in text
        assert text.count("--plugin") == text.count(entry.PLUGIN)
        assert os.access(RUN, os.X_OK)

    def test_what_claude_is_taught_exists(self) -> None:
        text = (PROJECT / "skills/ib/SKILL.md").read_text()
        head, body = text.split("---\n")[1:3]
        assert re.findall(r"^(\w+): ", head, re.MULTILINE) == ["name", "description"]

        taught = set(re.findall(r"`ib ([a-z-]+)|\"ib ([a-z-]+)", body))
        names = {first or second for first, second in taught}
        assert len(names) > 10
        assert names <= set(app.COMMANDS)


@shells
class TestFinding:
    @pytest.mark.parametrize("hook", QUIET)
    def test_the_event_goes_in_and_the_answer_comes_out(self, shell: str, state: Path, hook: str) -> None:
        scripted(state, f'echo "$@" >"{state.parent}/args"; cat >"{state.parent}/stdin"; echo oh >&2; echo "{{}}"')

        assert run(shell, line_of(hook), MEGABYTE, env=environment()) == Ended(0, "{}\n", "", True)

        assert (state.parent / "stdin").read_bytes() == MEGABYTE
        stub = state.parent / "a stub"
        assert (state.parent / "args").read_text() == f"-S -E -I {stub} {hook} --plugin\n"

    def test_a_waiter_is_told_the_clients_pid(self, shell: str, state: Path) -> None:
        scripted(state, f'echo "$@" >"{state.parent}/args"')

        assert run(shell, line_of("wait-for-news"), env=environment()) == Ended(0, "", "", True)

        assert (state.parent / "args").read_text().split()[-3:] == ["wait-for-news", str(os.getpid()), "--plugin"]

    @pytest.mark.parametrize("hook", BELLS)
    @pytest.mark.parametrize("code", [0, 1, 2, 42, 126, 127, 139])
    def test_only_one_exit_code_rings(self, shell: str, state: Path, hook: str, code: int) -> None:
        scripted(state, f"echo '[ib] no'; echo '[ib] no' >&2; exit {code}")

        done = run(shell, line_of(hook), MEGABYTE, env=environment())

        assert done == (
            Ended(2, "", command_lines.RUNG + "\n", True) if code == constants.RING else Ended(0, "", "", True)
        )

    @pytest.mark.parametrize("hook", QUIET)
    @pytest.mark.parametrize("what", ["exit 2", f"exit {constants.RING}", "kill -SEGV $$"])
    def test_a_failure_is_not_seen(self, shell: str, state: Path, hook: str, what: str) -> None:
        scripted(state, what)

        assert run(shell, line_of(hook), MEGABYTE, env=environment()) == Ended(0, "", "", True)

    @pytest.mark.parametrize(
        "text",
        [
            None,
            "",
            "\n\n",
            "python\nstub\n",
            f"{sys.executable}\n",
            f"{sys.executable}\n/nowhere/stub.py\n",
            f"/nowhere/python\n{STUB}\n",
            f"/\n{STUB}\n",
            f"{sys.executable}\n/tmp\n",
            f"{sys.executable}\r\n{STUB}\r\n",
            "$(touch /nowhere)\n`id`\n",
            "x" * 100_000,
        ],
    )
    def test_not_found(self, shell: str, state: Path, text: str | None) -> None:
        if text is not None:
            state.write_text(text)
        for hook in (*QUIET, *BELLS):
            done = run(shell, line_of(hook), MEGABYTE, env=environment())
            assert (done.code, done.err, done.wrote_all) == (0, "", True)
            if hook == "session-start":
                assert "pipx install " in json.loads(done.out)["systemMessage"]
                assert done.out.count("\n") == 1
            else:
                assert done.out == ""

    def test_no_home_at_all(self, shell: str, state: Path) -> None:
        env = {key: value for key, value in environment().items() if key != "HOME"}

        assert run(shell, line_of("inject-status"), MEGABYTE, env=env) == Ended(0, "", "", True)

    def test_another_folder_for_state(self, shell: str, state: Path, tmp_path: Path) -> None:
        scripted(state, "echo '{}'")
        (tmp_path / "xdg/ib").mkdir(parents=True)
        shutil.move(state, tmp_path / "xdg/ib/program")

        line = line_of("inject-status")
        assert run(shell, line, env=environment(XDG_STATE_HOME=str(tmp_path / "xdg"))).out == "{}\n"
        assert run(shell, line, env=environment(XDG_STATE_HOME="xdg")).out == ""

    @pytest.mark.parametrize("text", [None, "", "if then {\n", "exit 2\n", "echo x >&2; exit 2", "kill -SEGV $$"])
    def test_the_script_gone_or_half_written_in_a_live_session(
        self, shell: str, state: Path, tmp_path: Path, text: str | None
    ) -> None:
        """A shell that cannot read its script exits 2, and 2 means: block."""
        root = tmp_path / 'it\'s "$HOME"'
        if text is not None:
            (root / "hooks").mkdir(parents=True)
            (root / "hooks/run").write_text(text)
        for hook in (*QUIET, *BELLS):
            done = run(shell, line_of(hook), MEGABYTE, env=environment(CLAUDE_PLUGIN_ROOT=str(root)))
            assert done == Ended(0, "", "", True)

    def test_the_plugin_may_lie_anywhere(self, shell: str, state: Path, tmp_path: Path) -> None:
        scripted(state, "cat >/dev/null; echo '{}'")
        root = tmp_path / 'it\'s "$HOME" `x`'
        shutil.copytree(PROJECT / "hooks", root / "hooks")

        assert run(shell, line_of("inject-status"), env=environment(CLAUDE_PLUGIN_ROOT=str(root))).out == "{}\n"

    def test_the_script_alone_keeps_the_same_rules(self, shell: str, state: Path) -> None:
        script = f"{shell} {quoted(RUN)}" if shell != "busybox" else f"busybox sh {quoted(RUN)}"
        scripted(state, f"exit {constants.RING}")
        assert run(shell, f"{script} queue-changed", MEGABYTE).code == 2
        assert run(shell, f"{script} inject-status", MEGABYTE) == Ended(0, "", "", True)
        state.unlink()
        assert run(shell, f"{script} inject-status", MEGABYTE) == Ended(0, "", "", True)
        assert run(shell, script, PAYLOAD) == Ended(0, "", "", True)


class TestBoth:
    """The real program, by the plugin and by the settings."""

    @pytest.fixture(autouse=True)
    def known(self, state: Path) -> None:
        hooks.write((sys.executable, STUB))

    def start(self, line: str, project: str) -> str:
        payload = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "s1", "cwd": project}
        env = environment(CLAUDE_PROJECT_DIR=project, CLAUDE_CODE_SESSION_ID="s1")
        done = run(SHELLS[0], line, json.dumps(payload).encode(), env=env)
        assert (done.code, done.err) == (0, "")
        return done.out

    def lines(self, repo: paths.Place, event: str = "SessionStart") -> list[str]:
        """What the client runs at this event: the plugin's, and what stands in the settings."""
        found = [want.value["command"] for want in events.wanted_by_plugin() if want.event == event]
        for path in (*(repo.root + leaf for leaf in hooks_installed.FILES), hooks_installed.users()):
            if os.path.exists(path):
                values = json.loads(Path(path).read_text())
                found += [hook["command"] for at, hook in events.commands(values) if at == event]
        return found

    def test_the_plugin_alone_speaks(self, repo: paths.Place) -> None:
        home.enter(repo)

        said = [self.start(line, repo.root) for line in self.lines(repo)]

        assert [bool(one) for one in said] == [True, False]  # the other one gives titles
        assert json.loads(said[0])["hookSpecificOutput"]["additionalContext"]

    @pytest.mark.parametrize("where", ["local", "shared", "user"])
    def test_with_both_there_is_one_injection(self, repo: paths.Place, where: str) -> None:
        hooks.install(repo, PERSON)
        installed = Path(repo.root + hooks_installed.FILES[0])
        other = {"shared": repo.root + hooks_installed.FILES[1], "user": hooks_installed.users()}.get(where)
        if other:
            os.makedirs(os.path.dirname(other), exist_ok=True)
            installed.rename(other)

        said = [self.start(line, repo.root) for line in self.lines(repo)]

        assert [bool(one) for one in said] == [False, False, True, False]

    def test_a_hook_that_is_not_installed_is_the_plugins(self, repo: paths.Place) -> None:
        """Only what intercepts tasks stands in the settings."""
        hooks.install(repo, PERSON, events.INTERCEPT)

        assert [bool(self.start(line, repo.root)) for line in self.lines(repo)] == [True, False]

    def test_in_a_linked_worktree_the_main_checkouts_settings_count(self, repo: paths.Place, tmp_path: Path) -> None:
        hooks.install(repo, PERSON)
        other = str(tmp_path / "other")
        subprocess.run(["git", "worktree", "add", "-q", other], cwd=repo.root, check=True)

        assert self.start(line_of("session-start"), other) == ""

    def test_silent_in_an_agent(self, repo: paths.Place) -> None:
        home.enter(repo)
        worktree = make_agent(repo, "worker")

        assert self.start(line_of("session-start"), str(worktree)) == ""

    def test_silent_where_ib_is_not_in_use(self, repo: paths.Place, tmp_path: Path) -> None:
        for folder in (repo.root, str(tmp_path)):
            for hook in (*QUIET, *BELLS):
                assert self.start(line_of(hook), folder) == ""
        assert not os.path.exists(repo.home)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (command_lines.quiet(("/p", str(STUB)), "inject-status"), True),
        (command_lines.quiet(("/p", "/gone" + command_lines.STUB), "inject-status"), False),
        (command_lines.quiet(("/p", "/a b" + command_lines.STUB), "inject-status"), True),
        (command_lines.quiet(("/p", "/a'b" + command_lines.STUB), "inject-status"), True),
        (command_lines.quiet(("/p", "/x" + command_lines.STUB), "inject"), False),
        (command_lines.quiet(("/p", "/x" + command_lines.STUB), "session-start"), False),
        ("ib hooks inject-status", False),
    ],
)
def test_a_hook_is_found_by_its_name(repo: paths.Place, text: str, found: bool) -> None:
    path = Path(repo.root + hooks_installed.FILES[1])
    path.parent.mkdir()
    path.write_text(json.dumps({"command": text}))

    assert hooks_installed.installed("inject-status", repo.root) == found


class TestByHand:
    """hooks/notify-tmux.sh, in a settings file that somebody wrote."""

    SCRIPT = PROJECT / "hooks" / "notify-tmux.sh"

    def line(self, shell: str, script: Path | None = None) -> str:
        return f"{'busybox sh' if shell == 'busybox' else shell} {quoted(script or self.SCRIPT)}"

    @shells
    @pytest.mark.parametrize("data", [MEGABYTE, b""])
    def test_it_runs_what_the_plugin_runs(self, shell: str, state: Path, data: bytes) -> None:
        scripted(state, f'echo "$@" >"{state.parent}/args"; cat >"{state.parent}/stdin"; echo oh; echo no >&2; exit 2')

        assert run(shell, self.line(shell), data, env=environment()) == Ended(0, "", "", True)

        assert (state.parent / "args").read_text() == f"-S -E -I {state.parent}/a stub notify-tmux --plugin\n"
        assert (state.parent / "stdin").read_bytes() == data

    @shells
    def test_out_of_tmux_it_reads_and_is_done(self, shell: str, state: Path) -> None:
        scripted(state, f'touch "{state.parent}/args"')
        env = {key: value for key, value in environment().items() if key != "TMUX_PANE"}

        assert run(shell, self.line(shell), MEGABYTE, env=env) == Ended(0, "", "", True)

        assert not (state.parent / "args").exists()

    @shells
    @pytest.mark.parametrize("text", [None, "", "\n\n", f"/nowhere/python\n{STUB}\n", "x" * 100_000])
    def test_without_ib_it_is_silent(self, shell: str, state: Path, text: str | None) -> None:
        if text is not None:
            state.write_text(text)

        assert run(shell, self.line(shell), MEGABYTE, env=environment()) == Ended(0, "", "", True)

    @shells
    @pytest.mark.parametrize("text", ["", "if then {\n", "exit 2\n", "echo x >&2; exit 2", "kill -SEGV $$"])
    def test_beside_a_broken_script(self, shell: str, state: Path, tmp_path: Path, text: str) -> None:
        scripted(state, "exit 0")
        folder = tmp_path / 'it\'s "$HOME" `x`'
        folder.mkdir()
        shutil.copy(self.SCRIPT, folder)
        (folder / "run").write_text(text)

        line = self.line(shell, folder / self.SCRIPT.name)
        assert run(shell, line, MEGABYTE, env=environment()) == Ended(0, "", "", True)

    def test_a_link_to_it_will_do(self, state: Path, tmp_path: Path) -> None:
        scripted(state, f'echo "$@" >"{state.parent}/args"')
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine/title.sh").symlink_to(self.SCRIPT)

        assert run(SHELLS[0], self.line("sh", tmp_path / "mine/title.sh"), env=environment()).code == 0

        assert (state.parent / "args").exists()

    @pytest.mark.parametrize("how", ["copied alone", "found in PATH"])
    def test_alone_it_asks_for_ib_and_runs_nothing_of_the_project(self, state: Path, tmp_path: Path, how: str) -> None:
        """What a session stands in may have a file `run` of its own."""
        project, folder = tmp_path / "project", tmp_path / "bin"
        for path, text in ((project / "run", "touch ../bad"), (folder / "ib", f'echo "$@" >"{tmp_path}/args"')):
            path.parent.mkdir()
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        shutil.copy(self.SCRIPT, folder)
        env = environment(PATH=f"{folder}:{os.environ['PATH']}")
        script = "notify-tmux.sh" if how == "found in PATH" else f"{quoted(folder)}/notify-tmux.sh"

        done = run("bash", f"cd {quoted(project)} && bash {script}", MEGABYTE, env=env)

        assert done == Ended(0, "", "", True)
        assert (tmp_path / "args").read_text() == "hooks notify-tmux\n"
        assert not (tmp_path / "bad").exists()

    def test_where_no_ib_is_written_down_it_asks_the_one_in_path(self, tmp_path: Path) -> None:
        """Titles need no `ib init`."""
        (tmp_path / "ib").write_text(f'#!/bin/sh\necho "$@" >"{tmp_path}/args"\n')
        (tmp_path / "ib").chmod(0o755)
        env = environment(PATH=f"{tmp_path}:{os.environ['PATH']}", XDG_STATE_HOME=str(tmp_path / "none"))

        assert run("sh", self.line("sh"), MEGABYTE, env=env) == Ended(0, "", "", True)
        assert (tmp_path / "args").read_text() == "hooks notify-tmux\n"

    def test_it_may_be_run_itself(self) -> None:
        assert os.access(self.SCRIPT, os.X_OK)


@pytest.mark.parametrize("hook", BELLS)
def test_a_bell_is_found_by_its_name(repo: paths.Place, hook: str) -> None:
    path = Path(repo.root + hooks_installed.FILES[0])
    path.parent.mkdir()
    hooks.install(repo, PERSON)

    assert hooks_installed.installed(hook, repo.root)
    assert all(hooks_installed.installed(want.hook, repo.root) for want in events.wanted_by_plugin())


class TestProgram:
    def test_once_more_writes_nothing(self, state: Path) -> None:
        assert hooks.write((sys.executable, STUB))
        before = state.stat()
        assert hooks.write((sys.executable, STUB))
        assert state.stat().st_ino == before.st_ino
        assert hooks.read() == (sys.executable, STUB)
        assert state.stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize("bad", [("python", STUB), (sys.executable, "/a\nb"), ("", "")])
    def test_what_cannot_be_written_down(self, state: Path, bad: tuple[str, str]) -> None:
        assert not hooks.write(bad)
        assert hooks.read() is None

    def test_a_folder_in_its_place_is_no_failure(self, state: Path) -> None:
        state.mkdir()
        assert not hooks.write((sys.executable, STUB))
