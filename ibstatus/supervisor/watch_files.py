"""Waiting for something to happen: files change, or the time has come."""

import importlib
import os
import threading
import time

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

from ibstatus.project import paths

FRUITLESS = ("opened", "closed_no_write", "closed")
PAUSE = 1.0
PAIRING = (("inotify_move_event_grouper", "InotifyMoveEventGrouper"), ("inotify_buffer", "InotifyBuffer"))
TOGETHER = 0.01  # what happens within this time is one news
SHARE = 0.2  # of the time, for looks at what is new
SAVED = 0.5  # seconds of looks that may come in one burst


def hurry() -> None:
    """watchdog keeps everything back for half a second behind a file that was moved away, to pair the two halves of a
    rename; a fold moves the spools, so each event of a hook would wait for it."""
    for module, name in PAIRING:
        try:
            pairing = getattr(importlib.import_module("watchdog.observers." + module), name)
        except Exception:  # another system, another version
            continue
        pairing.delay = 0.0


class Ears(FileSystemEventHandler):
    """Wakes the loop when one of the files changes that it reads; what it does itself to the spools does not count."""

    def __init__(self, place: paths.Place) -> None:
        self.rung = threading.Event()
        self.urgent = threading.Event()
        self.folders = (place.root, place.home, place.home + "/agents", place.spool)
        self.gone: set[str] = set()  # a folder of this name that comes again is another one, whatever its inode
        self.mail = {place.messages, place.questions}
        self.spool = place.spool + "/"
        self.agents = place.home + "/agents"
        self.names = {*self.mail, self.agents, f"{place.root}/CLAUDE.md", f"{place.root}/.ittybitty.json"}

    def on_any_event(self, event: FileSystemEvent) -> None:
        paths = (os.fsdecode(event.src_path), os.fsdecode(event.dest_path))
        if event.event_type in ("deleted", "moved") and paths[0] in self.folders:
            self.gone.add(paths[0])
            self.rung.set()
        if event.event_type in FRUITLESS or not any(self.matters(path, event.event_type) for path in paths):
            return
        self.rung.set()
        if any(path in self.mail for path in paths):
            self.urgent.set()

    def matters(self, path: str, kind: str) -> bool:
        if path.startswith(self.spool):
            return kind in ("created", "modified") and path.endswith(".jsonl")
        came = kind in ("created", "moved") and path in self.folders
        return came or path in self.names or path.startswith(self.agents + "/")


class Watching:
    """`wait` returns early when something happened. Without inotify (its limits are reached) it only waits."""

    def __init__(self, place: paths.Place) -> None:
        self.place = place
        self.ears = Ears(place)
        hurry()
        self.observer: BaseObserver = Observer()
        self.watches: dict[str, ObservedWatch] = {}
        self.deaf = ""
        self.credit, self.since = SAVED, time.monotonic()
        self.observer.start()
        self.follow()

    def follow(self) -> bool:
        """Watch the folders that are there now: some come later, or again after a clean. True when there is one that
        was not watched until now."""
        self.deaf, is_new = "", False
        for folder in self.ears.folders:
            try:
                key = f"{folder}\0{os.stat(folder).st_ino}"
            except OSError:
                continue
            if key in self.watches and folder not in self.ears.gone:
                continue
            self.ears.gone.discard(folder)
            for old in [old for old in self.watches if old.startswith(folder + "\0")]:
                self.observer.unschedule(self.watches.pop(old))
            try:
                self.watches[key] = self.observer.schedule(self.ears, folder)
                is_new = True
            except OSError as error:
                self.deaf = f"changes in {folder} cannot be watched: {error.strerror}"
        return is_new

    def wait(self, seconds: float) -> bool:
        """True when something happened. News is told at once; only in a storm, when looks have taken more than their
        share of the time, it waits for a while, and mail does not."""
        if not self.ears.rung.wait(max(0.0, seconds)):
            return False
        time.sleep(TOGETHER)
        credit = self.credit + (time.monotonic() - self.since) * SHARE
        if credit < 0:
            self.ears.urgent.wait(min(PAUSE, -credit / SHARE))
        self.ears.urgent.clear()
        self.ears.rung.clear()
        return True

    def looked(self, cost: float) -> None:
        """So long the last look took."""
        now = time.monotonic()
        self.credit = max(-PAUSE * SHARE, min(SAVED, self.credit + (now - self.since) * SHARE) - cost)
        self.since = now

    def wake(self) -> None:
        self.ears.rung.set()
        self.ears.urgent.set()

    def close(self) -> None:
        self.observer.stop()
        self.observer.join(2)
