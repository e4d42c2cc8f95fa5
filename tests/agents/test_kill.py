"""What a kill would take, said before it is done; one that cannot be closed does not keep the others."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.agents import kill
from ibstatus.errors import IbError
from ibstatus.project import agents, home, identity, operations, paths
from ibstatus.project.rules import counts
from tests.conftest import git, run_ib

pytestmark = pytest.mark.usefixtures("tmux")
ME = identity.Caller(identity.PERSON, "user")


def silent(text: str) -> None:
    pass


def test_commits_that_another_branch_has_are_no_loss(repo: paths.Place, agent: Callable[..., Path]) -> None:
    home.enter(repo)
    git(agent(repo, "foo"), "commit", "-q", "--allow-empty", "-m", "one")
    assert kill.losses(repo, ["foo"])[0].commits == 1

    git(repo.root, "branch", "kept", "agent/foo")
    assert kill.losses(repo, ["foo"])[0].commits == 0

    git(repo.root, "branch", "-q", "-D", "kept")
    git(repo.root, "branch", "agent/bar", "agent/foo")
    assert kill.losses(repo, ["foo"])[0].commits == 0
    assert kill.losses(repo, ["foo", "bar"])[0].commits == 1, "both branches would go"


def test_the_order_of_a_tree(repo: paths.Place, agent: Callable[..., Path]) -> None:
    home.enter(repo)
    for name, manager in (("a", None), ("b", "a"), ("c", "b"), ("d", "a")):
        agent(repo, name, manager)

    assert kill.plan_kill(repo, ME, ["a"], True, silent) == ["c", "b", "d", "a"]
    assert kill.plan_kill(repo, ME, ["a", "b", "a"], False, silent) == ["a", "b"]


def test_who_goes_with_its_manager_is_not_told_of_another_one(repo: paths.Place, agent: Callable[..., Path]) -> None:
    home.enter(repo)
    for name, manager in (("a", None), ("b", "a"), ("c", "b")):
        agent(repo, name, manager)
    said = list[str]()

    closed = kill.kill(repo, ["a", "b", "c"], "user", "killed", said.append)

    assert [one.agent for one in closed.retired] == ["c", "b", "a"]
    assert [text for text in said if "Reassigned" in text] == []


def test_one_that_is_gone_does_not_keep_the_others(repo: paths.Place, agent: Callable[..., Path]) -> None:
    home.enter(repo)
    agent(repo, "foo")

    closed = kill.kill(repo, ["ghost", "foo"], "user", "killed", silent)

    assert [name for name, _ in closed.failed] == ["ghost"]
    assert isinstance(closed.failed[0][1], IbError)
    assert [one.agent for one in closed.retired] == ["foo"]
    assert agents.all_ids(repo) == []
    assert operations.read(repo, "ghost") == {}


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (counts.Loss("a", [], 0, 0, [], "", False), "a: nothing unsaved"),
        (counts.Loss("a", None, None, 0, [], "", True), "a (running): a worktree that git cannot read"),
        (
            counts.Loss("a", ["x"], 2, 1, ["b", "c"], "lead", False),
            "a: 1 uncommitted file (x), 2 commits in no other branch, 1 message that it has not read; "
            "b, c then report to lead",
        ),
        (
            counts.Loss("a", ["1", "2", "3", "4", "\x1b[31m"], 0, 0, [], "", False),
            "a: 5 uncommitted files (1, 2, 3, 4, …)",
        ),
    ],
)
def test_in_words(loss: counts.Loss, text: str) -> None:
    assert counts.line(loss) == text


def test_where_tmux_hangs_nothing_is_done(
    repo: paths.Place, agent: Callable[..., Path], tmux: Callable[..., str]
) -> None:
    home.enter(repo)
    agent(repo, "foo")
    tmux("new-session", "-d", "-s", "any", "sleep", "600")
    server = int(tmux("display-message", "-p", "#{pid}"))
    os.kill(server, signal.SIGSTOP)
    try:
        closed = kill.kill(repo, ["foo"], "user", "killed", silent)
    finally:
        os.kill(server, signal.SIGCONT)

    assert closed.retired == []
    assert [error.message.partition("; ")[2] for _, error in closed.failed] == ["nothing was done to foo"]
    assert operations.read(repo, "foo") == {}
    assert not Path(repo.agent_dir("foo"), "agent.log").exists()
    assert Path(repo.agent_dir("foo"), "repo").exists()


def test_of_several_every_line_says_whose_it_is(
    repo: paths.Place, agent: Callable[..., Path], tmux: Callable[..., str]
) -> None:
    home.enter(repo)
    for name in ("a", "b"):
        agent(repo, name)
    said: list[str] = []

    kill.kill(repo, ["a", "b"], "user", "killed", said.append)

    assert "a: Agent killed" in said
    assert all(text.startswith(("a: ", "b: ")) for text in said)


def test_an_open_question_is_no_secret(repo: paths.Place, agent: Callable[..., Path], tmux: Callable[..., str]) -> None:
    home.enter(repo)
    agent(repo, "foo")
    assert run_ib("ask", "--from", "foo", "Why?", cwd=repo.root).code == 0

    assert counts.line(*kill.losses(repo, ["foo"])) == "foo: 1 open question that nobody answers then"
