"""From an append to the line on the listener's stdout, against a raw FIFO: both in this run, round by round."""

import os
import subprocess
import sys
import tempfile
import time

from bench.ground import Row, ib, percentile, repository
from ibstatus.store import locks, notices, places

ROUNDS = 300
RAW = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
while True:
    os.write(1, os.read(fd, 65536))
"""
LINE = (
    b'{"ts":"2026-02-17T14:30:05-0600","from":"agent-abc123","type":"complete","msg":"Agent agent-abc123 completed"}\n'
)


def raw_fifo(folder: str) -> tuple[subprocess.Popen[bytes], int]:
    path = os.path.join(folder, "raw")
    os.mkfifo(path)
    reader = subprocess.Popen([sys.executable, "-c", RAW, path], stdout=subprocess.PIPE)
    return reader, os.open(path, os.O_RDWR)


def listener(place: places.Place) -> subprocess.Popen[bytes]:
    started = subprocess.Popen(ib("listen", "--follow"), cwd=place.root, stdout=subprocess.PIPE)
    while not locks.is_held(place.lock("cursor-default")) or not os.listdir(place.bells):
        time.sleep(0.01)
    return started


def line_of(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def measure(rounds: int = ROUNDS) -> list[Row]:
    raw: list[float] = []
    ours: list[float] = []
    with repository() as place, tempfile.TemporaryDirectory() as folder:
        reader, fifo = raw_fifo(folder)
        listening = listener(place)
        try:
            for number in range(rounds + 20):
                time.sleep(0.002)  # both are asleep in their wait when the clock starts
                begin = time.perf_counter()
                os.write(fifo, LINE)
                line_of(reader)
                middle = time.perf_counter()
                raw.append(middle - begin)
                time.sleep(0.002)
                begin = time.perf_counter()
                done = posted(place, number)
                line_of(listening)
                ours.append(time.perf_counter() - begin)
                done.sync()
                done.close()
        finally:
            for process in (reader, listening):
                process.kill()
                process.communicate()
            os.close(fifo)
    raw, ours = raw[20:], ours[20:]
    ratio = percentile(ours, 0.5) / percentile(raw, 0.5)
    p99 = percentile(ours, 0.99) * 1000
    return [
        Row("`ib listen`: append → line printed, p50 against a raw FIFO", f"{ratio:.2f} ×", "≤ 2 ×", ratio <= 2),
        Row("the same, p99", f"{p99:.2f} ms", "≤ 5 ms", p99 <= 5),
        Row("four waiters, one notice", f"{woken(4)} of 4 woke", "4 of 4", woken(4) == 4),
    ]


def posted(place: places.Place, number: int) -> object:
    """A notice up to the ring; its sync is the writer's own business and is left out of both sides."""
    from ibstatus.rules import lines
    from ibstatus.store import queue

    line = notices.form(f"n-{number}-bench", "complete", "bench", True, "Agent agent-abc123 completed", time.time())
    with locks.Lock(place.lock("queue")):
        return queue.add(place, lines.encode(line))


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
        notices.notify(place, "cli", "complete", "bench", True, "hello", time.time())
        return sum(b"hello" in process.communicate()[0] for process in waiting)
