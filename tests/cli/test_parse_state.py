"""ib parse-state: the state that a screen shows, and how it came about."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.claude.screens import states, user_rules
from ibstatus.claude.screens.rules_file import built_in
from ibstatus.project import paths
from tests.conftest import PROJECT, Done

FOLDER, SHARED = PROJECT / "fixtures" / "screen-states", PROJECT.parent / "shared"
PERMISSION = next(path for path in sorted(FOLDER.iterdir()) if path.name.startswith("waiting-permission"))
RUNNING = next(path for path in sorted(FOLDER.iterdir()) if path.name.startswith("running-none"))
OWN = "[[rule]]\nname = 'mine'\nstate = 'stopped'\nmatch = 'Do you want'\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "a-home"))
    (tmp_path / "a-home" / ".ittybitty").mkdir(parents=True)
    return tmp_path / "a-home" / ".ittybitty"


def test_a_file_and_a_pipe(ib: Callable[..., Done], tmp_path: Path) -> None:
    assert ib("parse-state", str(PERMISSION), cwd=tmp_path).out == "waiting\n"
    piped = ib("parse-state", cwd=tmp_path, stdin=RUNNING.read_text(), env={"LC_ALL": "C"})
    assert (piped.code, piped.out, piped.err) == (0, "running\n", "")


EVERY = """
import sys
from ibstatus.testkit.fixtures import screens as screen_proof
for path in sys.argv[1:]:
    print(path, ascii(screen_proof.state(path, "")[0]), sep="\\t")
"""


@pytest.mark.parametrize("locale", ["C", "tr_TR.UTF-8", "POSIX"])
def test_no_locale_changes_what_a_screen_says(locale: str, tmp_path: Path) -> None:
    """All of upstream's, of the real client's and of ours, at all widths that were recorded."""
    screens = [*FOLDER.iterdir(), *SHARED.glob("upstream-fixtures/*.txt"), *SHARED.glob("claude-code/screens/*/*.txt")]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(PROJECT)}
    env |= {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    argv = [sys.executable, "-P", "-c", EVERY, *map(str, screens)]
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, check=True)

    expected = {str(path): ascii(states.shown(path.read_text("utf-8"))) for path in screens}
    assert dict(line.split("\t") for line in done.stdout.decode("ascii").splitlines()) == expected


def test_what_it_says_when_asked_for_more(ib: Callable[..., Done], tmp_path: Path) -> None:
    done = ib("parse-state", "-v", str(PERMISSION), cwd=tmp_path, env={"LC_ALL": "C"})
    value = json.loads(ib("parse-state", "--json", str(PERMISSION), cwd=tmp_path).out)

    assert done.out == "waiting\n"
    assert "screen: dialog" in done.err
    assert "no   start-dialog (which)" in done.err
    assert "yes  permission (which): permission" in done.err
    assert (value["reason"], value["rule"]) == ("permission", "permission")
    assert value["asks"] in done.err


def test_a_version_of_the_client(ib: Callable[..., Done], tmp_path: Path) -> None:
    for version in ("2.1.326", "2.1.326 (Claude Code)"):
        assert ib("parse-state", "--client", version, str(PERMISSION), cwd=tmp_path).out == "waiting\n"
    for version in ("abc", "2", "2.1.x", " "):
        done = ib("parse-state", "--client", version, str(PERMISSION), cwd=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert "no version" in done.err


def test_where_our_rules_stand(ib: Callable[..., Done], tmp_path: Path) -> None:
    said = ib("parse-state", "-v", str(PERMISSION), cwd=tmp_path).err.split("\n")[0]

    assert Path(said.removeprefix("rules: ")).read_bytes().startswith(b"# What the screens")


def test_a_missing_file_and_a_folder(ib: Callable[..., Done], tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        done = ib("parse-state", str(path), cwd=tmp_path)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("Error: Could not read")


def test_a_broken_file_of_the_user_is_named_with_its_line(repo: paths.Place, ib: Callable[..., Done]) -> None:
    path = Path(repo.home, "screens.toml")
    path.parent.mkdir(exist_ok=True)
    path.write_text(OWN + "\n[[rule]]\nname = 'bad'\nstate = 'waiting'\nmatch = '(a+'\n")
    done = ib("parse-state", str(PERMISSION), cwd=repo.root)

    assert done.code == 1
    assert f"{path} cannot be used, line 9" in done.err
    assert "unterminated" in done.err
    assert user_rules.of(repo).rules[0].name == "mine"


def test_a_slow_rule_is_named(home: Path, ib: Callable[..., Done], tmp_path: Path) -> None:
    (home / "screens.toml").write_text("[[rule]]\nname = 'slow'\nstate = 'waiting'\nmatch = '(x+x+)+y'\n")
    done = ib("parse-state", cwd=tmp_path, stdin="x" * 500 + "\n")

    assert done.code == 1
    assert "the rule slow took more than" in done.err


def test_rules_of_the_repository_come_before_those_of_the_user(repo: paths.Place, home: Path) -> None:
    (home / "screens.toml").write_text(OWN.replace("stopped", "complete") + OWN.replace("mine", "other"))
    assert [rule.state for rule in user_rules.of(repo).rules[:2]] == ["complete", "stopped"]

    Path(repo.home).mkdir(exist_ok=True)
    Path(repo.home, "screens.toml").write_text(OWN)
    first = user_rules.of(repo)
    assert [(rule.name, rule.state) for rule in first.rules[:2]] == [("mine", "stopped"), ("other", "stopped")]
    assert user_rules.of(repo) is first

    Path(repo.home, "screens.toml").unlink()
    assert user_rules.of(repo).rules[0].state == "complete"


def test_what_is_no_file_costs_nothing_but_a_word(repo: paths.Place, home: Path) -> None:
    (home / "screens.toml").mkdir()
    assert len(user_rules.problems(repo)) == 1

    (home / "screens.toml").rmdir()
    os.mkfifo(home / "screens.toml")
    assert len(user_rules.problems(repo)) == 1

    (home / "screens.toml").unlink()
    (home / "screens.toml").write_bytes(b"#" * 300_000)
    assert "larger than" in user_rules.problems(repo)[0]
    assert user_rules.of(repo).rules == built_in().rules
