"""kill, nuke, undo and gc as a person, Claude and an agent meet them."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.agents.undo import log
from ibstatus.project import agent_meta, agents, home, operations, paths
from ibstatus.system import folders, locks
from tests.conftest import Done, git, run_ib
from tests.until import until

pytestmark = pytest.mark.usefixtures("tmux")
Ib = Callable[..., Done]
Agent = Callable[..., Path]
AS_AGENT = {"CLAUDECODE": "1"}


def on_terminal(cwd: str, args: list[str], typed: bytes) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "ibstatus", *args], cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown, answered = b"", False
    try:
        while chunk := os.read(ours, 1024):
            shown += chunk
            if b"[y/N]" in shown and not answered:
                answered = True
                os.write(ours, typed)
    except OSError:  # the terminal ends with the program
        pass
    os.close(ours)
    return running.wait(30), shown.decode("utf-8", "replace")


def test_it_says_what_would_be_lost_and_does_nothing(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    home.enter(repo)
    tree = agent(repo, "lead")
    agent(repo, "w1", "lead")
    (tree / "red\x1b[31m.txt").write_text("x")
    (tree / "file.txt").write_text("changed")
    git(tree, "commit", "-q", "--allow-empty", "-m", "one")
    assert ib("send", "lead", "hello").code == 0
    before = git(repo.root, "for-each-ref")

    done = ib("kill", "lead")

    assert (done.code, done.out) == (1, "")
    assert "lead: 2 uncommitted files (file.txt, 'red\\x1b[31m.txt'), 1 commit in no other branch" in done.err
    assert "1 message that it has not read" in done.err
    assert "w1 then reports to the user" in done.err
    assert done.err.endswith("Hint: ib kill lead --force\n")
    assert git(repo.root, "for-each-ref") == before
    assert agents.exists(repo, "lead")


def test_a_kill_and_its_undo(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    home.enter(repo)
    (agent(repo, "foo") / "new.txt").write_text("new\n")

    done = ib("kill", "foo", "--force")

    assert done.code == 0
    assert done.out.startswith("Closed agent: foo\nUndo: ib undo 2")
    assert "Agent killed\n" in done.err
    assert f"Archived to: {repo.home}/archive/" in done.err
    name = done.out.split()[-1]
    listed = ib("undo", "--list", "--json").json()
    assert [one["name"] for one in listed] == [name]  # type: ignore[attr-defined]
    back = ib("undo", name)
    assert (back.code, back.out) == (0, "Undid the kill of foo\n")
    assert "ib resume foo" in back.err
    assert Path(repo.agent_dir("foo"), "repo", "new.txt").read_text() == "new\n"
    assert ib("undo").code == 1
    assert ib("undo", "--list", "--json").json() == []


@pytest.mark.parametrize(("answer", "gone"), [(b"y\n", True), (b"n\n", False), (b"\n", False), (b"\x04", False)])
def test_a_person_is_asked(repo: paths.Place, agent: Agent, answer: bytes, gone: bool) -> None:
    home.enter(repo)
    agent(repo, "foo")

    code, shown = on_terminal(repo.root, ["kill", "foo"], answer)

    assert code == (0 if gone else 1), shown
    assert agents.exists(repo, "foo") is not gone
    assert ("Cancelled." in shown) is not gone


def test_children_go_with_it_when_asked(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    home.enter(repo)
    for name, manager in (("a", None), ("b", "a"), ("c", "b"), ("d", None)):
        agent(repo, name, manager)

    done = ib("kill", "a", "--tree", "--force", "--json")

    assert [one["agent"] for one in done.json()] == ["c", "b", "a"]  # type: ignore[attr-defined]
    assert agents.all_ids(repo) == ["d"]
    assert ib("undo", "b").code == 0
    assert agents.all_ids(repo) == ["a", "b", "c", "d"]
    assert agent_meta.read(repo, "c")["manager"] == "b"


def test_unknown_and_ambiguous(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    home.enter(repo)
    agent(repo, "foo-1")
    agent(repo, "foo-2")

    assert "could be foo-1, foo-2" in ib("kill", "foo", "--force").err
    assert "no agent" in ib("kill", "bar", "--force").err
    assert ib("kill", "--force").code == 2
    for name in ("../foo-1", "-x", "a/b", "..", ""):
        assert ib("kill", "--force", "--", name).code == 1
    assert agents.all_ids(repo) == ["foo-1", "foo-2"]


def test_an_agent_kills_only_what_is_below_it(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    home.enter(repo)
    tree = agent(repo, "lead")
    agent_meta.change(repo, "lead", worker=False)
    agent(repo, "w1", "lead")
    agent(repo, "other")

    def call(*words: str) -> Done:
        return ib(*words, cwd=tree, env=AS_AGENT)

    refused = call("kill", "other", "--force")
    assert refused.code == 1
    assert "lead may not kill other" in refused.err
    assert call("kill", "w1").code == 1
    assert agents.exists(repo, "w1")
    assert call("kill", "w1", "--force").code == 0
    for words in (("nuke", "--force"), ("undo",), ("gc", "--force")):
        assert call(*words).code == 1
    assert agents.all_ids(repo) == ["lead", "other"]


def test_an_agent_ends_itself(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    home.enter(repo)
    tree = agent(repo, "lead")
    agent_meta.change(repo, "lead", worker=False)

    done = ib("kill", "lead", "--force", cwd=tree, env=AS_AGENT)

    assert done.code == 0
    until(lambda: [record.agent for record in log.all_of(repo)] == ["lead"])
    until(lambda: operations.read(repo, "lead") == {})
    assert not agents.exists(repo, "lead")


def mail(repo: paths.Place) -> tuple[object, ...]:
    told = run_ib("listen", "--timeout", "0", cwd=repo.root)
    return (
        run_ib("messages", "--json", cwd=repo.root).json(),
        run_ib("questions", "--json", cwd=repo.root).json(),
        [json.loads(line)["msg"] for line in told.out.splitlines() if line.startswith("{")],
    )


def test_a_full_nuke_and_its_undo(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    home.enter(repo)
    tree = agent(repo, "lead")
    agent(repo, "w1", "lead")
    (tree / "new.txt").write_text("new\n")
    assert ib("send", "user-claude", "? which port", cwd=tree, env=AS_AGENT).code == 0
    assert ib("ask", "which host?", cwd=tree, env=AS_AGENT).code == 0
    assert ib("send", "w1", "for you").code == 0
    before = (ib("messages", "--json").json(), ib("questions", "--json").json())

    asked = ib("nuke")
    assert asked.code == 1
    assert "Hint: ib nuke --force" in asked.err
    done = ib("nuke", "--force")

    assert done.code == 0
    assert done.out.startswith("Results: 2 agent(s) killed, 0 failed\nUndo: ib undo ")
    assert agents.all_ids(repo) == []
    assert mail(repo) == ([], [], [])
    [folder] = [leaf for leaf in folders.names_in(repo.home + "/archive") if leaf.endswith("-all")]
    kept = Path(repo.home, "archive", folder)
    assert "which port" in (kept / "user-messages.json").read_text()
    assert "which host" in (kept / "user-questions.json").read_text()
    assert "which host" in (kept / "queue").read_text()
    assert ib("send", "user-claude", "! later").code == 0

    back = ib("undo")

    assert back.code == 0, back.err
    assert agents.all_ids(repo) == ["lead", "w1"]
    found = mail(repo)
    assert found[0][: len(before[0])] == before[0]  # type: ignore[index, arg-type]
    assert [item["content"] for item in found[0]] == ["which port", "later"]  # type: ignore[attr-defined]
    assert found[1] == before[1]
    assert sorted(found[2]) == sorted(["later", "which port", "Agent lead asks: which host?"])  # type: ignore[call-overload]
    assert Path(repo.agent_dir("lead"), "repo", "new.txt").read_text() == "new\n"
    assert "for you" in Path(repo.agent_dir("w1"), "inbox.jsonl").read_text()
    assert log.all_of(repo) == []


def test_nuking_one_leaves_the_mail(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    home.enter(repo)
    agent(repo, "lead")
    agent(repo, "w1", "lead")
    agent(repo, "other")
    ib("send", "user-claude", "? which port")

    done = ib("nuke", "lead", "--force", "--json")

    assert sorted(one["agent"] for one in done.json()["killed"]) == ["lead", "w1"]  # type: ignore[index, call-overload]
    assert agents.all_ids(repo) == ["other"]
    assert [item["content"] for item in ib("messages", "--json").json()] == ["which port"]  # type: ignore[attr-defined]


def test_nothing_to_nuke(repo: paths.Place, ib: Ib) -> None:
    done = ib("nuke", "--force")
    assert (done.code, done.out) == (0, "No agents or orphaned sessions found.\n")
    home.enter(repo)
    assert ib("nuke").out == "No agents or orphaned sessions found.\n"


def test_a_nuke_ends_listeners_supervisor_and_leftover_sessions(
    repo: paths.Place, ib: Ib, agent: Agent, tmux: Callable[..., str]
) -> None:
    home.enter(repo)
    agent(repo, "foo")
    ident = Path(repo.repo_id).read_text().strip()
    for name in (f"ittybitty-{ident}-ghost", "ittybitty-00000000-ghost", "mine"):
        tmux("new-session", "-d", "-s", name, "sleep", "600")
    argv = [sys.executable, "-m", "ibstatus"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    listener = subprocess.Popen([*argv, "listen", "--timeout", "500"], cwd=repo.root, **quiet)  # type: ignore[call-overload]
    watchdog = subprocess.Popen([*argv, "status-watchdog"], cwd=repo.root, **quiet)  # type: ignore[call-overload]
    try:
        until(lambda: locks.is_held(repo.lock("supervisor")))
        until(lambda: locks.is_held(repo.lock("cursor-default")))

        done = ib("nuke", "--force")

        assert "1 agent(s) killed, 1 orphaned session(s) cleaned up, 0 failed" in done.out
        assert listener.wait(20) is not None
        assert watchdog.wait(20) is not None
        assert sorted(tmux("list-sessions", "-F", "#{session_name}").split()) == ["ittybitty-00000000-ghost", "mine"]
    finally:
        for process in (listener, watchdog):
            if process.poll() is None:
                process.kill()
                process.wait()


def test_gc_shows_and_takes_only_what_is_certain(repo: paths.Place, ib: Ib, agent: Agent) -> None:
    home.enter(repo)
    for name in ("clean", "dirty", "work", "living"):
        tree = agent(repo, name)
        if name != "living":
            os.unlink(repo.agent_dir(name) + "/meta.json")
        if name == "dirty":
            (tree / "new.txt").write_text("x")
        if name == "work":
            git(tree, "commit", "-q", "--allow-empty", "-m", "alone")
    git(repo.root, "branch", "agent/bare")

    asked = ib("gc")

    assert asked.code == 1
    rows = {line.split()[2]: line.split()[0] for line in asked.out.splitlines()}
    assert rows == {"clean": "merged-clean", "bare": "merged-clean", "dirty": "merged-dirty", "work": "unknown"}
    assert "Hint: ib gc --force" in asked.err
    done = ib("gc", "--force")
    assert done.code == 0
    assert "Removed worktree clean" in done.out
    assert sorted(os.listdir(repo.home + "/agents")) == ["dirty", "living", "work"]
    assert "agent/bare" not in git(repo.root, "branch")
    assert ib("gc", "--include", "dirty", "--force", "--json").json()["removed"][0]["name"] == "dirty"  # type: ignore[index]
    assert ib("undo").code == 0
    assert Path(repo.agent_dir("dirty"), "repo", "new.txt").exists()
    assert ib("undo").code == 0
    assert sorted(os.listdir(repo.home + "/agents")) == ["clean", "dirty", "living", "work"]
    assert "agent/bare" in git(repo.root, "branch")


def test_gc_with_nothing(repo: paths.Place, ib: Ib) -> None:
    assert ib("gc").code == 0
    assert ib("gc", "--json").json() == []
    assert not os.path.exists(repo.home)
