"""What a waiting listener costs while nothing happens."""

import os
import subprocess
import time
from pathlib import Path

from bench.ground import Row, repository
from bench.wake import listener

SECONDS = 40


def used(pid: int) -> tuple[float, int]:
    """(seconds of processor, voluntary switches) of a process so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    switches = int(status.split("voluntary_ctxt_switches:")[1].split()[0])
    running = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    return running / 1e9, switches


def measure(seconds: int = SECONDS) -> list[Row]:
    if not os.path.exists("/proc/self/schedstat"):
        return [Row("an idle listener", "not measured: needs Linux", "≤ 0.01 % CPU", False)]
    with repository() as place:
        process: subprocess.Popen[bytes] = listener(place)
        try:
            time.sleep(2)
            cpu, switches = used(process.pid)
            time.sleep(seconds)
            cpu_after, switches_after = used(process.pid)
        finally:
            process.kill()
            process.communicate()
    share = (cpu_after - cpu) / seconds * 100
    wakes = (switches_after - switches) / seconds
    return [
        Row("an idle listener, processor", f"{share:.4f} %", "≤ 0.01 %", share <= 0.01),
        Row("an idle listener, wake-ups", f"{wakes:.2f} a second", "≤ 1 a second", wakes <= 1.05),
    ]
