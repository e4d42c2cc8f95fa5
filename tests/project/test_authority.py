"""An agent acts on itself and on what is below it, wherever it stands; who it is, its token says."""

import json
import subprocess
from pathlib import Path

import pytest

from ibstatus.project import home, identity, paths, tokens
from ibstatus.project.rules import authority
from tests.conftest import make_agent

CLAUDE = {"CLAUDECODE": "1"}


@pytest.fixture
def family(repo):
    """lead > sub > w1, and another > w2; each has a token."""
    home.enter(repo)
    for name, above in (("lead", None), ("sub", "lead"), ("w1", "sub"), ("another", None), ("w2", "another")):
        make_agent(repo, name, above)
        meta = Path(repo.agent_dir(name), "meta.json")
        meta.write_text(json.dumps({**json.loads(meta.read_text()), "worker": name.startswith("w")}))
        tokens.make(repo.token(name))
    return repo


def carried(repo, name: str) -> dict[str, str]:
    return {**CLAUDE, "IB_AGENT_ID": name, "IB_AGENT_TOKEN": tokens.of(repo.token(name)).decode()}


def at(repo, name: str) -> str:
    return repo.agent_dir(name) + "/repo"


MANAGERS = {"lead": "", "sub": "lead", "w1": "sub", "another": "", "w2": "another"}


@pytest.mark.parametrize(
    ("caller", "target", "may"),
    [
        (identity.Caller(identity.AGENT, "lead"), "w1", True),
        (identity.Caller(identity.AGENT, "lead"), "lead", True),
        (identity.Caller(identity.AGENT, "sub"), "lead", False),
        (identity.Caller(identity.AGENT, "sub"), "w2", False),
        (identity.Caller(identity.PRIMARY, "user-claude"), "w2", True),
        (identity.Caller(identity.PERSON, "user"), "lead", True),
    ],
)
def test_who_may_act_on_whom(caller: identity.Caller, target: str, may: bool) -> None:
    assert (authority.refusal(caller, target, MANAGERS, "kill") == "") is may


def test_a_circle_of_managers_ends() -> None:
    circle = {"a": "b", "b": "a", "c": "a"}
    assert list(authority.above("a", circle)) == ["b"]
    assert authority.below("a", circle) == ["b", "c"]
    assert authority.below("lead", MANAGERS) == ["w1", "sub"]


@pytest.mark.parametrize(
    "verb", [("kill", "--force"), ("pause",), ("resume",), ("merge", "--force"), ("reassign", "--none")]
)
@pytest.mark.parametrize("target", ["lead", "another", "w2"])
def test_nothing_is_done_to_others(ib, family, verb: tuple[str, ...], target: str) -> None:
    done = ib(verb[0], target, *verb[1:], cwd=at(family, "sub"), env=carried(family, "sub"))

    assert done.code == 1
    assert f"sub may not {verb[0]} {target}" in done.err
    assert Path(at(family, target)).exists()


def test_an_agent_that_has_strayed_is_still_itself(ib, family) -> None:
    for cwd in (family.root, at(family, "w2"), at(family, "lead")):
        done = ib("kill", "lead", "--force", cwd=cwd, env=carried(family, "sub"))
        assert done.code == 1
        assert "sub may not kill lead" in done.err
        assert "cannot uninstall" in ib("uninstall", "--force", cwd=cwd, env=carried(family, "w1")).err

    assert ib("send", "user-claude", "hello", cwd=family.root, env=carried(family, "w1")).code == 0
    assert ib("messages", "--json").json()[0]["from"] == "w1"


def test_a_false_token_is_no_identity(ib, family) -> None:
    env = {**CLAUDE, "IB_AGENT_ID": "lead", "IB_AGENT_TOKEN": "guessed"}

    assert ib("send", "user-claude", "from its place", cwd=at(family, "w1"), env=env).code == 0
    assert ib("send", "user-claude", "with its token", cwd=at(family, "w1"), env=carried(family, "w1")).code == 0

    said = {item["content"]: item for item in ib("messages", "--json").json()}
    assert (said["from its place"]["from"], said["from its place"].get("verified")) == ("w1", False)
    assert (said["with its token"]["from"], said["with its token"].get("verified", True)) == ("w1", True)


def test_workers_spawn_nobody_and_managers_only_below_themselves(ib, family) -> None:
    worker = ib("new-agent", "task", cwd=at(family, "w1"), env=carried(family, "w1"))
    other = ib("new-agent", "--manager", "another", "task", cwd=at(family, "lead"), env=carried(family, "lead"))
    under_worker = ib("new-agent", "--manager", "w1", "task")
    yolo = ib("new-agent", "--yolo", "task", cwd=at(family, "lead"), env=carried(family, "lead"))

    assert "A worker cannot run ib new-agent" in worker.err
    assert "lead may not spawn under another" in other.err
    assert "w1 is a worker" in under_worker.err
    assert "--yolo" in yolo.err
    assert {done.code for done in (worker, other, under_worker, yolo)} == {1}


def test_limits_are_read_at_the_root(ib, family) -> None:
    Path(at(family, "lead"), ".ittybitty.json").write_text('{"maxAgents": 99}')
    Path(family.root, ".ittybitty.json").write_text('{"maxAgents": 0}')

    done = ib("new-agent", "task", cwd=at(family, "lead"), env={**carried(family, "lead"), "IB_CLAUDE": "/bin/true"})

    assert "maxAgents is 0" in done.err


@pytest.fixture
def other(tmp_path):
    """Another repository, with an agent of its own."""
    root = tmp_path / "other"
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)
    subprocess.run(["git", "-C", root, "commit", "-q", "--allow-empty", "-m", "start"], check=True)
    place = paths.find(str(root))
    home.enter(place)
    make_agent(place, "victim", None)
    tokens.make(place.token("victim"))
    return place


@pytest.mark.parametrize(
    "words",
    [
        ("kill", "victim", "--force"),
        ("nuke", "--force"),
        ("acknowledge", "--all"),
        ("ack", "--all"),
        ("log", "x"),
        ("notify", "x"),
        ("send", "user-claude", "x"),
        ("send", "victim", "x"),
        ("new-agent", "task"),
        ("config", "set", "maxAgents", "99"),
        ("messages",),
        ("uninstall", "--force"),
    ],
)
def test_an_agent_only_looks_around_in_another_repository(ib, family, other, words: tuple[str, ...]) -> None:
    carries = carried(family, "lead")
    for env in (carries, {**CLAUDE, "IB_AGENT_ID": "lead"}, {**carries, "IB_AGENT_ID": "victim"}):
        done = ib(*words, cwd=other.root, env=env)
        assert done.code == 1
        assert "An agent of another repository may only look around here" in done.err
        assert "ib ask" in done.err

    assert Path(at(other, "victim")).exists()


def test_looking_around_in_another_repository(ib, family, other) -> None:
    for words in (("list",), ("tree",), ("info", "victim"), ("--help",), ("kill", "--help")):
        assert ib(*words, cwd=other.root, env=carried(family, "lead")).code == 0


def test_outside_of_any_repository_an_agent_changes_nothing(ib, family, tmp_path) -> None:
    done = ib("config", "set", "--global", "maxAgents", "99", cwd=tmp_path, env=carried(family, "lead"))

    assert done.code == 1
    assert "may only look around" in done.err


def test_a_name_without_its_token_has_no_authority(ib, family) -> None:
    for env in ({**CLAUDE, "IB_AGENT_ID": "lead"}, {**CLAUDE, "IB_AGENT_ID": "lead", "IB_AGENT_TOKEN": "guessed"}):
        assert ib("kill", "w2", "--force", cwd=family.root, env=env).code == 1
        assert ib("kill", "w1", "--force", cwd=at(family, "lead"), env=env).code == 1
        assert ib("kill", "w1", "--force", cwd=at(family, "lead"), env=CLAUDE).code == 1

    assert Path(at(family, "w1")).exists()
    assert Path(at(family, "w2")).exists()


def test_a_script_of_the_user_that_is_told_the_name_is_no_agent(ib, family) -> None:
    assert ib("send", "user-claude", "hello", cwd=family.root, env={"IB_AGENT_ID": "lead"}).code == 0
