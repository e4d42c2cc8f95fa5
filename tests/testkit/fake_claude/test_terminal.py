"""In a real terminal: what is drawn, what is typed and pasted, and how it ends."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from ibstatus.claude.screens import states
from tests.peers.hooks import says
from tests.testkit.fake_claude.conftest import Project, Screen
from tests.testkit.fake_claude.test_script import lines
from tests.until import until

Play = Callable[..., Screen]


def prompts(project: Project) -> list[str]:
    return [str(payload["prompt"]) for payload in project.fired("UserPromptSubmit")]


def test_the_prompt_line_stands_between_its_rules(screen: Play) -> None:
    shown = screen("--permission-mode", "default").ready()
    drawn = str(shown).splitlines()
    assert drawn[1].startswith(" ▐▛███▛█   Claude Code v2.1.326")
    assert drawn[36] == drawn[38] == "─" * 110
    assert drawn[37].rstrip(" ") == "❯\u00a0"
    assert drawn[39] == "  ⏸ manual mode on · ? for shortcuts · ← for agents"
    assert shown.ask("alternate_on") == "1"
    assert shown.ask("pane_title") == "✳ Claude Code"


def test_work_esc_and_going_on(screen: Play, project: Project) -> None:
    """No hook hears of the interruption; the next prompt goes on with the step after it."""
    project.on("UserPromptSubmit", "Stop", "PostToolUse", "PostToolUseFailure")
    shown = screen(lines("say One.", "hang", "finish Two."))
    shown.shows("● One.", "esc to interrupt", "… (")
    shown.keys("Escape")
    shown.shows("⎿ \u00a0Interrupted · What should Claude do instead?")
    shown.ready()
    assert project.names() == ["UserPromptSubmit"]
    shown.submit("Go on.")
    shown.shows("● Two.", "I HAVE COMPLETED THE GOAL")
    assert project.heard(shown.session)[1:] == [("prompt", "[Request interrupted by user]"), ("prompt", "Go on.")]


def test_a_retry_is_shown_and_told_to_no_hook(screen: Play, project: Project) -> None:
    project.on("UserPromptSubmit", "Stop", "StopFailure", "Notification")
    shown = screen(lines("say One.", "retry 600", "finish Two."))
    shown.shows("✻ 529 Overloaded · retrying in ", "esc to interrupt")
    found = states.shown(str(shown))
    assert (found.state, found.reason, project.names()) == ("running", "retrying: 529 Overloaded", ["UserPromptSubmit"])
    shown.keys("Escape")
    shown.shows("Interrupted ·")
    shown.until(lambda: "retrying" not in str(shown))


def test_esc_before_the_first_word_puts_the_prompt_back(screen: Play, project: Project) -> None:
    shown = screen(lines("wait", "hang", "finish")).ready()
    shown.shows("WAITING")
    shown.submit("Think.")
    shown.shows("esc to interrupt")
    shown.keys("Escape")
    shown.until(lambda: shown.line == "Think.")
    assert [text for _, text in project.heard(shown.session)] == [lines("wait", "hang", "finish")]


def test_esc_kills_what_runs(screen: Play, project: Project) -> None:
    shown = screen(lines("run echo $$ > pid; exec sleep 600", "finish"))
    until(lambda: (project.root / "pid").exists() and (project.root / "pid").read_text())
    pid = int((project.root / "pid").read_text())
    shown.keys("C-c")
    shown.shows("No result recorded for 1 call", "Interrupted ·")
    until(lambda: not psutil.pid_exists(pid))


def test_what_is_typed_meanwhile_is_heard_at_the_next_tool(screen: Play, project: Project) -> None:
    go = project.root / "go"
    project.on("UserPromptSubmit", then=says('{"hookSpecificOutput": {"additionalContext": "BESIDE"}}'))
    steps = lines("run while [ ! -e go ]; do sleep 0.05; done", "finish")
    shown = screen(steps)
    shown.shows("esc to interrupt", "❯\u00a0", "$ while")
    shown.submit("Another thing.")
    shown.shows("❯ Another thing.", "Queued ·", "Press up to edit queued messages")
    until(lambda: len(prompts(project)) == 2)
    go.write_text("")
    shown.shows("I HAVE COMPLETED THE GOAL")
    first, second = project.fired("UserPromptSubmit")
    assert first["prompt_id"] == second["prompt_id"]
    assert [text for how, text in project.heard(shown.session) if how == "prompt"] == [steps, "Another thing."]


def test_what_is_typed_meanwhile_is_else_the_next_prompt(screen: Play, project: Project) -> None:
    shown = screen(lines("work 1", "wait", "finish"))
    shown.shows("esc to interrupt")
    shown.submit("Another thing.")
    shown.shows("I HAVE COMPLETED THE GOAL")
    assert [text for _, text in project.heard(shown.session)][1:] == ["Another thing."]


@pytest.mark.parametrize("size", [1, 80, 799, 800, 801, 4_000, 100_000])
def test_a_paste_comes_whole(screen: Play, project: Project, tmp_path: Path, size: int) -> None:
    project.on("UserPromptSubmit")
    text = ("0123456789 ü € 🤖 line\n" * (size // 20 + 1))[: size - 1] + "."
    shown = screen().ready()
    shown.paste(text.encode(), tmp_path)
    shown.until(lambda: shown.line)
    if size > 800:
        assert shown.line == f"[Pasted text #1 +{text.count(chr(10))} lines]"
    shown.keys("Enter")
    until(lambda: prompts(project))
    assert prompts(project) == [text]
    assert project.fired()[0]["prompt"] == text
    shown.shows("WAITING")


def test_what_cannot_be_seen_is_taken_out_of_a_paste(screen: Play, project: Project, tmp_path: Path) -> None:
    """As in the client, tabs are blanks."""
    project.on("UserPromptSubmit")
    shown = screen().ready()
    shown.paste(b"a\x01b\x07c\x1b[31md\te\x7ff\n!g", tmp_path)
    shown.shows("abcd    ef", "Removed 3 invisible characters")
    shown.keys("Enter")
    until(lambda: prompts(project))
    assert prompts(project) == ["abcd    ef\n!g"]


@pytest.mark.parametrize("text", ["/unknown/path", "-x; rm", "❯ a prompt?", "'quotes\" $HOME `id`", "日本語 ü"])
def test_odd_prompts(screen: Play, project: Project, text: str) -> None:
    project.on("UserPromptSubmit")
    shown = screen().ready()
    shown.submit(text)
    until(lambda: prompts(project))
    assert prompts(project) == [text]


def test_the_line_is_edited(screen: Play, project: Project, tmp_path: Path) -> None:
    shown = screen().ready()
    shown.type("abc def")
    shown.until(lambda: shown.line == "abc def")
    shown.keys("BSpace")
    shown.until(lambda: shown.line == "abc de")
    shown.keys("C-w")
    shown.until(lambda: shown.line == "abc")
    shown.keys("C-u")
    shown.until(lambda: shown.line == "")
    shown.keys("C-y")
    shown.until(lambda: shown.line == "abc")
    shown.keys("C-c")
    shown.until(lambda: shown.line == "")
    shown.paste(b"1\n2\n3\n4", tmp_path)
    shown.until(lambda: shown.line == "[Pasted text #1 +3 lines]")
    shown.keys("BSpace")
    shown.until(lambda: shown.line == "")


def test_newlines_without_a_bracket_submit_each(screen: Play, project: Project, tmp_path: Path) -> None:
    project.on("UserPromptSubmit")
    shown = screen().ready()
    file = tmp_path / "text"
    file.write_text("one\ntwo\n")
    shown.run("load-buffer", str(file), ";", "paste-buffer", "-t", f"={shown.name}:")
    until(lambda: prompts(project) == ["one", "two"])


def test_shell_mode(screen: Play, project: Project) -> None:
    project.on("UserPromptSubmit")
    shown = screen().ready()
    shown.type("!echo shell > made; cat made")
    shown.shows("!\u00a0echo shell", "! for shell mode")
    shown.keys("Enter")
    shown.shows("! echo shell > made; cat made\n  ⎿ \u00a0shell")
    assert project.heard(shown.session)[1] == (
        "prompt",
        "<bash-stdout>shell\n</bash-stdout><bash-stderr></bash-stderr>",
    )
    assert project.names() == []


def test_it_follows_the_size(screen: Play) -> None:
    shown = screen("--permission-mode", "default").ready()
    for width, height in ((60, 24), (200, 50), (20, 6), (1, 1), (110, 40)):
        shown.run("resize-window", "-t", f"={shown.name}:", "-x", str(width), "-y", str(height))
        if width >= 60:
            shown.until(lambda width=width: "─" * width in str(shown).splitlines())
            shown.until(lambda height=height: str(shown).splitlines()[height - 1].startswith("  ⏸"))
    shown.submit("Still there.")
    shown.shows("WAITING")


def test_text_of_an_agent_cannot_steer_the_terminal(screen: Play) -> None:
    shown = screen("> say \x1b[2J\x1b[1;1H\x07 wide 日本語日本語\n> wait")
    shown.shows("\\x1b[2J\\x1b[1;1H\\x07 wide 日本語日本語")


@pytest.mark.parametrize("leave", [["/exit", "Enter"], ["C-c", "C-c"], ["C-d", "C-d"]])
def test_it_leaves(screen: Play, project: Project, leave: list[str]) -> None:
    project.on("SessionEnd")
    shown = screen("> finish")
    shown.shows("I HAVE COMPLETED THE GOAL")
    shown.ready()
    shown.keys(*leave)  # at once: the second one counts for a second
    assert shown.code == 0
    assert [payload["reason"] for payload in project.fired()] == ["prompt_input_exit"]
    assert f"claude --resume {shown.session}" in str(shown)
    assert shown.ask("alternate_on") == "0"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("step", ["run sleep 600", "wait", "ask What?"])
def test_a_signal_ends_it_in_order(screen: Play, project: Project, number: signal.Signals, step: str) -> None:
    project.on("SessionEnd", "SessionStart", "PermissionRequest")
    shown = screen(lines(step))
    shown.shows({"run": "$ sleep 600", "wait": "done ", "ask": "❯ 1. Yes"}[step.split()[0]])
    below = psutil.Process(shown.pid).children(recursive=True)
    os.kill(shown.pid, number)
    assert shown.code == 128 + number
    assert project.fired()[-1]["reason"] == "other"
    assert (b"Exit code 137" in project.transcript(shown.session).read_bytes()) == step.startswith("run")
    assert (b"interrupted by user" in project.transcript(shown.session).read_bytes()) == step.startswith("ask")
    assert shown.ask("alternate_on") == "0"
    assert not psutil.wait_procs(below, timeout=5)[1]


def test_a_closed_terminal_ends_it(screen: Play, project: Project) -> None:
    project.on("SessionEnd")
    shown = screen().ready()
    process = psutil.Process(shown.pid)
    shown.run("kill-session", "-t", f"={shown.name}")
    process.wait(timeout=10)
    until(lambda: project.names() == ["SessionEnd"])


def test_kill_leaves_nothing_behind(screen: Play, project: Project) -> None:
    shown = screen(lines("say One.", "run sleep 0.2", "hang"))
    shown.shows("Ran 1 shell command")
    os.kill(shown.pid, signal.SIGKILL)
    assert shown.code == 128 + signal.SIGKILL
    assert not [name for name in os.listdir(os.environ["TMPDIR"]) if "fake-claude" in name]
    assert project.transcript(shown.session).read_bytes().endswith(b"\n")


def test_idle_costs_nothing(screen: Play) -> None:
    shown = screen("> wait")
    shown.shows("WAITING")
    shown.ready()
    process = psutil.Process(shown.pid)
    before = process.num_ctx_switches()
    shown.type("x")
    shown.until(lambda: shown.line == "x")
    after = process.num_ctx_switches()
    assert after.voluntary - before.voluntary < 20


def test_a_session_is_taken_up_again(screen: Play, project: Project) -> None:
    """A step that was begun is not played twice, and neither is a prompt."""
    project.on("SessionStart", "UserPromptSubmit")
    first = screen(lines("say Hello.", "run echo x >> ran", "hang", "finish At last."))
    first.shows("Ran 1 shell command")
    os.kill(first.pid, signal.SIGKILL)
    assert first.code == 137
    second = screen("--resume", first.session, session=first.session).ready()
    second.shows("● Hello.")
    assert len(prompts(project)) == 1
    second.until(lambda: len(project.fired("SessionStart")) == 2)
    assert project.fired("SessionStart")[1]["source"] == "resume"
    second.submit("Go on.")
    second.shows("● At last.")
    assert (project.root / "ran").read_text() == "x\n"
    assert len(list((project.home / "projects").glob("*/*.jsonl"))) == 1
