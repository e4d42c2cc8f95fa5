"""A supervisor in the test's own process, on a clock that the test turns."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ibstatus.model.clock import Clock
from ibstatus.node.node import path_of
from ibstatus.node.rules import node
from ibstatus.project import home, identity, paths, supervisor_process
from ibstatus.setup import init
from ibstatus.supervisor import loop, notices
from ibstatus.supervisor.log import Log
from ibstatus.system import locks
from ibstatus.system.git import diff
from ibstatus.system.text import markers
from tests.conftest import git
from tests.node_schema import check_node
from tests.patience import LONG

PERSON = identity.Caller(identity.PERSON, "user")


class Machine:
    """The supervisor and its clocks. `run` looks as often as the supervisor itself asks for, or `every` seconds."""

    def __init__(self, place: paths.Place) -> None:
        self.place = place
        self.mono = 1000.0
        self.asleep = 0.0
        self.began = 1_800_000_000.0
        home.enter(place)
        self.lock = locks.Lock(place.lock(supervisor_process.LOCK))
        assert self.lock.try_take()
        self.supervisor = loop.Supervisor(place, self.lock, Log(supervisor_process.log_of(place)), self.clock)
        self.shown: list[tuple[float, dict[str, object]]] = []

    def clock(self) -> Clock:
        return Clock(self.mono, self.mono + self.asleep, self.began + self.mono + self.asleep)

    def look(self) -> None:
        self.supervisor.look()
        shown = node_of(self.place)
        if shown is not None and (not self.shown or self.shown[-1][1] != shown):
            check_node(shown)
            self.shown.append((self.mono, shown))

    def run(self, seconds: float, every: float = 1.0, meanwhile: Callable[[], object] = lambda: None) -> None:
        end = self.mono + seconds
        while self.mono < end and not self.supervisor.ended:
            self.mono += every
            meanwhile()
            self.look()


def node_of(place: paths.Place) -> dict[str, object] | None:
    try:
        data = Path(path_of(place)).read_bytes()
        spot = markers.find(data)
    except (FileNotFoundError, markers.Malformed):
        return None
    return node.decoded(data[spot.body.start : spot.body.end]) if spot is not None and spot.body is not None else None


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, commits are counted."""
    monkeypatch.setattr(diff, "PATIENCE", LONG)
    monkeypatch.setattr(notices, "COUNTING", LONG)


@pytest.fixture
def claude_md(repo: paths.Place) -> Path:
    """A tracked CLAUDE.md, with our block put in by `ib init`."""
    path = Path(path_of(repo))
    path.write_text("# Project\n\nBe kind.\n")
    git(repo.root, "add", "CLAUDE.md")
    git(repo.root, "commit", "-q", "-m", "claude")
    init.init(repo, identity.caller_of("", "", True), False)
    age_index(repo)
    return path


def age_index(place: paths.Place) -> None:
    """As if git had been quiet for a while: nothing is put in right after it was at work."""
    import os
    import time

    os.utime(place.common + "/index", (time.time() - 60, time.time() - 60))


@pytest.fixture
def listening(repo: paths.Place) -> Iterator[None]:
    """Somebody waits for news, so the supervisor is needed."""
    with locks.Lock(repo.lock("cursor-default")):
        yield


@pytest.fixture
def machine(repo: paths.Place, claude_md: Path) -> Iterator[Machine]:
    made = Machine(repo)
    yield made
    made.lock.release()


def fleet_member(place: paths.Place, name: str, created: float, manager: str | None = None) -> Path:
    """An agent as a folder with a meta.json; nobody lives there."""
    folder = Path(place.agent_dir(name))
    folder.mkdir(parents=True)
    meta = {"id": name, "manager": manager, "prompt": f"task of {name}", "created_epoch": created}
    meta["tmux_session"] = f"ittybitty-00000000-{name}"
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder
