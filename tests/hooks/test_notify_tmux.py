"""The titles of tmux windows: hooks as processes, windows of a real tmux."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from ibstatus.hooks import entry
from ibstatus.titles import hook, machine, pane_files, tmux_window
from tests.conftest import make_agent, make_repo
from tests.hooks.title_panes import Server, Session, settings
from tests.sweeps import SOAK, Sweep
from tests.until import until

TURNS = 25 if SOAK else 5  # of ten events each, in four panes: a thousand
EDIT, READ = [{"tool_name": "Edit"}], [{"tool_name": "Read"}]


@pytest.fixture
def server(tmux: Callable[..., str], tmp_path: Path) -> Server:
    return Server(tmux, tmp_path)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made(tmp_path / "web")


def made(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def live(server: Server) -> Server:
    settings(server.home, titles="real-time")
    return server


@pytest.fixture
def attached(server: Server) -> Iterator[Callable[[str], None]]:
    """Somebody looks at a session: a terminal of another tmux."""
    outer = ["tmux", "-f", os.devnull, "-L", "outer"]

    def attach(session: str) -> None:
        subprocess.run([*outer, "new-session", "-d", f"tmux -L ib attach -t ={session}"], check=True)
        until(lambda: server.ask("#{session_attached}", f"={session}:") != "0")

    yield attach
    subprocess.run([*outer, "kill-server"], check=False, capture_output=True)


def test_a_session_from_its_start_to_its_end(server: Server, project: Path) -> None:
    pane = server.pane()
    session = Session(server, pane, project)

    seen = [server.name(pane)]
    for step in (session.start, session.edit, session.stop, session.stop, session.end):
        step()
        seen.append(f"{server.name(pane)} {server.state(pane)} {server.asked()}")

    assert seen == ["own", "🤖✅web IDLE 1", "🤖✅web IDLE 0", "🤖✅web COMPLETED 1", "🤖✅web COMPLETED 0", "own  1"]
    assert server.ours(pane) == ""
    assert server.automatic(pane) == "off"  # as `new-session -n` had left it
    assert [path.stat().st_mode & 0o777 for path in server.memories] == [0o600]


def test_in_real_time_it_is_the_tool_that_is_shown(live: Server, project: Path) -> None:
    pane = live.pane()
    session = Session(live, pane, project).start()

    seen = []
    for name in ("UserPromptSubmit", "PreToolUse.Read", "PreToolUse.Bash", "PreToolUse.Bash", "PermissionRequest.Bash"):
        live.asked()
        session.tell(name)
        seen.append(f"{live.name(pane)} {live.state(pane)} {live.asked()}")
    session.tell("PostToolUse.Bash")
    seen.append(f"{live.name(pane)} {live.state(pane)}")

    assert seen == [
        "🤖web ACTIVE_UNFOCUSED 1",
        "🔍web ACTIVE_UNFOCUSED 1",
        "🧪web ACTIVE_UNFOCUSED 1",
        "🧪web ACTIVE_UNFOCUSED 0",
        "🚨web ALERT 1",
        "🧪web ACTIVE_UNFOCUSED",
    ]


def test_focus_is_asked_of_tmux_when_it_is_told_something(
    live: Server, project: Path, attached: Callable[[str], None]
) -> None:
    pane, other = live.pane(), live.window()
    session, hidden = Session(live, pane, project), Session(live, other, project, "s2")
    attached("one")
    session.tell("UserPromptSubmit")
    hidden.tell("UserPromptSubmit")

    assert [live.state(pane), live.state(other)] == [machine.ACTIVE_FOCUSED, machine.ACTIVE_UNFOCUSED]
    assert pane_files.read(str(live.memories[0])).known.state == machine.ACTIVE_FOCUSED
    live.asked()
    live.tmux("select-window", "-t", other)
    session.tell("PreToolUse.Bash")
    hidden.tell("PreToolUse.Bash")

    assert [live.state(pane), live.state(other), live.asked()] == ["ACTIVE_UNFOCUSED", "ACTIVE_FOCUSED", 2]


def test_in_grouped_sessions_a_window_is_seen_by_whoever_looks(
    live: Server, project: Path, attached: Callable[[str], None]
) -> None:
    pane = live.pane()
    live.window()
    live.tmux("new-session", "-d", "-s", "two", "-t", "one")
    live.tmux("select-window", "-t", "two:1")
    attached("one")
    Session(live, pane, project).tell("UserPromptSubmit")

    assert (live.state(pane), live.name("one:0"), live.name("two:0")) == ("ACTIVE_FOCUSED", "🤖web", "🤖web")


# Names


HOSTILE = [
    "a#b", "#[fg=red]x", "#(touch BAD)", "a:b", "it's \"quoted\"", "$HOME ${HOME}", "`touch BAD`", "$(touch BAD)",
    "back\\slash\\\\", "end\\", "emoji 👩‍👧 🤖", "a;b \\; touch BAD", "{ } #{pid} #{", "#S #W ##", "%1 %H", "-t", "0",
    "x" * 200, "é" * 100, "a,b}c", "~", "=", "#{?1,a,b}",
]  # fmt: skip


def test_a_project_may_be_called_anything(server: Server, tmp_path: Path, attached: Callable[[str], None]) -> None:
    attached("one")  # so that names are drawn, too
    wrong = {}
    for number, name in enumerate([*HOSTILE, "new\nline", "tab\tbell\a"]):
        folder = made(tmp_path / "projects" / name)
        pane = server.window()
        Session(server, pane, folder, f"s{number}").start().edit().stop()
        shown = server.name(pane).removeprefix("🤖✅")
        if shown != "".join(char for char in name if char >= " "):
            wrong[name] = shown
    assert wrong == {}
    server.asked()
    session = Session(server, pane, folder, f"s{number}").stop()
    assert list(tmp_path.rglob("BAD")) + list(Path("/").glob("BAD")) == []
    assert session.turn == 1


def test_a_name_that_is_no_unicode_is_shown_as_far_as_it_is(server: Server, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.makedirs(folder + b"/.git")
    pane = server.pane()
    session = Session(server, pane, "/")
    session.run("SessionStart.startup", env={"CLAUDE_PROJECT_DIR": folder})

    assert server.name(pane) == "🤖✅caf\ufffd"


def test_a_title_is_not_given_twice(server: Server, tmp_path: Path) -> None:
    server.tmux("set-option", "-g", "@renamed", "")
    server.tmux("set-hook", "-g", "window-renamed", "set-option -ga @renamed x")
    for number, name in enumerate(("web", "a\\b$HOME#")):
        pane = server.window("-n", "own")
        session = Session(server, pane, made(tmp_path / name), f"s{number}").start().edit().stop()
        for _ in range(3):
            session.edit().stop()
        session.tell("Stop.with-background").tell("Stop.with-background")
        server.tmux("select-window", "-t", pane)
    seen = server.ask("#{@renamed}")

    assert seen == "xx" * 2  # 🤖✅, then 🤖⚙️, in each


# The user's own


@pytest.mark.parametrize("style", ["emoji", "safe", "ascii"])
def test_a_window_renamed_meanwhile_keeps_the_users_name(server: Server, project: Path, style: str) -> None:
    settings(server.home, glyphs=style)
    pane = server.pane()
    session = Session(server, pane, project).start()
    glyph = server.name(pane).removesuffix("web")
    seen = []
    for given in ("api", glyph + "api2", glyph * 2 + "a\\b#{pid}$HOME", "", glyph, "0", "x"):
        server.tmux("set-option", "-g", "@given", given)
        server.tmux("rename-window", "-t", pane, "#{@given}")
        session.tell("Stop.with-background").edit().stop()
        seen.append(server.name(pane))
    session.end()

    assert seen == [glyph + name for name in ("api", "api2", "a\\b#{pid}$HOME", "web", "web", "0", "x")]
    assert (server.name(pane), server.ours(pane), server.automatic(pane)) == ("x", "", "off")


def test_a_name_that_the_user_gave_just_before_the_end_stays(server: Server, project: Path) -> None:
    panes = [server.window("-n", "own") for _ in range(4)]
    for pane, name in zip(panes, ("api", "🤖✅api", "", "🤖"), strict=True):
        session = Session(server, pane, project, pane).start()
        server.tmux("rename-window", "-t", pane, name)
        session.end()

    assert [server.name(pane) for pane in panes] == ["api", "api", "own", "own"]


@pytest.mark.parametrize("whole", ["on", "off"])
def test_automatic_rename_comes_back_as_it_was(server: Server, project: Path, whole: str) -> None:
    server.tmux("set-option", "-gw", "automatic-rename", whole)
    panes = [server.window() for _ in range(3)]
    for pane, own in zip(panes, ("", "on", "off"), strict=True):
        until(lambda pane=pane: whole == "off" or server.is_named_by_tmux(pane))
        if own:
            server.tmux("set-option", "-w", "-t", pane, "automatic-rename", own)
        session = Session(server, pane, project, pane).start().edit().stop()
        assert server.automatic(pane) == "off"
        session.end()

    assert [server.automatic(pane) for pane in panes] == ["", "on", "off"]
    assert "".join(map(server.ours, panes)) == ""
    if whole == "on":
        until(lambda: server.is_named_by_tmux(panes[0]))


def test_who_turns_automatic_rename_on_meanwhile_has_it_on_at_the_end(server: Server, project: Path) -> None:
    pane = server.pane()
    session = Session(server, pane, project).start()
    server.tmux("set-option", "-w", "-t", pane, "automatic-rename", "on")
    until(lambda: server.is_named_by_tmux(pane))
    session.edit().stop()
    assert server.name(pane) == "🤖✅web"  # what tmux has named is no name of the user's
    server.tmux("set-option", "-w", "-t", pane, "automatic-rename", "on")
    session.end()

    assert (server.automatic(pane), server.ours(pane)) == ("on", "")


def test_whoever_wants_no_new_names_gets_the_options_alone(server: Server, project: Path) -> None:
    server.tmux("set-option", "-g", "@ib_rename", "off")
    pane = server.window()
    until(lambda: server.is_named_by_tmux(pane))
    session = Session(server, pane, project).start().edit().stop()

    assert (server.name(pane), server.automatic(pane), server.state(pane)) == ("cat", "", "COMPLETED")
    assert server.ask("#{@ib_pane_glyph} #{@ib_loudest}", pane) == f"🤖✅ {pane}"
    session.end()
    assert (server.name(pane), server.automatic(pane), server.ours(pane)) == ("cat", "", "")


@pytest.mark.parametrize("given", ["", "api"])
def test_who_wants_no_new_names_any_more_has_the_old_one_back(server: Server, project: Path, given: str) -> None:
    pane = server.pane()
    session = Session(server, pane, project).start()
    if given:
        server.tmux("rename-window", "-t", pane, given)
    server.tmux("set-option", "-g", "@ib_rename", "off")
    session.edit().stop()
    assert (server.name(pane), server.state(pane)) == (given or "own", "COMPLETED")
    server.tmux("rename-window", "-t", pane, "mine")
    session.tell("Stop.with-background")
    assert (server.name(pane), server.state(pane)) == ("mine", "WORKING")
    server.tmux("set-option", "-gu", "@ib_rename")
    session.edit().stop()
    assert server.name(pane) == "🤖✅web"
    session.end()

    assert (server.name(pane), server.ours(pane), server.automatic(pane)) == ("mine", "", "off")


# Panes that move, and several in one window


def untouched(server: Server, *but: str) -> str:
    """Names and options of every other window."""
    windows = server.tmux("list-windows", "-a", "-F", "#{window_id}").split()
    ours = {server.ask("#{window_id}", target) for target in but}
    said = [server.tmux("show-options", "-g"), server.tmux("show-options", "-gw"), server.tmux("show-hooks", "-g")]
    for window in windows:
        if window not in ours:
            said.append(server.ask("#{window_id} #{window_name} #{window_active}", window))
            said += [server.tmux("show-options", flag, "-t", window) for flag in ("-w", "-p")]
    return "\n".join(said)


def test_no_other_window_is_touched(live: Server, project: Path) -> None:
    pane = live.pane()
    live.tmux("new-session", "-d", "-s", "web", "-n", "web", "cat")
    for name in ("own", "🤖✅web", "#{pid}"):
        live.window("-n", name)
    before = untouched(live, pane)
    session = Session(live, pane, project).start()
    for name in ("UserPromptSubmit", "PreToolUse.Bash", "PermissionRequest.Bash", "PostToolBatch", "Stop"):
        session.tell(name)
    session.end()

    assert untouched(live, pane) == before


def test_of_two_sessions_in_a_window_the_louder_one_is_shown(live: Server, tmp_path: Path) -> None:
    pane = live.pane()
    one = Session(live, pane, made(tmp_path / "one"), "s1").start()
    two = Session(live, live.split(pane), made(tmp_path / "two"), "s2").start()
    seen = [live.name(pane)]

    def then(session: Session, name: str) -> None:
        session.tell(name)
        seen.append(live.name(pane))

    then(two, "UserPromptSubmit")
    then(one, "Stop.with-background")
    running = live.ask("#{@agent_running}", pane)
    then(two, "Stop")
    then(two, "PermissionRequest.Bash")
    then(one, "UserPromptSubmit")
    then(two, "SessionEnd.other")
    then(one, "SessionEnd.other")

    assert seen == ["🤖✅one", "🤖two", "🤖two", "🤖⚙️one", "🚨two", "🚨two", "🤖one", "own"]
    assert running == "true"
    assert live.ours(pane) + live.ours(two.pane) == ""


def test_they_may_end_in_either_order(server: Server, tmp_path: Path) -> None:
    pane = server.pane()
    one = Session(server, pane, made(tmp_path / "one"), "s1").start()
    two = Session(server, server.split(pane), made(tmp_path / "two"), "s2").start()

    one.end()
    assert server.name(pane) == "🤖✅two"
    two.end()
    assert (server.name(pane), server.ours(pane)) == ("own", "")


MOVES = {
    "break-pane": ("break-pane", "-d", "-s", "{pane}"),
    "join-pane": ("join-pane", "-d", "-s", "{pane}", "-t", "{other}"),
    "move-window": ("move-window", "-d", "-s", "{pane}", "-t", "two:7"),
    "swap-pane": ("swap-pane", "-d", "-s", "{pane}", "-t", "{other}"),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("end", [False, True])
def test_a_pane_moves_in_mid_turn_and_takes_its_title_with_it(
    server: Server, project: Path, move: str, end: bool
) -> None:
    server.tmux("new-session", "-d", "-s", "two", "-n", "other", "cat")
    pane, other = server.pane("one:"), server.pane("two:")
    beside = server.split(pane)
    session = Session(server, pane, project).start().edit()
    server.tmux(*(word.format(pane=pane, other=other) for word in MOVES[move]))
    if end:
        session.end()
    else:
        session.stop()
        assert server.name(pane) == "🤖✅web"
        assert server.ask("#{@ib_loudest}", pane) == pane
    stays = {"move-window": pane, "swap-pane": other}.get(move, beside)
    if not (move == "move-window" and not end):
        assert (server.name(stays), server.ours(stays)) == ("own", "")
    session.end()

    everything = server.tmux("list-windows", "-a", "-F", "#{window_name}").split()
    assert not any("web" in name for name in everything)
    windows = server.tmux("list-panes", "-a", "-F", "#{pane_id}").split()
    assert "".join(map(server.ours, windows)) == ""


def test_a_pane_that_is_killed_before_its_session_ends(server: Server, tmp_path: Path) -> None:
    pane = server.pane()
    beside = server.split(pane)
    alone = server.window()
    one = Session(server, pane, made(tmp_path / "one"), "s1").start()
    two = Session(server, alone, made(tmp_path / "two"), "s2").start()
    server.tmux("kill-pane", "-t", pane)
    server.tmux("kill-pane", "-t", alone)
    one.end()
    two.end()

    assert (server.name(beside), server.ours(beside)) == ("own", "")


# Outside, dead, stopped


@pytest.mark.parametrize(
    ("tmux_variable", "pane"),
    [
        ("", "%0"), ("{right}", ""), ("{right}", "0"), ("{right}", "%"), ("{right}", "%0;kill-server"),
        ("{right}", "%0 "), ("{right}", "@0"), ("{right}", "=one"), ("{right}", "%٣"), ("{right}", "%99999999999999"),
        ("nothing", "%0"), ("/x,y,z", "%0"), (",,", "%0"), ("relative,1,0", "%0"),
    ],
)  # fmt: skip
def test_without_a_pane_there_is_nothing_to_do(server: Server, project: Path, tmux_variable: str, pane: str) -> None:
    right = f"{server.socket},{server.pid},0"
    session = Session(server, pane, project, TMUX=tmux_variable.format(right=right))
    session.start().edit().stop()

    assert (server.name("one:"), server.asked(), server.memories) == ("own", 0, [])


def test_a_server_that_is_gone(server: Server, project: Path) -> None:
    session = Session(server, server.pane(), project).start()
    server.tmux("kill-server")
    session.edit().stop().end()

    assert server.asked() <= 3
    until(lambda: not pane_files.is_alive(int(server.pid)))
    Session(server, "%0", project, "s9", TMUX=f"{server.socket},{os.getpid()},0").start()
    assert [path.name.split("-")[0] for path in server.memories] == [str(os.getpid())]  # the other's are swept


def test_a_tmux_that_was_started_anew_is_another_one(server: Server, project: Path) -> None:
    """Its first pane has the number of the one that is gone."""
    session = Session(server, server.pane(), project).start().edit()
    server.tmux("kill-server")
    until(lambda: not pane_files.is_alive(int(server.pid)))
    server.tmux("new-session", "-d", "-s", "one", "-n", "strange", "cat")
    assert server.pane() == session.pane
    session.stop()
    assert (server.name("one:"), server.ours("one:")) == ("strange", "")
    session.end()
    assert (server.name("one:"), server.automatic("one:")) == ("strange", "off")


def test_all_that_tmux_is_told_fits_into_a_small_pipe() -> None:
    """Linux gives two pages to a user who has many pipes."""
    values = machine.values(machine.Known(machine.COMPLETED, 1.8e9), "emoji", "x" * 200)
    timer = tmux_window.later("%123", 1800, "x" * 300)

    assert len(tmux_window.shown("%123", "@123", values, timer).encode()) < 8192 - 100


def test_a_pipe_that_is_too_small_is_as_if_it_did_not_answer(server: Server) -> None:
    """Who has many pipes open gets small ones. It is not waited for."""
    assert tmux_window.run(server.socket, int(server.pid), "#" * 1_000_000) is None
    assert tmux_window.run(server.socket, int(server.pid), "display-message -p x\n") == "x\n"


def test_without_tmux_nothing_is_said(server: Server, project: Path) -> None:
    Session(server, server.pane(), project, PATH="/nowhere").start().stop().end()

    assert server.name("one:") == "own"


def test_a_server_that_hangs_is_asked_once_and_told_later(server: Server, project: Path) -> None:
    pane = server.pane()
    session = Session(server, pane, project).start().edit()
    server.asked()
    session.is_hasty = True
    os.kill(int(server.pid), signal.SIGSTOP)
    try:
        session.stop()
        session.tell("Stop.with-background")
        asked = server.asked()
        left = subprocess.run(["pgrep", "-f", f"{server.socket} source-file"], capture_output=True, check=False).stdout
    finally:
        os.kill(int(server.pid), signal.SIGCONT)
    session.is_hasty = False
    memory = pane_files.read(str(server.memories[0]))
    assert (asked, left, memory.due, memory.known.state) == (1, b"", True, "WORKING")
    with pane_files.File(str(server.memories[0])) as file:
        file.memory.tried -= hook.RETRY
        file.put()
    session.tell("PostToolBatch", tool_calls=READ)

    assert (server.name(pane), pane_files.read(str(server.memories[0])).due) == ("🤖⚙️web", False)


def test_a_timer_that_a_server_did_not_hear_of_is_set_later(server: Server, project: Path) -> None:
    session = Session(server, server.pane(), project).start().edit()
    session.is_hasty = True
    os.kill(int(server.pid), signal.SIGSTOP)
    try:
        session.stop()
    finally:
        os.kill(int(server.pid), signal.SIGCONT)
    session.is_hasty = False
    memory = pane_files.read(str(server.memories[0]))
    assert (memory.due, memory.timer) == (True, 0.0)
    path = aged(server, machine.DECAY - 1)
    with pane_files.File(str(path)) as file:
        file.memory.tried = 0.0
        file.put()
    session.tell("PostToolBatch", tool_calls=READ)

    until(lambda: server.state("one:") == "IDLE")


def test_everything_speaks_c(tmux: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("LANG", "C")
    server = Server(tmux, tmp_path)
    session = Session(server, server.pane(), made(tmp_path / "wéb 🤖"))
    session.run("SessionStart.startup")
    session.run("Stop.with-background")

    assert server.name("one:") == "🤖⚙️wéb 🤖"


# Whose pane it is


def test_a_client_without_a_person_does_not_speak_for_the_one_that_started_it(server: Server, project: Path) -> None:
    pane = server.pane()
    session = Session(server, pane, project).start().edit().stop()
    inner = Session(server, pane, project, "inner", CLAUDE_CODE_ENTRYPOINT="sdk-cli")
    server.asked()
    inner.start().tell("UserPromptSubmit").tell("Stop.with-background").end()

    assert (server.name(pane), server.asked()) == ("🤖✅web", 0)
    Session(server, pane, project, "next").tell("UserPromptSubmit")
    session.tell("Stop.with-background").end()
    assert server.name(pane) == "🤖✅web"


def test_one_in_a_pane_of_its_own_has_a_title(server: Server, project: Path) -> None:
    pane = server.pane()
    alone = Session(server, pane, project, CLAUDE_CODE_ENTRYPOINT="sdk-cli").start()
    assert server.name(pane) == "🤖✅web"
    alone.end()
    assert server.name(pane) == "own"


def test_what_comes_after_the_end_changes_nothing(server: Server, project: Path) -> None:
    session = Session(server, server.pane(), project).start().end()
    server.asked()
    session.tell("SubagentStop").tell("Stop.with-background").end()

    assert (server.name("one:"), server.asked()) == ("own", 0)
    session.tell("SessionStart.resume")
    assert server.name("one:") == "🤖✅web"


def test_clear_is_not_the_end(server: Server, project: Path) -> None:
    session = Session(server, server.pane(), project).start().edit().stop()
    session.tell("SessionEnd.clear")
    assert server.name("one:") == "🤖✅web"
    Session(server, server.pane(), project, "s2").tell("SessionStart.clear").end()
    assert server.name("one:") == "own"


def test_hooks_that_come_into_a_running_session(server: Server, project: Path) -> None:
    Session(server, server.pane(), project).edit().stop()

    assert (server.name("one:"), server.state("one:")) == ("🤖✅web", "COMPLETED")


def test_an_agent_is_called_by_its_id(server: Server, tmp_path: Path) -> None:
    place = make_repo(tmp_path / "repo")
    worktree = make_agent(place, "w1")
    Path(place.version).write_text("1\n")
    session = Session(server, server.pane(), worktree)
    assert session.told("SessionStart.startup", args=("w1",)) == (0, b"", b"")

    assert server.name("one:") == "🤖✅w1"


def test_the_name_is_that_of_the_git_root_or_of_the_folder(server: Server, project: Path, tmp_path: Path) -> None:
    inside = project / "src" / "deep"
    inside.mkdir(parents=True)
    pane = server.pane()
    Session(server, pane, inside, "s1").start()
    assert server.name(pane) == "🤖✅web"
    (tmp_path / "plain").mkdir()
    Session(server, pane, tmp_path / "plain", "s2").start()
    assert server.name(pane) == "🤖✅plain"
    Session(server, pane, "/", "s3").start()
    assert server.name(pane) == "🤖✅/"


def test_the_settings_are_read_again_at_stop(server: Server, project: Path) -> None:
    session = Session(server, server.pane(), project).start()
    settings(server.home, titles="stop-only", glyphs="ascii")
    session.edit()
    assert server.name("one:") == "🤖✅web"
    session.stop()
    assert server.name("one:") == "[ok]web"
    settings(server.home, titles="off")
    session.stop()
    server.asked()
    session.edit().start().stop().end()

    assert (server.name("one:"), server.ours("one:"), server.asked()) == ("own", "", 1)


def test_a_session_at_rest_follows_another_mode_from_its_next_prompt_on(server: Server, project: Path) -> None:
    session = Session(server, server.pane(), project).start().edit().stop()
    settings(server.home, titles="real-time", glyphs="safe")
    session.tell("UserPromptSubmit").tell("PreToolUse.Edit")
    assert (server.name("one:"), server.state("one:")) == ("🔧web", "ACTIVE_UNFOCUSED")
    settings(server.home, titles="off")
    session.tell("UserPromptSubmit")
    assert (server.name("one:"), server.ours("one:")) == ("own", "")


def test_settings_that_cannot_be_read_are_the_usual_ones(server: Server, project: Path) -> None:
    (server.home / ".ittybitty.json").write_text("{")
    Session(server, server.pane(), project).start()

    assert server.name("one:") == "🤖✅web"


# Half an hour


def aged(server: Server, seconds: float) -> Path:
    """As if what is remembered had happened earlier by so much; tmux's own timer would be over as well."""
    path = server.memories[0]
    with pane_files.File(str(path)) as file:
        known = file.memory.known
        file.memory.known = machine.but(
            known, since=known.since - seconds, completed=known.completed and known.completed - seconds
        )
        file.memory.shown = machine.values(file.memory.known, file.memory.style, file.memory.project)
        file.memory.timer = 0.0
        file.put()
    return path


def called(server: Server, path: Path) -> None:
    """What tmux does when the time has come: in its own environment."""
    env = {"PATH": f"{server.bin}:{os.environ['PATH']}", "IB_AGENT_ID": "w1", "TMUX_PANE": "%77"}
    from tests.hooks.title_panes import STUB

    argv = [hook.sys.executable, "-S", "-E", "-I", str(STUB), "notify-tmux", hook.DECAY + str(path)]
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("state", ["COMPLETED", "BASE"])
def test_after_half_an_hour_it_is_idle_with_nobody_doing_anything(server: Server, project: Path, state: str) -> None:
    session = Session(server, server.pane(), project).start()
    if state == "COMPLETED":
        session.edit()
    session.stop()
    before = server.ask("#{@ib_state} #{window_name}")
    path = aged(server, machine.DECAY - 0.5)
    called(server, path)  # arms the rest of the time

    assert before == {"COMPLETED": "COMPLETED 🤖✅web", "BASE": "BASE 🤖web"}[state]
    until(lambda: server.ask("#{@ib_state} #{window_name} #{@last_completed_time}") == "IDLE 🤖✅web ")


def test_the_timer_finds_a_folder_of_any_name(server: Server, project: Path, tmp_path: Path) -> None:
    state = tmp_path / 'it\'s #{pid} #(touch BAD) %H%% \\ "$HOME" `touch BAD` é;'
    session = Session(server, server.pane(), project, XDG_STATE_HOME=str(state)).start()

    def is_seen_before_its_time() -> bool:
        session.edit().stop()
        path = next(state.glob("ib/titles/*"))
        with pane_files.File(str(path)) as file:
            stamp = time.time() - machine.DECAY + 1
            file.memory.known = machine.but(file.memory.known, since=stamp, completed=stamp)
            file.memory.timer = 0.0
            file.memory.due = True
            file.put()
        session.tell("PostToolBatch", tool_calls=READ)
        return server.state("one:") == "COMPLETED"

    until(is_seen_before_its_time)
    until(lambda: server.state("one:") == "IDLE")
    assert list(tmp_path.rglob("BAD")) == []


def test_what_is_not_old_enough_is_asked_again(server: Server, project: Path) -> None:
    session = Session(server, server.pane(), project).start().edit().stop()
    path = aged(server, 1000)
    called(server, path)
    memory = pane_files.read(str(path))

    assert (memory.known.state, server.state("one:")) == ("COMPLETED", "COMPLETED")
    assert 700 < memory.timer - time.time() < 801
    server.asked()
    session.tell("UserPromptSubmit")
    called(server, aged(server, 2000))
    assert (server.state("one:"), server.asked()) == ("IDLE", 1)


def test_one_timer_for_each_pane(server: Server, project: Path) -> None:
    session = Session(server, server.pane(), project).start().edit().stop()
    first = pane_files.read(str(server.memories[0])).timer
    for _ in range(3):
        session.edit().stop()

    assert pane_files.read(str(server.memories[0])).timer == first > time.time() + 1790


def test_a_timer_of_a_session_that_has_ended_says_nothing(server: Server, project: Path) -> None:
    Session(server, server.pane(), project).start().edit().stop().end()
    path = aged(server, 4000)
    server.asked()
    called(server, path)
    called(server, path.with_name("gone"))

    assert (server.name("one:"), server.ours("one:"), server.asked()) == ("own", "", 0)
    assert not path.with_name("gone").exists()


# Faults


@pytest.mark.sweep
def test_the_hook_may_be_killed_at_any_point(server: Server, project: Path) -> None:
    """The next event puts it right; what was killed before anything was written down has not happened."""
    pane = server.pane()
    session = Session(server, pane, project).start()
    sweep = Sweep(every=8, longest=99)
    for at in sweep:
        session.edit()
        code, _, _ = session.told("Stop.with-background", "KILL", at)
        session.tell("PostToolBatch", tool_calls=READ)
        memory = pane_files.read(str(server.memories[0]))
        assert server.state(pane) == memory.known.state, at
        assert not memory.due
        sweep.tell(code == -signal.SIGKILL)
        if code == -signal.SIGKILL:
            session.stop()
            assert server.name(pane) == "🤖✅web"
    assert sweep.last > 8


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_when_tmux_is_asked(server: Server, project: Path, when: str) -> None:
    pane = server.pane()
    session = Session(server, pane, project).start().edit()
    wrapper = server.bin / "tmux"
    real = wrapper.read_text()
    kill = "kill -9 $PPID\n"
    asks = real.replace("exec ", "")
    wrapper.write_text(real.replace("exec", kill + "exit\n") if when == "before" else asks + kill)
    code, _, _ = session.told("Stop")
    wrapper.write_text(real)
    assert code == -signal.SIGKILL
    session.tell("PostToolBatch", tool_calls=READ)

    assert (server.state(pane), pane_files.read(str(server.memories[0])).due) == ("COMPLETED", False)


@pytest.mark.sweep
def test_a_disk_that_takes_nothing(server: Server, project: Path) -> None:
    pane = server.pane()
    session = Session(server, pane, project).start()
    sweep = Sweep(every=8, longest=99)
    for at in sweep:
        session.edit()
        code, out, _ = session.told("Stop.with-background", "ENOSPC", at)
        assert (
            out == b""
        )  # what the command `ib` says of a disk that fails before it came to the hook, is not the hook's
        session.edit().stop()
        assert server.state(pane) == "COMPLETED", at
        sweep.tell(code != 77)
    assert sweep.last > 8


def test_a_folder_that_cannot_be_written(server: Server, project: Path) -> None:
    state = server.home / ".local"
    state.write_text("a file where a folder should be")
    Session(server, server.pane(), project).start().edit().stop().end()

    assert (server.name("one:"), server.asked()) == ("own", 0)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\n", b"[]\n", b'{"known": []}\n', b"x" * 20000])
def test_a_memory_that_is_torn_is_none(server: Server, project: Path, content: bytes) -> None:
    session = Session(server, server.pane(), project).start()
    server.memories[0].write_bytes(content)
    session.edit().stop()
    assert server.name("one:") == "🤖✅web"
    session.end()
    assert (server.name("one:"), server.ours("one:")) == ("own", "")


def test_an_event_that_must_wait_for_others_is_not_lost(server: Server, project: Path) -> None:
    """On a busy machine many hooks of one pane can stand in line; only tmux itself is given up early."""
    session = Session(server, server.pane(), project).start().edit()
    with pane_files.File(str(server.memories[0])):
        stops = threading.Thread(target=session.stop)
        stops.start()
        stops.join(entry.LIMIT[entry.OPEN] * 1.5)
        assert stops.is_alive()
    stops.join()

    assert server.state("one:") == "COMPLETED"


@pytest.mark.timeout(300)
@pytest.mark.sweep
def test_a_thousand_events_of_four_panes(live: Server, tmp_path: Path) -> None:
    """Several hooks at once, also of one pane: the last state is right, nothing flickers, nobody else is touched."""
    panes = [live.pane(), live.window(), live.window()]
    panes.append(live.split(panes[2]))
    live.window("-n", "bystander")
    live.tmux("set-option", "-g", "@renamed", "")
    live.tmux("set-hook", "-g", "window-renamed", "set-option -gaF @renamed ' #{hook_window} #{hook_window_name}'")
    sessions = [Session(live, pane, made(tmp_path / f"p{n}"), f"s{n}") for n, pane in enumerate(panes)]
    before = untouched(live, *panes)

    def work(session: Session) -> None:
        session.start()
        for turn in range(TURNS):
            session.turn = turn
            session.tell("UserPromptSubmit")
            both = [threading.Thread(target=session.tell, args=(f"PreToolUse.{tool}",)) for tool in ("Bash", "Read")]
            for one in both:
                one.start()
            for one in both:
                one.join()
            for name in ("PostToolUse.Bash", "PostToolUse.Read", "PreToolUse.Edit", "PostToolUse.Edit"):
                session.tell(name)
            session.edit()
            session.tell("PermissionRequest.Bash")
            session.tell("Stop.with-background" if turn % 2 else "Stop")

    workers = [threading.Thread(target=work, args=(session,)) for session in sessions]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [live.name(pane) for pane in panes] == ["🤖✅p0", "🤖✅p1", "🤖✅p2", "🤖✅p2"]
    renamed: dict[str, list[str]] = {}
    for word in live.ask("#{@renamed}").replace(" @", "\n@").splitlines():
        window, _, name = word.strip().partition(" ")
        renamed.setdefault(window, []).append(name)
    assert set(renamed) - {""} == {live.ask("#{window_id}", pane) for pane in panes}
    assert [names for names in renamed.values() for pair in pairwise(names) if pair[0] == pair[1]] == []
    for session in sessions:
        session.end()
    live.tmux("set-hook", "-gu", "window-renamed")
    live.tmux("set-option", "-gu", "@renamed")
    assert [live.ours(pane) for pane in panes] == [""] * 4
    assert untouched(live, *panes).split("\n@")[1:] == before.split("\n@")[1:]
