"""The supervisor's rounds, with the real files and a turned clock."""

import itertools
import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ibstatus.mail import messages, questions
from ibstatus.model.clock import Clock
from ibstatus.node import node
from ibstatus.node.node import path_of
from ibstatus.project import logs, paths, presence
from ibstatus.setup import init
from ibstatus.state import snapshot_fresh as proof
from ibstatus.supervisor import loop, schedule
from tests.conftest import Done, git
from tests.gitwork import commit
from tests.patience import LONG
from tests.supervisor.conftest import PERSON, Machine, age_index, fleet_member, node_of
from tests.until import until


def published(place: paths.Place) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(place.home, "status.json").read_text())
    return found


def test_the_first_rounds_publish_the_fleet_and_the_node(machine: Machine, repo: paths.Place) -> None:
    fleet_member(repo, "lead", machine.clock().wall - 400)
    fleet_member(repo, "w1", machine.clock().wall - 300, "lead")

    machine.run(5)

    snapshot = published(repo)
    assert [(agent["id"], agent["state"], agent["manager"]) for agent in snapshot["agents"]] == [
        ("lead", "stopped", None),
        ("w1", "stopped", "lead"),
    ]
    shown: Any = node_of(repo)
    assert [(agent["id"], agent["age"], agent["children"]) for agent in shown["root_agents"]] == [("lead", "5m", 1)]
    assert git(repo.root, "status", "--porcelain") == ""


def test_who_goes_without_a_word_is_looked_after_at_once(
    machine: Machine, repo: paths.Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not when the next tidying is due, and with a long interval not at the end of that."""
    fleet_member(repo, "lead", machine.clock().wall - 400)
    machine.run(8)
    tidied = list[float]()
    monkeypatch.setattr(loop.tidy, "tidy", lambda *given: tidied.append(machine.mono) or [])
    machine.run(5, every=0.2)
    before = len(tidied)

    fleet_member(repo, "w1", machine.clock().wall - 300)
    began = machine.mono
    machine.run(1, every=0.2)

    assert len(tidied) > before
    assert tidied[before] - began < 0.5


def test_what_cannot_be_published_anew_is_believed_no_more(
    machine: Machine, repo: paths.Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet_member(repo, "lead", machine.clock().wall - 400)
    machine.run(2)
    path = Path(repo.home, "status.json")
    assert path.stat().st_mtime > 0

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(machine.supervisor, "look", full)
    machine.supervisor.tried()

    assert path.stat().st_mtime == 0


def test_a_question_stands_in_the_node_after_one_look(machine: Machine, repo: paths.Place) -> None:
    machine.run(5)
    questions.ask(repo, "cli", "lead", True, "CSS or theme?", machine.clock().wall)
    machine.run(1)

    shown: Any = node_of(repo)
    assert [message["content"] for message in shown["messages"]] == ["CSS or theme?"]


def test_what_hooks_noted_is_the_state(machine: Machine, repo: paths.Place) -> None:
    fleet_member(repo, "lead", machine.clock().wall - 400)
    machine.run(2)
    logs.note(repo, "lead", machine.clock().wall, {"kind": "agent.stopped", "who": "lead"})
    logs.note(repo, "lead", machine.clock().wall + 1, {"kind": "agent.state", "who": "ghost", "state": "running"})
    machine.run(2)

    assert [agent["state"] for agent in published(repo)["agents"]] == ["stopped"]


def test_two_hundred_agents_appear_and_vanish(machine: Machine, listening: None, repo: paths.Place) -> None:
    machine.run(40)
    names = iter(range(1000))
    alive: list[Path] = []

    def churn() -> None:
        for _ in range(20):
            alive.append(fleet_member(repo, f"a{next(names)}", machine.clock().wall))
        for gone in alive[:-15]:
            shutil.rmtree(gone)
        del alive[:-15]

    machine.run(10, every=1.0, meanwhile=churn)
    machine.run(60)

    shown: Any = node_of(repo)
    assert sorted(agent["id"] for agent in shown["root_agents"]) == sorted(folder.name for folder in alive)
    times = [at for at, _ in machine.shown]
    assert len(times) >= 2
    assert all(later - earlier >= 30 for earlier, later in itertools.pairwise(times))


def test_a_quiet_hour_with_twelve_agents(machine: Machine, listening: None, repo: paths.Place) -> None:
    for number in range(12):
        fleet_member(repo, f"a{number}", machine.clock().wall - 50 * number)
    machine.run(60, every=5)
    before = len(machine.shown)

    machine.run(3600, every=10)

    assert 1 <= len(machine.shown) - before <= 6
    assert machine.supervisor.ended == ""


def test_an_agent_that_vanishes_while_it_is_looked_at(machine: Machine, listening: None, repo: paths.Place) -> None:
    done = threading.Event()

    def churn() -> None:
        number = 0
        while not done.is_set():
            number += 1
            shutil.rmtree(fleet_member(repo, f"a{number}", 1_800_000_000))

    other = threading.Thread(target=churn)
    other.start()
    try:
        machine.run(50)
    finally:
        done.set()
        other.join()
    machine.run(5)

    assert published(repo)["agents"] == []


def test_a_broken_meta_is_said_once_and_hides_nobody(machine: Machine, repo: paths.Place) -> None:
    fleet_member(repo, "good", 1_800_000_000)
    (fleet_member(repo, "bad", 1_800_000_000) / "meta.json").write_text("{nope")
    machine.run(10)

    assert {agent["id"]: agent["problem"] for agent in published(repo)["agents"]} == {
        "good": "",
        "bad": "meta.json is broken",
    }
    log = Path(repo.home, "status-watchdog.log").read_text()
    assert log.count("bad: meta.json is broken") == 1


def test_an_hour_asleep_is_one_look(machine: Machine, repo: paths.Place) -> None:
    machine.run(30)
    seq = published(repo)["seq"]
    machine.asleep = 3600
    machine.run(5)

    assert machine.supervisor.ended == ""
    assert published(repo)["seq"] == seq


def test_it_leaves_when_nobody_needs_it(machine: Machine, repo: paths.Place) -> None:
    machine.run(300)

    assert machine.supervisor.ended == "nobody needs it"
    assert machine.mono < 1000 + 80


def test_what_a_killed_writer_owes_is_done(machine: Machine, repo: paths.Place) -> None:
    messages.send(repo, "cli", "a", True, "question", "hi?", machine.clock().wall)
    items = json.loads(Path(repo.messages).read_text())
    del items[0]["queued"]
    Path(repo.messages).write_text(json.dumps(items))
    Path(repo.queue).write_text("")

    machine.run(10)

    assert items[0]["id"] in Path(repo.queue).read_text()


def test_a_file_that_a_person_spoiled_is_left_alone_and_taken_up_again(
    machine: Machine, listening: None, repo: paths.Place, claude_md: Path
) -> None:
    machine.run(40)
    good = claude_md.read_bytes()
    spoiled = good.replace(b"</ittybitty-status>", b"")
    claude_md.write_bytes(spoiled)
    questions.ask(repo, "cli", "lead", True, "first?", machine.clock().wall)
    machine.run(40)
    assert claude_md.read_bytes() == spoiled
    assert "line" in Path(repo.home, "status-watchdog.log").read_text()

    claude_md.write_bytes(good)
    machine.run(5)
    shown: Any = node_of(repo)
    assert [message["content"] for message in shown["messages"]] == ["first?"]


def test_switched_off_the_node_goes(machine: Machine, listening: None, repo: paths.Place, claude_md: Path) -> None:
    machine.run(40)
    assert node_of(repo) is not None

    Path(repo.root, ".ittybitty.json").write_text('{"status_node": {"enabled": false}}')
    machine.run(40)

    assert node_of(repo) is None
    assert b"<ittybitty>" in claude_md.read_bytes()


def test_after_git_clean_it_goes_on(machine: Machine, repo: paths.Place) -> None:
    machine.run(10)
    git(repo.root, "clean", "-fdxq")
    machine.run(10)

    assert machine.supervisor.ended == ""
    assert published(repo)["version"]


def test_its_own_new_package_ends_it(machine: Machine) -> None:
    machine.run(2)
    machine.supervisor.package = (0, 0)
    machine.run(2)

    assert machine.supervisor.ended == "its own package has changed"


def changed_beside(repo: paths.Place) -> str:
    """A branch on which CLAUDE.md is another one."""
    side = Path(repo.root).parent / "side"
    git(repo.root, "worktree", "add", "-q", "-b", "side", str(side))
    (side / "CLAUDE.md").write_text("# Project\n\nBe kind. And quick.\n")
    git(side, "commit", "-q", "-a", "-m", "quick")
    return "side"


def test_a_block_that_a_checkout_took_away_comes_back(machine: Machine, repo: paths.Place, claude_md: Path) -> None:
    machine.run(5)
    git(repo.root, "checkout", "-q", "-b", "other")
    git(repo.root, "merge", "-q", changed_beside(repo))
    assert claude_md.read_text() == "# Project\n\nBe kind. And quick.\n"

    age_index(repo)
    machine.run(60)

    assert node_of(repo) is not None
    assert claude_md.read_text().startswith("# Project\n\nBe kind. And quick.\n<ittybitty>\n")
    assert git(repo.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("moment", range(1, 7))
def test_a_block_that_git_takes_away_in_the_middle_of_a_look_comes_back(
    machine: Machine, repo: paths.Place, claude_md: Path, moment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.run(5)
    side = changed_beside(repo)
    state_of, seen = node.state_of, 0

    def then_git(path: str) -> tuple[int, ...]:
        """Right after the `moment`th look at a file."""
        nonlocal seen
        found, seen = state_of(path), seen + 1
        if seen == moment:
            git(repo.root, "merge", "-q", side)
        return found

    monkeypatch.setattr(node, "state_of", then_git)
    machine.run(2)
    assert seen >= moment
    assert "And quick" in claude_md.read_text()
    age_index(repo)
    machine.run(90)

    assert node_of(repo) is not None


def test_a_block_that_a_person_took_away_stays_away(machine: Machine, repo: paths.Place, claude_md: Path) -> None:
    machine.run(5)
    claude_md.write_text("# Project\n\nBe kind, without a block.\n")
    machine.run(60)

    assert claude_md.read_text() == "# Project\n\nBe kind, without a block.\n"
    assert Path(repo.home, "status-watchdog.log").read_text().count("no <ittybitty> block") == 1


def test_programs_that_do_not_look_into_files_see_no_change(
    machine: Machine, listening: None, repo: paths.Place, claude_md: Path
) -> None:
    machine.run(40)
    age_index(repo)
    questions.ask(repo, "cli", "lead", True, "again?", machine.clock().wall)
    machine.run(1)
    age_index(repo)
    machine.run(80)

    assert "again?" in claude_md.read_text()
    assert git(repo.root, "diff-files", "--name-only") == ""


def test_half_an_emoji_in_the_files_is_no_trouble(
    machine: Machine, listening: None, repo: paths.Place, ib: Callable[..., Done]
) -> None:
    (fleet_member(repo, "odd", 1_800_000_000) / "meta.json").write_text(
        '{"id": "odd", "prompt": "half \\ud83d", "model": "\\udc00", "manager": "\\ud800"}'
    )
    Path(repo.messages).write_text(
        '[{"id": "msg-1-a", "from": "\\ud83d", "timestamp": "", "type": "alert", "content": "\\ud83d"}]'
    )
    machine.run(40)

    shown: Any = node_of(repo)
    assert [agent["id"] for agent in shown["root_agents"]] == ["odd"]
    assert [message["id"] for message in shown["messages"]] == ["msg-1-a"]
    assert published(repo)["seq"]
    for command in ("status", "list", "tree"):
        assert ib(command).code == 0
        assert ib(command, "--json").code == 0


def test_a_removed_snapshot_is_published_again(machine: Machine, repo: paths.Place) -> None:
    machine.run(5)
    Path(repo.home, "status.json").unlink()
    machine.run(2)

    assert published(repo)["version"]


def test_trouble_in_a_round_is_said_and_the_next_round_comes(machine: Machine, repo: paths.Place) -> None:
    machine.run(5)
    aside = Path(repo.messages + ".aside")
    Path(repo.messages).unlink(missing_ok=True)
    Path(repo.messages).mkdir()
    assert machine.supervisor.tried() == loop.TROUBLE_PAUSE
    assert machine.supervisor.tried() == loop.TROUBLE_PAUSE
    assert "could not look: " in Path(repo.home, "status-watchdog.log").read_text()

    Path(repo.messages).rename(aside)
    machine.supervisor.tried()
    assert "No longer so: could not look" in Path(repo.home, "status-watchdog.log").read_text()


def test_a_history_in_disorder_hides_no_agent(machine: Machine, repo: paths.Place) -> None:
    fleet_member(repo, "lead", 1_700_000_000)
    Path(repo.events).unlink(missing_ok=True)
    Path(repo.events).mkdir()
    machine.run(5)

    assert [agent["id"] for agent in published(repo)["agents"]] == ["lead"]


def test_a_file_with_crlf_comes_to_rest(machine: Machine, listening: None, repo: paths.Place, claude_md: Path) -> None:
    claude_md.write_bytes(claude_md.read_bytes().replace(b"\n", b"\r\n"))
    for number in range(60):
        fleet_member(repo, f"a{number}", 1_700_000_000 + number)
    machine.run(200)
    machine.shown.clear()
    machine.run(200)

    assert len(machine.shown) == 1  # what it showed at the beginning


def test_a_repository_that_is_gone_is_not_made_again(machine: Machine, repo: paths.Place) -> None:
    machine.run(5)
    moved = Path(repo.root + "-moved")
    Path(repo.root).rename(moved)
    machine.run(5)

    assert machine.supervisor.ended == "the repository is gone"
    assert not Path(repo.root).exists()


def test_a_repository_that_is_being_removed_is_not_put_back(
    machine: Machine, repo: paths.Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever removes it cannot remove a folder that has something in it again."""
    machine.run(5)
    shutil.rmtree(repo.home)

    monkeypatch.setattr(presence, "REST", LONG)
    monkeypatch.setattr(presence, "STEP", 0.0)

    def goes_on(path: str) -> bool:
        shutil.rmtree(repo.root, ignore_errors=True)
        return False

    monkeypatch.setattr(presence.disk, "exists", goes_on)
    machine.run(5)

    assert machine.supervisor.ended == "the repository is gone"
    assert not Path(repo.root).exists()


@pytest.mark.parametrize("goes_on", [True, False])
def test_one_whose_removal_takes_long_is_not_put_back(
    machine: Machine, repo: paths.Place, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    """A file that was missing before is the user's own matter."""
    monkeypatch.setattr(presence, "REST", 0.01)
    monkeypatch.setattr(presence, "STEP", 0.0)
    commit(repo.root, "other.txt", "other\n")
    machine.run(5)
    Path(repo.root, "other.txt").unlink()
    shutil.rmtree(repo.home)
    is_there = presence.Ground.is_there

    def going(self: presence.Ground) -> bool:
        if goes_on:
            Path(repo.root, "file.txt").unlink(missing_ok=True)
        return is_there(self)

    real = presence.Ground.missing
    monkeypatch.setattr(
        presence.Ground,
        "missing",
        lambda self: (real(self), monkeypatch.setattr(presence.Ground, "is_there", going))[0],
    )
    machine.run(5)

    assert machine.supervisor.ended == ("the repository is gone" if goes_on else "")
    assert Path(repo.home).exists() is not goes_on


def test_a_meta_that_is_no_file_is_not_read(machine: Machine, repo: paths.Place) -> None:
    folder = fleet_member(repo, "odd", 1_700_000_000)
    (folder / "meta.json").unlink()
    (folder / "meta.json").symlink_to("/dev/zero")
    machine.run(5)

    assert [agent["problem"][:24] for agent in published(repo)["agents"]] == ["meta.json cannot be read"]


def test_a_block_that_a_stash_took_away_comes_back_beside_the_edit(
    machine: Machine, repo: paths.Place, claude_md: Path
) -> None:
    machine.run(5)
    claude_md.write_text(claude_md.read_text().replace("Be kind.", "Be very kind."))
    machine.run(2)
    git(repo.root, "stash", "-q")
    git(repo.root, "stash", "pop", "-q")
    assert "<ittybitty>" not in claude_md.read_text()

    age_index(repo)
    machine.run(5)

    assert node_of(repo) is not None
    assert claude_md.read_text().startswith("# Project\n\nBe very kind.\n<ittybitty>\n")
    assert git(repo.root, "diff", "--stat").count("|") == 1


def test_git_at_work_earlier_does_not_bring_back_what_a_person_took(
    machine: Machine, listening: None, repo: paths.Place, claude_md: Path
) -> None:
    machine.run(5)
    Path(repo.root, "other.txt").write_text("x")
    git(repo.root, "add", "other.txt")
    age_index(repo)
    machine.run(2)
    claude_md.write_text("# Project\n\nBe kind.\n")
    machine.run(200)

    assert claude_md.read_text() == "# Project\n\nBe kind.\n"


def test_a_look_in_the_middle_of_gits_work_takes_it_for_nobodys_hand(
    machine: Machine, repo: paths.Place, claude_md: Path
) -> None:
    """git writes the files first and its index last."""
    machine.run(5)
    index = Path(repo.common, "index")
    lock = index.with_name("index.lock")
    lock.write_bytes(index.read_bytes())
    claude_md.write_text("# Project\n\nBe kind, says another branch.\n")
    machine.run(3)
    lock.rename(index)
    age_index(repo)
    machine.run(60)

    assert node_of(repo) is not None
    assert claude_md.read_text().startswith("# Project\n\nBe kind, says another branch.\n<ittybitty>\n")


def test_after_news_the_snapshot_is_soon_one_that_can_be_relied_on(
    machine: Machine, repo: paths.Place, agent: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a file says of its time is too coarse for a look right after it."""
    agent(repo, "a")
    machine.look()
    look, event = machine.supervisor.publisher.look, {"kind": "agent.state", "who": "a", "state": "running"}

    def right_after(past: schedule.Past, now: Clock) -> object:
        logs.note(repo, "a", machine.clock().wall, {**event, "reason": ""})
        return look(past, now)

    with monkeypatch.context() as patch:
        patch.setattr(machine.supervisor.publisher, "look", right_after)
        assert machine.supervisor.look() <= 0.05

    until(lambda: machine.supervisor.look() > 0.05 and proof.is_fresh(repo, proof.read(repo)[1], time.time()))


def test_no_notice_is_older_than_what_it_tells(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks write while the supervisor looks; its own clock was read before."""
    supervisor = machine.supervisor
    look, walls = supervisor.publisher.look, []

    def slowly(past: schedule.Past, now: Clock) -> object:
        machine.mono += 5
        return look(past, now)

    monkeypatch.setattr(supervisor.publisher, "look", slowly)
    monkeypatch.setattr(supervisor.caring, "look", lambda agents, now, slept: walls.append(now.wall))
    machine.look()

    assert walls == [machine.clock().wall]


def test_text_of_the_user_in_a_file_that_ib_made_is_shown_to_git(repo: paths.Place) -> None:
    path = Path(path_of(repo))
    init.init(repo, PERSON, gitignore=False)
    machine = Machine(repo)
    machine.run(3)
    kept_out = git(repo.root, "status", "--porcelain")
    path.write_text("# Mine\n" + path.read_text())
    machine.run(3)
    machine.lock.release()

    assert (kept_out, git(repo.root, "status", "--porcelain")) == ("", "?? CLAUDE.md\n")
