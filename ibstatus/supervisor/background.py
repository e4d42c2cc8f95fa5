"""What takes long is done beside the loop: one errand after the other, each by its name, one failure a log line."""

import threading
from collections import deque
from collections.abc import Callable

from ibstatus.errors import logged
from ibstatus.supervisor.log import Log

Done = Callable[[], None]
LAST = 6.0  # seconds; longer than it takes to type to an agent and see that it was heard


class Errands:
    """An errand returns what the loop shall do with its result, or None."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.lock = threading.Lock()
        self.waiting: dict[str, Callable[[], Done | None]] = {}
        self.running = ""
        self.done: deque[Done] = deque()
        self.thread: threading.Thread | None = None

    def add(self, name: str, errand: Callable[[], Done | None]) -> bool:
        """False when one of this name waits or runs already."""
        with self.lock:
            if name in self.waiting or name == self.running:
                return False
            if self.thread is None:
                thread = threading.Thread(target=self.run, name="errands")
                thread.start()  # which may fail; it takes the lock first
                self.thread = thread
            self.waiting[name] = errand
        return True

    def is_busy(self) -> bool:
        return self.thread is not None or bool(self.done)

    def collect(self) -> None:
        """In the loop's own thread."""
        while self.done:
            done = self.done.popleft()
            try:
                done()
            except Exception as error:
                self.log.complain("results", f"what an errand brought: {logged(error)}")
            else:
                self.log.complain("results", "")

    def run(self) -> None:
        while True:
            with self.lock:
                # The process waits for one that types: it would leave half a line. It begins no other.
                on = threading.main_thread().is_alive()
                self.running = next(iter(self.waiting), "") if on else ""
                if not self.running:
                    self.thread = None
                    return
                errand = self.waiting.pop(self.running)
            self.one(self.running, errand)

    def one(self, name: str, errand: Callable[[], Done | None]) -> None:
        try:
            done = errand()
        except Exception as error:
            self.log.complain(name, f"{name}: {logged(error)}")
            return
        self.log.complain(name, "")
        if done is not None:
            self.done.append(done)

    def wait(self, seconds: float | None = None) -> None:
        """To the end of all of them, or so long."""
        thread = self.thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        """The one that runs comes to its end, and counts; no other begins."""
        with self.lock:
            self.waiting.clear()
        self.wait(LAST)
        self.collect()
