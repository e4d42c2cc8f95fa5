"""The clock of a simulation: it runs as the real one does, and leaps when all is settled."""

import math
import os
import struct
import time


class Clock:
    """Seconds since 1970, as every process of the world sees them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.ahead = 0.0
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.write()

    def now(self) -> float:
        return time.time() + self.ahead

    def leap(self, to: float) -> None:
        """Never back: who was late has used the time up. By whole seconds, because tmux goes by the real clock, and
        what goes by tmux counts on its seconds."""
        self.ahead = max(self.ahead, math.ceil(to - time.time()))
        self.write()

    def write(self) -> None:
        os.pwrite(self.file, struct.pack("d", self.ahead), 0)

    def close(self) -> None:
        os.close(self.file)
