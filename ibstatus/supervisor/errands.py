"""What takes long is done beside the loop: one errand after the other, each by its name, one failure a log line."""

import threading
import traceback
from collections import deque
from collections.abc import Callable

from ibstatus.errors import IbError
from ibstatus.supervisor.log import Log

Done = Callable[[], None]


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
            self.waiting[name] = errand
            if self.thread is None:
                self.thread = threading.Thread(target=self.run, name="errands")
                self.thread.start()
        return True

    def is_busy(self) -> bool:
        return self.thread is not None or bool(self.done)

    def collect(self) -> None:
        """In the loop's own thread."""
        while self.done:
            self.done.popleft()()

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
            known = isinstance(error, OSError | IbError)
            self.log.complain(name, f"{name}: {error if known else traceback.format_exc()}")
            return
        self.log.complain(name, "")
        if done is not None:
            self.done.append(done)

    def wait(self) -> None:
        """To the end of all of them; for tests and for a last look."""
        thread = self.thread
        if thread is not None:
            thread.join()
