"""What a course of events waits for: a generator yields one of these, and is resumed when it is over."""

import math
import os
import signal
import subprocess
import time
from collections.abc import Generator
from typing import Protocol, TypeVar


class Wait(Protocol):
    @property
    def deadline(self) -> float:
        """When `over` may change by itself."""

    def over(self, now: float) -> bool: ...


Result = TypeVar("Result")
Course = Generator[Wait, None, Result]


class Nap:
    def __init__(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds

    def over(self, now: float) -> bool:
        return now >= self.deadline


class Never:
    deadline = math.inf

    def over(self, now: float) -> bool:
        return False


class Child:
    """A shell command with its own process group; what it prints goes to files that have no name. Its time is that of
    the machine, also where a simulation turns the clock."""

    def __init__(self, command: str, data: bytes, env: dict[str, str], cwd: str, seconds: float) -> None:
        self.began = time.perf_counter()
        self.until = self.began + seconds
        self.timed_out = False
        self.files = [scratch(data), scratch(b""), scratch(b"")]
        self.process: subprocess.Popen[bytes] | None = None
        self.failure = ""
        stdin, stdout, stderr = self.files
        try:
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", command],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=env,
                cwd=cwd,
                process_group=0,
            )
        except OSError as error:  # the folder is gone
            self.failure = str(error)

    @property
    def deadline(self) -> float:
        return time.monotonic() + self.until - time.perf_counter()

    def over(self, now: float) -> bool:
        if self.process is None or self.process.poll() is not None:
            return True
        if time.perf_counter() < self.until:
            return False
        self.timed_out = True
        self.kill()
        return True

    def kill(self) -> None:
        """Everything that it started and that is still of its group; harmless after its end."""
        if self.process is None or self.process.returncode is not None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except OSError:
            pass
        self.process.wait()

    @property
    def code(self) -> int:
        """As a shell says it."""
        code = 127 if self.process is None or self.process.returncode is None else self.process.returncode
        return code if code >= 0 else 128 - code

    @property
    def milliseconds(self) -> int:
        return int((time.perf_counter() - self.began) * 1000)

    def printed(self) -> tuple[str, str]:
        """(stdout, stderr); can be asked once."""
        texts = []
        for file in self.files[1:]:
            size = os.fstat(file).st_size
            texts.append(os.pread(file, size, 0).decode("utf-8", "replace"))
        for file in self.files:
            os.close(file)
        self.files = []
        return texts[0], texts[1] + self.failure


def scratch(data: bytes) -> int:
    """A file without a name that has this in it: nothing is left of it, however we end."""
    folder = os.environ.get("TMPDIR") or "/tmp"
    name = f"{folder}/.fake-claude-{os.getpid()}-{time.monotonic_ns()}"
    file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.unlink(name)
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
    os.lseek(file, 0, os.SEEK_SET)
    return file
