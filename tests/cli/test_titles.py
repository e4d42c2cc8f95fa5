"""ib doctor titles and ib titles, in a real tmux and before a terminal that a test plays."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ibstatus.titles import glyphs, title_widths, titles
from tests.conftest import Done, run_ib
from tests.until import until

Ib = Callable[..., Done]
Tmux = Callable[..., str]
GLYPHS = [glyph for glyph, _, _ in title_widths.glyphs()]
SELECTED = [glyph for glyph in GLYPHS if "\ufe0f" in glyph]


@pytest.fixture
def inside(tmux: Tmux, monkeypatch: pytest.MonkeyPatch) -> Tmux:
    """We stand in the first pane of a tmux that is not the agents'."""

    def ask(*args: str) -> str:
        argv = ["tmux", "-u", "-f", os.devnull, "-L", "mine", *args]
        return subprocess.run(
            argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=20
        ).stdout

    ask("new-session", "-d", "-s", "work", "-x", "80", "-y", "24", "cat")
    socket, pid, pane = ask("display-message", "-p", "#{socket_path} #{pid} #{pane_id}").split()
    monkeypatch.setenv("TMUX", f"{socket},{pid},0")
    monkeypatch.setenv("TMUX_PANE", pane)
    return ask


@pytest.fixture(autouse=True)
def ended(tmux: Tmux) -> Iterator[None]:
    yield
    subprocess.run(["tmux", "-L", "mine", "kill-server"], capture_output=True, check=False)


def widths(done: Done) -> dict[str, Any]:
    assert done.code == 0, done
    found: Any = done.json()
    return found


def by_glyph(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {width["glyph"]: width for width in found["glyphs"]}


def everything(ask: Tmux) -> list[str]:
    shown = [["show-options", "-s"], ["show-options", "-g"], ["show-options", "-gw"], ["show-options", "-gp"]]
    panes = "#{session_id} #{window_id} #{pane_id} #{window_name} #{automatic-rename} #{window_activity}"
    return [ask(*command) for command in (*shown, ["list-panes", "-a", "-F", panes], ["list-buffers"])]


# ib doctor titles


def test_every_glyph_of_both_sets_is_measured() -> None:
    styles = (glyphs.EMOJI_GLYPHS, glyphs.SAFE_GLYPHS)

    assert set(GLYPHS) == {glyph for style in styles for glyph in style.values()}


@pytest.mark.parametrize(("glyph", "wide"), [("🤖⚙️", 4), ("✏️", 2), ("⚡", 2), ("[ok]", 4), ("🚨", 2), ("", 0)])
def test_what_terminals_draw(glyph: str, wide: int) -> None:
    assert title_widths.columns(glyph) == wide


def test_no_safe_glyph_needs_a_selector_and_no_width_is_left_to_chance() -> None:
    assert not any("\ufe0f" in glyph for glyph in glyphs.SAFE_GLYPHS.values())
    assert all(glyph.isascii() for glyph in glyphs.ASCII_GLYPHS.values())


def test_this_terminals_tmux_is_asked_and_keeps_nothing(ib: Ib, inside: Tmux) -> None:
    before = everything(inside)

    found = widths(ib("doctor", "titles", "--json"))

    assert (found["server"], found["version"]) == (
        "this terminal's",
        inside("display-message", "-p", "#{version}")[:-1],
    )
    assert everything(inside) == before
    for glyph, width in by_glyph(found).items():
        inside("set-option", "-g", "@probe", glyph)
        assert width["tmux"] == int(inside("display-message", "-p", "#{w:@probe}"))


def test_the_set_that_fits_is_advised(ib: Ib, inside: Tmux) -> None:
    found = widths(ib("doctor", "titles", "--json"))

    fits = all(by_glyph(found)[glyph]["fits"] for glyph in SELECTED)
    assert found["wanted"] == ("emoji" if fits else "safe")
    assert found["command"] == ("" if fits else "ib config set tmux.glyphs safe --global")
    if not fits:
        assert run_ib(*found["command"].split()[1:], cwd="/").code == 0
        assert "safe, renders correctly here" in ib("doctor", "titles").out
        assert run_ib("config", "unset", "tmux.glyphs", "--global", cwd="/").code == 0


def test_what_the_project_says_is_changed_in_the_project(ib: Ib, inside: Tmux) -> None:
    assert ib("config", "set", "tmux.glyphs", "ascii").code == 0

    command = widths(ib("doctor", "titles", "--json"))["command"]

    assert command.startswith("ib config set tmux.glyphs ")
    assert "--global" not in command


def test_outside_of_tmux_the_agents_server_is_asked(ib: Ib, tmux: Tmux) -> None:
    tmux("new-session", "-d", "cat")
    before = everything(tmux)

    assert widths(ib("doctor", "titles", "--json"))["server"] == "the agents'"
    assert everything(tmux) == before


def test_without_any_server_one_is_made_that_leaves_nothing(tmp_path: Path, tmux: Tmux) -> None:
    """Also where there is no repository."""
    before = sockets()

    found = widths(run_ib("doctor", "titles", "--json", cwd=tmp_path))

    assert (found["server"], found["socket"]) == ("a private one, gone again", "")
    assert all(width["tmux"] for width in found["glyphs"])
    until(lambda: sockets() <= before)  # those of others go as well


def sockets() -> set[Path]:
    """Those of private servers, and not of what the tests beside us have begun."""
    return {path for path in Path("/tmp").glob("ib-*/s") if not path.parent.name.startswith(("ib-f-", "ib-t-"))}


@pytest.mark.parametrize("value", ["/nowhere/at/all,1,0", "garbage", ",,", "/tmp,1,0"])
def test_a_tmux_that_is_gone_is_passed_over(ib: Ib, tmux: Tmux, value: str) -> None:
    found = widths(ib("doctor", "titles", "--json", env={"TMUX": value, "TMUX_PANE": "%0; kill-server"}))

    assert found["server"] == "a private one, gone again"
    assert found["clients"] == []


def test_a_client_without_utf8_is_named_and_gets_ascii(ib: Ib, inside: Tmux) -> None:
    """It is attached in a pane of another tmux."""
    inner = "env -u TMUX LC_ALL=C TERM=screen tmux -L mine attach -t work"
    subprocess.run(["tmux", "-L", "ib", "-f", os.devnull, "new-session", "-d", inner], check=True)
    until(lambda: inside("list-clients"))

    found = widths(ib("doctor", "titles", "--json"))

    assert [(client["term"], client["utf8"]) for client in found["clients"]] == [("screen", False)]
    assert (found["wanted"], found["command"]) == ("ascii", "ib config set tmux.glyphs ascii --global")
    assert "UTF-8: no" in ib("doctor", "titles").out


def test_without_tmux_there_is_nothing_to_measure(ib: Ib, tmp_path: Path) -> None:
    git = shutil.which("git")
    assert git is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(git)

    done = ib("doctor", "titles", env={"PATH": str(tmp_path / "bin")})

    assert (done.code, done.out) == (1, "")
    assert "tmux" in done.err


def test_another_word_is_refused(ib: Ib) -> None:
    assert ib("doctor", "windows").code == 2


def test_what_tmux_counts_differently_is_named_and_its_set_not_praised(ib: Ib, inside: Tmux) -> None:
    shown = ib("doctor", "titles").out
    rows = [row.split() for row in shown.splitlines() if row.split()[:1] and row.split()[0] in GLYPHS]
    wrong = {row[0] for row in rows if row[-1] == "✗"}

    assert {row[0] for row in rows} == set(GLYPHS)
    for row in rows:
        tmux, wanted = [int(cell) for cell in row if cell.isdigit()]
        assert (tmux != wanted) == (row[0] in wrong)
    last = shown.splitlines()[-1]
    assert all(glyph in last for glyph in wrong)
    assert ("renders correctly here" in last) != bool(wrong)


# ib titles


PLAIN = {"@ib_pane_state": "COMPLETED", "@ib_pane_since": "1700000000", "@ib_pane_glyph": "🤖✅"}


def give(ask: Tmux, pane: str, project: str, **more: str) -> None:
    """As the hook leaves it."""
    for name, value in {**PLAIN, "@ib_pane_project": project, **more}.items():
        ask("set-option", "-p", "-t", pane, name, value)
    ask("set-option", "-w", "-t", pane, "@ib_loudest", pane)
    ask("rename-window", "-t", pane, "🤖✅" + project)


def test_titles_are_listed_from_both_servers(ib: Ib, inside: Tmux, tmux: Tmux) -> None:
    pane = os.environ["TMUX_PANE"]
    give(inside, pane, "project")
    inside("new-window", "-n", "plain", "cat")
    tmux("new-session", "-d", "-s", "ittybitty-x-worker-1", "cat")
    give(tmux, "%0", "worker-1", **{"@ib_session": "ittybitty-x-worker-1", "@ib_pane_state": "BASE"})

    found: Any = ib("titles", "--json").json()
    shown = ib("titles")

    assert [(one["window"], one["state"], one["whose"]) for one in found] == [
        ("work:0", "COMPLETED", "you"),
        ("ittybitty-x-worker-1:0", "BASE", "agent worker-1"),
    ]
    assert (found[0]["pane"], found[0]["since"], found[0]["title"], found[0]["shown"]) == (
        pane,
        1_700_000_000,
        "🤖✅project",
        True,
    )
    assert [line.split()[0] for line in shown.out.splitlines()] == ["WINDOW", "work:0", "ittybitty-x-worker-1:0"]
    assert shown.code == 0


def test_one_server_under_two_names_is_asked_once(ib: Ib, inside: Tmux) -> None:
    """As in an agent's own window."""
    give(inside, os.environ["TMUX_PANE"], "project")
    assert ib("config", "set", "tmux.socket", "mine").code == 0

    assert len(ib("titles", "--json").json()) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["", "soon", "-5", "nan", "1e999", "9" * 400, "1700000000.5"])
def test_options_that_somebody_has_set_by_hand_break_nothing(ib: Ib, inside: Tmux, value: str) -> None:
    give(inside, os.environ["TMUX_PANE"], "a\x1b[31m\ttab", **{"@ib_pane_since": value})

    shown = ib("titles")

    assert shown.code == 0, shown
    assert "\x1b" not in shown.out
    assert ib("titles", "--json").code == 0


def test_of_a_tmux_that_hangs_nothing_is_claimed(ib: Ib, inside: Tmux) -> None:
    server = int(inside("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)
    try:
        done = ib("titles")
    finally:
        os.kill(server, signal.SIGCONT)
    assert (done.code, done.out) == (1, "")
    assert f"The tmux of {os.environ['TMUX'].split(',')[0]} does not answer" in done.err


def test_without_titles_it_says_what_they_need(ib: Ib, tmux: Tmux, tmp_path: Path) -> None:
    assert "ib hooks install" in ib("titles").out
    assert ib("titles", "--json").out == "[]\n"
    assert run_ib("titles", cwd=tmp_path).code == 0


def test_the_format_shows_the_glyph_of_its_window_alone(ib: Ib, inside: Tmux) -> None:
    form = ib("titles", "--tmux-format").out.rstrip("\n")
    inside("new-window", "-d", "-n", "plain", "cat")
    inside("new-window", "-d", "-n", "two", "cat")
    inside("split-window", "-d", "-t", "work:2", "cat")
    give(inside, "%2", "quiet", **{"@ib_pane_glyph": "🤖"})
    give(inside, "%3", "loud", **{"@ib_pane_glyph": "🚨"})
    give(inside, "%0", "mine")

    assert inside("display-message", "-p", "-t", "work:0", form) == "🤖✅\n"
    assert inside("display-message", "-p", "-t", "work:1", form) == "\n"
    assert inside("display-message", "-p", "-t", "work:2", form) == "🚨\n"


def test_its_help_shows_the_line_for_the_configuration(ib: Ib, inside: Tmux, tmp_path: Path) -> None:
    """Pasted as it stands there, it works."""
    shown = ib("titles", "--help").out
    lines = [line.strip() for line in shown.splitlines() if line.strip().startswith("set ")]
    give(inside, "%0", "mine")

    assert lines
    for line in lines:
        (tmp_path / "tmux.conf").write_text(line + "\n")
        inside("source-file", str(tmp_path / "tmux.conf"))
        option = line.split()[2]
        if option.startswith("@"):
            continue
        assert titles.FORMAT in inside("show-options", "-gqv", option)
        assert "🤖✅" in inside("display-message", "-p", "-t", "work:0", "#{E:" + option + "}")


def test_titles_and_its_format_are_for_everybody_who_may_look(ib: Ib) -> None:
    assert ib("titles", "--tmux-format").out == titles.FORMAT + "\n"
