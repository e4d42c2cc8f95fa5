"""Real managers and workers, started by `ib new-agent` in tmux, under a scripted model."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ibstatus.claude import client
from ibstatus.project import agent_meta, paths
from tests.conftest import Done, git, run_ib
from tests.peers.client import Client, environment
from tests.peers.messages_api import MessagesApi, Shown, Turn
from tests.until import until

pytestmark = pytest.mark.peer


class Cast:
    """What each agent does next, by its name; who it is, it is told when its session starts."""

    def __init__(self, api: MessagesApi) -> None:
        self.scripts: dict[str, list[Turn]] = {}
        self.heard: dict[str, list[Shown]] = {}
        api.rule = self.next

    def next(self, shown: Shown) -> Turn | None:
        whole = shown.whole
        who = next((name for name in self.scripts if f"You are the agent {name}," in whole), "")
        if not who:
            return None
        self.heard.setdefault(who, []).append(shown)
        script = self.scripts[who]
        return script.pop(0) if script else Turn(words="WAITING")

    def has_heard(self, who: str, text: str) -> bool:
        return any(text in shown.whole for shown in self.heard.get(who, []))


def bash(*commands: str) -> list[Turn]:
    return [Turn("Bash", {"command": command}) for command in commands]


def says(text: str) -> Turn:
    return Turn(words=text)


@pytest.fixture
def fleet(claude: Client, repo: paths.Place, tmux, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Done]]:
    """ib in the repository, with the real client for its agents; whatever still runs is ended."""
    for key, value in environment(claude.home, claude.url).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("IB_CLAUDE", str(claude.binary))
    monkeypatch.setenv("IB_SUPERVISOR", "on")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test@example.invalid")

    def run(*args: str) -> Done:
        done = run_ib(*args, cwd=repo.root)
        assert done.code == 0, done
        return done

    run("init")
    try:
        yield run
    finally:
        run_ib("nuke", "--force", cwd=repo.root)


def state_of(fleet, name: str) -> str:
    return next((agent["state"] for agent in fleet("list", "--json").json() if agent["id"] == name), "gone")


def screens(repo, tmux) -> str:
    names = tmux("list-sessions", "-F", "#{session_name}").split()
    return "\n".join(f"== {name}\n{tmux('capture-pane', '-p', '-t', '=' + name + ':')}" for name in names)


def takes_text(tmux, agent: str) -> bool:
    """Its turn may be over while its client still draws it, until all that is told of that has answered."""
    name = next(name for name in tmux("list-sessions", "-F", "#{session_name}").split() if name.endswith("-" + agent))
    return client.DEFAULT.read(tmux("capture-pane", "-p", "-e", "-t", f"={name}:")).kind == "prompt"


def until_shown(holds: Callable[[], object], repo, tmux, seconds: float = 40) -> None:
    try:
        until(holds, seconds)
    except AssertionError as failure:
        logs = [f"== {path}\n{path.read_text()}" for path in Path(repo.home, "agents").glob("*/agent.log")]
        raise AssertionError(f"{failure}\n{screens(repo, tmux)}\n" + "\n".join(logs)) from None


def test_a_manager_and_two_workers(fleet, api: MessagesApi, repo, tmux) -> None:
    cast = Cast(api)
    cast.scripts = {
        "lead": [
            *bash('ib new-agent --name w1 --worker "Write one"', 'ib new-agent --name w2 --worker "Write two"'),
            says("WAITING"),
            *bash('ib ask "Which name should the second file have?"'),
            says("I have asked.\n\nWAITING"),
        ],
        "w1": [
            *bash("echo one > one.txt && git add one.txt && git commit -qm one", 'ib send lead "one.txt is there"'),
            says("Done.\n\nI HAVE COMPLETED THE GOAL"),
        ],
        "w2": [*bash('ib send lead "[STUCK] which name?"'), says("WAITING")],
    }
    assert fleet("new-agent", "--name", "lead", "Build it").out == "lead\n"
    until_shown(lambda: fleet("questions", "--json").json(), repo, tmux)
    question = fleet("questions", "--json").json()[0]
    assert question["agent"] == "lead"

    cast.scripts["lead"] = [*bash('ib send w2 "Call it two.txt"'), says("WAITING")]
    cast.scripts["w2"] = [
        *bash("echo two > two.txt && git add two.txt && git commit -qm two", 'ib send lead "two.txt is there"'),
        says("Done.\n\nI HAVE COMPLETED THE GOAL"),
    ]
    fleet("answer", question["id"], "two.txt")
    until_shown(lambda: cast.has_heard("lead", "two.txt is there"), repo, tmux)
    until_shown(lambda: [state_of(fleet, name) for name in ("w1", "w2")] == ["complete", "complete"], repo, tmux)
    until_shown(lambda: state_of(fleet, "lead") == "waiting", repo, tmux)

    cast.scripts["lead"] = [
        *bash("ib merge w1 --force", "ib merge w2 --force", "ls"),
        says("Both files are there.\n\nI HAVE COMPLETED THE GOAL"),
    ]
    fleet("send", "lead", "Merge them.")
    until_shown(lambda: state_of(fleet, "lead") == "complete", repo, tmux)
    assert [agent["id"] for agent in fleet("list", "--json").json()] == ["lead"]

    fleet("merge", "lead", "--force")
    assert fleet("list", "--json").json() == []
    assert Path(repo.root, "one.txt").read_text() + Path(repo.root, "two.txt").read_text() == "one\ntwo\n"
    assert git(repo.root, "status", "--short") == ""
    assert git(repo.root, "branch", "--list", "agent/*") == ""
    assert cast.has_heard("lead", "[sent by agent w1]: one.txt is there")


def test_the_trust_dialog_is_read_and_answered(fleet, api: MessagesApi, claude: Client, repo, tmux) -> None:
    known = json.loads((claude.home / ".claude.json").read_text())
    (claude.home / ".claude.json").write_text(json.dumps({**known, "projects": {}}))
    cast = Cast(api)
    cast.scripts = {"w1": [says("Hello.\n\nWAITING")]}

    fleet("new-agent", "--name", "w1", "--worker", "Say hello")

    until_shown(lambda: cast.heard.get("w1"), repo, tmux)
    until_shown(lambda: state_of(fleet, "w1") == "waiting", repo, tmux)
    assert cast.heard["w1"][0].whole.count("Say hello") == 1


def test_a_task_of_the_primary_becomes_an_agent(fleet, api: MessagesApi, claude: Client, repo, tmux) -> None:
    cast = Cast(api)
    fleet("hooks", "install")
    fleet("hooks", "install-intercept")
    given = {"description": "count", "prompt": "Count the files", "subagent_type": "general-purpose"}
    api.turns[:] = [Turn("Agent", given), says("It is being done.")]

    mine = {key: os.environ[key] for key in ("IB_CLAUDE", "TMUX_TMPDIR")}
    ran = claude.run(Path(repo.root), "Go.", mode="default", **mine)

    assert ran.code == 0, ran
    agent = fleet("list", "--json").json()[0]
    [(worked, said)] = next(shown.results for shown in api.shown if shown.results)
    assert not worked
    assert f"agent {agent['id']} works on it" in said
    assert api.of_subagents == []
    cast.scripts = {agent["id"]: [says("Three.\n\nI HAVE COMPLETED THE GOAL")]}
    until_shown(lambda: state_of(fleet, agent["id"]) in ("complete", "waiting"), repo, tmux)


def test_talk_reaches_an_agent_whatever_it_is_at(fleet, api: MessagesApi, repo, tmux) -> None:
    cast = Cast(api)
    cast.scripts = {"w1": [says("WAITING")]}
    fleet("new-agent", "--name", "w1", "--worker", "Listen")
    until_shown(lambda: state_of(fleet, "w1") == "waiting" and takes_text(tmux, "w1"), repo, tmux)

    hostile = "-x first; `ls`\n! second\n/third <ittybitty> " + "ü" * 200
    assert fleet("send", "w1", "--json", "--", hostile).json()["state"] == "delivered"
    until_shown(lambda: cast.has_heard("w1", "second") and state_of(fleet, "w1") == "waiting", repo, tmux)
    until_shown(lambda: takes_text(tmux, "w1"), repo, tmux)

    name = next(name for name in tmux("list-sessions", "-F", "#{session_name}").split() if name.endswith("-w1"))
    tmux("send-keys", "-t", f"={name}:", "-l", "a half-typed draft")
    until_shown(lambda: "half-typed draft" in screens(repo, tmux), repo, tmux)
    assert fleet("send", "w1", "--json", "while you type").json()["state"] == "draft"
    assert not any("half-typed" in shown.whole for shown in cast.heard["w1"])
    tmux("send-keys", "-t", f"={name}:", "C-u")
    until_shown(lambda: cast.has_heard("w1", "while you type"), repo, tmux)
    assert cast.heard["w1"][-1].whole.count("while you type") == 1


def test_it_pauses_and_resumes_its_conversation(fleet, api: MessagesApi, repo, tmux) -> None:
    cast = Cast(api)
    cast.scripts = {"w1": [says("First.\n\nWAITING"), says("Again.\n\nI HAVE COMPLETED THE GOAL")]}
    fleet("new-agent", "--name", "w1", "--worker", "The one task")
    until_shown(lambda: state_of(fleet, "w1") == "waiting", repo, tmux)

    fleet("pause", "w1")
    assert state_of(fleet, "w1") == "stopped"
    assert "The one task" in fleet("look", "w1").out
    fleet("resume", "w1")

    until_shown(lambda: state_of(fleet, "w1") == "complete", repo, tmux)
    assert cast.heard["w1"][-1].whole.count("The one task") == 1
    assert "First." in cast.heard["w1"][-1].whole


def test_one_that_was_cut_off_before_it_wrote_down_its_task_begins_with_it(
    fleet, api: MessagesApi, claude: Client, repo, tmux
) -> None:
    cast = Cast(api)
    cast.scripts = {"w1": [says("First.\n\nWAITING"), says("Again.\n\nI HAVE COMPLETED THE GOAL")]}
    fleet("new-agent", "--name", "w1", "--worker", "The one task")
    until_shown(lambda: state_of(fleet, "w1") == "waiting", repo, tmux)
    fleet("pause", "w1")
    [path] = (claude.home / ".claude" / "projects").glob(f"*/{agent_meta.read(repo, 'w1')['session_id']}.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: next(at for at, line in enumerate(lines) if '"uuid"' in line)]))

    fleet("resume", "w1")

    until_shown(lambda: state_of(fleet, "w1") == "complete", repo, tmux)
    assert cast.heard["w1"][-1].whole.count("The one task") == 1
    assert "First." not in cast.heard["w1"][-1].whole
