"""The user's rules about screens: ~/.ittybitty/screens.toml and .ittybitty/screens.toml of the repository."""

import contextlib
import os
import signal
import stat
import threading
from collections.abc import Iterable, Iterator

from ibstatus.claude.screens import rules_file, states
from ibstatus.claude.screens.rules_file import Broken, Rule, Rules
from ibstatus.project import config
from ibstatus.project import paths as places
from ibstatus.system import disk

NAME = "/screens.toml"
SHIPPED = os.path.join(os.path.dirname(rules_file.__file__), "screens.toml")  # its head tells the form
LARGEST = 256 * 1024
SLOW = 0.25  # seconds of processor time that the user's rules may take for one screen
PROBES = ("a", " ", "\n", "1 ", "─", "a b\n")

Seen = tuple[int, int, int, int]
kept: dict[str, tuple[Seen | None, Rules]] = {}
together: dict[tuple[Rules, ...], Rules] = {}
switched_off: set[Rule] = set()


class OutOfTime(Exception):
    """The user's rules have used up their time."""


def of(place: places.Place | None) -> Rules:
    """The repository's before the user's before ours. Never fails: what is wrong is left out and stands in `broken`."""
    layers = tuple(layer for path in paths(place) if (layer := load(path)) is not None)
    if not layers:
        return rules_file.built_in()
    if layers not in together:
        together.clear()
        together[layers] = without_slow(rules_file.joined(layers))
    return together[layers]


def problems(place: places.Place | None) -> list[str]:
    """A sentence for each file or rule that is left out. `ib doctor` tries the user's rules on some texts."""
    for probe in PROBES:
        switch_off(rule for rule in of(place).rules if is_slow(rule, probe * states.REGION))
    return [f"{broken}; it is left out" for broken in of(place).broken]


def shown(text: str, rules: Rules, client: str = "") -> states.Shown:
    """Say what a screen shows. The rules of the user that take too long for it are switched off in this process."""
    usable = without_slow(rules)
    own = [rule for rule in usable.rules if rule.source]
    if not own:
        return states.shown(text, usable, client)
    try:
        with time_limit(SLOW):
            return states.shown(text, usable, client)
    except OutOfTime:
        switch_off([rule for rule in own if is_slow(rule, text)] or own)
        return states.shown(text, without_slow(rules), client)


def is_slow(rule: Rule, text: str) -> bool:
    """True for a rule of the user with a regex that takes longer than SLOW for the text."""
    if not rule.source:
        return False
    try:
        with time_limit(SLOW):
            for pattern in (*rule.match, *rule.unless, rule.without, rule.asks):
                if pattern is not None:
                    pattern.search(text[-states.REGION :])
    except OutOfTime:
        return True
    return False


def switch_off(rules: Iterable[Rule]) -> None:
    switched_off.update(rules)
    together.clear()


def without_slow(rules: Rules) -> Rules:
    """The rules but for those that are switched off, which stand in `broken` instead."""
    slow = [rule for rule in rules.rules if rule in switched_off]
    if not slow:
        return rules
    broken = (Broken(rule.source, 0, f"the rule {rule.name} took more than {SLOW} s for a screen") for rule in slow)
    return Rules(tuple(rule for rule in rules.rules if rule not in switched_off), (*rules.broken, *broken))


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block after so many seconds of processor time. Python's `re` notices signals while it
    matches, but only in the main thread; in others there is no limit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGVTALRM, end_block)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def end_block(number: int, frame: object) -> None:
    raise OutOfTime


def paths(place: places.Place | None) -> list[str]:
    home = config.home_folder()
    found = [place.home + NAME] if place else []
    user = home + "/.ittybitty" + NAME
    return [*found, user] if home and user not in found else found


def load(path: str) -> Rules | None:
    """As it is now; read again only when the file is another one. None when there is none."""
    try:
        about = disk.stat(path)
        if not stat.S_ISREG(about.st_mode):
            return Rules((), (Broken(path, 0, "this is no file"),))
        seen = (about.st_ino, about.st_size, about.st_mtime_ns, about.st_dev)
        if path in kept and kept[path][0] == seen:
            return kept[path][1]
        rules = read(path, about.st_size)
    except (FileNotFoundError, NotADirectoryError):
        kept.pop(path, None)
        return None
    except OSError as error:
        return Rules((), (Broken(path, 0, error.strerror or "it cannot be read"),))
    kept[path] = (seen, rules)
    return rules


def read(path: str, size: int) -> Rules:
    if size > LARGEST:
        return Rules((), (Broken(path, 0, f"it is larger than {LARGEST // 1024} kB"),))
    return rules_file.parsed(disk.read_file(path), path)
