"""What wakes an idle session, with which words, in which turn; what happens in the middle of one. No ib in it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.claude import hook_output
from tests.peers.client import Client
from tests.peers.hooks import Hooks, counts, once, says, waits, wakes
from tests.peers.messages_api import MessagesApi, Turn
from tests.peers.test_hook_answers import bash
from tests.peers.tui import Tui
from tests.until import seen_within

pytestmark = pytest.mark.peer

EVENTS = ("PreToolUse", "PostToolBatch", "PermissionRequest", "SessionEnd")


class Bells:
    """A project whose prompts are told CONTEXT-1, CONTEXT-2 …, with waiting Stop hooks and a watched file."""

    def __init__(self, hooks: Hooks, folder: Path) -> None:
        self.hooks = hooks
        self.queue = folder / "queue"
        self.queue.write_text("")
        self.folder = folder
        hooks.on("UserPromptSubmit", counts("UserPromptSubmit", folder))
        for event in EVENTS:
            hooks.on(event)
        hooks.on("Stop")

    def waiting(self, *names: str) -> None:
        """A waiter for each of these: `ring(name)` wakes with RUNG-name."""
        for name in names:
            command = f"{waits(self.folder / name)}; {wakes('RUNG-' + name)}"
            self.hooks.settings["hooks"]["Stop"].append(
                {"hooks": [{"type": "command", "command": command, "asyncRewake": True, "timeout": 600}]}
            )

    def watching(self, *events: str) -> None:
        """`append` wakes with RUNG-file; these events tell the client what to watch."""
        for event in events:
            self.hooks.on(event, says(hook_output.watch(event, [str(self.queue)])))
        self.hooks.on("FileChanged", wakes("RUNG-file"), asyncRewake=True)

    def ring(self, name: str) -> None:
        (self.folder / name).write_text("")

    def append(self) -> None:
        with self.queue.open("a") as file:
            file.write("news\n")

    def prompts(self) -> list[str]:
        return [str(fired.payload["prompt"]) for fired in self.hooks.fired("UserPromptSubmit")]

    def stops(self) -> int:
        return len(self.hooks.fired("Stop"))


@pytest.fixture
def bells(hooks: Hooks, tmp_path: Path) -> Bells:
    return Bells(hooks, tmp_path)


@pytest.fixture
def idle(tui, api: MessagesApi, hooks: Hooks, bells: Bells) -> Callable[..., Tui]:
    """A session that has had its first turn, and is given these for later."""

    def begin(*turns: Turn, first: Turn | None = None, **options) -> Tui:
        hooks.write()
        api.turns[:] = [*([first] if first else []), Turn(), *turns]
        session: Tui = tui(hooks.project, **options)
        session.submit("Begin.")
        session.until(lambda: bells.stops() == 1)
        return session

    return begin


def notification(event: str, name: str) -> str:
    return (
        "<task-notification>\n<summary>Stop hook feedback</summary>\n</task-notification>\n<system-reminder>\n"
        f'Stop hook blocking error from command "{event}": RUNG-{name}\n\n</system-reminder>'
    )


@pytest.mark.parametrize("event", ["Stop", "FileChanged"])
def test_a_bell_wakes_an_idle_session(idle, api, hooks, bells, event: str) -> None:
    """UserPromptSubmit speaks in that turn, which has an id of its own."""
    if event == "Stop":
        bells.waiting("one")
    else:
        bells.watching("SessionStart")
    session = idle()

    if event == "Stop":
        bells.ring("one")
    else:
        bells.append()
    session.until(lambda: bells.stops() == 2)

    assert bells.prompts()[1] == notification(event, "one" if event == "Stop" else "file")
    assert "RUNG-" in api.shown[1].newest
    assert "UserPromptSubmit hook additional context: CONTEXT-2" in api.shown[1].newest
    prompts = [fired.prompt for fired in hooks.fired("UserPromptSubmit")]
    assert [fired.prompt for fired in hooks.fired("Stop")] == prompts
    assert len(set(prompts)) == 2
    assert hooks.fired("Stop")[1].payload["stop_hook_active"] is True  # although nothing had blocked


def test_a_background_command_that_ends_wakes_with_a_path_only(idle, api, hooks, bells, tmp_path) -> None:
    listener = bash(f"{waits(tmp_path / 'go')}; echo THE-NEWS", run_in_background=True)
    session = idle(first=listener)
    assert hooks.fired("Stop")[0].payload["background_tasks"][0]["status"] == "running"

    bells.ring("go")
    session.until(lambda: bells.stops() == 2)

    assert bells.prompts()[1].startswith("<task-notification>\n<task-id>")
    path = re.search(r"<output-file>(.*)</output-file>", api.shown[2].newest)
    assert path is not None
    assert Path(path[1]).read_text().startswith("THE-NEWS\n")
    assert "THE-NEWS" not in api.shown[2].newest
    assert "CONTEXT-2" in api.shown[2].newest


@pytest.mark.parametrize("kept", [True, False])
def test_a_watch_is_lost_after_cd_unless_cwd_changed_renews_it(idle, api, hooks, bells, kept: bool) -> None:
    bells.watching("SessionStart", *(["CwdChanged"] if kept else []))
    session = idle(bash("cd sub && pwd"), Turn(), bash("sleep 2"))
    session.submit("Go there.")
    session.until(lambda: bells.stops() == 2)

    bells.append()
    if kept:
        for _ in range(5):  # what comes while the client sets up its new watch is not reported: once more
            if not seen_within(lambda: hooks.fired("FileChanged"), 4.0):
                bells.append()
        session.until(lambda: bells.stops() >= 3)
        assert bells.prompts()[2] == notification("FileChanged", "file")
    else:
        session.submit("Wait longer than any watch takes.")
        session.until(lambda: bells.stops() == 3)
        assert hooks.fired("FileChanged") == []
    assert hooks.fired("Stop")[-1].payload["cwd"].endswith("/sub")


def test_a_bell_in_the_middle_of_a_turn_comes_with_its_next_request(idle, api, hooks, bells) -> None:
    bells.waiting("one")
    session = idle(bash("sleep 1")._replace(meanwhile=lambda: bells.ring("one")), Turn())
    session.submit("Work.")
    session.until(lambda: bells.stops() == 2)

    assert "RUNG-one" in api.shown[2].newest
    assert len(api.shown) == 3
    spoken_to = {fired.prompt for fired in hooks.fired() if fired.at > api.shown[1].at}
    assert spoken_to == {hooks.fired("Stop")[1].prompt}  # if UserPromptSubmit fires for it, then in the same turn


def test_a_bell_while_the_last_words_are_said_costs_a_turn(idle, api, hooks, bells) -> None:
    bells.waiting("one")
    session = idle(Turn(words="one two three four five", pace=0.2, meanwhile=lambda: bells.ring("one")))
    session.submit("Talk.")
    session.until(lambda: bells.stops() == 3)

    assert "RUNG-one" in api.shown[2].newest
    assert "CONTEXT-3" in api.shown[2].newest


def test_bells_that_rang_meanwhile_are_joined_but_each_has_a_prompt(idle, api, hooks, bells) -> None:
    """One request; all contexts are in it; only the last id is that of the turn."""
    bells.waiting("one", "two")
    session = idle(Turn(words="one two three four five", pace=0.3, meanwhile=lambda: bells.ring("one")))
    session.submit("Talk.")
    session.until(lambda: len(api.shown) == 2)
    bells.ring("two")
    session.until(lambda: bells.stops() == 3)

    joined = api.shown[2].newest
    assert all(word in joined for word in ("RUNG-one", "RUNG-two", "CONTEXT-3", "CONTEXT-4"))
    prompts = [fired.prompt for fired in hooks.fired("UserPromptSubmit")]
    assert len(set(prompts)) == 4
    assert hooks.fired("Stop")[-1].prompt == prompts[-1]


def test_a_prompt_that_never_was_sent_had_no_id_of_its_own(idle, api, hooks, bells) -> None:
    """What is typed during a turn may fire UserPromptSubmit at once, with that turn's id, and then be taken back:
    a hook that speaks there would be confirmed by the turn's Stop, and never heard."""
    session = idle(Turn(words="one two three four five six seven", pace=0.3))
    session.submit("Talk.")
    session.until(lambda: len(api.shown) == 2)
    session.submit("Never mind.", meanwhile=True)
    session.keys("Up")
    session.until(lambda: session.line == "Never mind.")
    session.keys("C-u")
    session.until(lambda: bells.stops() == 2)
    session.submit("Next.")
    session.until(lambda: bells.stops() == 3)

    seen: set[str] = set()
    for number, fired in enumerate(hooks.fired("UserPromptSubmit"), 1):
        heard = f"CONTEXT-{number}" in api.shown[-1].whole
        assert heard is (fired.prompt not in seen), fired
        seen.add(fired.prompt)


def test_no_wake_while_a_dialog_is_open_and_then_it_comes(idle, api, hooks, bells) -> None:
    bells.waiting("one")
    bells.watching("SessionStart")
    session = idle(bash("touch made; python3 -V"), Turn(), mode="default")
    session.submit("Work.")
    session.until(lambda: hooks.fired("PermissionRequest") and "Do you want to proceed?" in session.screen())

    bells.ring("one")
    bells.append()
    session.until(lambda: hooks.fired("FileChanged"))
    assert len(api.shown) == 2
    assert "Do you want to proceed?" in session.screen()
    assert not (hooks.project / "made").exists()
    session.keys("Enter")
    session.until(lambda: bells.stops() == 2)

    assert (hooks.project / "made").exists()
    assert "RUNG-one" in api.shown[2].newest
    assert "RUNG-file" in api.shown[2].newest


def test_a_draft_on_the_prompt_line_survives(idle, api, hooks, bells) -> None:
    bells.waiting("one")
    session = idle()
    session.type("a draft of mine")

    bells.ring("one")
    session.until(lambda: bells.stops() == 2)

    assert session.line == "a draft of mine"
    assert "draft" not in api.shown[-1].newest


def test_esc_before_the_first_word_drops_what_a_typed_prompt_was_told(idle, api, hooks, bells) -> None:
    session = idle(Turn(silent=True))
    session.submit("Second.")
    session.until(lambda: len(api.shown) == 2)
    session.keys("Escape")
    session.until(lambda: session.line == "Second.")
    session.keys("Enter")
    session.until(lambda: bells.stops() == 2)

    assert "CONTEXT-2" in api.shown[1].whole
    assert "CONTEXT-2" not in api.shown[2].whole
    assert "CONTEXT-3" in api.shown[2].whole


def test_esc_before_the_first_word_of_a_wake_keeps_what_it_was_told(idle, api, hooks, bells) -> None:
    """And ends without Stop, so that no waiter begins anew."""
    bells.waiting("one")
    session = idle(Turn(silent=True))
    bells.ring("one")
    session.until(lambda: len(api.shown) == 2)
    session.keys("Escape")
    session.until(lambda: "Interrupted" in session.screen())
    session.submit("Next.")
    session.until(lambda: bells.stops() == 2)

    assert "CONTEXT-2" in api.shown[2].whole
    assert "CONTEXT-3" in api.shown[2].newest


def test_a_blocked_wake_is_gone(idle, api, hooks, bells, tmp_path) -> None:
    bells.waiting("one", "two")
    blocked = '{"decision": "block", "reason": "not now"}'
    hooks.on("UserPromptSubmit", f"if [ -e {tmp_path}/closed ]; then {says(blocked)}; fi")
    session = idle()
    (tmp_path / "closed").write_text("")
    bells.ring("one")
    session.until(lambda: len(hooks.fired("UserPromptSubmit")) == 4)
    session.until(lambda: "not now" in session.screen())
    (tmp_path / "closed").unlink()
    bells.ring("two")
    session.until(lambda: bells.stops() == 2)

    assert len(api.shown) == 2
    assert "CONTEXT-2" not in api.shown[1].whole
    assert "CONTEXT-3" in api.shown[1].newest


def test_print_mode_waits_for_a_waiter_and_hears_it_without_a_prompt(api, claude: Client, hooks, bells) -> None:
    """A waiter that waits for ever would hold it for ever."""
    command = once(bells.folder / "flag", f"{waits(bells.folder / 'go')}; {wakes('RUNG-print')}")
    hooks.on("Stop", command, asyncRewake=True, timeout=600)
    hooks.write()
    api.turns[:] = [bash(f"(sleep 2; touch {bells.folder}/go) >/dev/null 2>&1 &")]

    ran = claude.run(hooks.project, "Go.", mode="bypassPermissions")

    assert ran.code == 0
    assert "RUNG-print" in api.shown[-1].newest
    assert len(bells.prompts()) == 1
    assert len({fired.prompt for fired in hooks.fired("Stop")}) == 1


def test_print_mode_does_not_wait_for_a_watch_and_never_hears_it(api, claude: Client, hooks, bells) -> None:
    bells.watching("SessionStart")
    hooks.write()
    api.turns[:] = [bash(f"sleep 0.5; echo news >> {bells.queue}; sleep 2")]

    assert claude.run(hooks.project, "Go.", mode="bypassPermissions").code == 0

    assert len(hooks.fired("FileChanged")) == 1
    assert all("RUNG-file" not in shown.whole for shown in api.shown)
