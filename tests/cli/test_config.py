"""ib config as it is typed."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ibstatus.claude.hooks import events, settings_file
from ibstatus.project import identity, paths, settings
from ibstatus.setup import config, hooks
from tests.conftest import Done
from tests.mail.test_races import Child

Ib = Callable[..., Done]
DENY = "permissions.worker.deny"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "own home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def file(repo: paths.Place) -> Path:
    return Path(repo.root) / ".ittybitty.json"


def test_list_shows_values_and_where_they_come_from(ib: Ib, file: Path, home: Path) -> None:
    file.write_text('{"maxAgents": 3, "model": "", "permissions": {"manager": {"allow": []}}}')
    (home / ".ittybitty.json").write_text('{"maxAgents": 4, "model": "opus", "fps": 20}')

    done = ib("config", "list")

    rows = [tuple(line.rsplit(None, 2)) for line in done.out.splitlines()]
    assert (done.code, done.err) == (0, "")
    assert rows[:4] == [
        ("  maxAgents", "3", "(project)"),
        ("  model", "(unset)", "(project)"),
        ("  permissions.manager.allow", "[]", "(project)"),
        ("  permissions.manager.deny", "[]", "(default)"),
    ]
    assert ("  fps", "20", "(user)") in rows
    assert [name.strip() for name, _, _ in rows] == list(settings.KEYS)
    assert len({line.index("(", 40) for line in done.out.splitlines()}) == 1
    assert ib("config", "ls") == done


def test_list_of_the_user_knows_no_project(ib: Ib, file: Path, home: Path) -> None:
    file.write_text('{"maxAgents": broken')
    (home / ".ittybitty.json").write_text('{"fps": 20}')

    for call in (["config", "--global", "list"], ["config", "ls", "-g"]):
        done = ib(*call, "--json")
        known = {row["key"]: (row["value"], row["source"]) for row in json.loads(done.out)}

        assert known["fps"] == (20, "user")
        assert known["maxAgents"] == (10, "default")
        assert known["model"] == (None, "default")


def test_get_prints_the_bare_value(ib: Ib, file: Path) -> None:
    file.write_text('{"externalDiffTool": "code --diff", "maxAgents": 0, "own": {"x": [1]}, "notify": {"perHour": 5}}')

    assert ib("config", "get", "externalDiffTool").out == "code --diff\n"
    assert ib("config", "get", "externalDiffTool", "--json").out == '"code --diff"\n'
    assert ib("config", "get", "maxAgents") == Done(0, "0\n", "")
    assert ib("config", "get", "notify.perHour").out == "5\n"
    assert ib("config", "get", "model") == Done(0, "\n", "")
    assert ib("config", "get", "model", "--json").out == "null\n"
    assert ib("config", "get", DENY).out == "[]\n"
    assert ib("config", "get", "own.x").out == "[1]\n"


def test_set_in_both_files_and_with_the_option_anywhere(ib: Ib, file: Path, home: Path) -> None:
    assert ib("config", "set", "maxAgents", "20") == Done(0, "Set maxAgents = 20\n", "")
    assert ib("config", "--global", "set", "externalDiffTool", "code --diff").code == 0
    assert ib("config", "set", "-g", "createPullRequests", "true").code == 0
    assert ib("config", "set", "tmux.titles", "off", "--global").code == 0

    assert json.loads(file.read_text()) == {"maxAgents": 20}
    user = {"externalDiffTool": "code --diff", "createPullRequests": True, "tmux": {"titles": "off"}}
    assert json.loads((home / ".ittybitty.json").read_text()) == user


def test_a_user_setting_that_the_project_overrules_is_said(ib: Ib, file: Path) -> None:
    file.write_text('{"fps": 5}')

    done = ib("config", "set", "-g", "fps", "6")

    assert (done.code, done.out) == (0, "Set fps = 6\n")
    assert done.err == "Warning: the project's own value 5 goes before it here.\n"


@pytest.mark.parametrize(
    ("call", "said", "hint"),
    [
        (["set", "fps", "100"], "fps must be a whole number from 1 to 60, and 100 is not.", "ib config set fps 10"),
        (["set", "maxAgents", "many"], "a whole number, 0 or more", "ib config set maxAgents 10"),
        (["set", "maxAgents", ""], "maxAgents cannot be empty", "ib config unset maxAgents"),
        (["set", "createPullRequests", "yes"], "must be true or false", "createPullRequests true"),
        (["set", "tmux.glyphs", "big"], "one of emoji, safe, ascii", "tmux.glyphs emoji"),
        (["set", "model", "a b"], "a name of letters, digits and", "model sonnet"),
        (["set", DENY, "Bash"], "is a list", f"ib config add {DENY} VALUE"),
        (["set", "own", '["a"]'], "is a list", "ib config add"),
        (["set", "permissions.worker", "x"], "not one setting but holds 2", DENY),
        (["set", "fps.x", "1"], "fps is a setting and holds no keys", "ib config get fps"),
        (["set", "a..b", "1"], "'a..b' cannot be a key", "ib config list"),
        (["set", "fps"], "Missing argument 'VALUE'", "ib config set --help"),
        (["set", "maxAgents", "-5"], "No such option", "put -- before"),
        (["add", "fps", "5"], "fps is not a list", "ib config set fps VALUE"),
        (["add", "deny", "5"], "There is no list 'deny'", DENY),
        (["remove", "fps", "5"], "fps is not a list", "ib config set fps VALUE"),
        (["add", DENY, ""], "empty value", "ib config add"),
        (["lst"], "There is no command 'config lst'", "ib config list"),
        (["unset", "permissions"], "not one setting but holds 4", DENY),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_refused_with_a_way_out(ib: Ib, file: Path, call: list[str], said: str, hint: str) -> None:
    done = ib("config", *call)

    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert hint in done.err.partition("Hint: ")[2]
    assert not file.exists()


def test_an_unknown_key_is_kept_with_a_warning(ib: Ib, file: Path) -> None:
    done = ib("config", "set", "maxAgnets", "4")

    assert done == Done(0, "Set maxAgnets = 4\n", "Warning: ib knows no key maxAgnets (did you mean maxAgents?).\n")
    assert json.loads(file.read_text()) == {"maxAgnets": 4}
    assert "did you mean maxAgents?" in ib("config", "list").err
    assert ib("config", "get", "maxAgnets").out == "4\n"
    assert ib("config", "unset", "maxAgnets").out == "Unset maxAgnets\n"
    gone = ib("config", "get", "maxAgnets")
    assert (gone.code, gone.err) == (1, "Error: There is no key 'maxAgnets'.\nHint: ib config get maxAgents\n")


def test_lists(ib: Ib, file: Path) -> None:
    assert ib("config", "add", DENY, "Bash(rm:*)").out == f"Added 'Bash(rm:*)' to {DENY}\n"
    assert ib("config", "add", DENY, ":123").out == f"Added ':123' to {DENY}\n"
    assert ib("config", "add", DENY, "a\\b").code == 0
    again = ib("config", "add", DENY, ":123")
    assert again == Done(0, f"Value ':123' already exists in {DENY}\n", "")
    assert ib("config", "get", DENY).out == '["Bash(rm:*)",":123","a\\\\b"]\n'
    assert ib("config", "remove", DENY, ":123").out == f"Removed ':123' from {DENY}\n"
    assert ib("config", "remove", DENY, ":123") == Done(0, f"Value ':123' not found in {DENY}\n", "")
    assert json.loads(file.read_text()) == {"permissions": {"worker": {"deny": ["Bash(rm:*)", "a\\b"]}}}


def test_remove_without_a_file_makes_none(ib: Ib, file: Path) -> None:
    assert ib("config", "remove", DENY, "x").code == 0
    assert ib("config", "unset", "fps").out == "fps is not set here\n"
    assert not file.exists()


def test_lists_replace_and_it_is_said(ib: Ib) -> None:
    ib("config", "-g", "add", DENY, "Bash")

    added = ib("config", "add", DENY, "Edit")
    removed = ib("config", "remove", DENY, "Bash")

    assert 'the user\'s list ["Bash"] no longer counts here' in added.err
    assert "run this with --global" in removed.err
    assert ib("config", "add", DENY, "Write").err == ""


def test_a_password_is_not_listed_and_does_not_belong_into_the_project(ib: Ib, file: Path) -> None:
    done = ib("config", "set", "board.dsn", "postgres://u:secret@h/db")

    assert "--global keeps it to you" in done.err
    assert "better ~/.pgpass or IB_BOARD_DSN" in done.err
    assert ib("config", "get", "board.dsn").out == "postgres://u:***@h/db\n"
    for args in (["list"], ["list", "--json"], ["get", "board.dsn", "--json"]):
        assert "secret" not in ib("config", *args).out
    assert "secret" not in done.out + done.err
    assert json.loads(file.read_text())["board"]["dsn"] == "postgres://u:secret@h/db"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{\n  "fps": 5\n  "model": "x"\n}', "line 3, column 3"),
        ('{\n  "fps": oops\n}', "line 2, column 10"),
        ('{"fps" 5}', "line 1, column 8"),
        ("null", "line 1, column 1"),
    ],
)
def test_a_broken_file_is_an_error_with_its_place(ib: Ib, file: Path, text: str, where: str) -> None:
    # A real process, without `json` loaded: there `_json` of Python 3.11 raises SystemError where it means
    # JSONDecodeError, and rules/lines.decode has to know that.
    file.write_text(text)

    for call in (["list"], ["get", "fps"], ["set", "fps", "6"], ["add", DENY, "x"], ["unset", "fps"]):
        done = ib("config", *call)

        assert (done.code, done.out) == (1, "")
        assert done.err.startswith(f"Error: {file} is not valid JSON.\nCaused by: {where}")
        assert "Hint: " in done.err
    assert file.read_text() == text


def test_the_proof_command(ib: Ib, file: Path) -> None:
    file.write_text('{"maxAgents": 3}')

    assert "max_agents: 3\nmodel:\nfps: 10\n" in ib("test-load-config", str(file)).out


def test_an_agent_neither_sees_nor_changes_it(
    ib: Ib, repo: paths.Place, agent: Callable[..., Path], file: Path
) -> None:
    tree = agent(repo, "worker-a")
    file.write_text('{"maxAgents": 3}')

    for call in (
        ["set", "maxAgents", "99"],
        ["add", DENY, "x"],
        ["remove", DENY, "x"],
        ["unset", "maxAgents"],
        ["set", "-g", "fps", "1"],
        ["get", "maxAgents"],
    ):
        done = ib("config", *call, cwd=tree)

        assert (done.code, done.out) == (1, "")
        assert "An agent cannot see or change the configuration" in done.err
    assert file.read_text() == '{"maxAgents": 3}'


def test_a_value_from_a_file_cannot_talk_to_the_terminal(ib: Ib, file: Path) -> None:
    file.write_text(json.dumps({"externalDiffTool": "a\x1b[2J\nb", "k\x1b]0;x": 1}))

    done = ib("config", "list")

    assert "\x1b" not in done.out + done.err


def test_odd_bytes_on_the_command_line_and_in_the_file(ib: Ib, file: Path) -> None:
    assert ib("config", "set", "externalDiffTool", "\udcff x", env={"LC_ALL": "C"}).code == 0
    assert json.loads(file.read_text()) == {"externalDiffTool": "\ufffd x"}
    file.write_text('{"externalDiffTool": "\\ud800", "own": 1e300, "fps": 1e300}')
    assert ib("config", "list").code == 0
    assert ib("config", "list", "--json").code == 0
    assert ib("config", "get", "externalDiffTool").code == 0
    assert ib("config", "get", "own").code == 0
    assert ib("config", "set", "fps", "5").code == 0
    assert file.read_text() == '{"externalDiffTool": "\\ud800", "own": 1e300, "fps": 5}'


def test_help_names_every_key(ib: Ib) -> None:
    done = ib("config")

    assert done.code == 0
    assert [key for key in settings.KEYS if key not in done.out] == []


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ib config set tmux.t", {"tmux.titles"}),
        ("ib config set tmux.titles ", {"stop-only", "real-time", "off"}),
        ("ib config set createPullRequests t", {"true"}),
        ("ib config add permissions.w", {"permissions.worker.allow", "permissions.worker.deny"}),
        ("ib config remove permissions.worker.deny B", {"Bash"}),
        ("ib config get status_node.m", {"status_node.mode", "status_node.max_messages"}),
    ],
)
def test_completion(ib: Ib, typed: str, offered: set[str]) -> None:
    ib("config", "add", DENY, "Bash")
    words = typed.split(" ")

    done = ib(env={"_IB_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)})

    assert {line.partition(",")[2] for line in done.out.splitlines()} == offered


class TestTitles:
    """Which events run hooks depends on tmux.titles: those that are installed follow it."""

    KEY = "tmux.titles"
    PERSON = identity.Caller(identity.PERSON, "user")
    USERS = '{\r\n\t"hooks": { "Stop": [ {"hooks":[{"type":"command","command":"x"}]} ], "SessionEnd": [] }\r\n}'

    @pytest.fixture
    def hooks_file(self, repo: paths.Place) -> Path:
        return Path(settings_file.path_of(repo))

    def events(self, hooks_file: Path) -> set[str]:
        mine = events.ours(json.loads(hooks_file.read_text()))
        return {one.event for one in mine if one.hook == events.TITLES}

    def test_installed_hooks_follow_and_every_byte_comes_back(self, ib: Ib, hooks_file: Path) -> None:
        hooks_file.parent.mkdir()
        hooks_file.write_bytes(self.USERS.encode())
        ib("hooks", "install")
        stop_only = hooks_file.read_bytes()
        for mode in ("real-time", "off", "stop-only"):
            done = ib("config", "set", self.KEY, mode)
            assert done == Done(0, f"Set {self.KEY} = {mode}\n", f"The hooks in {hooks_file} follow it\n")
            assert ib("hooks", "status").out == "installed\n"
            assert self.events(hooks_file) == {*events.TITLE_EVENTS[mode]}
            assert ib("config", "set", self.KEY, mode) == Done(0, f"Set {self.KEY} = {mode}\n", "")
        assert hooks_file.read_bytes() == stop_only
        ib("config", "set", self.KEY, "real-time")
        done = ib("config", "unset", self.KEY)
        assert done == Done(0, f"Unset {self.KEY}\n", f"The hooks in {hooks_file} follow it\n")
        assert hooks_file.read_bytes() == stop_only
        assert ib("config", "set", "tmux.glyphs", "safe").err == ""

        ib("config", "set", self.KEY, "real-time")
        ib("hooks", "uninstall")
        assert hooks_file.read_bytes() == self.USERS.encode()

    def test_what_the_user_took_out_stays_out(self, ib: Ib, hooks_file: Path) -> None:
        ib("hooks", "install")
        value = json.loads(hooks_file.read_text())
        del value["hooks"]["CwdChanged"]
        hooks_file.write_text(json.dumps(value, indent=2))

        assert "follow it" in ib("config", "set", self.KEY, "real-time").err

        assert "CwdChanged" not in json.loads(hooks_file.read_text())["hooks"]
        assert self.events(hooks_file) == {*events.TITLE_EVENTS["real-time"]}
        assert ib("hooks", "status").out == "partial\n"

    def test_for_all_repositories(self, ib: Ib, hooks_file: Path, tmp_path: Path) -> None:
        ib("hooks", "install")
        done = ib("config", "set", "-g", self.KEY, "real-time")
        assert done.err == f"The hooks in {hooks_file} follow it; in other repositories: ib hooks install\n"
        assert self.events(hooks_file) == {*events.TITLE_EVENTS["real-time"]}
        assert ib("config", "set", self.KEY, "off").err == f"The hooks in {hooks_file} follow it\n"

        done = ib("config", "unset", "-g", self.KEY)
        assert (done.code, done.err) == (0, "")  # the project's own value goes before it
        assert self.events(hooks_file) == set()
        done = ib("config", "--global", "set", self.KEY, "off", cwd=tmp_path)
        assert (done.code, done.err) == (0, "In a repository with hooks, they follow it by: ib hooks install\n")

    def test_without_hooks_it_says_what_to_do(self, ib: Ib, repo: paths.Place, hooks_file: Path, home: Path) -> None:
        for mode in ("real-time", "stop-only"):
            done = ib("config", "set", self.KEY, mode)
            assert (done.code, done.err) == (0, "No title changes before hooks are installed: ib hooks install\n")
        assert ib("config", "set", self.KEY, "off").err == ""
        (home / ".claude").mkdir()
        (home / ".claude/settings.json").write_text('{"enabledPlugins": {"ib@somewhere": true}}')
        assert ib("config", "set", self.KEY, "stop-only").err == ""
        done = ib("config", "set", self.KEY, "real-time")
        assert done.err == "The plugin's hooks know no other mode than stop-only: ib hooks install\n"
        ib("hooks", "install-intercept")
        before = hooks_file.read_bytes()
        assert ib("config", "set", self.KEY, "stop-only").code == 0
        assert hooks_file.read_bytes() == before

    @pytest.mark.parametrize("ours", [True, False])
    def test_a_broken_file_is_left_alone_and_the_value_is_set(self, ib: Ib, hooks_file: Path, ours: bool) -> None:
        hooks_file.parent.mkdir()
        hooks_file.write_text("{}")
        if ours:
            ib("hooks", "install")
        hooks_file.write_text(hooks_file.read_text() + "}")
        before = hooks_file.read_bytes()

        done = ib("config", "set", self.KEY, "real-time")

        assert (done.code, done.out, done.err.count("\n")) == (0, f"Set {self.KEY} = real-time\n", 1)
        assert done.err.startswith("The hooks here could not follow: " if ours else "No title changes")
        assert "ib hooks install" in done.err
        assert ib("config", "get", self.KEY).out == "real-time\n"
        assert hooks_file.read_bytes() == before

    def test_of_many_changes_at_once_the_last_one_counts(self, ib: Ib, repo: paths.Place, hooks_file: Path) -> None:
        hooks.install(repo, self.PERSON)

        def change(mode: str) -> str:
            config.set_value(repo, self.PERSON, self.KEY, mode, False)
            return hooks.follow(repo, False)

        children = [Child(partial(change, mode)) for mode in (*events.TITLE_EVENTS, *events.TITLE_EVENTS)]
        assert {child.result() for child in children} <= {f"The hooks in {hooks_file} follow it", ""}

        assert ib("hooks", "status").out == "installed\n"
        mode = ib("config", "get", self.KEY).out.strip()
        assert self.events(hooks_file) == {*events.TITLE_EVENTS[mode]}
