"""ib listen as a process: waking, time-outs, a second listener, sessions with a voice, kills."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ibstatus.mail import bells, delivery, session_reader
from ibstatus.mail import post as notices
from ibstatus.project import paths
from ibstatus.system import locks
from tests.conftest import Done
from tests.until import until

Ib = Callable[..., Done]
TIMED_OUT = "No messages received. Background listener has stopped. Please restart with: ib listen\n"


@pytest.fixture
def start(repo: paths.Place) -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    """A listener in the background; killed at the end."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*args: str, session: str = "") -> "subprocess.Popen[bytes]":
        env = {**os.environ, **({"CLAUDE_CODE_SESSION_ID": session} if session else {})}
        before = bells_of(repo)
        argv = [sys.executable, "-m", "ibstatus", "listen", *args]
        process = subprocess.Popen(
            argv, cwd=repo.root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        started.append(process)
        until(lambda: bells_of(repo) - before or process.poll() is not None)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def bells_of(place: paths.Place) -> set[str]:
    return set(os.listdir(place.bells)) if os.path.isdir(place.bells) else set()


def post(place: paths.Place, text: str) -> None:
    notices.notify(place, "cli", "complete", "tester", True, text, time.time())


def messages_of(out: bytes | str) -> list[str]:
    text = out.decode() if isinstance(out, bytes) else out
    return [json.loads(line)["msg"] for line in text.splitlines() if line.startswith("{")]


def test_a_notice_wakes_it_and_is_printed_once(
    repo: paths.Place, ib: Ib, start: Callable[..., "subprocess.Popen[bytes]"]
) -> None:
    listener = start("--timeout", "30")
    ib("notify", "--type", "waiting", "Build is stuck")
    out, err = listener.communicate(timeout=20)

    [line] = [json.loads(text) for text in out.decode().splitlines()]
    assert (listener.returncode, err) == (0, b"")
    assert (line["type"], line["msg"], line["from"]) == ("waiting", "Build is stuck", "unknown")
    assert "again" not in line
    assert ib("listen", "--timeout", "0").out == TIMED_OUT
    assert bells_of(repo) == set()


def test_what_came_before_is_there(repo: paths.Place, ib: Ib) -> None:
    ib("notify", "one")
    ib("notify", "two")

    assert messages_of(ib("listen", "--timeout", "0").out) == ["one", "two"]


def test_a_time_out_is_no_failure(ib: Ib) -> None:
    done = ib("listen", "--timeout", "0.2")

    assert (done.code, done.out, done.err) == (0, TIMED_OUT, "")
    assert ib("listen", "--timeout", "0", "--json").out == ""


@pytest.mark.parametrize("text", ["x", "-1", "nan", "inf", "1e999"])
def test_a_time_out_must_be_a_number(ib: Ib, text: str) -> None:
    done = ib("listen", f"--timeout={text}")

    assert done.code == 2
    assert "is no number of seconds" in done.err


def test_a_second_listener_says_who_listens(ib: Ib, start: Callable[..., "subprocess.Popen[bytes]"]) -> None:
    first = start("--timeout", "30")

    done = ib("listen", "--timeout", "30")

    assert done.code == 0
    assert done.out == f"Listener already running (PID {first.pid}). It will tell; do not start another.\n"


def test_a_killed_listener_leaves_nothing_that_lies(
    repo: paths.Place, ib: Ib, start: Callable[..., "subprocess.Popen[bytes]"]
) -> None:
    first = start("--timeout", "30")
    first.send_signal(signal.SIGKILL)
    first.wait()

    assert not locks.is_held(repo.lock("cursor-default"))
    assert bells.ring(repo.bells) == 0
    ib("notify", "after the kill")
    assert messages_of(ib("listen", "--timeout", "0").out) == ["after the kill"]


def test_sessions_hear_everything_each_for_itself(
    repo: paths.Place, start: Callable[..., "subprocess.Popen[bytes]"]
) -> None:
    listeners = [start("--timeout", "30", session=f"s{n}") for n in range(3)] + [start("--timeout", "30")]
    post(repo, "to all")

    assert [messages_of(listener.communicate(timeout=20)[0]) for listener in listeners] == [["to all"]] * 4


def test_a_writer_that_does_not_ring_is_seen(
    repo: paths.Place, start: Callable[..., "subprocess.Popen[bytes]"]
) -> None:
    post(repo, "first")
    listener = start("--timeout", "30", "--follow")
    with open(repo.queue, "a") as file:
        file.write('{"msg":"by hand"}\n')
    assert listener.stdout is not None
    lines = [listener.stdout.readline(), listener.stdout.readline()]

    assert messages_of(b"".join(lines)) == ["first", "by hand"]


def test_a_line_without_its_end_is_taken_in_the_end(
    repo: paths.Place, start: Callable[..., "subprocess.Popen[bytes]"]
) -> None:
    post(repo, "first")
    with open(repo.queue, "a") as file:
        file.write('garbage\n{"msg":"open"}')
    os.utime(repo.queue, (time.time() - 60, time.time() - 60))
    listener = start("--timeout", "30", "--follow")
    assert listener.stdout is not None
    lines = [listener.stdout.readline(), listener.stdout.readline()]

    assert messages_of(b"".join(lines)) == ["first", "open"]


def test_follow_goes_on(repo: paths.Place, start: Callable[..., "subprocess.Popen[bytes]"]) -> None:
    listener = start("--follow")
    assert listener.stdout is not None
    heard = []
    for text in ("one", "two", "three"):
        post(repo, text)
        heard += messages_of(listener.stdout.readline())

    assert heard == ["one", "two", "three"]
    listener.send_signal(signal.SIGINT)
    assert listener.wait(timeout=20) == 130
    assert bells_of(repo) == set()


@pytest.mark.parametrize("args", [(), ("--follow",), ("--timeout", "60")], ids=" ".join)
def test_sigterm_ends_it_as_a_time_out_does(
    repo: paths.Place, start: Callable[..., "subprocess.Popen[bytes]"], args: tuple[str, ...]
) -> None:
    listener, pid_file = start(*args), Path(repo.home, "notify/listener.pid")
    until(pid_file.exists)
    listener.send_signal(signal.SIGTERM)
    out, err = listener.communicate(timeout=20)

    assert (listener.returncode, out, err) == (0, b"", b"")
    assert not pid_file.exists()
    assert bells_of(repo) == set()


def test_a_reader_that_went_away_loses_nothing(repo: paths.Place, ib: Ib) -> None:
    for number in range(3):
        post(repo, f"line {number}")
    closed, broken = os.pipe()
    os.close(closed)
    argv = [sys.executable, "-m", "ibstatus", "listen", "--timeout", "0"]
    done = subprocess.run(argv, cwd=repo.root, stdout=broken, stderr=subprocess.PIPE, check=False)
    os.close(broken)

    assert (done.returncode, done.stderr) == (0, b"")
    after = [json.loads(line) for line in ib("listen", "--timeout", "0").out.splitlines()]
    assert [line["msg"] for line in after] == ["line 0", "line 1", "line 2"]
    assert all(line["again"] for line in after)


def test_a_session_with_a_voice_is_only_rung(
    repo: paths.Place, ib: Ib, start: Callable[..., "subprocess.Popen[bytes]"]
) -> None:
    with session_reader.hear(repo, "s1", delivery.START, "") as offer:
        offer.settle()
    listener = start("--timeout", "30", session="s1")
    post(repo, "for the voice")
    out, _ = listener.communicate(timeout=20)

    assert out.decode() == "1 message is waiting; your hooks tell with this turn.\n"
    with session_reader.hear(repo, "s1", delivery.PROMPT, "p1") as offer:
        offer.settle()
    assert [value["msg"] for value in offer.told.values] == ["for the voice"]
    assert ib("listen", "--timeout", "0", env={"CLAUDE_CODE_SESSION_ID": "s1"}).out == TIMED_OUT


def test_without_fifos_a_second_is_all_it_takes(
    repo: paths.Place, start: Callable[..., "subprocess.Popen[bytes]"]
) -> None:
    """A file system that has no FIFOs: here, a `bells` that is no folder."""
    post(repo, "old")
    Path(repo.bells).write_text("")
    argv = [sys.executable, "-m", "ibstatus", "listen", "--timeout", "30", "--follow"]
    listener = subprocess.Popen(argv, cwd=repo.root, stdout=subprocess.PIPE)
    try:
        assert listener.stdout is not None
        heard = messages_of(listener.stdout.readline())
        post(repo, "new")
        heard += messages_of(listener.stdout.readline())
    finally:
        listener.kill()
        listener.communicate()

    assert heard == ["old", "new"]


def test_a_listener_ends_with_the_session_that_started_it(repo: paths.Place, ib: Ib) -> None:
    """Its shell is killed: nobody would read what it took in."""
    shell = f"exec 2>/dev/null; {sys.executable} -m ibstatus listen --timeout 60 & wait"
    env = {**os.environ, "CLAUDE_CODE_SESSION_ID": "s1"}
    parent = subprocess.Popen(
        ["sh", "-c", shell], cwd=repo.root, env=env, stdout=subprocess.DEVNULL, start_new_session=True
    )
    until(lambda: locks.is_held(repo.lock("cursor-listen@s1")))
    parent.kill()
    parent.wait()

    until(lambda: not locks.is_held(repo.lock("cursor-listen@s1")))
    post(repo, "kept")
    assert messages_of(ib("listen", "--timeout", "0", env={"CLAUDE_CODE_SESSION_ID": "s1"}).out) == ["kept"]


def test_events_and_trace_tell_the_life_of_a_message(
    repo: paths.Place, ib: Ib, start: Callable[..., "subprocess.Popen[bytes]"]
) -> None:
    listener = start("--timeout", "30")
    sent = json.loads(ib("send", "user-claude", "? Which port?", "--json").out)
    listener.communicate(timeout=20)
    ib("ack", sent["id"])
    life = json.loads(ib("trace", sent["id"], "--json").out)
    text = ib("trace", sent["id"]).out

    assert [step["step"] for step in life["steps"]] == ["queued", "rung", "offered", "confirmed", "acknowledged"]
    assert text.startswith(f"{sent['id']}: Which port?\n")
    events = [json.loads(line) for line in ib("events", "--json").out.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    last = events[-1]["seq"]
    assert ib("events", "--since", str(last)).out == ""
    assert ib("trace", "msg-0-nobody").code == 1


def test_events_can_be_followed(repo: paths.Place, ib: Ib) -> None:
    ib("notify", "one")
    argv = [sys.executable, "-m", "ibstatus", "events", "--follow", "--json"]
    follower = subprocess.Popen(argv, cwd=repo.root, stdout=subprocess.PIPE)
    try:
        assert follower.stdout is not None
        first = json.loads(follower.stdout.readline())
        post(repo, "two")
        second = json.loads(follower.stdout.readline())
    finally:
        follower.kill()
        follower.communicate()

    assert (first["kind"], second["kind"]) == ("message.queued", "message.queued")
    assert second["seq"] == first["seq"] + 1


def test_a_listener_lives_through_a_clean_repository(
    repo: paths.Place, ib: Ib, start: Callable[..., "subprocess.Popen[bytes]"]
) -> None:
    """Bell and lock are gone with the folder; both are made anew, and a second listener is still told."""
    post(repo, "before")
    listener = start("--follow")
    assert listener.stdout is not None
    heard = messages_of(listener.stdout.readline())
    while subprocess.run(["git", "clean", "-fdxq"], cwd=repo.root, capture_output=True, check=False).returncode:
        pass  # the listener wrote something while git was deleting
    until(lambda: os.path.exists(f"{repo.bells}/{listener.pid}"))
    second = ib("listen", "--timeout", "0")
    post(repo, "after")
    heard += messages_of(listener.stdout.readline())

    assert heard == ["before", "after"]
    assert second.out.startswith(f"Listener already running (PID {listener.pid})")


def client_with_listener(repo: paths.Place, out: Path) -> "subprocess.Popen[bytes]":
    """As the client does it: a shell that has the session's id runs the listener; the client itself has none."""
    inner = f"CLAUDE_CODE_SESSION_ID=s1 bash -c '{sys.executable} -m ibstatus listen --timeout 60; true' >{out} 2>&1"
    return subprocess.Popen(["bash", "-c", f"{inner} & wait"], cwd=repo.root, start_new_session=True)


def test_a_killed_clients_listener_takes_nothing_with_it(repo: paths.Place, ib: Ib, tmp_path: Path) -> None:
    """The shell between them lives on; the message comes right after the kill."""
    client = client_with_listener(repo, tmp_path / "out")
    until(lambda: bells_of(repo))
    client.kill()
    client.wait()
    post(repo, "kept")

    until(lambda: not locks.is_held(repo.lock("cursor-listen@s1")))
    assert "kept" not in (tmp_path / "out").read_text()
    resumed = ib("listen", "--timeout", "0", env={"CLAUDE_CODE_SESSION_ID": "s1"})
    assert messages_of(resumed.out) == ["kept"]


def test_a_living_clients_listener_tells(repo: paths.Place, tmp_path: Path) -> None:
    client = client_with_listener(repo, tmp_path / "out")
    until(lambda: bells_of(repo))
    post(repo, "heard")
    client.wait()

    assert messages_of((tmp_path / "out").read_text()) == ["heard"]


def test_a_voice_that_was_rung_and_did_not_speak_is_spoken_for(repo: paths.Place, ib: Ib) -> None:
    """Hooks that were switched off: the second listener tells the lines itself."""
    post(repo, "old")
    with session_reader.hear(repo, "s1", delivery.START, "") as offer:
        offer.settle()
    with session_reader.hear(repo, "s1", delivery.PROMPT, "p") as offer:
        offer.settle()
    with session_reader.hear(repo, "s1", delivery.STOP, "p") as offer:
        offer.settle()
    post(repo, "new")
    env = {"CLAUDE_CODE_SESSION_ID": "s1"}
    outs = [ib("listen", "--timeout", "0", env=env).out for _ in range(3)]

    assert outs[0] == "1 message is waiting; your hooks tell with this turn.\n"
    assert messages_of(outs[1]) == ["new"]
    post(repo, "next")
    with session_reader.hear(repo, "s1", delivery.PROMPT, "q") as offer:
        offer.settle()
    assert [(value["msg"], value.get("again")) for value in offer.told.values] == [("new", True), ("next", None)]
    assert ib("listen", "--timeout", "0", env=env).out == TIMED_OUT


def test_two_listeners_of_one_pid_have_two_bells(repo: paths.Place) -> None:
    """Sandboxes have pids of their own."""
    from ibstatus.project import home

    home.enter(repo)
    first, second = bells.Bell(repo.bells), bells.Bell(repo.bells)
    try:
        assert bells.ring(repo.bells) == 2
        assert first.wait(0)
        assert second.wait(0)
    finally:
        first.close()
        second.close()
    assert bells_of(repo) == set()


@pytest.mark.parametrize("harm", ["broken cursor", "lost tail", "killed hook"])
def test_a_voice_that_owes_lines_is_rung(repo: paths.Place, ib: Ib, harm: str) -> None:
    """What the voice would tell at its next turn is what the listener wakes for."""
    post(repo, "one")
    with session_reader.hear(repo, "s1", delivery.START, "") as offer:
        offer.settle()
    with session_reader.hear(repo, "s1", delivery.STOP, "p") as offer:
        offer.settle()
    assert ib("listen", "--timeout", "0", env={"CLAUDE_CODE_SESSION_ID": "s1"}).out == TIMED_OUT
    if harm == "broken cursor":
        Path(repo.cursor("s1")).write_bytes(b"\0" * 101)
    elif harm == "lost tail":
        Path(repo.queue).write_text('{"msg":"x"}\n')
    else:
        post(repo, "two")
        with session_reader.hear(repo, "s1", delivery.PROMPT, "p"):
            pass
    woken = ib("listen", "--timeout", "0", env={"CLAUDE_CODE_SESSION_ID": "s1"})
    with session_reader.hear(repo, "s1", delivery.PROMPT, "q") as offer:
        offer.settle()

    assert len(offer.told.values) == 1
    assert woken.out == "1 message is waiting; your hooks tell with this turn.\n"


def test_in_the_background_ctrl_c_stays_ignored(repo: paths.Place) -> None:
    """A shell starts what it puts into the background so; only SIGTERM is heard there."""
    listen = f"trap '' INT; exec {sys.executable} -m ibstatus listen --timeout 60"
    listener = subprocess.Popen(["sh", "-c", listen], cwd=repo.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    pid_file = Path(repo.home, "notify/listener.pid")
    until(pid_file.exists)
    listener.send_signal(signal.SIGINT)
    post(repo, "still there")
    out, err = listener.communicate(timeout=20)

    assert (listener.returncode, messages_of(out), err) == (0, ["still there"], b"")
