"""`ib list --json` without click: to the letter what click prints, or nothing at all."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibstatus
from bench import listing
from ibstatus import __main__ as front
from ibstatus.cli import fast_list
from ibstatus.guard import ib_commands
from ibstatus.model.fleet import Agent, Snapshot, Wake
from ibstatus.project import events, home, paths
from ibstatus.state import fleet, snapshot, snapshot_fresh
from ibstatus.system import disk, jsonl, locks, timestamps
from tests.test_house import HOT, LIGHT

VERSION = ibstatus.__version__
Ib = Callable[..., Any]
TEXT = st.one_of(
    st.sampled_from(["", "ü", "\x00\x1b[31m", 'x,"age":"5m","prompt":"', "\\ud83d", "\x7f\u2028\u202e", "🤖", "\n"]),
    st.text(max_size=8),
)  # fmt: skip
NUMBER = st.one_of(
    st.none(),
    st.sampled_from([0.0, 1.0, 1e15, 1e16, 1e-5, -3.5, 1.7e9 + 0.123456]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(1e9, 2e9),
)
AGENTS = st.builds(
    Agent,
    **dict.fromkeys(("id", "age", "prompt", "reason", "model", "problem", "source", "asks", "said", "note"), TEXT),
    **dict.fromkeys(("worker", "silent"), st.booleans()),
    state=st.sampled_from(["running", "waiting", "unknown"]),
    children=st.integers(0, 2000),
    children_complete=st.integers(0, 2000),
    manager=st.one_of(st.none(), TEXT),
    since=NUMBER,
    created=NUMBER,
    marks=st.lists(TEXT, max_size=2),
)
ITEMS = st.lists(st.dictionaries(TEXT, st.one_of(TEXT, st.integers(), st.lists(TEXT, max_size=2))), max_size=2)
SNAPSHOTS = st.builds(
    Snapshot,
    seq=st.integers(0, 1 << 40),
    at=st.just("2026-01-11T15:30:00Z"),
    version=st.sampled_from([VERSION, VERSION, VERSION, "0"]),
    agents=st.lists(AGENTS, max_size=3),
    messages=ITEMS,
    questions=ITEMS,
    wake=st.builds(Wake, st.lists(TEXT, max_size=2), TEXT, st.lists(TEXT, max_size=2)),
)


def written(found: Snapshot) -> bytes:
    """As store/snapshot writes it."""
    return jsonl.encode(msgspec.to_builtins(found)).encode("utf-8", "replace") + b"\n"


def by_click(data: bytes, now: float) -> str | None:
    try:
        found = msgspec.json.decode(data, type=Snapshot)
    except (msgspec.MsgspecError, ValueError):
        return None
    agents = fleet.of_now(found, now).agents
    return msgspec.json.encode(agents).decode() + "\n" if found.version == VERSION else None


def is_usual(found: Snapshot) -> bool:
    numbers = [number for agent in found.agents for number in (agent.since, agent.created)]
    return (
        found.version == VERSION
        and all(map(snapshot_fresh.is_plain, numbers))
        and snapshot_fresh.HALF not in written(found).decode()
    )


@given(found=SNAPSHOTS, now=st.floats(1e9, 3e9))
@settings(max_examples=400)
def test_every_snapshot_is_printed_as_click_does(found: Snapshot, now: float) -> None:
    data = written(found)
    text = snapshot_fresh.encode_list(data, VERSION, now)

    assert text == (by_click(data, now) if is_usual(found) else None)


ONE = Snapshot(1, "2026-01-11T15:30:00Z", VERSION, [Agent("a", "running", "1m", "do", created=5.0)], [], [], Wake())


@given(
    at=st.integers(0, len(written(ONE)) - 1), put=st.sampled_from([b"", b"0", b'"', b"\n", b"\xff", b"}", b",", b"x"])
)
@settings(max_examples=400)
def test_a_broken_snapshot_is_left_to_click(at: int, put: bytes) -> None:
    data = written(ONE)
    broken = data[:at] + put + data[at + 1 :]

    assert snapshot_fresh.encode_list(broken, VERSION, 9.0) in (None, by_click(broken, 9.0))


@pytest.mark.parametrize(
    "change",
    [
        {"agents": None},
        {"agents": [5]},
        {"agents": [{"id": "a", "state": "running", "age": "1m", "prompt": ""}]},
        {"messages": [5]},
        {"wake": {}},
        {"wake": []},
        {"seq": 1.5},
        {"seq": True},
        {"extra": 1},
    ],
    ids=json.dumps,
)
def test_a_snapshot_of_another_shape_is_left_to_click(change: dict[str, Any]) -> None:
    data = jsonl.encode(msgspec.to_builtins(ONE) | change).encode() + b"\n"

    assert snapshot_fresh.encode_list(data, VERSION, 9.0) is None


def test_the_fields_are_those_of_an_agent() -> None:
    kinds = {"str": (str,), "int": (int,), "bool": (bool,), "list[str]": (list,)}
    maybe = {"str | None": (str, type(None)), "float | None": (float, type(None))}

    fields = {field.name: str(getattr(field.type, "__name__", field.type)) for field in msgspec.structs.fields(Agent)}
    fields["marks"] = str(Agent.__annotations__["marks"])
    assert {name: (kinds | maybe)[kind] for name, kind in fields.items()} == snapshot_fresh.AGENT
    assert tuple(snapshot_fresh.AGENT) == Agent.__struct_fields__
    assert Snapshot.__struct_fields__ == snapshot_fresh.TOP
    assert Wake.__struct_fields__ == snapshot_fresh.WAKE


def test_no_agent_is_refused_it() -> None:
    assert {
        ib_commands.refusal(words, *who) for words in front.LISTS for who in [(True, True, True), (False,) * 3]
    } == {""}


@pytest.fixture
def kept(repo: paths.Place) -> Iterator[paths.Place]:
    """Three agents, and a supervisor that has published them and looked just now."""
    home.enter(repo)
    lock = locks.Lock(repo.lock("supervisor"))
    assert lock.try_take()
    disk.make_dirs(repo.safe + "/operations")
    disk.make_dirs(repo.spool)
    Path(repo.spool, "w.jsonl").write_text("{}\n")
    listing.fill(repo, 3)
    yield repo
    lock.release()


def listed(place: paths.Place) -> str | None:
    return snapshot_fresh.listed(place, VERSION, time.time())


def test_click_prints_the_same_as_a_process(kept: paths.Place, ib: Ib) -> None:
    for name in ("list", "ls"):
        snapshot.touch(kept, time.time_ns())
        assert listed(kept) is not None
        plain, click = ib(name, "--json"), ib(name, "--json", "--json")

        assert plain == click
        assert [agent["id"] for agent in plain.json()] == ["agent-0", "agent-1", "agent-2"]
        assert (plain.code, plain.err) == (0, "")


def test_it_loads_the_hot_set_only(kept: paths.Place) -> None:
    program = (
        "import sys; before = set(sys.modules); from ibstatus.__main__ import main; "
        "main(['list', '--json']); print('\\n' + '\\n'.join(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=kept.root, capture_output=True, text=True, check=True)

    loaded = {line for line in done.stdout.splitlines() if re.fullmatch(r"[\w.]+", line)}
    packages = {name.rpartition(".")[0] for name in HOT}
    assert "ibstatus.cli.fast_list" in loaded
    assert loaded - LIGHT - set(HOT) - packages - {"ibstatus"} == set()


def changed(path: str) -> Callable[[paths.Place], None]:
    """This file or folder has changed a moment ago."""
    return lambda place: disk.utime(path.format(place=place))


CHANGES: dict[str, Callable[[paths.Place], None]] = {
    "a meta.json": changed("{place.home}/agents/agent-1/meta.json"),
    "agents": changed("{place.home}/agents"),
    "a spool": changed("{place.spool}/w.jsonl"),
    "questions": lambda place: Path(place.questions).write_text("[]"),
    "history": lambda place: Path(place.events).write_text(""),
    "an operation": lambda place: Path(place.safe, "operations/a.json").write_text("{}"),
    "no snapshot": lambda place: disk.unlink(snapshot_fresh.path_of(place)),
    "a broken one": lambda place: Path(snapshot_fresh.path_of(place)).write_text("{"),
    "an old one": lambda place: snapshot.touch(place, time.time_ns() - 60 * 10**9),
    "one of tomorrow": lambda place: snapshot.touch(place, time.time_ns() + 86_400 * 10**9),
    "a folder in its place": lambda place: (
        disk.unlink(snapshot_fresh.path_of(place)),
        disk.mkdir(snapshot_fresh.path_of(place)),
    ),
    "no home": lambda place: disk.rename(place.home, place.root + "/moved"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_not_surely_true_is_left_to_click(what: str, kept: paths.Place, ib: Ib) -> None:
    assert listed(kept) is not None

    CHANGES[what](kept)

    assert listed(kept) is None
    assert ib("list", "--json").code == 0


def test_without_a_supervisor_nothing_is_true(repo: paths.Place) -> None:
    home.enter(repo)
    listing.fill(repo, 3)

    assert listed(repo) is None


def test_an_agent_of_elsewhere_and_a_folder_of_nobody_are_for_click(
    kept: paths.Place, ib: Ib, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = {"IB_AGENT_ID": "x", "IB_AGENT_TOKEN": "0"}
    assert ib("list", "--json", env=stranger).code == 0
    assert ib("list", "--json", cwd=tmp_path) == ib("list", "--json", "--json", cwd=tmp_path)
    monkeypatch.chdir(kept.root)
    for name, value in stranger.items():
        monkeypatch.setitem(os.environ, name, value)
        monkeypatch.setitem(sys.modules["posix"].environ, name.encode(), value.encode())  # type: ignore[attr-defined]

    assert fast_list.run(["list", "--json"]) is None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_and_a_reader_that_went_away_end_as_with_click(kept: paths.Place) -> None:
    for many in (["--json"], ["--json", "--json"]):
        snapshot.touch(kept, time.time_ns())
        argv = [sys.executable, "-m", "ibstatus", "list", *many]
        with open("/dev/full", "wb") as full:
            ended = subprocess.run(argv, cwd=kept.root, stdout=full, stderr=subprocess.PIPE, check=False)
        assert (ended.returncode, b"ib list" in ended.stderr) == (1, True)

        reader, writer = os.pipe()
        os.close(reader)
        ended = subprocess.run(argv, cwd=kept.root, stdout=writer, stderr=subprocess.PIPE, check=False)
        os.close(writer)
        assert (ended.returncode, ended.stderr) == (0, b"")


def test_what_was_published_counts_from_before_its_look(kept: paths.Place) -> None:
    """Until the look is over, nobody takes what changed during it for seen."""
    before = int(time.time())
    snapshot.write(kept, msgspec.structs.replace(ONE, at=timestamps.utc(before)))

    assert snapshot_fresh.read(kept)[1] == before


def test_what_the_supervisor_itself_folds_leaves_its_snapshot_true(kept: paths.Place) -> None:
    """Otherwise no snapshot would be true from a hook's word to the look after next."""
    events.fold(kept)

    assert os.listdir(kept.spool) == []
    assert listed(kept) is not None
    Path(kept.spool, "w.jsonl").write_text("{}\n")
    events.fold(kept)
    assert listed(kept) is None
