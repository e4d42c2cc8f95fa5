"""The two files on disk: broken ones, odd ones, editors, crashes and races."""

import errno
import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

from ibstatus.errors import IbError
from ibstatus.project import config, identity, paths, settings
from ibstatus.project.rules import settings_text
from ibstatus.project.settings import PROJECT, USER
from ibstatus.setup import config as ops
from ibstatus.system.text import json_edit
from tests import forked
from tests.conftest import PROJECT as HERE
from tests.conftest import make_repo, run_ib
from tests.faults import Faults
from tests.project.test_settings import key_and_value
from tests.sweeps import Sweep

FIXTURES = HERE / "fixtures" / "load-config"
UPSTREAM = HERE.parent / "shared" / "upstream-fixtures" / "load-config"
PERSON = identity.Caller(identity.PERSON, "user")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "own home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def file(repo: paths.Place) -> Path:
    return Path(repo.root) / ".ittybitty.json"


def put(place: paths.Place, name: str, text: str, *, user: bool = False) -> Any:
    return ops.set_value(place, PERSON, name, text, user).value


class TestProof:
    @pytest.mark.parametrize("path", sorted(FIXTURES.glob("loads-*.json")), ids=lambda path: path.stem)
    def test_a_file_that_loads(self, path: Path) -> None:
        assert ops.load_config(str(path)) == path.with_suffix(".expected").read_text()

    @pytest.mark.parametrize("path", sorted(FIXTURES.glob("fails-*.json")), ids=lambda path: path.stem)
    def test_a_file_that_fails_says_where(self, path: Path) -> None:
        with pytest.raises(IbError, match="is not valid JSON") as error:
            ops.load_config(str(path))

        assert error.value.cause.partition(": ")[0] == path.with_suffix(".expected").read_text().rstrip("\n")

    def test_every_fixture_says_what_it_expects(self) -> None:
        assert {path.name.partition("-")[0] for path in FIXTURES.iterdir()} == {"loads", "fails"}
        assert {path.stem for path in FIXTURES.glob("*.json")} == {path.stem for path in FIXTURES.glob("*.expected")}

    def test_the_fixtures_of_the_older_tool(self) -> None:
        pairs = [path for path in UPSTREAM.glob("*.json") if path.with_suffix(".expected").exists()]
        if not pairs:
            pytest.skip("the older tool's fixtures do not lie beside the project")

        for path in pairs:
            assert ops.load_config(str(path)) == path.with_suffix(".expected").read_text().rstrip("\n") + "\n", (
                path.name
            )

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(IbError, match="There is no file"):
            ops.load_config(str(tmp_path / "none"))


class TestReading:
    def test_one_value(self, repo: paths.Place, file: Path, home: Path) -> None:
        file.write_text('{"maxAgents": 3}')
        (home / ".ittybitty.json").write_text('{"maxAgents": 4, "allowAgentQuestions": false}')

        assert config.value(repo, "maxAgents") == 3
        assert config.value(repo, "allowAgentQuestions") is False
        assert config.value(repo, "fps") == 10

    @pytest.mark.parametrize(
        "data", [b'{"fps": }', b'{"fps" 1}', b'{"fps": 1', b"[]", b"\xff\xfe{\0", b'{"a": "\xe9"}', b"\0"]
    )
    def test_a_broken_file_is_left_out_with_a_word(
        self, repo: paths.Place, file: Path, home: Path, data: bytes
    ) -> None:
        file.write_bytes(data)
        (home / ".ittybitty.json").write_text('{"fps": 4}')

        known = config.load(repo)

        assert known.value("fps") == 4
        assert len(known.broken) == 1
        assert "is not valid JSON (line 1, column " in known.broken[0]
        assert config.problems(repo) == known.broken

    def test_a_folder_in_its_place(self, repo: paths.Place, file: Path) -> None:
        file.mkdir()

        assert config.value(repo, "fps") == 10
        assert str(file) in config.problems(repo)[0]

    def test_deep_nesting_and_long_numbers(self, repo: paths.Place, file: Path) -> None:
        for text in ("[" * 200_000, '{"fps": ' + "9" * 5000 + "}", '{"a":' * 100_000):
            file.write_text(text)

            assert config.value(repo, "fps") == 10
            assert config.problems(repo) != []

    def test_from_any_worktree_the_file_of_the_root(self, repo: paths.Place, file: Path, agent: Any) -> None:
        tree = agent(repo, "a")
        file.write_text('{"maxAgents": 3}')
        (tree / ".ittybitty.json").write_text('{"maxAgents": 99}')

        assert config.value(paths.find(str(tree)), "maxAgents") == 3

    def test_a_home_that_is_the_repository(
        self, repo: paths.Place, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", repo.root)
        put(repo, "fps", "5")
        put(repo, "zzz", "6", user=True)

        assert json.loads(file.read_text()) == {"fps": 5, "zzz": 6}
        assert config.load(repo).source("fps") == "project"
        assert len(config.problems(repo)) == 1

    def test_no_home_at_all(self, repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("HOME")
        monkeypatch.setattr("pwd.getpwuid", lambda uid: {}["no such user"])

        assert config.value(repo, "fps") == 10
        with pytest.raises(IbError, match="no home directory"):
            put(repo, "fps", "5", user=True)


class TestChanging:
    def test_a_new_file_of_the_project_is_as_readable_as_any(self, repo: paths.Place, file: Path) -> None:
        put(repo, "fps", "5")

        assert file.read_text() == '{\n  "fps": 5\n}\n'
        assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE((Path(repo.root) / "file.txt").stat().st_mode)

    def test_a_new_file_of_the_user_is_private_and_nothing_else_comes_to_the_home(
        self, repo: paths.Place, home: Path
    ) -> None:
        put(repo, "fps", "5", user=True)

        assert stat.S_IMODE((home / ".ittybitty.json").stat().st_mode) == 0o600
        assert sorted(os.listdir(home)) == [".ittybitty.json", ".local"]

    @pytest.mark.parametrize("name", ["\ufeff", ""], ids=["bom", "plain"])
    @pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
    @pytest.mark.parametrize("end", [True, False], ids=["ended", "open"])
    def test_the_form_of_the_file_stays(
        self, repo: paths.Place, file: Path, name: str, newline: str, end: bool
    ) -> None:
        text = name + '{\n\t"zeta": 1.50,\n\t"fps":  5,\n\t"alpha": [ "\\u00e9" ]\n}' + ("\n" if end else "")
        file.write_bytes(text.replace("\n", newline).encode())
        file.chmod(0o640)

        put(repo, "fps", "6")

        assert file.read_bytes() == text.replace("\n", newline).replace('"fps":  5', '"fps":  6').encode()
        assert stat.S_IMODE(file.stat().st_mode) == 0o640

    def test_a_link_stays_a_link(self, repo: paths.Place, home: Path, tmp_path: Path) -> None:
        real = tmp_path / "dotfiles" / "ib.json"
        real.parent.mkdir()
        real.write_text("{}")
        (home / ".ittybitty.json").symlink_to("../dotfiles/ib.json")

        put(repo, "model", "opus", user=True)

        assert (home / ".ittybitty.json").is_symlink()
        assert json.loads(real.read_text()) == {"model": "opus"}

    @pytest.mark.parametrize("data", [b"", b" \n", b"\xef\xbb\xbf"])
    def test_an_empty_file_is_an_empty_configuration(self, repo: paths.Place, file: Path, data: bytes) -> None:
        file.write_bytes(data)

        put(repo, "fps", "5")

        assert file.read_bytes().decode("utf-8-sig") == '{\n  "fps": 5\n}\n'
        assert config.problems(repo) == []

    @pytest.mark.parametrize("data", [b'{"fps": }', b'{"fps": 1', b"[]", b'{"a": "\xe9"}'])
    def test_a_broken_file_is_not_overwritten(self, repo: paths.Place, file: Path, data: bytes) -> None:
        file.write_bytes(data)

        for change in (
            lambda: put(repo, "fps", "5"),
            lambda: ops.unset(repo, PERSON, "fps", False),
            lambda: ops.add(repo, PERSON, "permissions.worker.deny", "Bash", False),
            lambda: ops.remove(repo, PERSON, "permissions.worker.deny", "Bash", False),
        ):
            with pytest.raises(IbError, match="is not valid JSON"):
                change()
        assert file.read_bytes() == data

    def test_what_is_no_object_on_the_way_is_not_overwritten(self, repo: paths.Place, file: Path) -> None:
        file.write_text('{"hooks": 5, "permissions": {"worker": {"deny": "Bash"}}}')

        with pytest.raises(IbError, match="hooks is not an object"):
            put(repo, "hooks.injectStatus", "false")
        with pytest.raises(IbError, match=r"permissions\.worker\.deny is not a list"):
            ops.add(repo, PERSON, "permissions.worker.deny", "Edit", False)
        assert file.read_text() == '{"hooks": 5, "permissions": {"worker": {"deny": "Bash"}}}'

    def test_a_save_of_an_editor_in_between_is_kept(self, repo: paths.Place, file: Path) -> None:
        file.write_text('{"fps": 1}')
        rounds = 0

        def edit(read: config.File) -> str:
            nonlocal rounds
            rounds += 1
            if rounds == 1:
                file.write_text('{"fps": 1, "mine": 2}')
            return json_edit.with_value(read.text, ("fps",), 3)

        assert config.change(repo, PROJECT, edit)
        assert json.loads(file.read_text()) == {"fps": 3, "mine": 2}

    def test_a_file_that_never_rests_is_given_up(self, repo: paths.Place, file: Path) -> None:
        count = 0

        def edit(read: config.File) -> str:
            nonlocal count
            count += 1
            file.write_text(json.dumps({"count": count}))
            return json_edit.with_value("{}", ("fps",), 3)

        with pytest.raises(IbError, match="keeps changing"):
            config.change(repo, PROJECT, edit)

    @pytest.mark.parametrize("user", [False, True], ids=["project", "user"])
    def test_a_lock_that_is_never_let_go(self, repo: paths.Place, monkeypatch: pytest.MonkeyPatch, user: bool) -> None:
        monkeypatch.setattr(config, "PATIENCE", 0.05)
        source = USER if user else PROJECT

        with config.locked(repo, source), pytest.raises(IbError, match="has held its lock"):
            put(repo, "fps", "5", user=user)

        assert put(repo, "fps", "5", user=user) == 5

    def test_the_same_again_writes_nothing(self, repo: paths.Place, file: Path) -> None:
        put(repo, "fps", "5")
        before = file.stat()

        put(repo, "fps", "5")

        assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    def test_temp_files_of_killed_changes_are_swept(self, repo: paths.Place, file: Path) -> None:
        left = file.with_name("..ittybitty.json.1.2.ib-tmp")
        left.write_text("")
        os.utime(left, (0, 0))

        put(repo, "fps", "5")

        assert not left.exists()

    @hypothesis_settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(key_and_value)
    def test_set_and_get(self, repo: paths.Place, pair: tuple[settings.Key, Any]) -> None:
        key, value = pair
        if key.kind == settings.LIST:
            for item in value:
                ops.add(repo, PERSON, key.name, item, False)
            assert ops.get(repo, key.name, False).value == list(dict.fromkeys(value))
        else:
            put(repo, key.name, settings_text.bare(value))
            assert ops.get(repo, key.name, False).value == value
        ops.unset(repo, PERSON, key.name, False)
        assert config.load(repo).source(key.name) == "default"


class TestFaults:
    @pytest.mark.sweep
    @pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EACCES], ids=errno.errorcode.get)
    @pytest.mark.parametrize("user", [False, True], ids=["project", "user"])
    @pytest.mark.parametrize("old", ['{"fps": 1, "mine": [1.0]}', None], ids=["changed", "made"])
    def test_the_old_file_or_the_new_one(
        self, repo: paths.Place, file: Path, home: Path, faults: Faults, error: int, user: bool, old: str | None
    ) -> None:
        target = home / ".ittybitty.json" if user else file
        put(repo, "fps", "2", user=user)
        new = target.read_text() if old is None else old.replace("1,", "2,")
        sweep = Sweep(every=6)
        for number in sweep:
            target.unlink()
            if old is not None:
                target.write_text(old)
            faults.arm(number, error)
            failed = False
            try:
                put(repo, "fps", "2", user=user)
            except (IbError, OSError):
                failed = True
            reached = faults.seen >= number
            faults.disarm()
            now = target.read_text() if target.exists() else None
            assert now in ((old, new) if failed else (new,))
            assert [name for name in os.listdir(target.parent) if name.endswith(".ib-tmp")] == []
            if now is None:
                target.touch()
            sweep.tell(reached)
        assert sweep.last > 9

    @pytest.mark.sweep
    def test_killed_at_every_operation(self, repo: paths.Place, file: Path) -> None:
        old, new = '{"fps": 1, "mine": [1.0]}', '{"fps": 2, "mine": [1.0]}'
        put(repo, "maxAgents", "1")
        outcomes, sweep = set(), Sweep(every=10)
        for number in sweep:
            file.write_text(old)
            words = ["config", "set", "fps", "2"]
            done = forked.run(words, repo.root, dict(os.environ), None, forked.KILL, number)[0]
            outcomes.add(file.read_text())
            assert done == -9 or (done, json.loads(file.read_text())["fps"]) == (77, 2)
            sweep.tell(done == -9)
        assert outcomes == {old, new}


MANY = """
import sys
from ibstatus.setup import config as ops
from ibstatus.project import identity
from ibstatus.project import paths as places
place, who, user = places.here(), sys.argv[1], sys.argv[2] == "user"
person = identity.Caller(identity.PERSON, "user")
print("ready", flush=True)
sys.stdin.readline()
for number in range(15):
    ops.set_value(place, person, f"own{who}.{number}", str(number), user)
    ops.add(place, person, "permissions.worker.allow", f"{who} {number}", user)
    ops.add(place, person, "permissions.worker.deny", f"{who} {number}", user)
    ops.remove(place, person, "permissions.worker.deny", f"{who} {number}", user)
"""


def race(folders: list[str], which: str) -> None:
    """A process in each folder; all of them begin at once and change one file."""
    env = {**os.environ, "PYTHONPATH": str(HERE)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", MANY, str(who), which],
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who, folder in enumerate(folders)
    ]
    for one in running:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in running:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    for one in running:
        one.communicate(timeout=60)
    assert [one.returncode for one in running] == [0] * len(folders)


def check(values: dict[str, Any], writers: int) -> None:
    for who in range(writers):
        assert values[f"own{who}"] == {str(number): number for number in range(15)}
    wanted = sorted(f"{who} {number}" for who in range(writers) for number in range(15))
    assert sorted(values["permissions"]["worker"]["allow"]) == wanted
    assert values["permissions"]["worker"]["deny"] == []


class TestRaces:
    def test_changes_of_one_project_at_once_lose_nothing(self, repo: paths.Place, file: Path) -> None:
        """Neither the file nor .ittybitty exists before."""
        race([repo.root] * 3, "project")

        check(json.loads(file.read_text()), 3)

    def test_changes_of_one_user_in_two_repositories_lose_nothing(
        self, repo: paths.Place, tmp_path: Path, home: Path
    ) -> None:
        race([repo.root, make_repo(tmp_path / "other").root, repo.root], "user")

        check(json.loads((home / ".ittybitty.json").read_text()), 3)

    def test_both_kinds_at_once_where_both_are_one_file(
        self, repo: paths.Place, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", repo.root)

        with ThreadPoolExecutor(2) as pool:
            calls = [("set", "own0", "1"), ("-g", "set", "own1", "2")] * 4
            done = list(pool.map(lambda call: run_ib("config", *call, cwd=repo.root), calls))

        assert [one.code for one in done] == [0] * len(calls)
        assert json.loads(file.read_text()) == {"own0": 1, "own1": 2}
        assert not Path(repo.lock("config")).exists()
