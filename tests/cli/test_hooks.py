"""ib hooks install, uninstall, status, and a hook by its name: the real program."""

import errno
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.claude.hooks import events, settings_file
from ibstatus.project import git_exclude, home, identity, paths
from ibstatus.setup import hook_status, hooks, uninstall
from ibstatus.system import disk
from tests import faults as fault_seam
from tests.conftest import PROJECT, Done, git, make_agent
from tests.hooks.conftest import run_hook
from tests.mail.test_races import Child
from tests.sweeps import Sweep

Ib = Callable[..., Done]
Agent = Callable[..., Path]
PERSON = identity.Caller(identity.PERSON, "user")
OLD = {"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "ib hooks inject-status --full"}]}]}}
USERS = '{\r\n\t"model": "opus",\r\n\t"hooks": { "Stop": [ {"hooks":[{"type":"command","command":"x"}]} ] }\r\n}'
PASSED = 77  # tests.faults: the operation was never reached


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is written down for the plugin, and what the user's own settings say."""
    folder = tmp_path / "home"
    (folder / "tmp").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder / "tmp"))
    return folder


@pytest.fixture
def file(repo: paths.Place) -> Path:
    return Path(repo.root, ".claude/settings.local.json")


def write(file: Path, data: str | bytes) -> bytes:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file.read_bytes()


def word(ib: Ib, *args: str) -> str:
    return ib("hooks", "status", *args).out.strip()


class TestInstall:
    def test_says_what_users_know(self, repo: paths.Place, ib: Ib, file: Path) -> None:
        write(file, "{}")
        assert word(ib) == "not-installed"
        done = ib("hooks", "install")
        assert done[:2] == (0, f"Hooks installed to {file}\nKept out of git by {git_exclude.path_of(repo)}\n")
        assert done.err.startswith("Claude asks you before it runs ib")
        assert ib("hooks", "install") == Done(0, "Hooks already installed\n", "")
        assert word(ib) == "installed"
        assert ib("hooks", "uninstall") == Done(0, f"Hooks uninstalled from {file}\n", "")
        assert file.read_text() == "{}"
        assert ib("hooks", "uninstall").out == f"Hooks not installed in {file}\n"
        file.unlink()
        assert ib("hooks", "uninstall").out == "No settings file found, nothing to uninstall\n"

    def test_a_folder_and_a_file_that_were_made_for_it_go_again(self, repo: paths.Place, ib: Ib, file: Path) -> None:
        known = Path(git_exclude.path_of(repo)).read_bytes()
        assert ib("hooks", "install").code == 0
        assert json.loads(file.read_text())["hooks"]["Stop"]
        assert git(repo.root, "status", "--porcelain") == ""

        assert "it was empty and is gone" in ib("hooks", "uninstall").out

        assert not file.parent.exists()
        assert Path(git_exclude.path_of(repo)).read_bytes() == known + b"/.ittybitty/\n"
        assert not Path(repo.safe, "touched", settings_file.RECORD).exists()

    def test_a_folder_with_something_else_in_it_stays(self, ib: Ib, file: Path) -> None:
        ib("hooks", "install")
        (file.parent / "settings.json").write_text("{}")

        ib("hooks", "uninstall")

        assert os.listdir(file.parent) == ["settings.json"]

    @pytest.mark.parametrize(
        ("text", "mode"),
        [
            (USERS, 0o644),
            (USERS, 0o600),
            ("", 0o600),
            ("\n", 0o644),
            ("{}", 0o664),
            ("\ufeff{\n}\n", 0o664),
            (json.dumps(OLD, indent=4), 0o600),
        ],
    )
    def test_the_bytes_and_the_mode_come_back(self, ib: Ib, file: Path, text: str, mode: int) -> None:
        before = write(file, text)
        file.chmod(mode)
        assert ib("hooks", "install").code == 0
        assert ib("hooks", "install-intercept").code == 0
        assert (word(ib), word(ib, "--intercept")) == ("installed", "installed")
        assert file.stat().st_mode & 0o777 == mode
        assert ib("hooks", "uninstall").code == 0
        assert (word(ib), word(ib, "--intercept")) == ("not-installed", "installed")
        assert ib("hooks", "uninstall-intercept").code == 0
        assert (file.read_bytes(), file.stat().st_mode & 0o777) == (before, mode)

    def test_what_the_user_changes_meanwhile_stays(self, ib: Ib, file: Path) -> None:
        write(file, USERS)
        ib("hooks", "install")
        file.write_bytes(file.read_bytes().replace(b"opus", b"sonnet"))

        ib("hooks", "uninstall")

        assert file.read_bytes() == USERS.replace("opus", "sonnet").encode()

    def test_a_session_that_runs_must_see_that_the_file_is_new(self, ib: Ib, file: Path) -> None:
        write(file, USERS)
        os.utime(file, (1_000_000_000, 1_000_000_000))

        ib("hooks", "install")

        assert file.stat().st_mtime > 1_500_000_000

    def test_from_anywhere_into_the_main_checkout(self, repo: paths.Place, ib: Ib, file: Path, tmp_path: Path) -> None:
        git(repo.root, "worktree", "add", "-q", str(tmp_path / "other"))
        Path(repo.root, "sub").mkdir()

        assert ib("hooks", "install", cwd=tmp_path / "other").out.startswith(f"Hooks installed to {file}\n")
        assert ib("hooks", "install", cwd=Path(repo.root, "sub")).out == "Hooks already installed\n"

    def test_an_agent_is_refused(self, repo: paths.Place, ib: Ib, agent: Agent, file: Path) -> None:
        worktree = agent(repo, "worker")
        for command in ("install", "uninstall", "install-intercept", "uninstall-intercept"):
            done = ib("hooks", command, cwd=worktree)
            assert (done.code, done.out) == (1, "")
            assert "gent" in done.err
        assert not file.exists()
        with pytest.raises(hooks.IbError, match="An agent cannot"):
            hooks.install(repo, identity.Caller(identity.AGENT, "worker"))

    def test_a_link_is_followed(self, ib: Ib, file: Path, tmp_path: Path) -> None:
        real = tmp_path / "dotfiles.json"
        before = write(real, USERS)
        file.parent.mkdir()
        file.symlink_to(real)

        ib("hooks", "install")
        assert file.is_symlink()
        assert "stub.py" in real.read_text()
        ib("hooks", "uninstall")

        assert file.is_symlink()
        assert real.read_bytes() == before

    def test_a_committed_file_is_told_of(self, repo: paths.Place, ib: Ib, file: Path) -> None:
        write(file, "{}")
        git(repo.root, "add", "-f", ".claude/settings.local.json")
        git(repo.root, "commit", "-q", "-m", "settings")

        done = ib("hooks", "install")

        assert done.err.startswith("Warning: git tracks .claude/settings.local.json and will show this change;")
        assert git_exclude.SETTINGS_LINE not in Path(git_exclude.path_of(repo)).read_text()

    def test_one_that_git_ignores_needs_no_line_of_ours(self, repo: paths.Place, ib: Ib) -> None:
        Path(repo.root, ".gitignore").write_text(".claude/\n")

        assert ib("hooks", "install").out.count("\n") == 1
        assert git_exclude.SETTINGS_LINE not in Path(git_exclude.path_of(repo)).read_text()

    def test_what_it_writes_down_for_the_plugin(self, own_home: Path, ib: Ib) -> None:
        ib("hooks", "install")

        lines = (own_home / ".local/state/ib/program").read_text().splitlines()
        assert lines == [sys.executable, str(PROJECT / "ibstatus/hooks/stub.py")]
        assert hooks.read() == tuple(lines)

    def test_init_writes_it_down_too(self, own_home: Path, ib: Ib, tmp_path: Path) -> None:
        ib("init", env={"XDG_STATE_HOME": str(tmp_path / "state")})

        assert (tmp_path / "state/ib/program").read_text().splitlines()[0] == sys.executable

    def test_hooks_need_not_compile(self, repo: paths.Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """They run isolated, so a prefix in the user's environment does not count for them."""
        source = PROJECT / "ibstatus/hooks/entry.py"
        cached = Path(importlib.util.cache_from_source(str(source)))
        cached.unlink(missing_ok=True)
        monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "elsewhere"))

        hooks.install(repo, PERSON)

        assert cached.exists()
        assert sys.pycache_prefix == str(tmp_path / "elsewhere")

    def test_json(self, ib: Ib, file: Path) -> None:
        told = ib("hooks", "install", "--json").json()
        assert isinstance(told, dict)
        assert (told["changed"], told["file"]) == (True, str(file))
        told = ib("hooks", "uninstall", "--json").json()
        assert isinstance(told, dict)
        assert (told["changed"], told["removed_file"]) == (True, True)


class TestRefusal:
    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ('{\n  "model": "opus",\n  // mine\n  "a": 1\n}', "line 3, column 3: a comment stands here"),
            ('{\n  "a": 1,,\n}', "line 2, column"),
            ("[]", "line 1, column 1: an object was expected"),
            ('{"hooks": 3}', 'line 1, column 11: "hooks" is not an object'),
            ('{\n"hooks": {"Stop": "x"}}', 'line 2, column 19: "Stop" is not a list'),
            (b'{"a": "\xff"}', "line 1, column 8: this is not UTF-8"),
        ],
    )
    def test_with_line_and_column_and_the_file_untouched(
        self, repo: paths.Place, ib: Ib, file: Path, text: str | bytes, why: str
    ) -> None:
        before = write(file, text)

        done = ib("hooks", "install")

        assert (done.code, done.out) == (1, "")
        assert f"Caused by: {why}" in done.err
        assert "Hint: mend it" in done.err
        assert file.read_bytes() == before
        assert not Path(repo.safe, "touched", settings_file.RECORD).exists()

    def test_a_broken_file_is_told_by_status_and_doctor(self, ib: Ib, file: Path) -> None:
        write(file, "{")
        home_made = ib("init").code
        assert home_made == 0
        done = ib("hooks", "status")
        assert (done.code, done.out) == (0, "not-installed\n")
        assert "line 1, column 2" in done.err
        assert "warn hooks" in ib("doctor").out

    def test_one_that_is_broken_later_is_left_alone(self, ib: Ib, file: Path) -> None:
        ib("hooks", "install")
        before = write(file, file.read_text() + "}")

        for command in (("hooks", "uninstall"), ("uninstall", "--force")):
            done = ib(*command)
            assert (done.code, file.read_bytes()) == (1, before)
        assert Path(file.parents[1], ".ittybitty").exists()

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
    def test_a_folder_that_cannot_be_written(self, ib: Ib, file: Path) -> None:
        write(file, "{}")
        file.parent.chmod(0o500)
        try:
            assert ib("hooks", "install").code == 1
        finally:
            file.parent.chmod(0o700)

    def test_a_file_that_is_read_only(self, ib: Ib, file: Path) -> None:
        write(file, "{}")
        file.chmod(0o444)

        done = ib("hooks", "install")

        assert (done.code, file.read_text()) == (1, "{}")
        assert "Hint: chmod u+w" in done.err

    def test_a_file_in_the_place_of_the_folder(self, repo: paths.Place, ib: Ib) -> None:
        Path(repo.root, ".claude").write_text("mine")

        done = ib("hooks", "install")

        assert done.code == 1
        assert "Error: " in done.err
        assert Path(repo.root, ".claude").read_text() == "mine"


class TestStatus:
    def test_another_version_is_outdated_until_the_next_install(self, ib: Ib, file: Path) -> None:
        ib("hooks", "install")
        write(file, file.read_text().replace("/ibstatus/hooks/stub.py", "/old/ibstatus/hooks/stub.py"))
        done = ib("hooks", "status")
        assert (done.out, done.err) == ("outdated\n", "Hint: ib hooks install\n")
        assert "of another ib" in ib("doctor").out

        assert ib("hooks", "install").out.startswith("Hooks installed to")

        assert word(ib) == "installed"
        assert "/old/" not in file.read_text()
        assert ib("hooks", "uninstall").code == 0
        assert not file.exists()

    def test_hooks_of_another_mode_of_titles_are_outdated(self, ib: Ib, repo: paths.Place, file: Path) -> None:
        """Also those of an ib from before there were titles: as with the mode off."""
        config = Path(repo.root, ".ittybitty.json")
        config.write_text('{"tmux": {"titles": "off"}}')
        ib("hooks", "install")
        assert (word(ib), "notify-tmux" in file.read_text()) == ("installed", False)

        for mode in ("stop-only", "real-time", "off"):
            config.write_text(json.dumps({"tmux": {"titles": mode}}))
            assert ib("hooks", "status") == Done(0, "outdated\n", "Hint: ib hooks install\n")
            assert "another mode of window titles" in ib("doctor").out
            assert ib("hooks", "install").out.startswith("Hooks installed to")
            assert word(ib) == "installed"
            mine = [one.event for one in events.ours(json.loads(file.read_text())) if one.hook == "notify-tmux"]
            assert mine == sorted(mine, key=[*json.loads(file.read_text())["hooks"]].index)
            assert {*mine} == {*events.TITLE_EVENTS[mode]}
        config.write_text("{ broken")
        assert word(ib) == "outdated"  # the default counts
        assert ib("hooks", "uninstall").code == 0
        assert not file.exists()

    def test_partial(self, ib: Ib, file: Path) -> None:
        ib("hooks", "install")
        value = json.loads(file.read_text())
        del value["hooks"]["Stop"]
        write(file, json.dumps(value))

        told = ib("hooks", "status", "--json").json()

        assert isinstance(told, dict)
        assert told["status"] == "partial"
        missing = [one["hook"] for one in told["events"] if one["event"] == "Stop" and one["state"] == "not-installed"]
        assert missing == ["agent-status", "wait-for-news", "notify-tmux"]

    @pytest.mark.parametrize("where", ["project", "local", "user"])
    def test_says_that_hooks_are_switched_off(
        self, repo: paths.Place, ib: Ib, file: Path, own_home: Path, where: str
    ) -> None:
        folder = own_home / ".claude" if where == "user" else Path(repo.root, ".claude")
        leaf = "settings.local.json" if where == "local" else "settings.json"
        write(folder / leaf, '{"disableAllHooks": true}')

        done = ib("hooks", "install")

        assert f"{folder / leaf} has disableAllHooks" in done.err
        assert f"{folder / leaf} has disableAllHooks" in ib("hooks", "status").err
        assert "warn hooks" in ib("doctor").out

    def test_the_plugin_counts(self, ib: Ib, own_home: Path) -> None:
        write(own_home / ".claude" / "settings.json", '{"enabledPlugins": {"ib@somewhere": true, "x@y": true}}')
        ib("init")

        assert "ok   hooks        Claude Code runs them by the plugin" in ib("doctor").out
        assert "plugin" in ib("hooks", "status").err

    def test_doctor(self, ib: Ib) -> None:
        ib("init")
        assert "note hooks" in ib("doctor").out
        assert "→ ib hooks install" in ib("doctor").out
        ib("hooks", "install")
        assert "ok   hooks" in ib("doctor").out

    def test_entries_of_the_bash_tool_are_named_and_stay(self, ib: Ib, file: Path) -> None:
        write(file, json.dumps(OLD))

        done = ib("hooks", "install")

        assert "the entries of the bash tool stay: UserPromptSubmit: ib hooks inject-status --full" in done.err
        assert events.by_hand(json.loads(file.read_text())) == events.by_hand(OLD)


class TestUninstallOfAll:
    @pytest.mark.parametrize("order", ["init first", "hooks first"])
    @pytest.mark.parametrize("text", [None, USERS])
    def test_every_byte_comes_back(self, repo: paths.Place, ib: Ib, file: Path, order: str, text: str | None) -> None:
        before = None if text is None else write(file, text)
        known = Path(git_exclude.path_of(repo)).read_bytes()
        steps = [("init",), ("hooks", "install"), ("hooks", "install-intercept")]
        for step in steps if order == "init first" else reversed(steps):
            assert ib(*step).code == 0

        done = ib("uninstall", "--force", "--verify")

        assert done.code == 0, done
        assert f"Gave back {file}: its original bytes" in done.out
        assert (file.read_bytes() if file.exists() else None) == before
        assert file.parent.exists() == (before is not None)
        assert Path(git_exclude.path_of(repo)).read_bytes() == known

    def test_without_hooks_nothing_is_said_of_them(self, ib: Ib, file: Path) -> None:
        write(file, "{ broken")
        ib("init")

        done = ib("uninstall", "--force", "--verify")

        assert done.code == 0
        assert "settings" not in done.out
        assert file.read_text() == "{ broken"


class TestByName:
    def test_a_hook_runs_and_takes_the_options_of_the_bash_tool(self, repo: paths.Place, ib: Ib) -> None:
        home.enter(repo)
        payload = json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": repo.root})
        for options in ([], ["--full", "--visible"], ["--if-changed", "--visible", "--brief"]):
            done = ib("hooks", "inject-status", *options, stdin=payload)
            assert (done.code, done.err) == (0, "")

    def test_what_is_no_payload_is_no_trouble(self, ib: Ib) -> None:
        for data in (b"", b"{", b"\xff\0", b"[]", b"x" * (1 << 20)):
            for name in ("main-path", "session-start", "agent-status"):
                done = ib("hooks", name, stdin=data)
                assert (done.code, done.err) == (0, "")

    def test_an_unknown_name(self, ib: Ib) -> None:
        done = ib("hooks", "inject-statu", stdin="{}")
        assert (done.code, done.out) == (2, "")
        assert "Hint: ib hooks inject-status" in done.err

    def test_beside_our_own_entry_the_one_of_the_bash_tool_is_silent(self, repo: paths.Place, ib: Ib) -> None:
        payload = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "s1", "cwd": repo.root}
        client = {"CLAUDE_PROJECT_DIR": repo.root}
        home.enter(repo)
        assert ib("hooks", "session-start", stdin=json.dumps(payload), env=client).out != ""
        ib("hooks", "install")
        assert ib("hooks", "session-start", stdin=json.dumps(payload), env=client) == Done(0, "", "")


def set_up(repo: paths.Place, text: str | None) -> Path:
    path = Path(settings_file.path_of(repo))
    if text is not None:
        write(path, text)
    home.enter(repo)
    return path


class TestTrouble:
    """Struck at every file operation; the file is the old one or the new one, and the next run completes it."""

    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(disk, "fsync", os.fstat)
        monkeypatch.setattr(settings_file, "SEEN_AFTER", (0.0,))

    def act(self, repo: paths.Place, what: str) -> None:
        shutil.rmtree(repo.home + "/tmp", ignore_errors=True)  # what waits there to be looked at again
        if what == "install":
            hooks.put_in(repo, events.wanted(settings_file.here()), events.MAIN)
        else:
            hooks.taken_out(repo, hook_status.KINDS)

    @pytest.mark.sweep
    @pytest.mark.parametrize("text", [None, USERS])
    @pytest.mark.parametrize("what", ["install", "uninstall"])
    def test_a_kill_at_every_operation(self, repo: paths.Place, text: str | None, what: str) -> None:
        path = set_up(repo, text)
        before = None if text is None else path.read_bytes()
        self.act(repo, "install")
        after = path.read_bytes()
        sweep = Sweep(every=8)
        for at in sweep:
            self.act(repo, "uninstall" if what == "install" else "install")
            sweep.tell(struck(lambda: self.act(repo, what), at))
            now = path.read_bytes() if path.exists() else None
            assert now in (before, after), f"killed at operation {at}"
            self.act(repo, what)
            now = path.read_bytes() if path.exists() else None
            assert now == (after if what == "install" else before), f"killed at operation {at}"
        self.act(repo, "uninstall")
        assert path.exists() == (text is not None)
        assert path.parent.exists() == (text is not None)
        assert text is None or os.listdir(path.parent) == [path.name]
        assert sweep.last > 4

    @pytest.mark.sweep
    @pytest.mark.parametrize("text", [None, USERS])
    @pytest.mark.parametrize("what", ["install", "uninstall"])
    def test_an_error_at_every_operation(
        self, repo: paths.Place, text: str | None, what: str, faults: fault_seam.Faults
    ) -> None:
        path = set_up(repo, text)
        before = None if text is None else path.read_bytes()
        self.act(repo, "install")
        after = path.read_bytes()
        sweep = Sweep(every=8)
        for at in sweep:
            self.act(repo, "uninstall" if what == "install" else "install")
            faults.arm(at, (errno.ENOSPC, errno.EIO, errno.EACCES)[at % 3])
            try:
                self.act(repo, what)
            except (OSError, hooks.IbError):
                pass
            sweep.tell(faults.seen >= at)
            faults.disarm()
            now = path.read_bytes() if path.exists() else None
            assert now in (before, after), f"error at operation {at}"
            self.act(repo, what)
            now = path.read_bytes() if path.exists() else None
            assert now == (after if what == "install" else before), f"error at operation {at}"
        assert sweep.last > 4


def struck(act: Callable[[], None], at: int) -> bool:
    """Run in a child that is killed at its operation `at`; False when it came through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        code = 70
        try:
            fault_seam.Faults().arm(at, None)
            act()
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


class TestAtOnce:
    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(settings_file, "SEEN_AFTER", (0.0,))

    @pytest.mark.parametrize("text", [None, USERS])
    def test_many_installs(self, repo: paths.Place, text: str | None) -> None:
        path = set_up(repo, text)
        for _ in range(5):
            children = [Child(lambda: hooks.install(repo, PERSON).changed) for _ in range(6)]
            assert sorted(child.result() for child in children) == [False] * 5 + [True]
            assert hook_status.status(repo).status == "installed"
            children = [Child(lambda: hooks.uninstall(repo, PERSON).changed) for _ in range(6)]
            assert sorted(child.result() for child in children) == [False] * 5 + [True]
            assert (path.read_bytes().decode() if path.exists() else None) == text

    @pytest.mark.parametrize("way", ["renamed over", "in place"])
    def test_no_save_of_the_client_is_lost(self, repo: paths.Place, way: str) -> None:
        """It reads, changes and writes its permissions again and again, while hooks come and go."""
        path = set_up(repo, '{\n  "permissions": [\n    0\n  ]\n}\n')

        def saves() -> int:
            for number in range(1, 200):
                old, new = (f'"permissions": [\n    {one}\n' for one in (number - 1, number))
                while old not in (text := path.read_text()):
                    assert '"permissions": [' not in text, text  # whole, and with our last save in it
                if way == "renamed over":
                    temp = path.with_name("client.tmp")
                    temp.write_text(text.replace(old, new))
                    os.rename(temp, path)
                else:
                    with open(path, "r+") as file:
                        file.write(text.replace(old, new))
                        file.truncate()
            return 199

        client = Child(saves)
        for _ in range(20):
            hooks.install(repo, PERSON)
            hooks.uninstall(repo, PERSON)
        assert client.result() == 199
        hooks.uninstall(repo, PERSON)
        assert json.loads(path.read_text())["permissions"] == [199]


def test_a_plugin_of_another_name_is_not_ours(repo: paths.Place) -> None:
    assert not events.has_plugin({"enabledPlugins": {"ibis@x": True, "ib@x": False}}, hook_status.PLUGIN)


def test_uninstall_knows_of_it(repo: paths.Place) -> None:
    hooks.install(repo, PERSON)
    left = uninstall.uninstall(repo, PERSON)
    assert [file.differs for file in left.files if "settings" in file.path] == [""]
    assert (
        subprocess.run(["git", "status", "--porcelain"], cwd=repo.root, capture_output=True, check=True).stdout == b""
    )


class TestAgentSettings:
    def test_an_agent_that_was_made_by_hand_gets_its_guard(self, ib: Ib, repo: paths.Place, file: Path) -> None:
        worktree = make_agent(repo, "w1", "boss")
        file.parent.mkdir()
        file.write_text('{"permissions": {"allow": ["Bash(make:*)"], "deny": ["Bash(make deploy:*)"]}}')
        assert ib("config", "add", "permissions.worker.allow", "Bash(npm test:*)").code == 0
        assert ib("hooks", "install").code == 0

        done = ib("hooks", "agent-settings", "w1")

        path = Path(repo.agent_dir("w1"), "settings.local.json")
        assert (done.code, done.out) == (0, f"{path}\n")
        made = json.loads(path.read_text())
        assert {"Bash(make:*)", "Bash(npm test:*)"} <= set(made["permissions"]["allow"])
        assert "Bash(make deploy:*)" in made["permissions"]["deny"]
        assert "agent-path w1" in json.dumps(made["hooks"]["PreToolUse"])
        assert "main-path" not in path.read_text()
        verdicts = [
            guarded(repo, worktree, command) for command in ("npm test -- x", "make deploy", f"cat {repo.root}/x")
        ]
        assert verdicts == ["allow", "deny", "deny"]
        assert path.stat().st_mode & 0o777 == 0o600

    def test_doctor_names_an_agent_without_a_guard(self, ib: Ib, repo: paths.Place) -> None:
        make_agent(repo, "w1")
        assert "agent w1 has no settings of its own" in ib("doctor").out
        ib("hooks", "agent-settings", "w1")
        assert "agent w1 has no settings" not in ib("doctor").out

    def test_not_for_agents_and_not_for_strangers(self, ib: Ib, repo: paths.Place) -> None:
        worktree = make_agent(repo, "w1")
        assert ib("hooks", "agent-settings", "w1", cwd=worktree).code == 1
        assert ib("hooks", "agent-settings", "nobody").code == 1

    def test_broken_rules_make_no_settings(self, ib: Ib, repo: paths.Place) -> None:
        make_agent(repo, "w1")
        Path(repo.root, ".ittybitty.json").write_text("{,}")
        assert ib("hooks", "agent-settings", "w1").code == 1
        assert not Path(repo.agent_dir("w1"), "settings.local.json").exists()


def guarded(repo: paths.Place, worktree: Path, command: str) -> str:
    payload = {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": str(worktree), "session_id": "s"}
    answer = run_hook(repo, "agent-path", {**payload, "hook_event_name": "PreToolUse"}, "w1", project=worktree)
    return str(answer.json["hookSpecificOutput"]["permissionDecision"])
