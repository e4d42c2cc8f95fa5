"""The states of a window's title: every transition, the seed's checklist, the rule at Stop in every state."""

import itertools
from typing import Any

import pytest

from ibstatus.claude.hooks import events
from ibstatus.titles import glyphs as title_glyphs
from ibstatus.titles import machine
from ibstatus.titles.machine import ALERT, BASE, COMPLETED, IDLE, OFF, REAL_TIME, STOP_ONLY, WORKING, Known
from tests.conftest import PROJECT
from tests.hooks.payloads import ALL, FOLDER, recorded
from tests.titles.transitions import (
    ACTIVE,
    AGENT,
    BY_AGENT,
    ENDS,
    LIVE,
    NOW,
    ROWS,
    SEED,
    SHELL,
    STATES,
    TURN,
    Row,
    Step,
    agents,
    alert,
    known,
    live,
)

VERSIONS = ("2.1.197", "2.1.326")
MODES = (STOP_ONLY, REAL_TIME)
DOCUMENT = (PROJECT / "hooks" / "notify-tmux-state-machine.md").read_text()
STEPS = [
    pytest.param(row, step, version, id=f"{row.name}-{number}-{version}")
    for row in ROWS
    for number, step in enumerate(row.steps)
    for version in VERSIONS
    if (FOLDER / version / f"{step.event}.json").exists() or (step.event == "" and version == VERSIONS[-1])
]


@pytest.mark.parametrize(("row", "step", "version"), STEPS)
def test_a_transition(row: Row, step: Step, version: str) -> None:
    new = step.end(version)

    assert step.start.state in row.sources
    assert new.state == (ACTIVE[step.focused] if row.targets == ACTIVE else row.targets[0])
    assert new is not step.start


def test_the_seed_has_nine_and_real_time_thirteen() -> None:
    assert [row.name for row in SEED] == [f"S{number}" for number in range(1, 10)]
    assert [row.name for row in LIVE] == [f"R{number}" for number in range(1, 14)]
    assert all(row.steps for row in ROWS)


def test_the_document_has_these_transitions_and_no_others() -> None:
    rows = [line for line in DOCUMENT.splitlines() if "`test_a_transition[" in line and line.startswith("|")]

    assert rows == [row.line() for row in ROWS]


def test_the_hooks_of_each_mode_hear_all_that_moves_it() -> None:
    """A tool's own end is told by its batch as well."""
    by_batch = {"PostToolUse", "PostToolUseFailure"}
    for mode in MODES:
        steps = [step for row in ROWS for step in row.steps if step.event and step.mode == mode]
        moving = {recorded(step.event, **step.more)["hook_event_name"] for step in steps}
        assert moving - by_batch <= set(events.TITLE_EVENTS[mode]), mode


def test_no_other_transition_is_possible() -> None:
    """Everything that recorded events, whoever's they are, make of everything they make."""
    possible = {(source, target) for row in ROWS for source in row.sources for target in row.targets}

    assert {pair for pair in walked() if pair[0] != pair[1]} == {pair for pair in possible if pair[0] != pair[1]}


HEARD = {
    "SessionStart", "Stop", "StopFailure", "SubagentStop", "PostToolBatch", "PostToolUse", "PostToolUseFailure",
    "UserPromptSubmit", "PreToolUse", "PermissionRequest", "Notification", "MessageDisplay",
}  # fmt: skip


def walked() -> set[tuple[str, str]]:
    bodies = [recorded(path.stem, path.parent.name) for path in ALL if path.parent.name == VERSIONS[-1]]
    bodies = [{**body, "prompt_id": TURN} for body in bodies if body["hook_event_name"] in HEARD]
    bodies += [{**body, **BY_AGENT, "background_tasks": agents(AGENT)} for body in bodies]
    unique = {(body["hook_event_name"], str(sorted(essence(body).items()))): body for body in bodies}
    ways = [(STOP_ONLY, False), (REAL_TIME, False), (REAL_TIME, True)]
    seen: dict[str, Known] = {}
    pairs, todo = set(), [Known(IDLE, NOW)]
    while todo:
        start = todo.pop()
        for body, (mode, focused), later in itertools.product(unique.values(), ways, (0, 1801)):
            new = machine.after(body["hook_event_name"], body, start, mode, focused, NOW + later)
            pairs.add((start.state, new.state))
            young = NOW if new.completed and not machine.is_old(new.completed, NOW + later) else 0.0
            aged = machine.but(
                new, since=NOW, completed=young if new.state != COMPLETED else NOW, ended=(), tool="", prompt=""
            )
            if str(machine.packed(aged)) not in seen:
                seen[str(machine.packed(aged))] = aged
                todo.append(aged)
    return pairs


def essence(body: dict[str, Any]) -> dict[str, Any]:
    keys = ("agent_id", "background_tasks", "source", "notification_type")
    quiet = not title_glyphs.is_visible(body.get("tool_name", ""))
    tool = "Read" if quiet and body.get("tool_name") != "AskUserQuestion" else body.get("tool_name")
    return {**{key: str(body.get(key)) for key in keys}, "tool": tool if tool == "AskUserQuestion" else quiet}


# The seed's checklist


def played(
    *events: tuple[str, dict[str, Any]], start: str = IDLE, mode: str = STOP_ONLY, version: str = "2.1.326"
) -> Known:
    """A turn, an event a second."""
    now, last = NOW, known(start)
    for name, more in events:
        now += 1
        body = recorded(name, version, **{"prompt_id": TURN, **more})
        last = machine.after(body["hook_event_name"], body, last, mode, False, now)
    return last


def batch(*tools: str) -> tuple[str, dict[str, Any]]:
    return "PostToolBatch", {"tool_calls": [{"tool_name": tool} for tool in tools]}


STOP: tuple[str, dict[str, Any]] = ("Stop", {})
LAUNCHED = (batch("Agent"), ("Stop", {"background_tasks": agents(AGENT)}))
both_versions = pytest.mark.parametrize("version", VERSIONS)


def shown(last: Known) -> str:
    return said(last)["glyph"] + said(last)["project"]


def said(last: Known) -> dict[str, str]:
    return dict(zip(machine.VALUES, machine.values(last, "emoji", "project"), strict=True))


@both_versions
def test_from_idle_launch_an_agent(version: str) -> None:
    assert shown(played(*LAUNCHED, version=version)) == "🤖⚙️project"


@both_versions
def test_from_idle_edit_a_file(version: str) -> None:
    last = played(batch("Edit"), STOP, version=version)

    assert shown(last) == "🤖✅project"
    assert said(last)["completed"] == str(int(NOW) + 2)


@both_versions
def test_from_idle_read_a_file_only(version: str) -> None:
    last = played(batch("Read", "Grep"), STOP, version=version)

    assert (shown(last), said(last)["completed"]) == ("🤖project", "")


@both_versions
def test_from_working_the_agent_is_done(version: str) -> None:
    assert shown(played(*LAUNCHED, ("SubagentStop", ENDS), version=version)) == "🤖✅project"


@both_versions
def test_from_working_the_agent_still_runs_after_the_turn(version: str) -> None:
    last = played(*LAUNCHED, batch("Read"), LAUNCHED[1], version=version)

    assert (shown(last), said(last)["running"]) == ("🤖⚙️project", "1")


def test_from_completed_wait_more_than_30_minutes() -> None:
    done = played(batch("Bash"), STOP)
    last = machine.decayed(done, done.completed + 1801)

    assert shown(last) == shown(done) == "🤖✅project"
    assert said(last)["completed"] == ""
    assert said(last)["state"] == "IDLE"


@both_versions
def test_from_base_launch_an_agent(version: str) -> None:
    assert shown(played(*LAUNCHED, start=BASE, version=version)) == "🤖⚙️project"


@both_versions
def test_from_base_edit_a_file(version: str) -> None:
    assert shown(played(batch("Edit"), STOP, start=BASE, version=version)) == "🤖✅project"


def test_from_base_wait_30_minutes() -> None:
    base = played(STOP)

    assert shown(base) == "🤖project"
    assert shown(machine.decayed(base, base.since + 1801)) == "🤖✅project"


# The rule at Stop

YOUNG, LATE = NOW - 1799, NOW - 1802  # now it is NOW; the events come a second later
RULE = {
    "background": ({"visible": True}, True, WORKING),
    "visible": ({"visible": True, "completed": LATE}, False, COMPLETED),
    "young": ({"completed": YOUNG}, False, COMPLETED),
    "old": ({"completed": LATE}, False, BASE),
    "nothing": ({"completed": 0.0}, False, BASE),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", RULE)
@pytest.mark.parametrize("state", STATES)
def test_stop_in_every_state(state: str, case: str, mode: str) -> None:
    more, background, expected = RULE[case]
    since = more.get("completed", NOW - 2) if state == COMPLETED else NOW - 2
    start = machine.but(Known(state, since), prompt=TURN, **more)
    body = recorded("Stop.with-background" if background else "Stop", prompt_id=TURN)

    new = machine.after("Stop", body, start, mode, False, NOW + 1)

    stamp = {"visible": NOW + 1, "young": YOUNG}.get(case, more.get("completed", 0.0) if background else 0.0)
    assert (new.state, new.completed) == (expected, stamp)
    assert new.background == ((SHELL,) if background else ())
    assert new.since == (start.since if expected == state == WORKING else stamp if expected == COMPLETED else NOW + 1)
    assert (new.visible, new.tool, new.asker, new.asked, new.before) == (False, "", "", "", "")


# The clock


@pytest.mark.parametrize("state", [COMPLETED, BASE])
@pytest.mark.parametrize(("away", "idle"), [(1800, False), (1800.5, True), (1801, True), (-1800, False), (-1801, True)])
def test_half_an_hour_is_not_over_before_it_is(state: str, away: float, idle: bool) -> None:
    """A clock that was set back by more does not keep a state for ever."""
    stamp = {"since": NOW, "completed": NOW if state == COMPLETED else 0.0}

    last = machine.decayed(known(state, **stamp), NOW + away)

    assert (last.state, last.completed) == ((IDLE, 0.0) if idle else (state, stamp["completed"]))


@pytest.mark.parametrize("state", [state for state in STATES if state not in (COMPLETED, BASE)])
def test_no_other_state_grows_old(state: str) -> None:
    last = known(state, completed=NOW)

    assert machine.decayed(last, NOW + 100_000) is last


def test_any_event_sees_that_it_is_late() -> None:
    new = machine.after("MessageDisplay", {}, known(COMPLETED), STOP_ONLY, False, NOW + 1801)

    assert new.state == IDLE


# Nothing new is the same object

QUIET_STEPS = [
    (BASE, {}, "PostToolBatch", {"tool_calls": [{"tool_name": "Read"}]}, STOP_ONLY),
    (IDLE, {"visible": True, "prompt": TURN}, "PostToolBatch", {}, STOP_ONLY),
    (IDLE, {"visible": True, "prompt": TURN}, "PostToolBatch", {"prompt_id": None}, STOP_ONLY),
    (WORKING, {}, "Stop", {"background_tasks": agents(AGENT)}, STOP_ONLY),
    (COMPLETED, {}, "Stop", {}, STOP_ONLY),
    (COMPLETED, {}, "StopFailure.server_error", {}, STOP_ONLY),
    (IDLE, {}, "SessionStart.compact", {}, STOP_ONLY),
    (IDLE, {"ended": (AGENT,)}, "SubagentStop", ENDS, STOP_ONLY),
    (ACTIVE[0], {"tool": "Bash"}, "PreToolUse.Bash", {}, REAL_TIME),
    (ACTIVE[0], {"prompt": TURN}, "UserPromptSubmit", {}, REAL_TIME),
    (ACTIVE[0], {}, "PreToolUse.Edit", BY_AGENT, REAL_TIME),
    (ACTIVE[0], {}, "PostToolUse.Edit", BY_AGENT, REAL_TIME),
    (ALERT, {"asked": "Bash", "before": IDLE}, "PermissionRequest.Bash", {}, REAL_TIME),
    (ALERT, {"asked": "Bash", "before": IDLE}, "Notification.permission_prompt", {}, REAL_TIME),
    (ALERT, {"asked": "Bash", "before": IDLE}, "PreToolUse.Edit", {}, REAL_TIME),
    (ALERT, {"asked": "Bash", "before": IDLE}, "PostToolUse.Read", {}, REAL_TIME),
    (ALERT, {"asked": "Bash", "before": IDLE}, "PostToolBatch", BY_AGENT, REAL_TIME),
    (COMPLETED, {}, "Notification.idle_prompt", {}, REAL_TIME),
    (IDLE, {}, "Notification.permission_prompt", {}, REAL_TIME),
    *[(state, {}, name, {}, STOP_ONLY) for state in STATES for name in (
        "UserPromptSubmit", "PreToolUse.Bash", "PermissionRequest.Bash", "Notification.permission_prompt",
        "Notification.idle_prompt", "PreToolUse.AskUserQuestion",
    )],
    *[(state, {}, name, {}, OFF) for state in STATES for name in ("Stop", "UserPromptSubmit", "SessionStart.startup")],
]  # fmt: skip


@pytest.mark.parametrize(("state", "more", "name", "body", "mode"), QUIET_STEPS)
def test_nothing_new(state: str, more: dict[str, Any], name: str, body: dict[str, Any], mode: str) -> None:
    step = Step(known(state, **more), name, {"prompt_id": TURN, **body}, mode)

    assert step.end() is step.start


# What a turn has done


@pytest.mark.parametrize("tool", sorted(title_glyphs.QUIET))
def test_a_quiet_tool_is_no_visible_work(tool: str) -> None:
    assert played(batch(tool), STOP).state == BASE


@pytest.mark.parametrize("tool", ["Edit", "Write", "Bash", "Agent", "Task", "Skill", "mcp__x__read", "Unheard"])
@pytest.mark.parametrize("name", ["PostToolBatch", "PostToolUse.Bash", "PostToolUseFailure.Bash"])
def test_every_other_tool_is(tool: str, name: str) -> None:
    more = (
        {"tool_calls": [{"tool_name": "Read"}, {"tool_name": tool}]} if name == "PostToolBatch" else {"tool_name": tool}
    )

    assert played((name, more), STOP).state == COMPLETED


def test_a_turn_that_was_broken_off_is_not_the_next_one() -> None:
    assert played(batch("Edit"), ("Stop", {"prompt_id": "next"})).state == BASE
    assert played(batch("Edit"), ("Stop", {"prompt_id": None})).state == COMPLETED
    assert played(("PostToolUse.Edit", {"prompt_id": 7}), ("Stop", {"prompt_id": "next"})).state == COMPLETED
    prompts = (("UserPromptSubmit", {}), batch("Edit"), ("UserPromptSubmit", {"prompt_id": "next"}))
    assert played(*prompts, ("Stop", {"prompt_id": "next"}), mode=REAL_TIME).state == BASE


def test_a_prompt_in_mid_turn_forgets_nothing() -> None:
    turn = (("UserPromptSubmit", {}), batch("Edit"), ("UserPromptSubmit", {}))

    assert played(*turn, STOP, mode=REAL_TIME).state == COMPLETED


def test_a_subagents_tools_are_not_its_parents_work() -> None:
    assert played(("PostToolUse.Edit", BY_AGENT), STOP).state == BASE


def test_work_of_one_turn_counts_once() -> None:
    done = played(batch("Edit"), STOP, STOP)

    assert done.completed == NOW + 2


# The background


@pytest.mark.parametrize("mode", MODES)
def test_of_two_agents_the_last_one_ends_it(mode: str) -> None:
    launched = (batch("Agent"), ("Stop", {"background_tasks": agents("a", "b")}))
    first = ("SubagentStop", {"agent_id": "a", "background_tasks": agents("a", "b")})
    wake = (
        ("UserPromptSubmit.task-notification", {"prompt_id": "w"}),
        ("Stop", {"prompt_id": "w", "background_tasks": agents("b")}),
    )
    last = ("SubagentStop", {"agent_id": "b", "background_tasks": agents("b")})

    assert played(*launched, first, mode=mode).state == WORKING
    assert played(*launched, first, last, mode=mode).state == COMPLETED
    assert played(*launched, first, *wake, mode=mode).state == WORKING
    assert played(*launched, first, *wake, last, mode=mode).state == COMPLETED


def test_an_agent_that_ended_just_before_the_turn_does_not_run() -> None:
    ended = played(batch("Agent"), ("SubagentStop", ENDS), ("Stop", {"background_tasks": agents(AGENT)}))

    assert ended.state == COMPLETED


def test_an_agent_that_is_sent_on_runs_again() -> None:
    again = played(*LAUNCHED, ("SubagentStop", ENDS), STOP, batch("SendMessage"), LAUNCHED[1])

    assert again.state == WORKING
    at_once = played(*LAUNCHED, ("SubagentStop", ENDS), batch("SendMessage"), LAUNCHED[1])
    assert at_once.state == WORKING


def test_many_agents_that_end_at_once_have_all_ended() -> None:
    """Each end still lists all of them."""
    listed = {"background_tasks": agents(*map(str, range(30)))}
    ends = [("SubagentStop", {"agent_id": str(number), **listed}) for number in range(30)]

    assert played(batch("Agent"), ("Stop", listed), *ends[:-1]).state == WORKING
    assert played(batch("Agent"), ("Stop", listed), *ends).state == COMPLETED


def test_a_subagent_that_ended_elsewhere_ends_no_shell() -> None:
    shell = recorded("Stop.with-background")["background_tasks"]
    ends = ("SubagentStop", {**BY_AGENT, "background_tasks": shell})

    assert played(("Stop.with-background", {}), ends).state == WORKING
    assert (
        played(("Stop.with-background", {}), ("SubagentStop", {**BY_AGENT, "background_tasks": "?"})).state == WORKING
    )


def test_the_end_of_a_shell_is_told_by_the_turn_that_it_wakes() -> None:
    assert played(("Stop.with-background", {}), STOP).state == BASE
    assert played(batch("Edit"), STOP, ("Stop.with-background", {}), STOP).state == COMPLETED


def test_the_listener_is_no_work() -> None:
    listener = [{"id": "b1", "type": "shell", "status": "running", "command": "ib listen"}]

    assert played(("Stop", {"background_tasks": listener})).state == BASE
    assert (
        played(*LAUNCHED, ("SubagentStop", {**ENDS, "background_tasks": [*listener, *agents(AGENT)]})).state
        == COMPLETED
    )


def test_what_is_not_running_is_no_work() -> None:
    over = [{**agents(AGENT)[0], "status": "completed"}, "x", None, {"id": 1}]

    assert played(("Stop", {"background_tasks": over})).state == BASE


def test_a_task_without_an_id_runs_all_the_same() -> None:
    assert played(("Stop", {"background_tasks": [{"status": "running"}]})).state == WORKING


def test_an_error_of_the_service_ends_no_agent() -> None:
    assert played(*LAUNCHED, batch("Edit"), ("StopFailure.rate_limit", {})).state == WORKING
    assert played(batch("Edit"), ("StopFailure.rate_limit", {})).state == BASE


def test_a_hundred_ends_are_remembered() -> None:
    last = played(*[("SubagentStop", {"agent_id": str(number)}) for number in range(120)])

    assert last.ended == tuple(str(number) for number in range(20, 120))


# Dialogs


def turn(*events: tuple[str, dict[str, Any]], start: str = IDLE) -> str:
    return shown(played(*events, start=start, mode=REAL_TIME))


PROMPT: tuple[str, dict[str, Any]] = ("UserPromptSubmit", {})
ASKED = (("PreToolUse.AskUserQuestion", {}), ("PermissionRequest.AskUserQuestion", {}))


def test_a_question_and_its_answer() -> None:
    assert turn(PROMPT, *ASKED) == "🚨project"
    assert turn(PROMPT, *ASKED, ("PostToolUse.AskUserQuestion", {})) == "🤖project"
    assert turn(PROMPT, *ASKED, batch("AskUserQuestion")) == "🤖project"


def test_a_permission_and_its_answer() -> None:
    asked = (PROMPT, ("PreToolUse.Bash", {}), ("PermissionRequest.Bash", {}))

    assert turn(*asked[:2]) == "🧪project"
    assert turn(*asked, ("Notification.permission_prompt", {})) == "🚨project"
    assert turn(*asked, batch("Bash")) == "🧪project"
    assert turn(*asked, batch("Bash"), STOP) == "🤖✅project"


def test_a_denied_permission_tells_nothing_until_the_next_prompt() -> None:
    asked = (PROMPT, ("PreToolUse.Bash", {}), ("PermissionRequest.Bash", {}))

    assert turn(*asked, ("UserPromptSubmit", {"prompt_id": "next"})) == "🤖project"
    assert turn(*asked, ("Notification.idle_prompt", {})) == "🤖project"


def test_a_background_agent_asks_before_the_turn_ends() -> None:
    """The Stop comes with its dialog open, the notification without an agent's id six seconds later."""
    asked = (PROMPT, batch("Agent"), ("PermissionRequest.Bash", BY_AGENT), LAUNCHED[1])
    noticed = (*asked, ("Notification.permission_prompt", {}))

    assert turn(*asked) == turn(*noticed) == "🚨project"
    assert turn(*noticed, ("Notification.idle_prompt", {})) == "🚨project"
    assert turn(*noticed, ("PostToolBatch", BY_AGENT)) == "🤖⚙️project"
    assert turn(*noticed, ("SubagentStop", ENDS)) == "🤖✅project"
    assert turn(*asked, STOP) == "🤖project"


def test_a_turn_that_ended_with_a_dialog_open_leaves_no_tool_behind() -> None:
    asked = (PROMPT, ("PreToolUse.Read", {}), ("PermissionRequest.Bash", BY_AGENT), LAUNCHED[1])
    unknown = ({"hook_event_name": "Elicitation"}, {"hook_event_name": "ElicitationResult"})

    assert turn(*asked, *[("Stop", more) for more in unknown]) == "🤖project"


def test_a_subagents_answer_shows_what_the_session_itself_does() -> None:
    asked = (PROMPT, ("PreToolUse.Agent", {}), ("PermissionRequest.Bash", BY_AGENT))

    assert turn(*asked, ("PostToolUse.Bash", BY_AGENT)) == "🎯project"


def test_another_agents_end_meanwhile() -> None:
    last = alert(asker=AGENT, before=WORKING, background=(AGENT, "b"))
    last = live(last, "SubagentStop", agent_id="b", background_tasks=agents(AGENT, "b")).end()

    assert last.state == ALERT
    assert live(last, "PostToolBatch", **BY_AGENT).end().state == WORKING
    assert live(last, "SubagentStop", **ENDS).end().state == COMPLETED


def test_a_mode_that_was_changed_is_sorted_out_by_the_next_stop() -> None:
    for start in (alert(), alert(asker=AGENT, background=(AGENT,)), known(ACTIVE[0])):
        assert Step(start, "PostToolBatch", {}).end().state == start.state
        assert Step(start, "Stop", {}).end().state == BASE
        assert Step(start, "Stop", {"background_tasks": agents(AGENT)}).end().state == WORKING


# Titles and options


def test_the_glyphs_of_three_styles_are_those_of_the_document() -> None:
    states = [(state, "") for state in (*STATES[:4], ACTIVE[0], ALERT)]
    for state, tool in (*states, *[(ACTIVE[1], tool) for tool in (*title_glyphs.KINDS, "mcp__x__y")]):
        row = " | ".join(f"`{title_glyphs.glyph(state, tool, style)}`" for style in title_glyphs.STYLES)
        found = [line for line in DOCUMENT.splitlines() if line.endswith(f"| {row} |")]
        word = (tool if tool in title_glyphs.KINDS else "every other tool") if tool else state.partition("_")[0]
        assert any(word in line for line in found), (word, row)


def test_todo_and_working_differ_in_every_style() -> None:
    for style in title_glyphs.STYLES:
        assert title_glyphs.glyph(ACTIVE[0], "TodoWrite", style) != title_glyphs.glyph(WORKING, "", style)


def test_the_safe_style_has_no_variation_selectors_and_the_ascii_style_is_ascii() -> None:
    assert not any("\ufe0f" in glyph for glyph in title_glyphs.SAFE_GLYPHS.values())
    assert all(glyph.isascii() for glyph in title_glyphs.ASCII_GLYPHS.values())
    assert len({frozenset(glyphs) for glyphs in title_glyphs.GLYPHS.values()}) == 1


def test_a_tool_shows_only_while_the_session_is_active() -> None:
    assert {title_glyphs.glyph(state, "Bash", "safe") for state in ACTIVE} == {"🧪"}
    assert [title_glyphs.glyph(state, "Bash", "ascii") for state in STATES[:4]] == ["[ok]", "[bg]", "[ok]", "[ib]"]
    assert title_glyphs.glyph("?", "", "?") == "🤖"


def test_the_loudest_state_has_the_highest_rank() -> None:
    assert [machine.rank(state) for state in machine.LOUDNESS] == [7, 6, 5, 4, 3, 2, 1]
    assert set(machine.LOUDNESS) == set(STATES)
    assert machine.rank("?") == 1
    assert " > ".join(machine.LOUDNESS) in DOCUMENT


@pytest.mark.parametrize("state", STATES)
def test_an_agent_runs_exactly_in_working(state: str) -> None:
    assert said(known(state))["running"] == ("1" if state == WORKING else "0")


# What was remembered


@pytest.mark.parametrize("step", [step for row in ROWS for step in row.steps])
def test_what_is_packed_comes_back(step: Step) -> None:
    values = [list(value) if isinstance(value, tuple) else value for value in machine.packed(step.end())]

    again = machine.unpacked(values)

    assert again is not None
    assert machine.packed(again) == machine.packed(step.end())


@pytest.mark.parametrize("at", range(len(machine.FIELDS)))
@pytest.mark.parametrize("value", [None, 7, [7], {}, "?", [["x"]]])
def test_what_is_no_known_does_not(at: int, value: Any) -> None:
    good = machine.packed(known(WORKING))
    bad = [*good[:at], value, *good[at + 1 :]]
    fits = isinstance(value, str) and isinstance(good[at], str) and machine.FIELDS[at] != "state"

    assert (machine.unpacked(bad) is not None) == fits
    assert machine.unpacked(good[1:]) is machine.unpacked(None) is machine.unpacked({}) is None
