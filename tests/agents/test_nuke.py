"""A full nuke that is cut off anywhere: the mail is either all there, or all away and comes back."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ibstatus.agents import kill, recover
from ibstatus.agents.undo import log, undo
from ibstatus.agents.undo import mail as mail_away
from ibstatus.mail import messages, post, questions, queue
from ibstatus.project import home, identity, operations, paths
from ibstatus.system import locks
from tests.agents.undo.test_undo import killed_everywhere
from tests.conftest import make_agent, make_repo
from tests.until import until

NOW = 1_800_000_000.0
ME = identity.Caller(identity.PERSON, "user")
pytestmark = pytest.mark.usefixtures("tmux")


def silent(text: str) -> None:
    pass


def with_mail(root: Path) -> paths.Place:
    place = make_repo(root / "repo")
    home.enter(place)
    messages.send(place, "cli", "foo", True, "question", "which port?", NOW)
    questions.ask(place, "cli", "foo", True, "which host?", NOW)
    post.notify(place, "cli", "complete", "foo", True, "ready", NOW)
    return place


def mail(place: paths.Place) -> tuple[list[str], list[str], list[str]]:
    found = mail_away.look(place)
    told = [line for line in found["lines"] if line]
    return (
        [item["content"] for item in found["messages"]],
        [item["question"] for item in found["questions"]],
        [word for line in told for word in ("which port?", "which host?", "ready") if word in line],
    )


ALL = (["which port?"], ["which host?"], ["which port?", "which host?", "ready"])


def take(place: paths.Place) -> None:
    with operations.begin(place, "kill", log.MAIL, mail=True, **{"as": "nuke"}) as op:
        mail_away.take(op)
        op.done()


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)
        shutil.rmtree(folder, ignore_errors=True)


def test_taking_the_mail_cut_off_anywhere(room: Path) -> None:
    for place in killed_everywhere(with_mail, take, room):
        recover.everything(place)
        if not log.all_of(place):
            assert mail(place) == ALL
            continue
        assert mail(place) == ([], [], [])
        undo.undo(place, "", silent)
        assert mail(place) == ALL


def taken(root: Path) -> paths.Place:
    place = with_mail(root)
    take(place)
    return place


def test_bringing_the_mail_back_cut_off_anywhere(room: Path) -> None:
    for place in killed_everywhere(taken, lambda place: undo.undo(place, "", silent) and None, room):
        messages.send(place, "cli", "foo", True, "status", "meanwhile", NOW)
        recover.everything(place)
        if log.all_of(place):
            undo.undo(place, "", silent)
        said, asked, told = mail(place)
        assert sorted(said) == ["meanwhile", "which port?"]
        assert (asked, sorted(told)) == (ALL[1], sorted(ALL[2]))


def test_what_comes_meanwhile_stays(repo: paths.Place) -> None:
    home.enter(repo)
    for text in ("one", "two"):
        post.notify(repo, "cli", "complete", "foo", True, text, NOW)
    found = mail_away.look(repo)
    post.notify(repo, "cli", "complete", "foo", True, "late", NOW)
    messages.send(repo, "cli", "foo", True, "status", "late", NOW)

    mail_away.empty(repo, found)

    assert [item["content"] for item in messages.open_ones(repo).items] == ["late"]
    left = queue.view(repo)
    assert b"late" in left.read(left.base, left.end)[1]
    assert b"one" not in left.read(left.base, left.end)[1]
    left.close()


def test_the_deepest_first_also_in_a_circle(repo: paths.Place) -> None:
    home.enter(repo)
    for name, manager in (("a", None), ("b", "a"), ("c", "b"), ("x", "y"), ("y", "x")):
        make_agent(repo, name, manager)

    order = kill.plan_nuke(repo, ME, "", silent).agents

    assert order.index("c") < order.index("b") < order.index("a")
    assert set(order) == {"a", "b", "c", "x", "y"}


def test_a_listener_that_is_none_is_left_alone(repo: paths.Place) -> None:
    """The lock's file names a process that does not listen: us."""
    home.enter(repo)
    said: list[str] = []
    with locks.Lock(repo.lock("cursor-default")) as lock:
        os.pwrite(lock.fd, f"{os.getpid()}\n".encode(), 0)
        kill.end_listeners(repo, said.append)

    assert said == ["The listener default does not end"]


def test_clients_are_ended_together_and_leave_what_they_said(ib, repo, tmux, fake_claude: Path) -> None:
    for name in ("a", "b", "c"):
        assert ib("new-agent", "--name", name, f"Task {name}\n> wait").code == 0
    until(lambda: {one["state"] for one in ib("list", "--json").json()} == {"waiting"})

    assert ib("nuke", "--force").code == 0

    assert tmux("list-sessions") == ""
    logs = sorted(Path(repo.home, "archive").glob("*/output.log"))
    assert [word for log, word in zip(logs, "abc", strict=True) if f"Task {word}" in log.read_text()] == ["a", "b", "c"]
