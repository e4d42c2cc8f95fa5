"""watch and claim --wait as real processes: what they hear, how they end, what a kill or a lost server leaves."""

import json
import os
import select
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ibstatus.project import paths
from tests.board import postgres_server
from tests.board.doing import RUN_OUT, claim
from tests.cli.board_faces import DSN, Faces, Process
from tests.queuework import opened
from tests.until import until

WATCHING, WAITING = "Watching what", "waiting for a task"
ENDS = [signal.SIGINT, signal.SIGTERM]
CLAIMERS = 4


def channels(lines: list[str]) -> list[str]:
    return [json.loads(line)["channel"] for line in lines]


def seqs(lines: list[str]) -> list[int]:
    return [json.loads(line)["seq"] for line in lines]


class TestWatch:
    def test_it_tells_what_happens_as_it_happens(self, board: Faces) -> None:
        watch = board.began("watch")
        watch.hears(WATCHING)
        id = board.add("One", "-p", "p")
        ready = json.loads(watch.line())
        board.json("claim", "--agent", "me")
        board.json("done", id, "--agent", "me", "--summary", "well")
        done = json.loads(watch.line())

        assert ready == {
            "seq": 1, "channel": "task_ready", "ts": ready["ts"], "task_id": id, "project_id": "p", "title": "One",
            "priority": 5, "attempt": 0, "max_attempts": 3,
        }  # fmt: skip
        assert (done["channel"], done["agent_id"], done["attempt"], done["summary"]) == ("task_done", "me", 1, "well")
        assert watch.ends(signal.SIGINT)[:2] == (0, "")

    @pytest.mark.parametrize("number", ENDS)
    def test_it_ends_at_once_and_without_a_word(self, board: Faces, number: int) -> None:
        watch = board.began("watch", "--since", "0")
        watch.hears(WATCHING)

        assert watch.ends(number) == (0, "", "Watching what comes after 0.\n")

    def test_it_ends_when_its_reader_does_also_while_nothing_happens(self, board: Faces) -> None:
        watch = board.began("watch")
        watch.hears(WATCHING)

        assert watch.loses_its_reader() == (0, "Watching what comes after 0.\n")

    def test_it_ends_with_a_reader_that_does_not_read(self, file_board: Faces, repo: paths.Place) -> None:
        """More than a pipe holds waits to be written; not even half a line comes of it."""
        kept = opened(repo)
        for number in range(60):
            fence = claim(kept) if number else None
            if fence:
                kept.fail(fence, "x" * 4000)
            else:
                file_board.add("One", "--attempts", "1000")
        kept.close()
        watch = file_board.began("watch", "--since", "0")
        watch.hears(WATCHING)
        code, out, _ = watch.ends(signal.SIGINT)

        assert code == 0
        assert all(json.loads(line) for line in out.splitlines())
        assert out == "" or out.endswith("\n")

    def test_channels_and_projects_are_chosen(self, board: Faces) -> None:
        id = board.add("One", "-p", "p")
        board.add("Two", "-p", "q")
        board.add("Three")
        board.json("claim", id, "--agent", "me")
        board.json("fail", id, "no", "--agent", "me")

        def seen(*args: str, count: int) -> list[str]:
            watch = board.began("watch", "--since", "0", *args)
            lines = watch.lines(count)
            board.add("End", "-p", "p")  # whatever was left out would have come before it
            last = watch.line()
            assert json.loads(last)["title"] == "End"
            watch.ends(signal.SIGTERM)
            return [*channels(lines), "|"]

        usual = seen("-p", "p", count=2)
        assert usual == ["task_ready", "task_ready", "|"]
        every = seen("-p", "p", "--channels", "task_ready,task_claimed,task_retry", count=5)
        assert every == ["task_ready", "task_claimed", "task_retry", "task_ready", "task_ready", "|"]

    def test_after_a_kill_it_goes_on_where_it_was(self, board: Faces) -> None:
        """Again and again, while others write: nothing is lost and nothing comes twice."""
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, board.place.root], env={**os.environ, **board.env}, cwd=os.getcwd()
        )
        seen: list[str] = []
        while len(seen) < 60:
            since = str(seqs(seen)[-1]) if seen else "0"
            watch = board.began("watch", "--since", since)
            seen += watch.lines(7)
            watch.kill()
        assert writer.wait() == 0

        titles = [json.loads(line)["title"] for line in seen[:60]]
        assert titles == [f"T{number}" for number in range(60)]
        assert seqs(seen) == sorted(set(seqs(seen)))

    def test_a_place_ahead_of_the_board_is_refused(self, board: Faces) -> None:
        done = board("watch", "--since", "77")

        assert (done.code, done.out) == (1, "")
        assert "--since 77 is ahead of the board" in done.err

    def test_a_file_that_was_taken_away_is_begun_anew(self, repo: paths.Place, file_board: Faces) -> None:
        file_board.add("One")
        watch = file_board.began("watch")
        watch.hears(WATCHING)
        for end in ("-wal", "-shm", ""):  # the board last: who finds none makes another one
            Path(repo.board + end).unlink()
        file_board.add("Other")
        assert json.loads(watch.line())["title"] == "Other"

        _, _, err = watch.ends(signal.SIGTERM)
        assert "trying again until it is back" in err
        assert "made anew" in err

    def test_a_lease_that_runs_out_is_told_where_nobody_else_looks(
        self, repo: paths.Place, file_board: Faces, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file_board.add("One")
        kept = opened(repo)
        claim(kept, lease=RUN_OUT)
        kept.close()
        file_board("claim", "-p", "nobody")  # looks for leases

        watch = file_board.began("watch", "--since", "0", "--channels", "task_ready,task_retry")
        assert channels(watch.lines(3)) == ["task_ready", "task_retry", "task_ready"]
        watch.ends(signal.SIGTERM)


WRITER = """
import sys
from ibstatus.board import opening
from ibstatus.project import paths as places
from tests.board.doing import new
board = opening.opened(places.find(sys.argv[1]))
for number in range(70):
    board.add(new(f"t{number}", title=f"T{number}"))
"""


class TestClaim:
    def test_it_blocks_until_one_fits(self, board: Faces) -> None:
        claimer = board.began("claim", "--wait", "--agent", "me", "-p", "p", "--priority", "6", "--capability", "gpu")
        claimer.hears(WAITING)
        board.add("Other project", "--priority", "9")
        board.add("Too low", "-p", "p", "--priority", "5")
        board.add("Needs more", "-p", "p", "--priority", "9", "--capability", "tpu")
        id = board.add("Fits", "-p", "p", "--priority", "6", "--capability", "gpu")
        code, out, err = claimer.ends()

        assert (code, out) == (0, id + "\n")
        assert "Fits (attempt 1 of 3" in err
        assert [one["claimed_by"] for one in board.json("list", "--status", "claimed")] == ["me"]

    def test_what_becomes_ready_by_a_completion_is_taken(self, board: Faces) -> None:
        first = board.add("First")
        second = board.add("Second", "--after", first)
        board.json("claim", "--agent", "me")
        claimer = board.began("claim", "--wait")
        claimer.hears(WAITING)
        board.json("done", first, "--agent", "me")

        assert claimer.ends()[:2] == (0, second + "\n")

    def test_when_the_time_is_over_there_is_none(self, board: Faces) -> None:
        done = board("claim", "--wait", "0.2")

        assert (done.code, done.out) == (1, "")
        assert done.err.splitlines() == [
            "Nothing is ready: waiting for a task.", "Nothing is ready for you. What there is: ib board list",
        ]  # fmt: skip

    @pytest.mark.parametrize("number", ENDS)
    def test_whoever_goes_leaves_nothing_claimed(self, board: Faces, number: int) -> None:
        claimer = board.began("claim", "--wait")
        claimer.hears(WAITING)
        code, out, err = claimer.ends(number)
        id = board.add("One")

        assert (code, out) == (130, "")
        assert "Traceback" not in err
        assert board.status(id) == "ready"

    def test_each_of_many_gets_exactly_one(self, board: Faces) -> None:
        claimers = [board.began("claim", "--wait", "--agent", f"a{number}") for number in range(CLAIMERS)]
        for claimer in claimers:
            claimer.hears(WAITING)
        ids = [board.add(f"T{number}") for number in range(CLAIMERS)]
        got = [claimer.ends()[1] for claimer in claimers]

        assert Counter(got) == Counter(id + "\n" for id in ids)
        held = {one["id"]: one["claimed_by"] for one in board.json("list", "--status", "claimed")}
        assert [held[out.strip()] for out in got] == [f"a{number}" for number in range(CLAIMERS)]

    def test_one_whose_reader_is_gone_takes_nothing(self, board: Faces) -> None:
        claimer = board.began("claim", "--wait")
        claimer.hears(WAITING)
        assert claimer.loses_its_reader() == (0, "Nothing is ready: waiting for a task.\n")
        id = board.add("One")

        assert board.status(id) == "ready"

    def test_a_second_signal_ends_one_that_cannot_tell(self, repo: paths.Place, file_board: Faces) -> None:
        """Its pipe is full and nobody reads: it holds a task that nobody has heard of."""
        id = file_board.add("One")
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        while select.select([], [writer], [], 0)[1]:
            os.write(writer, b"x" * 4096)
        os.set_blocking(writer, True)
        claimer = file_board.began("claim", "--agent", "me", stdout=writer)
        until(lambda: file_board.status(id) == "claimed")
        claimer.run.send_signal(signal.SIGINT)
        code, _, _ = claimer.ends(signal.SIGTERM)
        os.close(reader)
        os.close(writer)

        assert code == 130
        assert file_board.status(id) == "ready"


class TestServer:
    """PostgreSQL goes away and comes back."""

    @pytest.fixture
    def faces(self, repo: paths.Place) -> Iterator[Faces]:
        with postgres_server.SERVER.fresh() as dsn:
            yield Faces(repo, {DSN: dsn})

    @pytest.fixture
    def own(self, repo: paths.Place) -> Iterator[tuple[postgres_server.Server, Faces]]:
        """A server of its own, that can be stopped."""
        if postgres_server.GIVEN:
            pytest.skip("a server that was given is not stopped")
        server = postgres_server.Server()
        with server.fresh() as dsn:
            yield server, Faces(repo, {DSN: dsn})
        server.end()

    def cut(self, faces: Faces) -> None:
        postgres_server.SERVER.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ib'"
        )

    def test_a_watcher_goes_on_with_nothing_lost_and_nothing_twice(self, faces: Faces) -> None:
        watch, lines = faces.began("watch", "--since", "0"), list[str]()
        for number in range(3):
            faces.add(f"T{number}")
            lines += watch.lines(1)
            self.cut(faces)
            faces.add(f"U{number}")
            lines += watch.lines(1)
        titles = [json.loads(line)["title"] for line in lines]
        _, left, err = watch.ends(signal.SIGTERM)

        assert titles == ["T0", "U0", "T1", "U1", "T2", "U2"]
        assert left == ""
        assert "broke off; trying again until it is back." in err
        assert "The board is back." in err

    def test_a_claimer_goes_on(self, faces: Faces) -> None:
        claimer = faces.began("claim", "--wait")
        claimer.hears(WAITING)
        self.cut(faces)
        id = faces.add("One")

        assert claimer.ends()[:2] == (0, id + "\n")

    def test_a_server_that_stops_is_waited_for(self, own: tuple[postgres_server.Server, Faces]) -> None:
        server, faces = own
        watch, claimer = faces.began("watch", "--since", "0"), faces.began("claim", "--wait", "-p", "p")
        claimer.hears(WAITING)
        watch.hears(WATCHING)
        server.wheel.stop()
        watch.hears("trying again until it is back")
        claimer.hears("trying again until it is back")
        assert faces("list").code == 1

        server.begin_again()

        id = faces.add("One", "-p", "p")
        assert json.loads(watch.line())["task_id"] == id
        assert claimer.ends()[:2] == (0, id + "\n")
        code, left, err = watch.ends(signal.SIGINT)
        assert (code, left) == (0, "")
        assert err.count("trying again") == 1

    @pytest.mark.parametrize("words", [("watch",), ("claim", "--wait")])
    def test_while_there_is_no_server_it_can_be_ended(self, file_board: Faces, words: tuple[str, ...]) -> None:
        env = {DSN: "postgresql://u:hunter2@127.0.0.1:1/x"}
        for number in ENDS:
            process = file_board.began(*words, env=env)
            process.hears("trying again until it is back")
            code, out, err = process.ends(number)
            assert (code, out) == (0 if words == ("watch",) else 130, "")
            assert "hunter2" not in err
            assert err.count("\n") == 1
        process = Process(file_board, words, {"env": env})
        process.hears("trying again until it is back")
        assert process.loses_its_reader()[0] == 0
