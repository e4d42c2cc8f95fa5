"""reassign: the files first, then whoever it concerns is told."""

import json
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
