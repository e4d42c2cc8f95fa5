"""Real processes at the same files at the same time."""

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from ibstatus.mail import delivery, inbox, listener_reader, messages, post, questions, queue, session_reader
from ibstatus.model import constants
from ibstatus.project import events, home, logs, paths
from ibstatus.system import locks
from tests.children import Child

WRITERS = 8
APPENDS = 25
ROUNDS = 8


@pytest.fixture
def place(tmp_path: Path) -> paths.Place:
    (tmp_path / ".git").mkdir()
    found = paths.Place(str(tmp_path), str(tmp_path / ".git"))
    home.enter(found)
    return found


@pytest.mark.parametrize("trimming", [False, True])
def test_appends_while_readers_drain_and_restart(
    place: paths.Place, trimming: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing lost, torn, or doubled within one reader: listeners, and the voice of a session."""
    if trimming:
        monkeypatch.setattr(queue, "TRIM_ABOVE", 1 << 16)
        monkeypatch.setattr(queue, "TRIM_STEP", 1 << 13)
    over = Path(place.root) / "over"

    def writer(number: int) -> list[str]:
        sizes = random.Random(number)
        sent = []
        for count in range(APPENDS):
            text = f"{number}-{count} " + "ü" * sizes.randint(5, 4000)
            sent.append(post.notify(place, "cli", "complete", f"w{number}", True, text, time.time())["id"])
        return sent

    def listener(reader: str) -> list[Any]:
        got: list[Any] = []
        last = False
        while not last:
            last = over.exists()
            with listener_reader.lock_of(place, reader):
                reading = listener_reader.Tap(place, reader)
                for _ in range(5):
                    if reading.changed() or last:
                        reading.poured(lambda data: got.extend(json.loads(line) for line in data.splitlines()))
                reading.close()
        return [(line["id"], line["msg"], line.get("again")) for line in got]

    def session() -> list[Any]:
        got: list[Any] = []
        turn, last = 0, False
        while not last:
            last = over.exists()
            turn += 1
            for event in (delivery.PROMPT, delivery.BATCH, delivery.STOP):
                with session_reader.hear(place, "session", event, f"p{turn}") as offer:
                    got += offer.told.values
                    offer.settle()
        return [(line["id"], line["msg"], line.get("again")) for line in got]

    for reader in ("default", "listen@s"):  # readers that are known from the start, so that nothing is trimmed early
        listener_reader.Tap(place, reader).close()
    readers = [Child(lambda r=reader: listener(r)) for reader in ("default", "listen@s")] + [Child(session)]  # type: ignore[misc]
    writers = [Child(lambda n=number: writer(n)) for number in range(WRITERS)]  # type: ignore[misc]
    sent = [item for child in writers for item in child.result()]
    over.touch()
    assert len(set(sent)) == WRITERS * APPENDS
    for child in readers[:2]:
        got = child.result()
        assert sorted(item for item, _, _ in got) == sorted(sent)
        assert not any(again for _, _, again in got)
    got = readers[2].result()
    assert len({item for item, _, _ in got}) == len(got)
    for number in range(WRITERS):  # a session begins where it begins, but from there on nothing is missing
        mine = [int(text.split()[0].partition("-")[2]) for _, text, _ in got if text.startswith(f"{number}-")]
        assert mine == list(range(APPENDS))[APPENDS - len(mine) :]
    extra = [len(post.notify(place, "cli", "complete", "a", True, "x" * 8000, time.time())) for _ in range(10)]
    seen = queue.view(place)
    seen.close()
    assert (seen.base > 0) is trimming, "with everything read, 80 KB more must have trimmed it"
    reading = listener_reader.Tap(place, "default")
    assert len(reading.pour(lambda data: None).values) == len(extra)
    reading.close()


def test_send_acknowledge_and_ask_at_once(place: paths.Place) -> None:
    """Arrays are valid JSON at every moment; every item is there or acknowledged; ids are unique."""

    def worker(number: int) -> dict[str, list[str]]:
        name = f"w{number % 3}"
        done: dict[str, list[str]] = {"sent": [], "gone": [], "asked": [], "settled": []}
        for count in range(ROUNDS):
            kind = constants.MESSAGE_TYPES[count % 4]
            item = messages.send(place, "cli", name, True, kind, f"{number}-{count}", time.time()).item
            done["sent"].append(item["id"])
            done["asked"].append(questions.ask(place, "cli", name, True, f"{number}-{count}?", time.time())[0]["id"])
            if count % 2:
                done["gone"] += messages.acknowledge(place, "cli", "user", done["sent"][-2:-1], time.time())[0]
                done["settled"] += questions.acknowledge(place, "cli", "user", done["asked"][-2:-1], time.time())[0]
        return done

    def reader() -> int:
        looks = 0
        while not (Path(place.root) / "over").exists():
            for path in (place.messages, place.questions):
                try:
                    json.loads(Path(path).read_bytes())
                    looks += 1
                except FileNotFoundError:
                    continue
        return looks

    looking = Child(reader)
    children = [Child(lambda n=number: worker(n)) for number in range(WRITERS)]  # type: ignore[misc]
    results = [child.result() for child in children]
    (Path(place.root) / "over").touch()
    assert looking.result() > 0
    total = {key: [item for result in results for item in result[key]] for key in results[0]}
    assert len(total["gone"]) == len(total["settled"]) == WRITERS * ROUNDS // 2
    assert len(set(total["sent"] + total["asked"])) == 2 * WRITERS * ROUNDS
    kept = [item["id"] for item in messages.open_ones(place).items]
    assert sorted(kept + total["gone"]) == sorted(total["sent"])
    asked = questions.all_of(place).items
    open_ones = [item["id"] for item in questions.pending(place)]
    assert sorted(open_ones + total["settled"]) == sorted(total["asked"])
    assert len(asked) >= len(open_ones) + min(len(total["settled"]), questions.KEPT_ACKNOWLEDGED)
    lines = [json.loads(line)["id"] for line in Path(place.queue).read_bytes().splitlines()]
    assert len(lines) == len(set(lines)) == WRITERS * ROUNDS * 3 // 4 + WRITERS * ROUNDS


def test_inboxes_share_their_ids(place: paths.Place) -> None:
    """Each receiver has a lock of its own, and still no id is given twice."""
    for name in ("a", "b", "c", "d"):
        Path(place.agent_dir(name)).mkdir(parents=True)

    def worker(to: str) -> list[str]:
        return [inbox.put(place, "cli", to, "boss", True, "go", time.time())["id"] for _ in range(40)]

    children = [Child(lambda n=name: worker(n)) for name in ("a", "b", "c", "d") * 2]  # type: ignore[misc]
    ids = [item for child in children for item in child.result()]
    assert len(set(ids)) == len(ids) == 320


def test_two_answers_at_once_are_one(place: paths.Place) -> None:
    from ibstatus.errors import IbError

    Path(place.agent_dir("a")).mkdir(parents=True)
    asked = questions.ask(place, "a", "a", True, "which port?", time.time())[0]["id"]

    def worker(text: str) -> bool:
        try:
            questions.answer(place, "cli", "user", asked, text, time.time())
        except IbError:
            return False
        return True

    children = {text: Child(lambda t=text: worker(t)) for text in ("80", "81", "82", "83")}  # type: ignore[misc]
    said = [text for text, child in children.items() if child.result()]
    assert len(said) == 1, "an answer was accepted, and nobody will hear it"
    lines = Path(place.agent_dir("a") + "/inbox.jsonl").read_text().splitlines()
    assert [json.loads(line)["msg"] for line in lines] == said


def test_locks_are_taken_in_their_order(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """None is waited for while one that stands behind it is held; with a spool that wants folding, too."""
    order = ("init", "fold", "messages", "questions", "cursor", "queue", "agent")
    place = repo
    home.enter(place)
    held: list[int] = []
    wrong: list[str] = []
    real_enter, real_release = locks.Lock.__enter__, locks.Lock.release

    def rank(lock: locks.Lock) -> int:
        return order.index(Path(lock.path).name.partition("-")[0])

    def enter(lock: locks.Lock) -> locks.Lock:
        if held and rank(lock) < max(held):
            wrong.append(f"{lock.path} while holding {order[max(held)]}")
        held.append(rank(lock))
        return real_enter(lock)

    def release(lock: locks.Lock) -> None:
        if lock.fd >= 0 and rank(lock) in held:
            held.remove(rank(lock))
        real_release(lock)

    monkeypatch.setattr(locks.Lock, "__enter__", enter)
    monkeypatch.setattr(locks.Lock, "release", release)
    monkeypatch.setattr(logs, "FOLD_ABOVE", 10)
    monkeypatch.setattr(logs, "FOLD_STEP", 10)
    Path(place.agent_dir("a")).mkdir(parents=True)
    for number in range(3):
        sent = messages.send(place, "cli", "a", True, "question", "x", time.time()).item["id"]
        asked = questions.ask(place, "cli", "a", True, "x", time.time())[0]["id"]
        questions.answer(place, "cli", "user", asked, "y", time.time())
        messages.acknowledge(place, "cli", "user", [sent], time.time())
        reading = listener_reader.Tap(place, f"r{number}")
        reading.pour(lambda data: None)
        reading.close()
        events.fold(place)

    assert wrong == []
    assert held == []
