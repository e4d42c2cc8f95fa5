"""`git clean -fdx` while agents run: what their sessions run with comes back as it was, with whoever looks first."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench import start
from ibstatus.agents import session
from ibstatus.project import agent_meta, agents, home, operations, paths, supervisor_process
from ibstatus.system import locks
from tests.agents.test_pause import state
from tests.conftest import Done
from tests.until import until

pytestmark = pytest.mark.usefixtures("fake_claude")
Ib = Callable[..., Done]
AUTO = {"IB_SUPERVISOR": ""}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told to look here, not a supervisor."""
    monkeypatch.setattr(session, "REST", 0.0)


@pytest.fixture
def supervised(repo: paths.Place) -> Iterator[dict[str, str]]:
    yield AUTO
    start.end(repo)


def clean(place: paths.Place) -> None:
    """A file may come in between git's look into a folder and its removal."""
    until(lambda: subprocess.run(["git", "clean", "-fdxq"], cwd=place.root, check=False).returncode == 0)


def files(place: paths.Place, agent: str) -> dict[str, bytes | None]:
    """Whoever attends to it may note at any moment that it has got its task."""
    paths = {leaf: Path(place.agent_dir(agent), leaf) for leaf in agents.KEPT if leaf != "inbox.jsonl"}
    found = {leaf: path.read_bytes() if path.exists() else None for leaf, path in paths.items()}
    known = found["meta.json"]
    return {**found, "meta.json": known and known.replace(b',\n  "prompted": true', b"")}


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("more", [(), ("--no-worktree",)], ids=["", "no-worktree"])
def test_the_next_command_brings_everything_back(ib: Ib, repo: paths.Place, more: tuple[str, ...], begun: bool) -> None:
    """`begun`: a process that did not know of the clean has written there since."""
    assert ib("new-agent", "--name", "w", *more, "Task\n> work 600").code == 0
    until(lambda: state(ib, "w") == "running")
    before = files(repo, "w")
    assert None not in before.values()
    clean(repo)
    if begun:
        Path(repo.home, "locks").mkdir(parents=True, exist_ok=True)

    assert [one["id"] for one in ib("list", "--json").json()] == ["w"]
    assert ib("notify", "x").code == 0
    assert files(repo, "w") == before
    assert state(ib, "w") in ("running", "unknown")
    assert Path(repo.agent_dir("w"), "start.sh").stat().st_mode & 0o777 == 0o700


def test_one_that_was_removed_stays_so(ib: Ib, repo: paths.Place) -> None:
    for name, more in (("w", ()), ("x", ("--no-worktree",))):
        assert ib("new-agent", "--name", name, *more, "Task\n> wait").code == 0
        assert ib("kill", name, "--force").code == 0
    clean(repo)
    assert ib("notify", "x").code == 0

    assert ib("list", "--json").json() == []
    assert agents.all_ids(repo) == []


def test_one_that_is_just_being_removed_is_left_alone(ib: Ib, repo: paths.Place) -> None:
    assert ib("new-agent", "--name", "x", "--no-worktree", "Task\n> wait").code == 0
    with operations.begin(repo, "kill", "x") as operation:
        shutil.rmtree(repo.agent_dir("x"))
        agents.restore(repo)
        assert agents.all_ids(repo) == []
        operation.done()


def test_without_a_copy_they_are_made_anew(ib: Ib, repo: paths.Place) -> None:
    """As of an agent that an older ib has begun."""
    assert ib("new-agent", "--name", "w", "Task\n> work 600").code == 0
    before = files(repo, "w")
    for leaf in agents.STARTED:
        Path(repo.agent_dir("w"), leaf).unlink()
        Path(repo.safe_copy(repo.agent_dir("w")), leaf).unlink()

    assert session.mend(repo) == []
    assert files(repo, "w") == before
    assert Path(repo.safe_copy(repo.agent_dir("w")), "start.sh").exists()


def test_what_goes_just_now_may_go_on(ib: Ib, repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who removes all of the repository cannot remove a folder that has something in it again."""
    assert ib("new-agent", "--name", "w", "Task\n> work 600").code == 0
    gone = Path(repo.agent_dir("w"), "start.sh")
    gone.unlink()

    monkeypatch.setattr(session, "REST", 600.0)
    assert (session.mend(repo), gone.exists()) == ([], False)
    monkeypatch.setattr(session, "REST", 0.0)
    assert (session.mend(repo), gone.exists()) == ([], True)


def test_one_that_is_being_changed_and_one_made_by_hand_are_left_alone(ib: Ib, repo: paths.Place, agent) -> None:
    home.enter(repo)
    agent(repo, "hand")
    assert ib("new-agent", "--name", "w", "Task\n> work 600").code == 0
    gone = Path(repo.agent_dir("w"), "settings.local.json")
    gone.unlink()
    with operations.begin(repo, "merge", "w") as operation:
        assert session.mend(repo) == []
        assert not gone.exists()
        operation.done()

    assert session.mend(repo) == []
    assert gone.exists()
    assert not Path(repo.agent_dir("hand"), "settings.local.json").exists()


def test_one_that_cannot_be_mended_is_said_and_hides_nobody(ib: Ib, repo: paths.Place) -> None:
    for name in ("a", "b"):
        assert ib("new-agent", "--name", name, "Task\n> work 600").code == 0
        for leaf in ("prompt.txt", "start.sh"):
            Path(repo.agent_dir(name), leaf).unlink()
            Path(repo.safe_copy(repo.agent_dir(name)), leaf).unlink()
    agent_meta.change(repo, "a", role="nobody-wrote-it")

    assert [line.partition(":")[0] for line in session.mend(repo)] == ["the files of a"]
    assert Path(repo.agent_dir("b"), "prompt.txt").exists()
    assert Path(repo.agent_dir("a"), "start.sh").exists()


def test_agents_that_run_live_through_it(ib: Ib, repo: paths.Place, supervised: dict[str, str], tmp_path: Path) -> None:
    """The client reads its settings at each hook."""
    orders = tmp_path / "orders"
    orders.write_text("hold\n")
    for name in ("a", "b"):
        (tmp_path / name).symlink_to(orders)
        script = f"Task\n> orders {tmp_path / name}"
        assert ib("new-agent", "--name", name, script, env=supervised).code == 0
    until(lambda: [state(ib, name) for name in ("a", "b")] == ["running"] * 2)
    clean(repo)
    until(lambda: locks.is_held(repo.lock(supervisor_process.LOCK)))

    orders.write_text("hold\nfinish it\n")
    until(lambda: [state(ib, name) for name in ("a", "b")] == ["complete"] * 2)
    assert None not in (*files(repo, "a").values(), *files(repo, "b").values())


def test_the_supervisor_mends_what_was_taken_after_it_was_put_back(
    ib: Ib, repo: paths.Place, supervised: dict[str, str]
) -> None:
    assert ib("new-agent", "--name", "a", "Task\n> work 600", env=supervised).code == 0
    before = files(repo, "a")
    until(lambda: locks.is_held(repo.lock(supervisor_process.LOCK)))
    for leaf in ("settings.local.json", "token", "meta.json"):
        Path(repo.agent_dir("a"), leaf).unlink()

    until(lambda: files(repo, "a").keys() == before.keys() and None not in files(repo, "a").values())
    assert files(repo, "a")["token"] == before["token"]
