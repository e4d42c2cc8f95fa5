"""How soon status.json is right with the real client: each of its states ten times, under a supervisor of its own.

CLAUDE_BIN names another client than the one of the extra `peer`."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.ground import Row, ib, percentile, repository
from ibstatus.project import paths
from tests.peers import messages_api, states
from tests.peers.client import Client, binary, environment
from tests.peers.states import Model, Watched

ROUNDS, BAR = 10, 2.0
PASSING = ("first turn", "a turn", "a tool", "Esc", "continued", "a turn again")  # on the way to what is measured
PARTS: tuple[Callable[[Watched], None], ...] = (
    states.interrupted, states.failing, states.compacting, states.stopped, states.crashed,
)  # fmt: skip


class Done:
    """As the tests have it: what a command printed."""

    def __init__(self, out: str) -> None:
        self.out = out

    def json(self) -> Any:
        return json.loads(self.out)


@contextmanager
def ground() -> Iterator[tuple[paths.Place, Client, messages_api.MessagesApi, Callable[..., str]]]:
    """A repository, a model, the real client in an environment of its own, and a tmux of ours."""
    found = binary()
    assert found is not None
    messages_api.Handler = states.Limiting  # type: ignore[misc]
    folder = tempfile.mkdtemp(prefix="ib-b-", dir="/tmp")  # a socket's path must be short
    with repository(watched=False) as place, messages_api.serving() as api:
        client = Client(found, Path(folder) / "home", api.url)
        client.settle_in(Path(place.root).parent)
        os.environ.update(environment(client.home, client.url))
        os.environ.update(IB_CLAUDE=str(found), IB_SUPERVISOR="on", TMUX_TMPDIR=folder, CLAUDE_CODE_MAX_RETRIES="3")
        for role in ("AUTHOR", "COMMITTER"):
            os.environ[f"GIT_{role}_NAME"], os.environ[f"GIT_{role}_EMAIL"] = "Bench", "bench@example.invalid"

        Path(place.root, "file.txt").write_text("1\n2\n")
        subprocess.run(["git", "add", "file.txt"], cwd=place.root, check=True)
        subprocess.run(["git", "commit", "-q", "-m", "second"], cwd=place.root, check=True)

        def tmux(*args: str) -> str:
            argv = ["tmux", "-u", "-f", os.devnull, "-L", "ib", *args]
            return subprocess.run(argv, capture_output=True, text=True, check=False).stdout

        try:
            yield place, client, api, tmux
        finally:
            subprocess.run(ib("nuke", "--force"), cwd=place.root, check=False, capture_output=True)
            tmux("kill-server")
            client.end_all()
            shutil.rmtree(folder, ignore_errors=True)


def played(rounds: int) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {}
    with ground() as (place, client, api, tmux):

        def run(*args: str) -> Done:
            done = subprocess.run(ib(*args), cwd=place.root, capture_output=True, text=True, check=True)
            return Done(done.stdout)

        run("init")
        model = Model(api)
        for number in range(rounds):
            told, asked = Watched(run, model, place, tmux), Watched(run, model, place, tmux)
            told.begin(f"w{number}")
            for part in PARTS:
                part(told)
            asked.begin_asking(f"q{number}", made(run, place, f"q{number}"), str(client.binary))
            states.asking(asked)
            states.crashed(asked)
            for what, seconds in (*told.took, *asked.took):
                took.setdefault(what, []).append(seconds)
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return {what: values for what, values in took.items() if what not in PASSING}


def made(run: Callable[..., Done], place: paths.Place, name: str) -> Path:
    """An agent's folder and worktree, without a session."""
    folder = Path(place.agent_dir(name))
    folder.mkdir(parents=True)
    argv = ["git", "worktree", "add", "-q", str(folder / "repo"), "-b", f"agent/{name}"]
    subprocess.run(argv, cwd=place.root, check=True, capture_output=True)
    (folder / "meta.json").write_text(json.dumps({"id": name, "prompt": "p", "worker": True}))
    return folder / "repo"


def measure(rounds: int = ROUNDS) -> list[Row]:
    if binary() is None or shutil.which("tmux") is None:
        return [Row("the states of the real client", "not measured: the client or tmux is not installed", "", False)]
    rows = []
    for what, values in played(rounds).items():
        p50, worst = percentile(values, 0.5), max(values)
        figure = f"p50 {p50:.2f} s, worst {worst:.2f} s"
        rows.append(Row(f"real client, {what} → published", figure, f"≤ {BAR:g} s", worst <= BAR))
    return rows


if __name__ == "__main__":
    from bench.ground import table

    print(table(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)))
