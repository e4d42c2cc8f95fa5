"""What an agent shows: its screen while it lives, its transcript, its archive; and a look that goes on."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.agents import look
from ibstatus.errors import IbError
from ibstatus.project import paths
from ibstatus.state import why
from tests.conftest import Done, make_agent, run_ib
from tests.living import Living
from tests.until import until

Start = Callable[..., Living]


@pytest.fixture
def start(repo: paths.Place, tmux: Callable[..., str], tmp_path: Path) -> Start:
    return lambda name="w1", script="": Living(repo, tmux, tmp_path / "claude", name, script)


def archive(place: paths.Place, name: str, text: str) -> None:
    folder = Path(place.home, "archive", name)
    folder.mkdir(parents=True)
    (folder / "output.log").write_text(text)


def test_a_living_one_shows_its_screen(repo: paths.Place, start: Start) -> None:
    agent = start(script="say hello\nwait\n").idle()
    agent.submit("go")
    agent.until(lambda: "● hello" in look.look(repo, "w", None, False).text)
    agent.idle()

    found = look.look(repo, "w1", None, False)
    assert found.source == look.SCREEN
    assert found.text.splitlines()[-3].startswith("❯")
    assert look.look(repo, "w1", 2, False).text == "\n".join(found.text.splitlines()[-2:])


def test_more_than_a_screenful_is_the_transcript(repo: paths.Place, start: Start) -> None:
    agent = start(script="say " + "\\n".join(map(str, range(200))) + "\nwait\n").idle()
    agent.submit("go")
    agent.until(lambda: "● WAITING" in look.look(repo, "w1", None, True).text)

    for given in ((500, False), (None, True)):
        found = look.look(repo, "w1", *given)
        assert found.source == look.TRANSCRIPT
        assert "❯ go\n" in found.text
    assert look.look(repo, "w1", None, True, look.SCREEN).source == look.SCREEN
    assert look.look(repo, "w1", 1, False, look.TRANSCRIPT).source == look.TRANSCRIPT


def test_one_that_has_ended_shows_its_transcript(repo: paths.Place, start: Start) -> None:
    agent = start(script="say hello\nwait\n").idle()
    agent.submit("go")
    agent.until(lambda: "● WAITING" in look.look(repo, "w1", 500, False).text)
    agent.end()

    assert look.look(repo, "w1", None, False).source == look.TRANSCRIPT
    assert "● hello" in look.look(repo, "w1", None, False).text
    with pytest.raises(IbError, match="no screen"):
        look.look(repo, "w1", None, False, look.SCREEN)


def test_one_that_is_gone_shows_its_newest_archive(repo: paths.Place, ib: Callable[..., Done]) -> None:
    archive(repo, "20260101-000000-w1", "old\n")
    archive(repo, "20260102-000000-w1", "a\nb\x1b[2J\n\n\n")
    archive(repo, "20260103-000000-w1-more", "other\n")

    done = ib("look", "w1", "--lines", "1")

    assert (done.code, done.out) == (0, "b\\x1b[2J\n")
    assert "w1 is gone; this is from its archive 20260102-000000-w1" in done.err
    assert ib("look", "w1-").out == "other\n"
    assert ib("look", "w").code == 1
    assert ib("look", "w1", "--json").json()["source"] == "archive"


def test_nothing_to_show(repo: paths.Place, ib: Callable[..., Done], agent: Callable[..., Path]) -> None:
    agent(repo, "w1")

    done = ib("look", "w1", env={"CLAUDE_CONFIG_DIR": "/nowhere"})

    assert (done.code, done.out) == (1, "")
    assert "Hint: tail " in done.err
    assert ib("look", "none").code == 1
    assert ib("look", "w1", "--lines", "0").code == 2
    assert ib("look", "w1", "--follow", "--screen").code == 2


def test_follow_ends_when_the_agent_does(repo: paths.Place, start: Start) -> None:
    agent = start(script="say hello\nwait\nsay again\nwait\n").idle()
    argv = [sys.executable, "-m", "ibstatus", "look", "w1", "--follow"]
    with subprocess.Popen(argv, cwd=repo.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        agent.submit("go")
        assert process.stdout.readline() == "❯ go\n"
        assert "● hello" in [process.stdout.readline().strip() for _ in range(3)]
        agent.idle().submit("more")
        until(lambda: "❯ more" in process.stdout.readline())
        agent.until(lambda: agent.prompts() == ["go", "more"])
        agent.end()
        _, err = process.communicate(timeout=20)
        assert "w1 has ended." in err
        assert process.returncode == 0


def test_follow_until_ctrl_c(repo: paths.Place, start: Start) -> None:
    agent = start(script="say hello\nwait\n").idle()
    argv = [sys.executable, "-m", "ibstatus", "look", "w1", "--follow", "--json"]
    with subprocess.Popen(argv, cwd=repo.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        agent.submit("go")
        line = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert process.returncode == 130
        assert (line["id"], line["text"].split("\n")[0], err.strip()) == ("w1", "❯ go", "")


def test_info_tells_what_is_written_and_what_is(repo: paths.Place, start: Start, ib: Callable[..., Done]) -> None:
    agent = start().idle()
    assert ib("send", "w1", "mail").code == 0
    found = why.info(repo, "w1")

    assert found["session_id"] == agent.session
    assert found["now"]["session"] == agent.where.name
    assert found["now"]["pane"] == agent.pane.id
    assert found["now"]["transcript"].endswith(f"{agent.session}.jsonl")
    assert found["now"]["unread"] == 0
    shown = ib("info", "w1")
    assert "session_id: " + agent.session in shown.out
    assert shown.out.rstrip().endswith("prompt:     task of w1")
    assert ib("info", "w1", "--json").json()["prompt"] == "task of w1"


def test_info_of_a_broken_one(repo: paths.Place, ib: Callable[..., Done], tmux: object) -> None:
    make_agent(repo, "w1")
    Path(repo.agent_dir("w1"), "meta.json").write_text("{broken")

    assert "meta.json is broken" in ib("info", "w1").out
    assert ib("info", "w2").code == 1


def test_attach_needs_a_terminal_and_a_session(repo: paths.Place, start: Start, ib: Callable[..., Done]) -> None:
    start().idle()
    done = ib("attach", "w1")

    assert done.code == 1
    assert "ib attach needs a terminal" in done.err
    assert "Hint: ib look w1 --follow" in done.err


def test_attach_shows_the_agent_and_leaves_it_as_it_is(repo: paths.Place, start: Start) -> None:
    agent = start(script="say hello\nwait\n").idle()
    inner = f"cd '{repo.root}' && {sys.executable} -m ibstatus attach w1 --read-only"
    agent.tmux("new-session", "-d", "-s", "outer", "-x", "100", "-y", "30", inner)
    clients = lambda: agent.tmux("list-clients", "-F", "#{client_session} #{client_readonly}").split()  # noqa: E731
    agent.until(lambda: agent.where.name in clients())

    assert clients() == [agent.where.name, "1"]
    agent.tmux("send-keys", "-t", "=outer:", "x")
    agent.tmux("kill-session", "-t", "=outer")
    agent.until(lambda: not clients())
    agent.idle()  # drawn anew, for another size


def test_attach_to_one_that_has_ended(repo: paths.Place, start: Start) -> None:
    agent = start().idle()
    agent.tmux("new-session", "-d", "-s", "keep", "-x", "100", "-y", "30")
    agent.end()
    log = f"{repo.root}/attached"
    inner = f"cd '{repo.root}' && {sys.executable} -m ibstatus attach w1 2>&1 | cat > {log}; echo done >> {log}"
    agent.tmux("new-session", "-d", "-s", "outer", inner)
    until(lambda: Path(log).exists() and "done" in Path(log).read_text())

    assert "needs a terminal" in Path(log).read_text()
    assert run_ib("look", "w1", "--screen", cwd=repo.root).code == 1
