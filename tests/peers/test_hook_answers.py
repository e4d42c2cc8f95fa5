"""What a hook answers and what of it reaches the model, judged by what the API was asked."""

import json
from collections.abc import Callable

import pytest

from ibstatus.claude import hook_output
from tests.peers.client import Client, Ran
from tests.peers.hooks import Hooks, says
from tests.peers.messages_api import MessagesApi, Turn
from tests.peers.tui import Tui

pytestmark = pytest.mark.peer

PLAIN = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolBatch", "SubagentStop", "Stop", "PermissionRequest")
QUESTIONS = [
    {
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": False,
        "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
    }
]


def bash(command: str, **more: object) -> Turn:
    return Turn("Bash", {"command": command, "description": "as the test wants it", **more})


@pytest.fixture
def play(api: MessagesApi, claude: Client, hooks: Hooks) -> Callable[..., Ran]:
    """`claude -p` in the project: the model does these turns."""

    def session(*turns: Turn, mode: str = "bypassPermissions", more: tuple[str, ...] = ()) -> Ran:
        hooks.write()
        api.turns[:] = turns
        ran = claude.run(hooks.project, "Go.", *more, mode=mode)
        assert (ran.code, api.turns) == (0, []), ran
        return ran

    return session


def test_session_start_speaks_to_a_new_and_to_a_resumed_session(play, api, hooks) -> None:
    first, second = (says(hook_output.context("SessionStart", f"TOLD-{which}")) for which in ("FIRST", "SECOND"))
    hooks.on("SessionStart", f"if mkdir flag; then {first}; else {second}; fi")

    play(Turn())
    play(Turn(), more=("--continue",))

    assert "SessionStart hook additional context: TOLD-FIRST" in api.shown[0].newest
    assert [fired.payload["source"] for fired in hooks.fired()] == ["startup", "resume"]
    assert "SessionStart hook additional context: TOLD-SECOND" in api.shown[1].newest
    assert len({fired.payload["session_id"] for fired in hooks.fired()}) == 1
    assert [fired.prompt for fired in hooks.fired()] == ["", ""]


def test_user_prompt_submit_speaks_and_the_turn_has_one_prompt_id(play, api, hooks) -> None:
    for event in PLAIN:
        hooks.on(event, says(hook_output.context(event, "TOLD-AT-PROMPT")) if event == "UserPromptSubmit" else "")

    play(bash("true"))

    assert "UserPromptSubmit hook additional context: TOLD-AT-PROMPT" in api.shown[0].newest
    turn = [fired for fired in hooks.fired() if fired.event != "SessionStart"]
    assert [fired.event for fired in turn] == ["UserPromptSubmit", "PreToolUse", "PostToolBatch", "Stop"]
    assert len({fired.prompt for fired in turn}) == 1
    assert turn[0].prompt


def test_post_tool_batch_speaks_behind_the_results(play, api, hooks) -> None:
    hooks.on("PostToolBatch", says(hook_output.context("PostToolBatch", "TOLD-BEHIND")))

    play(bash("echo one")._replace(beside=(bash("echo two; exit 3"),)))

    assert len(hooks.fired()) == 1
    assert [call["tool_name"] for call in hooks.fired()[0].payload["tool_calls"]] == ["Bash", "Bash"]
    assert "PostToolBatch hook additional context: TOLD-BEHIND" in api.shown[1].newest
    assert api.shown[1].newest.index("TOLD-BEHIND") > api.shown[1].newest.index("two")


def test_a_guard_denies_with_a_reason(play, api, hooks) -> None:
    hooks.on("PreToolUse", says(hook_output.deny("NOT-THIS-WAY")), matcher="Bash")

    play(bash("touch made"))

    assert not (hooks.project / "made").exists()
    [(worked, said)] = api.shown[1].results
    assert not worked
    assert said.endswith("NOT-THIS-WAY")


def test_a_guard_allows_what_no_rule_does(play, api, hooks) -> None:
    play(bash("touch made"), mode="default")
    assert not (hooks.project / "made").exists()

    hooks.on("PreToolUse", says(hook_output.allow()))
    play(bash("touch made"), mode="default")

    assert (hooks.project / "made").exists()


@pytest.mark.parametrize("answer", [hook_output.nothing(), ""], ids=["empty-object", "silence"])
def test_an_empty_answer_decides_nothing(play, api, hooks, answer: str) -> None:
    hooks.on("PreToolUse", says(answer))

    play(bash("touch made"), mode="default")
    assert not (hooks.project / "made").exists()
    play(bash("touch made"))

    assert (hooks.project / "made").exists()


def test_what_is_visible_is_for_the_user_alone(play, api, hooks) -> None:
    hooks.on("PostToolBatch", says(hook_output.context("PostToolBatch", "FOR-THE-MODEL", visible="FOR-THE-USER")))
    hooks.on("Stop", says(json.dumps({"systemMessage": "FOR-THE-USER"})))

    play(bash("true"))
    play(Turn(), more=("--continue",))

    assert "FOR-THE-MODEL" in api.shown[1].newest
    assert all("FOR-THE-USER" not in shown.whole for shown in api.shown)


@pytest.mark.parametrize("code", [1, 126, 139])
def test_a_hook_that_crashes_hurts_nobody(play, api, hooks, code: int) -> None:
    for event in PLAIN:
        hooks.on(event, f"echo SAID; echo SAID >&2; exit {code}")

    play(bash("touch made"))

    assert (hooks.project / "made").exists()
    assert all("SAID" not in shown.whole for shown in api.shown)


@pytest.mark.parametrize(("size", "whole"), [(9000, True), (11000, False)])
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PostToolBatch"])
def test_a_context_of_ten_thousand_characters_is_cut(play, api, hooks, event: str, size: int, whole: bool) -> None:
    hooks.on(event, says(hook_output.context(event, "B" * size + "THE-END")))

    play(bash("true"))

    assert ("THE-END" in api.shown[1].whole) is whole


def test_an_event_that_does_not_exist_spoils_nothing(play, api, hooks) -> None:
    hooks.on("NoSuchEventAtAll", "exit 2")
    hooks.on("UserPromptSubmit", says(hook_output.context("UserPromptSubmit", "TOLD-ALL-THE-SAME")))

    play()

    assert "TOLD-ALL-THE-SAME" in api.shown[0].newest


def test_stop_says_what_still_runs_in_the_background(play, api, hooks) -> None:
    hooks.on("Stop")

    play(bash("sleep 2", run_in_background=True))

    first = hooks.fired()[0].payload
    assert [(task["type"], task["command"]) for task in first["background_tasks"]] == [("shell", "sleep 2")]
    assert first["last_assistant_message"] == "Done."


def test_a_subagent_is_known_by_its_id(play, api, hooks) -> None:
    for event in PLAIN:
        hooks.on(event)
    work = {"description": "d", "prompt": "Work.", "subagent_type": "general-purpose", "run_in_background": False}
    api.subagents[:] = [bash("echo from the subagent"), Turn(words="The subagent is done.")]

    play(Turn("Agent", work))

    of_subagent = [fired for fired in hooks.fired() if "agent_id" in fired.payload]
    own = [fired for fired in hooks.fired() if "agent_id" not in fired.payload]
    assert [fired.event for fired in of_subagent] == ["PreToolUse", "PostToolBatch", "SubagentStop"]
    assert len({fired.payload["agent_id"] for fired in of_subagent}) == 1
    assert len({fired.payload["session_id"] for fired in hooks.fired()}) == 1
    assert of_subagent[-1].payload["last_assistant_message"] == "The subagent is done."
    assert [fired.event for fired in own if fired.event != "Stop"][-1] == "PostToolBatch"
    assert len(api.of_subagents) == 2


@pytest.mark.parametrize(
    ("tool", "given", "mode"),
    [
        ("Bash", {"command": "touch made; python3 -V", "description": "d"}, "default"),
        ("AskUserQuestion", {"questions": QUESTIONS}, "bypassPermissions"),
        ("ExitPlanMode", {"plan": "The plan."}, "plan"),
    ],
)
def test_a_permission_request_is_refused_without_a_dialog(tui, api, hooks, tool: str, given: dict, mode: str) -> None:
    hooks.on("PermissionRequest", says(hook_output.refuse("RECORDED-AS-q-1")))
    hooks.on("Stop")
    hooks.write()
    api.turns[:] = [Turn(tool, given)]
    session: Tui = tui(hooks.project, mode=mode)

    session.submit("Go.")
    session.until(lambda: hooks.fired("Stop"))

    assert [fired.payload["tool_name"] for fired in hooks.fired("PermissionRequest")] == [tool]
    [(worked, said)] = api.shown[-1].results
    assert not worked
    assert "RECORDED-AS-q-1" in said
    assert not (hooks.project / "made").exists()


def test_settings_are_read_anew_and_a_session_begins_anew(tui, api, hooks) -> None:
    """/clear and /compact fire SessionStart; a hook that is written down later is in force at once."""
    hooks.on("Stop")
    hooks.on("ConfigChange")
    hooks.write()
    session: Tui = tui(hooks.project)
    for number in (1, 2, 3):  # a shorter talk is not compacted
        session.submit(f"First {number}.")
        session.until(lambda number=number: len(hooks.fired("Stop")) == number)

    hooks.on("SessionStart", says(hook_output.context("SessionStart", "TOLD-AGAIN")))
    hooks.write()
    session.until(lambda: hooks.fired("ConfigChange"))

    session.submit("/compact")
    session.until(lambda: hooks.fired("SessionStart"))
    session.submit("Second.")
    session.until(lambda: len(hooks.fired("Stop")) == 4)
    assert "TOLD-AGAIN" in api.shown[-1].whole

    session.submit("/clear")
    session.until(lambda: len(hooks.fired("SessionStart")) > 1)
    session.submit("Third.")
    session.until(lambda: len(hooks.fired("Stop")) == 5)
    assert "TOLD-AGAIN" in api.shown[-1].whole
    assert "First 1." not in api.shown[-1].whole
    assert [fired.payload["source"] for fired in hooks.fired("SessionStart")][-2:] == ["compact", "clear"]
