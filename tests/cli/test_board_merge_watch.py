"""ib board merge --watch: says of each what became of it, and what to type."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ibstatus.board.port import Board
from ibstatus.project import paths
from tests.queuework import opened, queue, side
from tests.until import until


@pytest.fixture
def board(repo: paths.Place) -> Iterator[Board]:
    found = opened(repo)
    yield found
    found.close()


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_what_became_of_each_is_told(repo: paths.Place, board: Board, tmp_path: Path, words: list[str]) -> None:
    for name in ("a", "b"):
        side(repo, name, "same.txt", f"{name}\n")
        queue(repo, board, name)
    out, err = tmp_path / "out", tmp_path / "err"
    argv = [sys.executable, "-m", "ibstatus", "board", "merge", "--watch", *words]
    with out.open("w") as stdout, err.open("w") as stderr:
        watcher = subprocess.Popen(argv, cwd=repo.root, stdout=stdout, stderr=stderr)
    try:
        until(lambda: [entry.status for entry in board.entries()] == ["merged", "conflict"])
        until(lambda: len(out.read_text().splitlines()) == 2 and (words or "resolve 2" in err.read_text()))
    finally:
        watcher.send_signal(signal.SIGTERM)
        assert watcher.wait(20) == 0

    lines = out.read_text().splitlines()
    if words:
        assert [json.loads(line)["status"] for line in lines] == ["merged", "conflict"]
    else:
        assert [line.split()[1] for line in lines] == ["merged", "conflict"]
        assert "same.txt" in lines[1]
        assert "2: " in err.read_text()
        assert "ib board merge resolve 2" in err.read_text()
