"""An empty word where a name belongs: refused, before anything is done."""

import pytest

from tests.conftest import make_agent


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["board", "add", "x", "--after", ""], "--after"), (["board", "add", "x", "-p", ""], "-p"),
        (["board", "claim", ""], "ID"), (["board", "claim", "--capability", " "], "--capability"),
        (["board", "claim", "--agent", ""], "--agent"), (["board", "list", "--project", ""], "-p"),
        (["board", "done", "x", "--branch", ""], "--branch"), (["board", "watch", "--channels", ""], "--channels"),
        (["new-agent", "--task", "", "hello"], "--task"), (["new-agent", "--manager", "", "hello"], "--manager"),
        (["merge", "w", "--test", ""], "--test"), (["merge", "w", "--into", ""], "--into"),
        (["undo", ""], "NAME|AGENT"),
        (["status", ""], "AGENT"), (["reassign", "w", ""], "MANAGER"),
    ],
)  # fmt: skip
def test_it_is_refused(ib, repo, words: list[str], name: str) -> None:
    make_agent(repo, "w")
    done = ib(*words)

    assert (done.code, done.out) == (2, "")
    assert f"{name} is empty" in done.err
    assert ib("board", "list", "--json").json() == []
    assert [one["id"] for one in ib("list", "--json").json()] == ["w"]


def test_what_is_text_may_be_empty(ib, repo) -> None:
    task = ib("board", "add", "x", "--body", "-").out.strip()
    assert ib("board", "claim", "--agent", "me").out.strip() == task
    assert ib("board", "done", task, "--agent", "me", "--summary", "").code == 0
