"""Every file operation in turn fails, or kills the process: what stands on the disk, and does the next command work?"""

import errno
import json
import os
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ibstatus.errors import IbError
from ibstatus.mail import (
    cleanup,
    cursors,
    delivery,
    json_list,
    listener_reader,
    messages,
    post,
    questions,
    queue,
    send,
    session_reader,
)
from ibstatus.model import constants
from ibstatus.project import home, identity, paths
from ibstatus.system import atomic, disk, locks
from tests import faults as fault_seam
from tests.conftest import run_ib
from tests.sweeps import SOAK, Sweep

NOW = 1_800_000_000.0
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
PASSES = 3 if SOAK else 1  # each takes another of the errors for the same operation: together they try them all
SESSION = "5e55-10n"


class World:
    """One repository, what was printed in it, and the command that is struck."""

    def __init__(self, root: Path) -> None:
        (root / ".git").mkdir(parents=True)
        self.root = root
        self.place = paths.Place(str(root), str(root / ".git"))
        self.pipe: int | None = None
        self.printed: list[dict[str, Any]] = []

    def prepare(self) -> None:
        home.enter(self.place)

    def act(self) -> None:
        raise NotImplementedError

    def check(self, done: bool) -> None:
        raise NotImplementedError

    def out(self, data: bytes) -> None:
        if self.pipe is not None:
            os.write(self.pipe, data)
        else:
            self.printed += [json.loads(line) for line in data.splitlines()]

    def send(self, text: str, kind: str = "question") -> str:
        return str(messages.send(self.place, "cli", "a", True, kind, text, NOW).item["id"])

    def messages(self) -> dict[str, str]:
        return {item["id"]: item["content"] for item in messages.open_ones(self.place).items}

    def queued(self) -> list[dict[str, Any]]:
        try:
            data = Path(self.place.queue).read_bytes()
        except FileNotFoundError:
            return []
        assert data.endswith(b"\n") or not data, "torn line"
        return [json.loads(line) for line in data.splitlines()]

    def lines_with(self, key: str, value: str) -> int:
        return sum(line[key] == value for line in self.queued())

    def sound(self) -> None:
        """What holds whatever happened."""
        for path, key in ((self.place.messages, ""), (self.place.questions, questions.KEY)):
            if os.path.exists(path):
                value = json.loads(Path(path).read_bytes())
                assert isinstance(value[key] if key else value, list)
        ids = [line["id"] for line in self.queued()]
        assert len(ids) == len(set(ids)), "an id stands twice in the queue"
        assert not list(self.root.rglob("*.corrupt-*"))
        for name in cursors.names(self.place):
            cursor = cursors.read(self.place, name)
            assert cursor is not None
            assert cursor.done <= cursor.offered < 1 << 62, "broken cursor"

    def go_on(self) -> None:
        """The next commands work, and bring to an end what was begun."""
        home.enter(self.place)
        new = self.send("? afterwards")
        assert new in self.messages()
        post.notify(self.place, "cli", "complete", "b", True, "and on", NOW)
        questions.ask(self.place, "cli", "b", True, "and on?", NOW)
        for item in json.loads(Path(self.place.messages).read_bytes()):
            if item["type"] in constants.WAKES:
                assert self.lines_with("id", item["id"]) == 1, "a message without its one queue line"
                assert item["queued"] is True
        for item in questions.all_of(self.place).items:
            assert self.lines_with("id", item["id"]) == 1, "a question without its one queue line"
        self.sound()


class Notify(World):
    def act(self) -> None:
        post.notify(self.place, "cli", "complete", "a", True, "hello", NOW)

    def check(self, done: bool) -> None:
        assert self.lines_with("msg", "hello") in ((1,) if done else (0, 1))


class First(Notify):
    """The very first command in a repository."""

    def prepare(self) -> None:
        pass

    def act(self) -> None:
        caller = identity.Caller(identity.PERSON, "user")
        send.notify(self.place, caller, ["hello"], "", "", NOW)


class Send(World):
    def prepare(self) -> None:
        super().prepare()
        self.old = self.send("? earlier")

    def act(self) -> None:
        self.said = messages.send(self.place, "cli", "a", True, "question", "? hello", NOW).note

    def check(self, done: bool) -> None:
        """Success is: kept, and told or said that it was not."""
        found = self.messages()
        assert found.pop(self.old) == "? earlier"
        assert list(found.values()) in ([["? hello"]] if done else [[], ["? hello"]])
        if done:
            told = [self.lines_with("id", item) for item in found]
            assert told == [1] or (told == [0] and "nobody was told yet" in self.said)


class Acknowledge(World):
    def prepare(self) -> None:
        super().prepare()
        self.gone, self.kept = self.send("? one"), self.send("! two", "alert")

    def act(self) -> None:
        assert messages.acknowledge(self.place, "cli", "user", [self.gone], NOW)[0] == [self.gone]

    def check(self, done: bool) -> None:
        found = self.messages()
        assert self.kept in found
        assert not (done and self.gone in found)


class Ask(World):
    def prepare(self) -> None:
        super().prepare()
        questions.ask(self.place, "cli", "a", True, "earlier?", NOW)

    def act(self) -> None:
        questions.ask(self.place, "cli", "a", True, "which port?", NOW)

    def check(self, done: bool) -> None:
        texts = [item["question"] for item in questions.pending(self.place)]
        assert texts in ([["earlier?", "which port?"]] if done else [["earlier?"], ["earlier?", "which port?"]])


class Answer(World):
    def prepare(self) -> None:
        super().prepare()
        Path(self.place.agent_dir("a")).mkdir(parents=True)
        self.asked = questions.ask(self.place, "cli", "a", True, "which port?", NOW)[0]["id"]

    def act(self) -> None:
        questions.answer(self.place, "cli", "user", self.asked, "8080", NOW)

    def inbox(self) -> list[str]:
        try:
            data = Path(self.place.agent_dir("a") + "/inbox.jsonl").read_bytes()
        except FileNotFoundError:
            return []
        return [json.loads(line)["msg"] for line in data.splitlines()]

    def check(self, done: bool) -> None:
        assert self.inbox() in ([["8080"]] if done else [[], ["8080"]])

    def go_on(self) -> None:
        super().go_on()
        item = next(item for item in questions.all_of(self.place).items if item["id"] == self.asked)
        answered = "answer" in item
        assert self.inbox() == (["8080"] if answered else []), "the next writer did not bring it to an end"
        assert (item["status"] == questions.ACKNOWLEDGED) == answered


class AcknowledgeQuestion(Answer):
    def act(self) -> None:
        assert questions.acknowledge(self.place, "cli", "user", [self.asked], NOW)[0] == [self.asked]

    def check(self, done: bool) -> None:
        assert not (done and questions.pending(self.place))

    def go_on(self) -> None:
        World.go_on(self)


class Trim(World):
    """Three readers, at three places."""

    READERS = (("default", 5), ("listen@s", 3), ("late", 8))

    def prepare(self) -> None:
        super().prepare()
        for number in range(10):
            post.notify(self.place, "cli", "complete", "a", True, f"line {number}", NOW)
            for reader, upto in self.READERS:
                if number == upto - 1:
                    self.read(reader)

    def read(self, reader: str) -> list[Any]:
        reading = listener_reader.Tap(self.place, reader)
        try:
            return reading.pour(lambda data: None).values
        finally:
            reading.close()

    def act(self) -> None:
        with locks.Lock(self.place.lock("queue")):
            assert cleanup.trim(self.place) > 0

    def check(self, done: bool) -> None:
        for reader, upto in self.READERS:
            got = self.read(reader)
            assert [line["msg"] for line in got] == [f"line {number}" for number in range(upto, 10)]
            assert not any("again" in line for line in got)


class Listener(World):
    """What one listening prints; `check` listens again, and everything was printed, repeats marked."""

    def prepare(self) -> None:
        super().prepare()
        for number in range(3):
            post.notify(self.place, "cli", "complete", "a", True, f"line {number}", NOW)

    def act(self) -> None:
        reading = listener_reader.Tap(self.place, constants.DEFAULT_READER)
        try:
            reading.pour(self.out)
        finally:
            reading.close()

    def check(self, done: bool) -> None:
        if done:
            assert len(self.printed) == 3
        self.act()
        first: set[str] = set()
        repeats: set[str] = set()
        for line in self.printed:
            if line["msg"] in first:
                assert line.get("again") is True, "a repeat that is not marked"
                assert line["msg"] not in repeats, "more than one repeat"
                repeats.add(line["msg"])
            first.add(line["msg"])
        assert first == {"line 0", "line 1", "line 2"}
        assert not (done and repeats)


class Voice(Listener):
    def hear(self, event: str, prompt: str) -> None:
        with session_reader.hear(self.place, SESSION, event, prompt) as offer:
            if offer.told.values:
                self.out(offer.told.text().encode())
            offer.settle()

    def act(self) -> None:
        self.hear(delivery.PROMPT, "p1")

    def check(self, done: bool) -> None:
        if done:
            self.hear(delivery.STOP, "p1")
        told = len(self.printed)
        self.hear(delivery.PROMPT, "p2")
        assert {line["msg"] for line in self.printed} == {"line 0", "line 1", "line 2"}
        seen = {line["msg"] for line in self.printed[:told]}
        assert all(line.get("again") is True for line in self.printed[told:] if line["msg"] in seen)
        if done:
            assert told == len(self.printed) == 3
        self.hear(delivery.STOP, "p2")
        self.hear(delivery.PROMPT, "p3")
        assert len(self.printed) <= told + 3, "told again after a turn had confirmed"


class Confirm(Voice):
    """The Stop that confirms is struck."""

    def prepare(self) -> None:
        super().prepare()
        self.hear(delivery.PROMPT, "p1")

    def act(self) -> None:
        self.hear(delivery.STOP, "p1")

    def check(self, done: bool) -> None:
        self.hear(delivery.PROMPT, "p2")
        assert len(self.printed) in ((3,) if done else (3, 6))
        assert all(line.get("again") is True for line in self.printed[3:])


class Rejoin(World):
    """The queue was deleted with an unread line in it, and begun anew by an `echo`."""

    def prepare(self) -> None:
        super().prepare()
        post.notify(self.place, "cli", "complete", "a", True, "read", NOW)
        self.listen()
        post.notify(self.place, "cli", "complete", "a", True, "unread", NOW)
        os.unlink(self.place.queue)
        Path(self.place.queue).write_text('{"msg":"foreign","id":"f"}\n')

    def listen(self) -> list[str]:
        reading = listener_reader.Tap(self.place, constants.DEFAULT_READER)
        try:
            told = reading.pour(lambda data: None)
        finally:
            reading.close()
        return [line["msg"] for line in told.values]

    def act(self) -> None:
        post.notify(self.place, "cli", "complete", "a", True, "ours", NOW)

    def check(self, done: bool) -> None:
        assert self.listen() in (
            [["unread", "foreign", "ours"]] if done else [["unread", "foreign"], ["unread", "foreign", "ours"]]
        )


class Replace(World):
    def prepare(self) -> None:
        super().prepare()
        self.path = self.root / "file"
        self.path.write_bytes(b"old\n" * 1000)
        self.path.chmod(0o640)
        (self.root / "link").symlink_to("file")

    def act(self) -> None:
        atomic.replace(str(self.root / "link"), b"new\n" * 2000)

    def check(self, done: bool) -> None:
        assert self.path.read_bytes() in ((b"new\n" * 2000,) if done else (b"old\n" * 1000, b"new\n" * 2000))
        assert self.path.stat().st_mode & 0o777 == 0o640
        assert (self.root / "link").is_symlink()
        atomic.replace(str(self.path), b"third\n")
        assert self.path.read_bytes() == b"third\n"


WORLDS = (
    Notify,
    First,
    Send,
    Acknowledge,
    Ask,
    Answer,
    AcknowledgeQuestion,
    Trim,
    Listener,
    Voice,
    Confirm,
    Rejoin,
    Replace,
)


@pytest.fixture(autouse=True)
def no_waiting_for_the_platter(monkeypatch: pytest.MonkeyPatch) -> None:
    """An fsync is counted and can fail, but a thousand of them would take minutes."""
    monkeypatch.setattr(disk, "fsync", os.fstat)
    monkeypatch.setattr(disk, "fdatasync", os.fstat)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Path]:
    """Thousands of small files: in memory where the system has a place for that."""
    memory = "/dev/shm"
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def prepared(kind: type[World], root: Path) -> World:
    world = kind(root)
    world.prepare()
    return world


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


@pytest.mark.sweep
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("kind", WORLDS, ids=lambda kind: kind.__name__)
def test_an_error_at_every_operation(kind: type[World], lasting: bool, room: Path, faults: fault_seam.Faults) -> None:
    for turn in range(PASSES):
        sweep = Sweep(every=4)
        for at in sweep:
            error = ERRORS[(at + turn) % len(ERRORS)]
            world = prepared(kind, room / f"{turn}-{at}")
            before = descriptors()
            faults.arm(at, error, keep=lasting)
            try:
                world.act()
                done = True
            except (OSError, IbError):
                done = False
            sweep.tell(not done or faults.seen >= at)
            step = faults.trace[at - 1] if faults.seen >= at else "nothing"
            faults.disarm()
            try:
                assert descriptors() == before, "an open file was forgotten"
                world.sound()
                world.check(done)
                world.go_on()
            except Exception as problem:
                told = f"{errno.errorcode[error]} at {step}, operation {at}, done: {done}"
                raise AssertionError(told) from problem
        assert sweep.last > 2


@pytest.fixture
def forked() -> Callable[[World, int], bool]:
    def run(world: World, at: int) -> bool:
        """Act in a child that is killed at its operation `at`; True when it came through. What it printed is kept."""
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pid = os.fork()
        if pid == 0:
            code = 70
            try:
                os.close(reader)
                world.pipe = writer
                seam = fault_seam.Faults()
                seam.arm(at, None)
                world.act()
                code = 0
            finally:
                os._exit(code)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            data = pipe.read()
        status = os.waitpid(pid, 0)[1]
        world.out(data)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL
            return False
        assert os.WEXITSTATUS(status) == 0
        return True

    return run


@pytest.mark.sweep
@pytest.mark.parametrize("kind", WORLDS, ids=lambda kind: kind.__name__)
def test_a_kill_at_every_operation(kind: type[World], room: Path, forked: Callable[[World, int], bool]) -> None:
    sweep = Sweep(every=8)
    for at in sweep:
        world = prepared(kind, room / str(at))
        done = forked(world, at)
        sweep.tell(not done)
        try:
            world.sound()
            world.check(done)
            world.go_on()
        except Exception as problem:
            raise AssertionError(f"killed at operation {at}, done: {done}") from problem
    assert sweep.last > 2


@pytest.mark.parametrize("at", [3, 9, 16, 24, 33, 43])
def test_the_real_program_killed(repo: paths.Place, at: int) -> None:
    """The same through the front door, as a process."""
    import subprocess
    import sys

    from tests.conftest import PROJECT

    command = [sys.executable, "-m", "tests.faults", "KILL", str(at), "--", "send", "user-claude", "? hello"]
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    struck = subprocess.run(command, cwd=repo.root, env=env, capture_output=True, timeout=60, check=False)
    assert struck.returncode in (-signal.SIGKILL, 0, 77)
    assert run_ib("send", "user-claude", "? more", cwd=repo.root).code == 0
    found = [item["content"] for item in json.loads(Path(repo.messages).read_bytes())]
    assert found in (["more"], ["hello", "more"])
    told = [json.loads(line)["msg"] for line in run_ib("listen", "--timeout", "0", cwd=repo.root).out.splitlines()]
    assert told == found


def test_a_full_disk_leaves_no_half_line(tmp_path: Path) -> None:
    """A real short write: the kernel takes what fits below the limit, and refuses the rest."""
    import resource

    world = prepared(Notify, tmp_path / "repo")
    post.notify(world.place, "cli", "complete", "a", True, "x" * 5000, NOW)
    before = Path(world.place.queue).read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, resource.RLIM_INFINITY))
            world.act()
        except (OSError, IbError):
            os._exit(1)
        finally:
            os._exit(0)
    assert os.WEXITSTATUS(os.waitpid(pid, 0)[1]) == 1
    assert Path(world.place.queue).read_bytes() == before
    world.go_on()


def test_a_torn_line_of_a_killed_writer_is_not_taken_for_told(tmp_path: Path) -> None:
    """A kill can cut a large write at a page: the torn line may hold the id, and nobody was told."""
    world = prepared(Send, tmp_path / "repo")
    item = {"id": "msg-1-a", "from": "a", "timestamp": "", "type": "question", "content": "hello"}
    with locks.Lock(world.place.lock("messages")):
        kept = json_list.load_to_change(world.place, world.place.messages).items
        json_list.save(world.place, world.place.messages, [*kept, item], lambda items: False)
    fd = disk.open(world.place.queue, os.O_WRONLY | os.O_APPEND)
    disk.write(fd, b'{"ts":"","from":"a","type":"question","msg":"hello","id":"msg-1-a"')
    disk.close(fd)
    world.send("? next")
    seen = queue.view(world.place)
    seen.close()
    reading = listener_reader.Tap(world.place, constants.DEFAULT_READER)
    told = reading.pour(lambda data: None)
    reading.close()
    assert [line["id"] for line in told.values].count("msg-1-a") == 1
    assert len(told.skipped) == 1
