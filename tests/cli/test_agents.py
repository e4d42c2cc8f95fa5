"""The command lines of new-agent and its kin: what is printed, and where a task comes from."""

import json
from pathlib import Path

import pytest

from ibstatus.claude.hooks import agent_settings
from ibstatus.state import fleet
from ibstatus.state.hook_history import States
from tests.until import until

pytestmark = pytest.mark.usefixtures("fake_claude")


def prompt_of(repo, agent: str) -> str:
    return str(json.loads(Path(repo.agent_dir(agent), "meta.json").read_text())["prompt"])


def test_a_task_from_a_file_and_from_standard_input(ib, repo, tmp_path: Path) -> None:
    task = tmp_path / "-task ü.md"
    task.write_bytes("\ufeff# Täsk\n\n> wait\n".encode())

    assert ib("new-agent", "--name", "a", "--prompt-file", str(task)).code == 0
    assert ib("new-agent", "--name", "b", stdin="- from\nstdin\n> wait\n").out == "b\n"
    assert ib("new", "--name", "c", "--", "-x", "--force").out == "c\n"

    assert prompt_of(repo, "a") == "# Täsk\n\n> wait"
    assert prompt_of(repo, "b") == "- from\nstdin\n> wait"
    assert prompt_of(repo, "c") == "-x --force"


@pytest.mark.parametrize("args", [(), ("",), ("  ",), ("a task", "--prompt-file", "x"), ("--prompt-file", "/nowhere")])
def test_without_a_task(ib, args: tuple[str, ...]) -> None:
    done = ib("new-agent", *args)

    assert done.code in (1, 2)
    assert done.out == ""
    assert done.err.startswith("Error: ")


def test_json_and_completion(ib, repo) -> None:
    assert ib("new-agent", "--name", "login", "--json", "x\n> wait").json() == {"id": "login"}
    env = {"_IB_COMPLETE": "bash_complete", "COMP_WORDS": "ib attach lo", "COMP_CWORD": "2"}
    for command in ("attach", "look", "kill", "pause", "resume", "merge", "diff", "status", "wait", "info", "undo"):
        said = ib(env={**env, "COMP_WORDS": f"ib {command} lo"}).out
        assert "login" in said or command == "undo", command


def test_an_ambiguous_id_names_the_candidates(ib, repo) -> None:
    for name in ("login", "logout"):
        assert ib("new-agent", "--name", name, "x\n> wait").code == 0

    for command in (("pause", "log"), ("look", "log"), ("kill", "log", "--force"), ("status", "log"), ("merge", "log")):
        done = ib(*command)
        assert done.code == 1
        assert "login" in done.err
        assert "logout" in done.err


def test_two_agents_of_which_one_is_the_beginning_of_the_other(ib, repo, tmux) -> None:
    for name in ("foo", "foo-bar"):
        assert ib("new-agent", "--name", name, f"{name}\n> wait\n> wait").code == 0
    until(lambda: {agent["state"] for agent in ib("list", "--json").json()} == {"waiting"})
    assert ib("pause", "foo").code == 0

    sent = ib("send", "foo", "--json", "to foo alone").json()
    looked = ib("look", "foo").out
    killed = ib("kill", "foo", "--force")

    assert sent["state"] == "stopped"
    assert "foo-bar" not in looked
    assert killed.code == 0
    assert not Path(repo.agent_dir("foo-bar"), "inbox.jsonl").exists()
    left = tmux("list-sessions", "-F", "#{session_name}").split()
    assert [name.partition("-")[2].partition("-")[2] for name in left] == ["foo-bar"]
    assert [(agent["id"], agent["state"]) for agent in ib("list", "--json").json()] == [("foo-bar", "waiting")]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Bash(npm test:*),WebFetch", ["Bash(npm test:*)", "WebFetch"]),
        ("Read, Grep  Bash(a, b)", ["Read", "Grep", "Bash(a, b)"]),
        ("", []),
        ("mcp__x__*", ["mcp__x__*"]),
    ],
)
def test_rules_are_split_outside_of_brackets(text: str, rules: list[str]) -> None:
    assert agent_settings.split(text) == rules
    assert all(agent_settings.is_rule(rule) for rule in rules)


def test_what_a_list_of_tools_leaves_out() -> None:
    assert agent_settings.left_out([]) == []
    assert agent_settings.left_out(["*"]) == []
    assert "Write" in agent_settings.left_out(["Read", "Edit(src/**)"])
    assert "Edit" not in agent_settings.left_out(["Read", "Edit(src/**)"])
    assert not {"Task", "Agent"} & set(agent_settings.left_out(["Task"]))


def test_ages_go_on_though_nothing_else_changes(ib, repo) -> None:
    """The published snapshot is as old as the last change; what is shown is as of now."""
    assert ib("new-agent", "--name", "login", "x\n> wait").code == 0
    until(lambda: ib("list", "--json").json()[0]["state"] == "waiting")
    snapshot = fleet.snapshot_of(fleet.look(repo, States(repo), {}, 0.0), 1, 0.0)
    later = (snapshot.agents[0].created or 0.0) + 7200

    assert fleet.of_now(snapshot, later).agents[0].age == "2h"


def test_what_is_unusual_about_an_agent_is_shown(ib, repo) -> None:
    assert ib("new-agent", "--name", "a", "--yolo", "x\n> wait").code == 0
    assert ib("new-agent", "--name", "b", "--no-worktree", "x\n> wait").code == 0
    assert ib("pause", "a", "--json").json() == {"id": "a", "state": "stopped"}

    shown = ib("list").out

    assert "[yolo] x" in shown
    assert "[no-worktree] x" in shown
    assert "2 agents, 1 alive (10 max)" in shown


def test_resume_needs_names_or_all_and_never_both(ib) -> None:
    for words in ([], ["--all", "w"], ["--force", "w"], ["--dry-run"]):
        done = ib("resume", *words)
        assert (done.code, "say --all" in done.err) == (2, True), words


def test_resume_says_what_does_not_go_together(ib) -> None:
    assert "--dry-run goes with --all only" in ib("resume", "--dry-run", "w").err
    assert "not both" in ib("resume", "--all", "w").err
    assert "Name the agents" in ib("resume").err


def test_resume_all_without_agents_is_nothing_to_do(ib) -> None:
    done = ib("resume", "--all", "--json")

    assert (done.code, done.json()) == (0, {"plan": [], "left": [], "resumed": [], "failed": {}})


def test_several_are_resumed_and_who_cannot_be_is_said(ib, repo, agent) -> None:
    agent(repo, "a")
    agent(repo, "b")

    done = ib("resume", "a", "nobody", "b", "--json")

    assert (done.code, done.json()) == (1, [])
    assert done.err.count("was not started by ib new-agent") == 2
    assert "There is no agent 'nobody'" in done.err
