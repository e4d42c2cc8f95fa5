"""status-watchdog.log: what the supervisor did, a line each, and each complaint once."""

import time

from ibstatus.system import append, disk, timestamps

FULL = 1 << 20


class Log:
    def __init__(self, path: str) -> None:
        self.path = path
        self.standing: dict[str, str] = {}

    def say(self, text: str) -> None:
        try:
            append.line(self.path, (timestamps.log_entry(text, time.time()) + "\n").encode("utf-8", "replace"))
            if disk.stat(self.path).st_size > FULL:
                disk.rename(self.path, self.path + ".1")
        except OSError:
            return  # a full disk must not stop the work that the log tells of

    def complain(self, subject: str, text: str) -> None:
        """Say it when it begins and when it has changed; '' when it is over."""
        if self.standing.get(subject, "") == text:
            return
        before = self.standing.pop(subject, "")
        if text:
            self.standing[subject] = text
        self.say(text or f"No longer so: {before}")
