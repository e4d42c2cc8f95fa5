"""From an append to the line on the listener's stdout, against a raw FIFO doorbell: in one run, round by round."""

import os
import subprocess
import sys
import tempfile
import time

from bench.ground import Row, ib, percentile, repository
from ibstatus.mail import post, queue
from ibstatus.project import paths
from ibstatus.system import jsonl, locks

ROUNDS, WARM = 300, 20
TEXT = "Agent agent-abc123 completed"
RAW = """
import os, sys
fd, at = os.open(sys.argv[1], os.O_RDWR), 0
while True:
    os.read(fd, 4096)
    queue = os.open(sys.argv[2], os.O_RDONLY)
    data = os.pread(queue, 65536, at)
    os.close(queue)
    at += len(data)
    os.write(1, data)
"""
LINE = b'{"ts":"2026-02-17T14:30:05-0600","from":"bench","type":"complete","msg":"Agent agent-abc123 completed"}\n'


class Raw:
    """The floor of the same job: append to a file, ring a FIFO, read, print. No lock, no cursor, no parsing."""

    def __init__(self, folder: str) -> None:
        self.bell, self.file = os.path.join(folder, "bell"), os.path.join(folder, "queue")
        os.mkfifo(self.bell)
        open(self.file, "w").close()
        argv = [sys.executable, "-c", RAW, self.bell, self.file]
        self.reader = subprocess.Popen(argv, stdout=subprocess.PIPE)
        os.close(os.open(self.bell, os.O_WRONLY))  # waits until the reader has it open

    def append(self) -> None:
        for path, flags, data in ((self.file, os.O_APPEND, LINE), (self.bell, os.O_NONBLOCK, b"!")):
            fd = os.open(path, os.O_WRONLY | flags)
            os.write(fd, data)
            os.close(fd)


def listener(place: paths.Place, session: str = "") -> subprocess.Popen[bytes]:
    """One that waits; of a session as the client starts it, under a shell that carries the session's id."""
    argv, env = ib("listen", "--follow"), dict(os.environ)
    if session:
        argv, env["CLAUDE_CODE_SESSION_ID"] = ["bash", "-c", f"exec bash -c '{' '.join(argv)} & wait'"], session
    before = len(os.listdir(place.bells)) if os.path.isdir(place.bells) else 0
    started = subprocess.Popen(argv, cwd=place.root, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while not os.path.isdir(place.bells) or len(os.listdir(place.bells)) == before:
        time.sleep(0.01)
    return started


def line_of(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def measure(rounds: int = ROUNDS) -> list[Row]:
    raw: list[float] = []
    ours: list[float] = []
    with repository() as place, tempfile.TemporaryDirectory() as folder:
        floor = Raw(folder)
        listening = listener(place)
        try:
            for number in range(rounds + WARM):
                time.sleep(0.002)  # both are asleep in their wait when the clock starts
                begin = time.perf_counter()
                floor.append()
                line_of(floor.reader)
                raw.append(time.perf_counter() - begin)
                line = jsonl.encode(post.form(f"n-{number}-bench", "complete", "bench", True, TEXT, time.time()))
                time.sleep(0.002)
                begin = time.perf_counter()
                with locks.Lock(place.lock("queue")):
                    done = queue.add(place, line)
                line_of(listening)
                ours.append(time.perf_counter() - begin)
                done.sync()  # the writer's own business, and nobody waits for it
                done.close()
        finally:
            for process in (floor.reader, listening):
                process.kill()
                process.communicate()
    raw, ours = raw[WARM:], ours[WARM:]
    ratio = percentile(ours, 0.5) / percentile(raw, 0.5)
    p99 = percentile(ours, 0.99) * 1000
    heard = woken(4)
    figure = f"{ratio:.2f} × ({percentile(ours, 0.5) * 1000:.3f} ms)"
    return [
        Row("`ib listen`: append → line printed, p50, against a bare file and FIFO", figure, "≤ 2 ×", ratio <= 2),
        Row("the same, p99", f"{p99:.2f} ms", "≤ 5 ms", p99 <= 5),
        Row("four waiters, one notice", f"{heard} of 4 woke", "4 of 4", heard == 4),
    ]


def woken(count: int) -> int:
    """Several sessions listen; one notice wakes them all."""
    with repository() as place:
        waiting = [
            subprocess.Popen(
                ib("listen", "--timeout", "20"),
                cwd=place.root,
                env={**os.environ, "CLAUDE_CODE_SESSION_ID": f"s{number}"},
                stdout=subprocess.PIPE,
            )
            for number in range(count)
        ]
        while not os.path.isdir(place.bells) or len(os.listdir(place.bells)) < count:
            time.sleep(0.01)
        post.notify(place, "cli", "complete", "bench", True, "hello", time.time())
        return sum(b"hello" in process.communicate()[0] for process in waiting)
