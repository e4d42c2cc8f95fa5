"""reassign: the files first, then whoever it concerns is told."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.conftest import make_agent


def manager(repo, name: str) -> str | None:
    return json.loads(Path(repo.agent_dir(name), "meta.json").read_text())["manager"]


def mail(repo, name: str) -> str:
    path = Path(repo.agent_dir(name), "inbox.jsonl")
    return path.read_text() if path.exists() else ""


def test_all_three_are_told_though_nobody_runs(ib, repo) -> None:
    for name, above in (("a", None), ("b", None), ("w", "a")):
        make_agent(repo, name, above)

    done = ib("reassign", "w", "b")

    assert (done.code, done.out) == (0, "Reassigned w from a to b\n")
    assert manager(repo, "w") == "b"
    assert "no longer yours" in mail(repo, "a")
    assert "w is yours now" in mail(repo, "b")
    assert "Your manager is b" in mail(repo, "w")
    assert "Reassigned from a to b" in Path(repo.agent_dir("w"), "agent.log").read_text()

    again = ib("reassign", "w", "b")
    assert (again.code, again.out, again.err) == (0, "", "b is its manager already.\n")
    assert ib("reassign", "w", "--none").out == "Reassigned w from b to root\n"
    assert manager(repo, "w") is None


def test_refusals_change_nothing(ib, repo) -> None:
    for name, above in (("a", None), ("b", "a"), ("w", "b")):
        make_agent(repo, name, above)
    for args in (("a", "b"), ("a", "a"), ("a", "nobody"), ("nobody", "a")):
        assert ib("reassign", *args).code == 1
    assert ib("reassign", "a").code == 2
    assert ib("reassign", "w", "a", "--none").code == 2
    assert [manager(repo, name) for name in ("a", "b", "w")] == [None, "a", "b"]


def test_an_agent_gives_its_agents_to_nobody_else_and_does_not_choose_its_manager(ib, repo) -> None:
    for name, above in (("lead", None), ("sub", "lead"), ("w", "sub"), ("other", None)):
        make_agent(repo, name, above)
        meta = Path(repo.agent_dir(name), "meta.json")
        meta.write_text(json.dumps({**json.loads(meta.read_text()), "worker": name == "w"}))
    env, cwd = {"CLAUDECODE": "1"}, repo.agent_dir("lead") + "/repo"

    assert ib("reassign", "w", "--none", cwd=cwd, env=env).code == 1
    assert ib("reassign", "w", "other", cwd=cwd, env=env).code == 1
    assert ib("reassign", "lead", "sub", cwd=cwd, env=env).code == 1
    assert ib("reassign", "w", "lead", cwd=cwd, env=env).code == 0
    assert [manager(repo, name) for name in ("lead", "sub", "w")] == [None, "lead", "lead"]


def test_two_at_once_make_no_circle(ib, repo) -> None:
    for name in ("a", "b"):
        make_agent(repo, name)
    for _ in range(4):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda pair: ib("reassign", *pair), [("a", "b"), ("b", "a")]))
        assert None in (manager(repo, "a"), manager(repo, "b"))
        for name in ("a", "b"):
            ib("reassign", name, "--none")
