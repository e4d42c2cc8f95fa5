"""Every rung of the wake ladder with the real ib and the real client: what an agent says reaches the model, once."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.peers.client import Client
from tests.peers.hooks import says
from tests.peers.ladder import LISTEN, WAITER, WATCH, Ladder, told_in
from tests.peers.messages_api import MessagesApi, Turn
from tests.peers.test_hook_answers import bash
from tests.peers.tui import Tui
from tests.until import seen_within

pytestmark = pytest.mark.peer

ONE = Counter({("one", False): 1})
ONCE_MORE = Counter({("one", False): 1, ("one", True): 1})
BLOCK = '{"decision": "block", "reason": "not now"}'


@pytest.fixture
def ladder(repo, api: MessagesApi, tmp_path) -> Ladder:
    return Ladder(repo, api, tmp_path / "hooks.log")


@pytest.fixture
def idle(tui, api: MessagesApi, ladder: Ladder) -> Callable[..., Tui]:
    """A session with all hooks but some, after its first turn, which is given these for later."""

    def begin(*turns: Turn, without: tuple[str, ...] = (), first: Turn | None = None, also: str = "", **options) -> Tui:
        """`also`: shell that UserPromptSubmit runs beside ours."""
        ladder.install(*without)
        ladder.hooks.on("UserPromptSubmit", also)
        ladder.hooks.write()
        session: Tui = tui(ladder.root, **options)
        api.scripts[session.session] = [*([first] if first else []), Turn(), *turns]
        session.submit("Begin.")
        session.until(lambda: ladder.turns(session) == 1)
        return session

    return begin


def hears(session: Tui, ladder: Ladder, turns: int) -> None:
    session.until(lambda: ladder.turns(session) == turns)


def later(session: Tui, ladder: Ladder) -> None:
    """A turn that lasts longer than any rung needs: what was to come has come."""
    ladder.api.scripts[session.session] = [bash("sleep 1.5")]
    before = len(ladder.api.of(session.session))
    session.submit("Wait.")
    session.until(lambda: len(ladder.api.of(session.session)) >= before + 2)
    shown = ladder.api.of(session.session)[-1]
    session.until(lambda: any(fired.at > shown.at for fired in ladder.hooks.fired("Stop")))


RUNGS = {
    "waiter": {"without": (WATCH,)},
    "watch": {"without": (WAITER,)},
    "listener": {"without": (WAITER, WATCH), "first": LISTEN},
    "all": {"first": LISTEN},
}


@pytest.mark.parametrize("rung", RUNGS)
def test_a_rung_brings_the_text_itself_and_once(idle, ladder, rung: str) -> None:
    session = idle(**RUNGS[rung])

    ladder.notify("one")
    hears(session, ladder, 2)
    assert ladder.told(session) == ONE

    if rung == "listener":
        return  # the model has to start it again
    ladder.notify("two")
    hears(session, ladder, 3)
    later(session, ladder)
    assert ladder.told(session) == ONE + Counter({("two", False): 1})
    assert ladder.turns(session) == 4


def test_the_next_prompt_brings_it_too(idle, ladder) -> None:
    session = idle(without=(WAITER, WATCH))
    ladder.notify("one")
    assert ladder.told(session) == Counter()
    session.submit("Next.")
    hears(session, ladder, 2)
    assert ladder.told(session) == ONE


def test_the_next_tool_call_brings_it(idle, ladder) -> None:
    session = idle(bash("true")._replace(meanwhile=lambda: ladder.notify("one")), Turn(pace=0.1))
    session.submit("Work.")
    hears(session, ladder, 2)
    later(session, ladder)
    assert ladder.told(session) == ONE
    assert ladder.turns(session) == 3


def test_a_dialog_is_left_alone_and_nothing_is_lost(idle, ladder) -> None:
    session = idle(bash("touch made; python3 -V"), mode="default")
    session.submit("Work.")
    session.until(lambda: ladder.hooks.fired("PermissionRequest") and "Do you want to proceed?" in session.screen())

    ladder.notify("one")
    session.until(lambda: ladder.hooks.fired("FileChanged"))
    assert "Do you want to proceed?" in session.screen()
    assert ladder.told(session) == Counter()
    session.keys("Enter")
    hears(session, ladder, 2)

    assert (ladder.root / "made").exists()
    assert ladder.told(session) == ONE


def test_a_draft_survives(idle, ladder) -> None:
    session = idle()
    session.type("a draft of mine")
    ladder.notify("one")
    hears(session, ladder, 2)
    session.until(lambda: session.line == "a draft of mine")
    assert ladder.told(session) == ONE


def test_the_watch_survives_a_cd_of_the_model(idle, ladder) -> None:
    (ladder.root / "sub").mkdir()
    session = idle(bash("cd sub && pwd"), without=(WAITER,))
    session.submit("Go there.")
    hears(session, ladder, 2)
    assert len(ladder.hooks.fired("CwdChanged")) == 1
    ladder.notify("one")
    for _ in range(5):  # what comes while the client sets up its new watch is not reported: once more, as ib does
        if not seen_within(lambda: ladder.turns(session) == 3, 4.0):
            os.utime(ladder.place.queue)
    hears(session, ladder, 3)
    assert ladder.told(session) == ONE


@pytest.mark.parametrize("how", ["exit", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_nothing_of_ours_outlives_the_client(idle, ladder, claude: Client, how: str) -> None:
    session = idle(first=LISTEN)
    session.until(lambda: len(ladder_processes(claude)) >= 2)
    if how == "exit":
        session.leave()
    else:
        session.send_signal(getattr(signal, how))
    session.until(lambda: ladder_processes(claude) == [])


def ladder_processes(claude: Client) -> list[str]:
    """Command lines of whatever of ib still runs for this client."""
    found = []
    for process in claude.processes():
        try:
            line = " ".join(process.cmdline())
        except Exception:
            continue
        if "ibstatus" in line and not line.startswith("tmux"):
            found.append(line)
    return found


def test_a_subagent_at_work_takes_nothing_away(idle, api, ladder) -> None:
    work = {"description": "d", "prompt": "Work.", "subagent_type": "general-purpose", "run_in_background": False}
    session = idle(Turn("Agent", work))
    api.subagents[:] = [bash("true")._replace(meanwhile=lambda: ladder.notify("one")), bash("sleep 1.5")]
    session.submit("Delegate.")
    session.until(lambda: len(api.of_subagents) == 3)
    session.until(lambda: ladder.told(session) == ONE)
    later(session, ladder)

    assert [shown for shown in api.of_subagents if '"one"' in shown.whole] == []
    assert ladder.told(session) == ONE


def test_two_sessions_both_hear(idle, ladder) -> None:
    """The one that the user talks to is woken; the other is told at its next prompt."""
    first, second = idle(), idle()
    ladder.notify("one")
    hears(second, ladder, 2)
    assert ladder.told(second) == ONE
    assert ladder.told(first) == Counter()
    first.submit("Next.")
    hears(first, ladder, 2)
    assert ladder.told(first) == ONE


def test_a_session_that_was_cleared_hears_as_its_new_self(idle, api, ladder) -> None:
    """/clear gives the client another session id; what waited for the old one wakes it all the same."""
    session = idle()
    session.submit("/clear")
    session.until(lambda: has_begun_anew(ladder))
    for number, name in enumerate(("one", "two"), 2):
        ladder.notify(name)
        session.until(lambda number=number: len(ladder.hooks.fired("Stop")) == number)
    session.submit("Next.")
    session.until(lambda: len(ladder.hooks.fired("Stop")) == 4)

    assert api.shown[-1].session != session.session
    assert told_in(api.shown[-1]) == ONE + Counter({("two", False): 1})
    assert len(api.shown) == 4


def has_begun_anew(ladder: Ladder) -> bool:
    """The cleared session has looked into the queue once: what comes now must wake it."""
    starts = [fired.payload for fired in ladder.hooks.fired("SessionStart") if fired.payload["source"] == "clear"]
    return any(Path(ladder.place.cursor(start["session_id"])).exists() for start in starts)


def test_esc_before_the_first_word_and_it_comes_again(idle, ladder) -> None:
    session = idle(Turn(silent=True), without=(WAITER, WATCH))
    ladder.notify("one")
    session.submit("Next.")
    session.until(lambda: ladder.told(session) == ONE)
    session.keys("Escape")
    session.until(lambda: session.line == "Next.")
    session.keys("Enter")
    hears(session, ladder, 2)
    later(session, ladder)
    assert ladder.told(session) == ONCE_MORE


def test_esc_before_the_first_word_of_a_wake(idle, ladder) -> None:
    session = idle(Turn(silent=True))
    ladder.notify("one")
    session.until(lambda: ladder.told(session) == ONE)
    session.keys("Escape")
    session.until(lambda: "Interrupted" in session.screen())
    session.submit("Next.")
    hears(session, ladder, 2)
    later(session, ladder)
    assert ladder.told(session) == ONCE_MORE


# Found a message that was lost: the wake took over what the interrupted prompt had told. A race: not every run hits.
def test_esc_at_once_while_a_wake_is_queued(idle, ladder) -> None:
    """The prompt told the message and is gone with it; the wake that was rung for the same message must bring it."""
    session = idle()
    silence = [Turn(silent=True)]  # once: a late Esc leaves the prompt's words, and the wake's turn shows them too
    ladder.api.rule = lambda shown: silence.pop() if silence and "Never answered." in shown.newest else None
    session.type("Never answered.")
    with ThreadPoolExecutor(1) as pool:
        notified = pool.submit(ladder.notify, "one")
        session.keys("Enter")
        notified.result()
    session.until(lambda: any("Never answered." in shown.newest for shown in ladder.api.of(session.session)))
    session.keys("Escape")
    session.until(lambda: not session.is_busy)
    session.keys("C-u")
    session.submit("Next.")
    session.until(lambda: any("Next." in shown.newest for shown in ladder.api.of(session.session)))
    assert told_in(ladder.api.of(session.session)[-1]).total() >= 1


def test_after_esc_the_next_message_still_wakes(idle, ladder) -> None:
    """No Stop, so no new waiter: the watch is left."""
    session = idle(Turn(silent=True))
    ladder.notify("one")
    session.until(lambda: ladder.told(session) == ONE)
    session.keys("Escape")
    session.until(lambda: "Interrupted" in session.screen())
    ladder.notify("two")
    hears(session, ladder, 2)
    assert ladder.told(session) == ONCE_MORE + Counter({("two", False): 1})


def test_a_blocked_prompt_loses_nothing(idle, ladder, tmp_path) -> None:
    closed = tmp_path / "closed"
    session = idle(without=(WAITER, WATCH), also=f"if [ -e {closed} ]; then {says(BLOCK)}; fi")
    closed.write_text("")
    ladder.notify("one")
    session.submit("Blocked.")
    session.until(lambda: "not now" in session.screen())
    closed.unlink()
    session.submit("Next.")
    hears(session, ladder, 2)
    assert ladder.told(session) == Counter({("one", True): 1})


def test_what_was_typed_during_a_turn_and_taken_back_takes_nothing_with_it(idle, ladder) -> None:
    session = idle(Turn(words="one two three four five six seven eight nine ten", pace=0.6), without=(WAITER, WATCH))
    session.submit("Talk.")
    session.until(lambda: len(ladder.api.of(session.session)) == 2)
    ladder.notify("one")
    session.submit("Never mind.", meanwhile=True)
    session.keys("Up")
    session.until(lambda: session.line == "Never mind.")
    session.keys("C-u")
    hears(session, ladder, 2)
    session.submit("Next.")
    hears(session, ladder, 3)
    assert ladder.told(session) == ONE


def test_a_client_that_is_killed_in_the_turn_and_resumed(idle, ladder) -> None:
    session = idle(Turn(silent=True))
    ladder.notify("one")
    session.until(lambda: ladder.told(session) == ONE)
    session.kill9()
    session.resume()
    session.submit("Next.")
    hears(session, ladder, 2)
    later(session, ladder)
    assert ladder.told(session) == ONCE_MORE


def test_a_client_that_is_killed_between_two_turns_and_resumed(idle, ladder) -> None:
    session = idle()
    ladder.notify("one")
    hears(session, ladder, 2)
    session.kill9()
    ladder.notify("two")
    session.resume()
    session.submit("Next.")
    hears(session, ladder, 3)
    assert ladder.told(session) == ONE + Counter({("two", False): 1})


def test_print_mode_is_not_held_and_hears_at_its_next_tool(ladder, api, claude: Client) -> None:
    ladder.install()
    api.turns[:] = [bash("true")._replace(meanwhile=lambda: ladder.notify("one"))]
    ran = claude.run(ladder.root, "Go.", mode="bypassPermissions", seconds=20)
    assert ran.code == 0
    assert [shown.whole.count('"msg":"one"') for shown in api.shown] == [0, 1]
