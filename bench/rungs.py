"""The wake ladder under the real client: from `ib notify` to the request with its text, and 200 rounds of it all.

CLAUDE_BIN names another client than the one of the extra `peer`."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.ground import Row, percentile, repository
from tests.peers import messages_api
from tests.peers.client import Client, binary
from tests.peers.ladder import WAITER, WATCH, Ladder
from tests.peers.rounds import QUIET, Heard, Rounds
from tests.peers.tui import Tui

ROUNDS, ALONE = 200, 40
BARS = {"the Stop waiter alone": ((WATCH,), 0.5), "FileChanged alone": ((WAITER,), 1.5)}


@contextmanager
def session(*without: str, listens: bool) -> Iterator[Rounds]:
    """An idle client in a repository with these hooks left out."""
    found = binary()
    assert found is not None
    with (
        repository() as place,
        messages_api.serving() as api,
        tempfile.TemporaryDirectory(prefix="ib-bench-") as folder,
    ):
        client = Client(found, Path(folder) / "home", api.url)
        client.settle_in(Path(place.root).parent)
        ladder = Ladder(place, api, Path(folder) / "hooks.log")
        ladder.install(*without)
        terminal = Tui(client, ladder.root)
        try:
            rounds = Rounds(ladder, terminal, listens)
            rounds.begin()
            yield rounds
        finally:
            terminal.close()
            client.end_all()


def row(what: str, rounds: Rounds, bar: float) -> Row:
    waits = list(rounds.waits.values())
    p50, p95 = percentile(waits, 0.5), percentile(waits, 0.95)
    figure = f"p50 {p50:.2f} s, p95 {p95:.2f} s"
    return Row(f"idle client, `ib notify` → request with its text, {what}", figure, f"p95 ≤ {bar} s", p95 <= bar)


def measure(count: int = ROUNDS, alone: int = ALONE) -> list[Row]:
    if binary() is None or shutil.which("tmux") is None:
        return [Row("the wake ladder", "not measured: the real client or tmux is not installed", "", False)]
    rows = []
    for what, (without, bar) in BARS.items():
        with session(*without, listens=False) as rounds:
            rounds.play(alone, plan=(QUIET,))
            rows.append(row(what, rounds, bar))
    with session(listens=True) as rounds:
        rounds.play(count, killed=count // 2)
        rows.append(row("all wake hooks", rounds, 0.5))
        rows.append(verdict(rounds.heard()))
    return rows


def verdict(heard: list[Heard]) -> Row:
    wrong = [one for one in heard if not one.is_right]
    for one in wrong:
        print(one)
    vain = sum(one.in_vain for one in heard)
    what = "messages in one session with Esc, subagents, one kill -9: delivered once per turn"
    figure = f"{len(heard) - len(wrong)} of {len(heard)} ({vain} earlier deliveries were not confirmed)"
    return Row(what, figure, "all", not wrong)
