"""The real client with our hooks: a plugin, in the settings, both; and with all of it taken away while it runs."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ibstatus.claude.hooks import events, settings_file
from ibstatus.mail import send
from ibstatus.project import home, identity, paths
from ibstatus.setup import hook_status, hooks
from tests.conftest import PROJECT
from tests.peers.client import Client, environment
from tests.peers.messages_api import MessagesApi, Turn, texts
from tests.peers.tui import Tui

pytestmark = pytest.mark.peer

PERSON = identity.Caller(identity.PERSON, "user")
ROLE = "Your role: **primary**"
NEWS = "NEWS-OF-A-WORKER"
PLUGIN = ("hooks", ".claude-plugin", "skills")


@pytest.fixture
def place(repo: paths.Place, claude: Client, monkeypatch: pytest.MonkeyPatch) -> paths.Place:
    """A repository in which ib is in use, and a user for whom it is written down where ib is."""
    monkeypatch.setenv("HOME", str(claude.home))
    home.enter(repo)
    hooks.remember()
    return repo


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A copy that may be broken; its folder has a name that a shell would trip over."""
    folder = tmp_path / "the user's $plugins"
    for leaf in PLUGIN:
        shutil.copytree(PROJECT / leaf, folder / leaf)
    return folder


@pytest.fixture
def package(tmp_path: Path, place: paths.Place, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of ib that may be broken, and hooks that run it."""
    folder = tmp_path / "an ib" / "ibstatus"
    shutil.copytree(PROJECT / "ibstatus", folder)
    here = (sys.executable, str(folder / "hooks" / "stub.py"))
    hooks.put_in(place, events.wanted(here), events.MAIN)
    return folder


def told(api: MessagesApi) -> str:
    """Everything of the newest request."""
    return "\n".join(text for message in api.shown[-1].messages for text in texts(message["content"]))


def news(place: paths.Place) -> None:
    send.notify(place, PERSON, (NEWS,), "", "", time.time())


@pytest.mark.parametrize("more", [(), ("--strict",), ("--strict", "--profile", "directory", "--json")])
def test_it_is_valid(claude: Client, api: MessagesApi, tmp_path: Path, more: tuple[str, ...]) -> None:
    """The validator warns of nothing but the icon, which only the vendor's directory asks for.

    CLAUDE.md is left out: it is for those who work on the project, and the validator warns that no plugin loads it.
    """
    plugin = tmp_path / "plugin"
    for folder in (".claude-plugin", "hooks", "skills"):
        shutil.copytree(PROJECT / folder, plugin / folder)
    shutil.copy(PROJECT / "README.md", plugin)
    done = subprocess.run(
        [claude.binary, "plugin", "validate", *more, str(plugin)],
        env=environment(claude.home, claude.url),
        capture_output=True,
        text=True,
        check=False,
    )

    if "--profile" in more and "unknown option" in done.stderr:
        pytest.skip("this client's validator knows no profiles")
    if "--profile" in more:
        assert {"ICON_MISSING"} >= set(codes(json.loads(done.stdout)))
    else:
        assert done.returncode == 0, done


def codes(report: object) -> list[str]:
    """Of everything that is wrong, wherever it stands in the report."""
    if isinstance(report, dict):
        found = [str(report["code"])] if isinstance(report.get("code"), str) else []
        return found + [code for value in report.values() for code in codes(value)]
    return [code for value in report for code in codes(value)] if isinstance(report, list) else []


@pytest.mark.parametrize("installed", [False, True], ids=["plugin", "both"])
def test_one_injection(claude: Client, api: MessagesApi, place: paths.Place, plugin: Path, installed: bool) -> None:
    if installed:
        hooks.install(place, PERSON)
    api.turns[:] = [Turn("Bash", {"command": "true", "description": "x"}, meanwhile=lambda: news(place)), Turn()]

    ran = claude.run(Path(place.root), "Go.", "--plugin-dir", str(plugin), mode="bypassPermissions")

    assert ran.code == 0, ran
    assert told(api).count(ROLE) == 1
    assert told(api).count(NEWS) == 1


def test_the_settings_alone(claude: Client, api: MessagesApi, place: paths.Place) -> None:
    hooks.install(place, PERSON)

    assert claude.run(Path(place.root), "Go.").code == 0

    assert told(api).count(ROLE) == 1


def test_a_plugin_that_finds_no_ib_tells_the_user_and_nobody_else(
    claude: Client, api: MessagesApi, place: paths.Place, plugin: Path
) -> None:
    Path(hooks.path()).unlink()
    api.turns[:] = [Turn("Bash", {"command": "echo works", "description": "x"}), Turn()]

    ran = claude.run(Path(place.root), "Go.", "--plugin-dir", str(plugin), mode="bypassPermissions")

    assert (ran.code, api.turns) == (0, [])
    assert api.shown[-1].results == [(True, "works")]
    assert "pipx install" not in told(api)


def test_a_session_that_runs_takes_an_install_in(tui, api: MessagesApi, place: paths.Place) -> None:
    """An edit that leaves the file's old time on it goes unnoticed, every other time."""
    file = Path(settings_file.path_of(place))
    file.parent.mkdir()
    file.write_text('{"env": {"A": "b"}}\n')
    os.utime(file, (1_700_000_000, 1_700_000_000))
    session = tui(Path(place.root))
    session.submit("Before.")
    session.until(lambda: len(api.shown) == 1 and is_idle(session))

    hooks.install(place, PERSON)

    def heard() -> bool:
        """Each prompt is one more chance for the client to have seen the file."""
        before = len(api.shown)
        news(place)
        session.submit("And now?")
        session.until(lambda: len(api.shown) > before and is_idle(session))
        return NEWS in told(api)

    session.until(heard)

    hooks.uninstall(place, PERSON)
    assert json.loads(file.read_text()) == {"env": {"A": "b"}}


def is_idle(session: Tui) -> bool:
    return not session.is_busy and "running" not in session.screen()


@pytest.mark.parametrize("way", ["by the settings", "by the plugin", "the plugin as well"])
def test_all_of_it_gone_in_a_live_session(
    tui, api: MessagesApi, place: paths.Place, package: Path, plugin: Path, way: str
) -> None:
    """Prompts, tools and ends of turns go on as if there were no hooks."""
    if way != "by the settings":
        hooks.taken_out(place, hook_status.KINDS)
    session = tui(Path(place.root), *(("--plugin-dir", str(plugin)) if way != "by the settings" else ()))
    session.submit("Before.")
    session.until(lambda: len(api.shown) == 1 and is_idle(session))
    assert ROLE in told(api)

    shutil.rmtree(package.parent)
    Path(hooks.path()).unlink()
    shutil.rmtree(plugin if way == "the plugin as well" else plugin / "hooks")

    api.turns[:] = [Turn("Bash", {"command": "echo works", "description": "x"}), Turn(words="It is the end.")]
    session.submit("After.")
    session.until(lambda: "It is the end." in session.screen() and is_idle(session))
    assert api.shown[-1].results == [(True, "works")]
    failed = [line for line in session.screen().splitlines() if "hook" in line.lower()]
    if way == "the plugin as well":  # then it is the client that does not find the plugin; it says so and goes on
        assert not [line for line in failed if "blocked" in line or "denied" in line], failed
    else:
        assert failed == []
