"""What the supervisor types and to whom, with fake-claude in a real tmux: nudges, compactions, limits."""

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.claude import sessions
from ibstatus.mail import inbox, wake_agent
from ibstatus.model.clock import Clock
from ibstatus.model.fleet import Agent
from ibstatus.project import paths
from ibstatus.state import episode_file, fleet, hook_history
from ibstatus.state.rules import notices
from ibstatus.supervisor import limits
from ibstatus.supervisor.care import Caring
from ibstatus.supervisor.log import Log
from ibstatus.supervisor.wake import Rousing
from tests.living import Living
from tests.supervisor.test_noticing import told
from tests.until import meanwhile, until


class Turned:
    """Both parts of the supervisor that type, on a clock that the test turns; each look is done to its end."""

    def __init__(self, place: paths.Place) -> None:
        self.place = place
        log = Log(place.home + "/log")
        self.caring, self.rousing = Caring(place, log), Rousing(place, log)
        self.states = hook_history.States(place)
        self.before: dict[str, Agent] = {}
        self.now = 1000.0
        self.ahead = 0.0  # of the wall clock

    def look(self, after: float = 0.0) -> dict[str, Agent]:
        self.now += after
        wall = time.time()
        agents = fleet.look(self.place, self.states, self.before, wall).agents
        self.before = {agent.id: agent for agent in agents}
        for _ in range(2):
            self.caring.look(agents, Clock(self.now, self.now, wall + self.ahead))
            self.caring.errands.wait()
        self.rousing.look(agents, self.now)
        if self.rousing.thread is not None:
            self.rousing.thread.join()
        return self.before

    def at_rest(self, before: float | None) -> list[Agent]:
        """It is silent, and was at work meanwhile; without the look before, which takes so short a turn for none."""
        agents = fleet.look(self.place, self.states, {}, time.time()).agents
        return [agent for agent in agents if agent.silent and agent.since != before]

    def until(self, holds: Callable[[Agent], object]) -> Agent:
        until(lambda: holds(self.look()["w1"]))
        return self.before["w1"]


@pytest.fixture
def start(repo: paths.Place, tmux: Callable[..., str], tmp_path: Path) -> Callable[[str], Living]:
    return lambda script: Living(repo, tmux, tmp_path / "claude", "w1", script).idle()


def letters(place: paths.Place) -> list[str]:
    try:
        return [json.loads(line)["msg"] for line in Path(inbox.path_of(place, "w1")).read_text().splitlines()]
    except FileNotFoundError:
        return []


def test_a_silent_agent_is_told_after_a_minute_and_once(repo: paths.Place, start: Callable[[str], Living]) -> None:
    living = start("say hm\nend well\nsay so\nwait for you\n")
    living.submit("go")
    turned = Turned(repo)
    turned.until(lambda agent: agent.state == "waiting" and agent.silent)
    turned.look()
    assert (len(told(repo)), letters(repo)) == (1, [])

    turned.look(59)
    assert letters(repo) == []
    turned.look(2)

    assert letters(repo) == [notices.LETTER]
    living.idle()
    assert living.hears("[sent by ib]: [ib] You ended your turn") == 1
    turned.until(lambda agent: agent.said.startswith("for you"))
    turned.look(4000)
    assert letters(repo) == [notices.LETTER]
    assert "for you" in told(repo)[-1]


def test_who_is_told_something_at_that_moment_is_not_nudged(repo: paths.Place, start: Callable[[str], Living]) -> None:
    """What the supervisor sees is older than the letter, and the letter is no longer unread."""
    living = start("say hm\nend well\nsay hm\nend well\nwait\n")
    living.submit("go")
    turned = Turned(repo)
    seen = turned.until(lambda agent: agent.state == "waiting" and agent.silent)
    turned.look()
    inbox.put(repo, "cli", "w1", "lead", True, "mail", time.time())
    until(lambda: wake_agent.rouse(repo, "w1").state == "delivered")
    living.idle()

    turned.caring.look([seen], Clock(turned.now + 61, turned.now + 61, time.time()))
    turned.caring.errands.wait()
    turned.caring.look([seen], Clock(turned.now + 62, turned.now + 62, time.time()))

    assert letters(repo) == ["mail"]
    turned.caring.look([seen], Clock(turned.now + 130, turned.now + 130, time.time()))
    turned.caring.errands.wait()
    turned.caring.look([seen], Clock(turned.now + 131, turned.now + 131, time.time()))
    assert letters(repo) == ["mail", notices.LETTER]


def test_a_nudge_that_was_held_up_is_of_the_silence_that_it_was_due_in(
    repo: paths.Place, start: Callable[[str], Living]
) -> None:
    """Errands stand in one line: while one types, mail, its turn and the look after it may come and go."""
    living = start("say hm\nend well\nsay hm\nend well\nwait\n")
    living.submit("go")
    turned = Turned(repo)
    first = turned.until(lambda agent: agent.state == "waiting" and agent.silent)
    turned.look()
    over = threading.Event()
    try:
        turned.caring.errands.add("another", lambda: over.wait() and None)
        turned.caring.look([first], Clock(turned.now + 61, turned.now + 61, time.time()))
        inbox.put(repo, "cli", "w1", "lead", True, "mail", time.time())
        until(lambda: wake_agent.rouse(repo, "w1").state == "delivered")
        until(lambda: turned.at_rest(first.since))
        seen = turned.at_rest(first.since)
        turned.caring.look(seen, Clock(turned.now + 62, turned.now + 62, time.time()))
    finally:
        over.set()
    turned.caring.errands.wait()

    turned.caring.look(seen, Clock(turned.now + 63, turned.now + 63, time.time()))
    assert letters(repo) == ["mail"]
    turned.caring.look(seen, Clock(turned.now + 124, turned.now + 124, time.time()))
    turned.caring.errands.wait()
    turned.caring.look(seen, Clock(turned.now + 125, turned.now + 125, time.time()))
    assert letters(repo) == ["mail", notices.LETTER]


def test_a_full_context_is_compacted_once(repo: paths.Place, start: Callable[[str], Living]) -> None:
    Path(repo.root, ".ittybitty.json").write_text('{"autoCompactThreshold": 80}')
    living = start("say hm\nwait\n")
    living.submit("go")
    turned = Turned(repo)
    turned.until(lambda agent: agent.state == "waiting" and agent.source == "hooks")
    living.idle()
    path = living.fill()

    turned.look(5)
    until(lambda: b"compact_boundary" in path.read_bytes())
    living.idle()
    turned.look(5)
    turned.look(500)
    known = episode_file.read(repo)
    assert path.read_bytes().count(b'"compact_boundary"') == 1
    assert known is not None
    assert len(told(repo)) == 1  # the compaction is no news


@pytest.mark.parametrize(
    ("end", "state", "reason"),
    [
        ("finish did it", "complete", ""),
        ("wait hm", "waiting", "input"),
        ("end hm", "waiting", "input"),
        ("error server_error", "waiting", "error: server_error"),
    ],
)
def test_no_compaction_changes_or_repeats_anything(
    repo: paths.Place, start: Callable[[str], Living], end: str, state: str, reason: str
) -> None:
    """One after the other: one that fails, one with nothing to do, two that succeed."""
    living = start(f"{end}\ncompact error\ncompact short\ncompact\ncompact\n")
    living.submit("go")
    turned = Turned(repo)
    before = turned.until(lambda agent: agent.state == state and agent.source == "hooks")
    until(lambda: turned.look() and told(repo))
    living.idle()

    for _ in range(4):
        living.submit("/compact")
        turned.until(lambda agent: agent.state == "compacting")
        after = turned.until(lambda agent: agent.state != "compacting")
        living.idle()
        turned.look(1)
        assert (after.state, after.reason) == (state, reason)
        assert after.since == pytest.approx(before.since, abs=0.5)
        assert (after.said, after.silent, after.note) == (before.said, before.silent, before.note)
    assert len(told(repo)) == 1


def test_a_compaction_in_a_turn_loses_nothing_of_its_end(repo: paths.Place, start: Callable[[str], Living]) -> None:
    living = start(
        "finish one\nwork 1.5\ncompact\nfinish two\nwork 1.5\ncompact short\nfinish three\nwork 1.5\ncompact error\n"
    )
    turned = Turned(repo)
    for number in (1, 2, 3, 4):
        living.submit("go")
        until(lambda wanted=number: turned.look() and len(told(repo)) == wanted)
        living.idle()
    assert "API" in told(repo)[3] or "error" in told(repo)[3]


def test_after_the_reset_it_is_sent_on(repo: paths.Place, start: Callable[[str], Living]) -> None:
    living = start("limit usage\nsay on\nwait\n")
    living.submit("go")
    living.until(lambda: living.screen.kind == "dialog")
    turned = Turned(repo)
    turned.until(lambda agent: agent.state == "rate_limited" or agent.reason == "limit")
    until(lambda: turned.look() and told(repo))  # a moment is left for what the client says of it
    assert [text.partition(":")[0] for text in told(repo)] == ["Usage limit reached"]
    living.until(lambda: living.screen.takes_text)  # the menu was answered
    assert living.prompts() == ["go"]
    record = episode_file.read(repo)
    assert record is not None
    assert record.park is not None

    turned.ahead = record.park.until - time.time() + 200
    turned.until(lambda agent: agent.state == "waiting" and agent.source == "hooks")

    assert letters(repo) == [limits.LETTER]
    assert living.hears("The usage limit that stopped you is over") == 1


def test_what_a_failed_turn_was_told_is_told_again(repo: paths.Place, start: Callable[[str], Living]) -> None:
    living = start("error server_error\nsay on\nwait\n")
    turned = Turned(repo)
    turned.look()
    inbox.put(repo, "cli", "w1", "lead", True, "mail", time.time())
    turned.look()
    turned.until(lambda agent: agent.reason.startswith("error"))
    assert living.has_heard("[sent by agent lead]: mail") == 1
    living.idle()  # the hook says so before the screen does

    turned.look()
    assert turned.rousing.waiting["w1"].due == turned.now + 10
    turned.look(11)

    living.until(lambda: living.has_heard("[sent by agent lead]: mail") == 2)
    living.idle()
    turned.until(lambda agent: agent.reason == "input")
    turned.look(700)
    assert turned.rousing.waiting == {}


def test_nobody_is_typed_to_while_a_person_types(
    repo: paths.Place, start: Callable[[str], Living], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal that is attached, with keys that have just come in."""
    import pty
    import subprocess

    living = start("say hm\nwait\n")
    master, slave = pty.openpty()
    argv = ["tmux", "-L", "ib", "attach", "-t", f"={living.where.name}"]
    person = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm"})
    try:
        living.until(lambda: living.tmux("list-clients", "-t", living.pane.session_id))
        os.write(master, b"x")
        living.until(lambda: living.screen.draft == "x")
        os.write(master, b"\x7f")
        living.idle()
        inbox.put(repo, "cli", "w1", "lead", True, "mail", time.time())
        with meanwhile(lambda: os.write(master, b"\x7f"), 0.1):  # a key that changes nothing
            living.until(lambda: sessions.is_typing("ib", living.pane))
            assert wake_agent.rouse(repo, "w1").state == "draft"
        assert living.prompts() == []
        until(lambda: wake_agent.rouse(repo, "w1").state == "delivered")
    finally:
        person.terminate()
        person.wait()
        os.close(master)
        os.close(slave)
    assert living.hears("[sent by agent lead]: mail") == 1


def test_the_menu_of_a_limit_may_be_drawn_late(repo: paths.Place, start: Callable[[str], Living]) -> None:
    """Its hook tells of the limit first; that no menu stands there then says nothing."""
    living = start("limit usage\nwait\n")
    caring = Turned(repo).caring
    limited = Agent("w1", "rate_limited", "1m", "task", since=time.time(), source="hooks")
    caring.look([limited], Clock(1000.0, 1000.0, time.time()))
    caring.errands.wait()
    living.submit("go")
    living.until(lambda: living.screen.kind == "dialog")

    caring.look([limited], Clock(1003.0, 1003.0, time.time()))
    caring.errands.wait()

    living.until(lambda: living.screen.takes_text)
    assert living.prompts() == ["go"]
