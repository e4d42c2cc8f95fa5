"""The settings of an agent: whatever the project's file holds, the guard is there and no rule of it is lost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.agents.settings import keys_below
from ibstatus.claude.hooks import agent_settings, command_lines
from ibstatus.claude.hooks import events as hook_settings
from ibstatus.claude.hooks.agent_settings import Agent, Permissions
from ibstatus.errors import IbError
from ibstatus.hooks import entry
from ibstatus.project import agents
from ibstatus.system import jsonl

PROGRAM = ("/usr/bin/python3", "/opt/ib/ibstatus/hooks/stub.py")
WORKER = Agent("w1", "worker", "/project", "/project/.git")
LEAD = Agent("lead", "manager", "/project", "/project/.git")
RULES = st.lists(st.text(max_size=8), max_size=4)
HOOK = st.fixed_dictionaries({"type": st.just("command"), "command": st.text()}) | st.fixed_dictionaries(
    {"type": st.just("prompt"), "prompt": st.text()}
)
OURS = st.sampled_from([want.value for want in hook_settings.wanted(PROGRAM)])
ENTRY = st.fixed_dictionaries({"hooks": st.lists(HOOK | OURS, max_size=3)}, optional={"matcher": st.text(max_size=4)})
EVENT = st.sampled_from(["PreToolUse", "PermissionRequest", "Stop", "SessionStart", "PostToolUse", "Mine"])
BASE = st.fixed_dictionaries(
    {},
    optional={
        "model": st.text(),
        "disableAllHooks": st.booleans(),
        "permissions": st.fixed_dictionaries({}, optional={"allow": RULES, "deny": RULES, "ask": RULES}),
        "hooks": st.dictionaries(EVENT, st.lists(ENTRY, max_size=3)),
        "sandbox": st.fixed_dictionaries({}, optional={"enabled": st.booleans()}),
    },
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda of: (
        st.lists(of, max_size=3) | st.dictionaries(st.sampled_from(["permissions", "hooks", "Stop", "allow"]), of)
    ),
)


def commands(settings: dict[str, Any], event: str) -> list[str]:
    return [hook.get("command", "") for name, hook in hook_settings.commands(settings) if name == event]


def users(settings: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(event, hook) for event, hook in hook_settings.commands(settings) if not agent_settings.is_ours(hook)]


def has_guard(settings: dict[str, Any], agent: Agent) -> bool:
    before = [entry for entry in settings["hooks"]["PreToolUse"] if entry.get("matcher") == "*"]
    guard = command_lines.guard(PROGRAM, "agent-path", agent.id)
    return settings["disableAllHooks"] is False and any(guard in [h.get("command") for h in e["hooks"]] for e in before)


@given(BASE, RULES, RULES)
def test_nothing_of_the_users_is_lost(base: dict[str, Any], allow: list[str], deny: list[str]) -> None:
    given_rules = Permissions(tuple(allow), tuple(deny))

    settings = agent_settings.build(WORKER, base, PROGRAM, given_rules)

    known = base.get("permissions", {})
    assert has_guard(settings, WORKER)
    assert {*known.get("allow", ()), *agent_settings.MANDATORY, *allow} == set(settings["permissions"]["allow"])
    assert {*known.get("deny", ()), "EnterPlanMode", "ListAgents", *deny} == set(settings["permissions"]["deny"])
    assert known.get("ask") == settings["permissions"].get("ask")
    assert sorted(map(str, users(settings))) == sorted(map(str, users(base)))
    assert settings.get("model") == base.get("model")
    assert settings["sandbox"].get("enabled") == base.get("sandbox", {}).get("enabled")


@given(BASE)
def test_of_the_primarys_hooks_nothing_reaches_an_agent(base: dict[str, Any]) -> None:
    settings = agent_settings.build(LEAD._replace(titles="off"), base, PROGRAM)

    ours = {command_lines.hook_of(mine.value["command"]) for mine in hook_settings.ours(settings)}
    assert ours == {"agent-path", "permission-request", "session-start", "inject-status", "agent-status"}
    assert all(len(commands(settings, event)) >= 1 for event in agent_settings.WHAT_IT_DOES)
    assert [mine.hook for mine in hook_settings.ours(settings)].count("agent-path") == 1


@given(ANY)
def test_anything_gives_a_guard_or_a_refusal(base: Any) -> None:
    text = jsonl.encode(base)
    try:
        settings = agent_settings.build(WORKER, agent_settings.base_of(text), PROGRAM)
    except IbError:
        return
    assert has_guard(settings, WORKER)


@given(st.text())
def test_any_text_is_an_object_or_a_refusal(text: str) -> None:
    try:
        known = agent_settings.base_of(text)
    except IbError:
        return
    assert isinstance(known, dict)


def test_a_refusal_names_the_file() -> None:
    with pytest.raises(IbError, match=r"settings\.local\.json"):
        agent_settings.base_of("{")


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "\ufeff{}", "{}"])
def test_an_empty_file_has_no_settings(text: str) -> None:
    assert agent_settings.base_of(text) == {}


def test_each_role_gets_what_it_is_given_and_deny_alone_counts() -> None:
    settings = agent_settings.build(
        WORKER, {}, PROGRAM, Permissions(deny=("WebFetch",)), Permissions(("Bash(make:*)",))
    )

    assert "WebFetch" in settings["permissions"]["deny"]
    assert "Bash(make:*)" in settings["permissions"]["allow"]


def test_in_yolo_nothing_is_asked_for_but_the_guard_stays() -> None:
    settings = agent_settings.build(WORKER._replace(yolo=True), {}, PROGRAM)

    assert has_guard(settings, WORKER)
    assert commands(settings, "PermissionRequest") == [command_lines.quiet(PROGRAM, "agent-status", "w1")]


@pytest.mark.parametrize(("mode", "events"), hook_settings.TITLE_EVENTS.items())
@given(base=BASE)
def test_titles_come_at_the_events_of_their_mode(base: dict[str, Any], mode: str, events: tuple[str, ...]) -> None:
    """Of the primary's own hook nothing is left, and what stands beside it stays where it was."""
    settings = agent_settings.build(LEAD._replace(titles=mode), base, PROGRAM)
    without = agent_settings.build(LEAD._replace(titles="off"), base, PROGRAM)

    title = command_lines.quiet(PROGRAM, "notify-tmux", "lead")
    mine = [hook for hook in hook_settings.ours(settings) if hook.hook == "notify-tmux"]
    assert sorted(hook.event for hook in mine) == sorted(events)
    assert all(hook.value["command"] == title for hook in mine)
    assert has_guard(settings, LEAD)
    for event in settings["hooks"]:
        assert [line for line in commands(settings, event) if line != title] == commands(without, event)


def test_only_managers_intercept() -> None:
    for agent in (WORKER, LEAD):
        settings = agent_settings.build(agent._replace(intercepts=True), {}, PROGRAM)
        assert ("intercept-task" in str(settings["hooks"])) == (agent.role == "manager")


def test_other_sessions_views_and_skills_are_switched_off_whatever_the_project_says() -> None:
    base = {"crossSessionInbound": "accept", "disableAgentView": False, "permissions": {"allow": ["ListAgents"]}}

    settings = agent_settings.build(WORKER, base, PROGRAM)

    assert settings["crossSessionInbound"] == "refuse"
    assert settings["disableAgentView"] is True
    assert settings["disableSkillShellExecution"] is True
    assert "ListAgents" in settings["permissions"]["deny"]
    assert "ListAgents" not in agent_settings.build(WORKER, {}, PROGRAM)["permissions"]["allow"]


@pytest.mark.parametrize("agent", [WORKER, LEAD._replace(yolo=True, intercepts=True)])
def test_what_must_deny_has_longer_than_its_own_alarm(agent: Agent) -> None:
    """Behind its time limit the client goes on as if there were no hook."""
    settings = agent_settings.build(agent, {}, PROGRAM)

    limits = {mine.hook: mine.value["timeout"] for mine in hook_settings.ours(settings)}
    must = {hook for hook, (fails, *_) in entry.HOOKS.items() if fails in (entry.GUARD, entry.REQUEST)} & limits.keys()
    assert "agent-path" in must
    assert all(limits[hook] >= 100 * entry.LIMIT[entry.HOOKS[hook][0]] for hook in must)
    assert all(limit == hook_settings.TIMEOUT for hook, limit in limits.items() if hook not in must)


def sandbox_of(agent: Agent, base: dict[str, Any] | None = None) -> dict[str, Any]:
    sandbox: dict[str, Any] = agent_settings.build(agent, {"sandbox": base or {}}, PROGRAM)["sandbox"]
    return sandbox


def test_the_sandbox_lets_mail_out_and_keeps_the_rules_in() -> None:
    base = {"enabled": True, "filesystem": {"allowWrite": ["/cache"], "denyWrite": ["/keep"]}}

    sandbox = sandbox_of(WORKER._replace(others=("w1", "w2")), base)

    files = sandbox["filesystem"]
    assert sandbox["allowUnsandboxedCommands"] is False
    assert files["allowWrite"] == ["/cache", "/tmp/ib-w1", "/project/.ittybitty", "/project/.git/ib"]
    assert files["denyWrite"][0] == "/keep"
    denied = set(files["denyWrite"])
    for folder in ("/project/.ittybitty/agents", "/project/.git/ib/agents"):
        for agent in ("w1", "w2"):
            assert {f"{folder}/{agent}/{leaf}" for leaf in agents.STARTED} < denied
            assert {f"{folder}/{agent}/token", f"{folder}/{agent}/meta.json"} < denied
    assert "/project/.ittybitty/agents/w2/repo" in denied
    assert "/project/.ittybitty/agents/w1/repo" not in denied
    assert "/project/.ittybitty/hooks" in denied


def test_the_sandbox_shows_neither_the_main_checkout_nor_keys() -> None:
    files = sandbox_of(WORKER._replace(keys=keys_below("/home/me")))["filesystem"]

    assert {"/project", "/home/me/.ssh", "/home/me/.netrc", "/home/me/.config/gh"} < set(files["denyRead"])
    worktree = "/project/.ittybitty/agents/w1/repo"
    assert files["allowRead"] == [worktree, "/project/.git", "/project/.ittybitty", "/project/.ittybitty.json"]


def test_ib_can_be_read_where_it_is_installed_in_the_main_checkout() -> None:
    program = ("/project/.venv/bin/python3", "/project/.venv/lib/python3.11/site-packages/ibstatus/hooks/stub.py")

    files = agent_settings.sandbox(WORKER, {}, program, "")["filesystem"]

    assert files["allowRead"][-2:] == ["/project/.venv", "/project/.venv/lib/python3.11/site-packages/ibstatus"]


def test_without_a_worktree_of_its_own_the_main_checkout_stays_open() -> None:
    files = sandbox_of(WORKER._replace(tree=False, keys=keys_below("/home/me")))["filesystem"]

    assert "/project" not in files["denyRead"]
    assert "/home/me/.ssh" in files["denyRead"]
    assert "allowRead" not in files


def test_names_with_blanks_and_quotes_are_one_word_for_the_shell() -> None:
    program = ("/opt/my python/bin/python3", "/opt/it's/ibstatus/hooks/stub.py")

    (guard,) = commands(agent_settings.build(WORKER, {}, program), "PreToolUse")

    assert "'/opt/my python/bin/python3'" in guard
    assert command_lines.is_ours(guard)


def test_what_is_built_twice_is_the_same() -> None:
    base = {"permissions": {"allow": ["Read"]}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}
    once = agent_settings.build(LEAD, base, PROGRAM, Permissions(("A",), ("B",)))

    assert agent_settings.build(LEAD, once, PROGRAM, Permissions(("A",), ("B",))) == once
    assert base["hooks"] == {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}, "the base is left as it was"
