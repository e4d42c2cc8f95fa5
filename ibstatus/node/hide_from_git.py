"""hide: keep what ib writes into CLAUDE.md out of git's sight, prove it, and take all of it back again.

A filter in git's config, bound in info/attributes, drops our lines; the index is told the size when it changed.
"""

import time
from collections.abc import Iterator
from typing import NamedTuple

from ibstatus.errors import IbError, quoted
from ibstatus.model.fleet import Finding
from ibstatus.node import tracked_file
from ibstatus.node.rules import git_filter as filtering
from ibstatus.node.tracked_file import Spot
from ibstatus.project import git_exclude, git_files, originals, paths
from ibstatus.project.rules import findings
from ibstatus.system.git import index, lock
from ibstatus.system.userfiles import edit

CONFIG, ATTRIBUTES = "config", "attributes"
SUBJECT = "git-node"
PROVEN = (
    "git stores CLAUDE.md without what ib writes into it; programs that run no filters (jj, those on libgit2) do not"
)
TRIES, HURRIED_TRIES, PAUSE = 3, 100, 0.02


class Hidden(NamedTuple):
    """Is it out of git's sight, and why (not). `local`: a block that is put in now has to stay out of commits whole."""

    yes: bool
    why: str
    local: bool = True
    path: str = ""


def hide(place: paths.Place) -> Hidden:
    """Once more is fine: what a killed one left half done is completed. What cannot be proven is taken back."""
    show_text(place)
    spot = tracked_file.find(place)
    if spot.why or not spot.path:
        return Hidden(not spot.why, spot.why or spot.note, path=spot.path)
    with git_files.turn(place):
        git_files.forget_copies(place)
        try:
            why = bound(place, spot) or disproof(place, spot)
            if why:
                unbound(place)
        except IbError as error:
            why = error.message
        except OSError as error:
            why = f"git's settings could not be changed: {error.strerror}"
        if why:
            return Hidden(False, why, spot.local, spot.path)
        return Hidden(True, kept_out(place, spot), spot.local, spot.path)


def unhide(place: paths.Place) -> list[originals.Touched]:
    """Take all of it back; returns what was noted of each file of git that we had touched."""
    if not git_exclude.in_checkout(place):
        return []
    with git_files.turn(place):
        noted = unbound(place)
        file = git_exclude.remove_file(place)
    sync(place, hurried=True)
    return noted if file is None else [*noted, file]


def ready(place: paths.Place, resize: bool, hurried: bool = False) -> bool:
    """Asked right before a write: may it be done now? Before one that changes the size git's index forgets how the
    file looked, so that at no moment, not even after a kill, it shows as modified for its size alone."""
    if not resize:
        return not still(place, resize=False)
    return retold(place, hurried, look=False) and not git_files.busy(place, not hurried, time.time())


def sync(place: paths.Place, hurried: bool = False) -> bool:
    """Tell git's index how the file looks now; False when it is to be tried again later.

    Its content is not changed, so a person's edit still shows. `hurried`: a person waits for it."""
    return retold(place, hurried, look=True)


def retold(place: paths.Place, hurried: bool, look: bool) -> bool:
    spot = tracked_file.named(place)
    if spot.why or not spot.path:
        return True
    for _ in range(HURRIED_TRIES if hurried else TRIES):
        if not git_files.busy(place, not hurried, time.time()):
            with git_files.turn(place):
                try:
                    if told(place, spot.path, look):
                        return True
                finally:
                    git_files.forget_copies(place)
        elif not hurried:
            return False
        time.sleep(PAUSE)
    return False


def told(place: paths.Place, path: str, look: bool) -> bool:
    """All the work on a copy, which then takes the index's place. True also where nothing is to be done."""
    copied = git_files.copy_index(place)
    if copied is None:
        return not lock.there(git_files.index_of(place))
    copy, was = copied
    entries = index.entries(place.root, path, copy)
    if len(entries) != 1 or not entries[0].is_plain_file:
        return look or not any(entry.stage for entry in entries)
    done = index.forget_look(place.root, path, entries[0], copy)
    done = done and (not look or index.look_again(place.root, path, copy))
    return done and git_files.put_index(place, copy, was)


def recover(place: paths.Place) -> None:
    """What killed ones of us left: locks of git, copies of the index."""
    if not git_exclude.in_checkout(place):
        return
    with git_files.turn(place):
        git_files.forget_copies(place)
        lock.recover(config_of(place))


def still(place: paths.Place, resize: bool, now: float | None = None) -> str:
    """'' when CLAUDE.md may be written now, else why not. Asked before every write; no process but for a resize."""
    if not git_exclude.in_checkout(place):
        return ""
    why = git_files.busy(place, resize, time.time() if now is None else now)
    if why or not resize:
        return why
    spot = tracked_file.named(place)
    return "it has a conflict" if spot.path and index.is_unmerged(place.root, spot.path) else ""


def config_of(place: paths.Place) -> str:
    return place.common + "/config"


def attributes_of(place: paths.Place) -> str:
    return place.common + "/info/attributes"


def bound(place: paths.Place, spot: Spot) -> str:
    """Set and bind the filter, as far as it is not; returns what is in the way, or ''."""
    if settings(place) != filtering.wanted():
        originals.give_back_in_gits_way(place, CONFIG, config_of(place))  # that of an older ib
        if settings(place):
            return f"git's settings already have a filter {filtering.NAME} that is not ours"
        originals.add_in_gits_way(place, CONFIG, config_of(place), filtering.section())
    if tracked_file.attribute(place, spot.path) != filtering.NAME:
        originals.give_back(place, ATTRIBUTES, attributes_of(place))  # that of another path
        originals.add(place, ATTRIBUTES, attributes_of(place), filtering.binding(spot.path))
    if settings(place) != filtering.wanted() or tracked_file.attribute(place, spot.path) != filtering.NAME:
        return "git does not see the filter that was set up for it"
    return ""


def unbound(place: paths.Place) -> list[originals.Touched]:
    """The binding first: one without a filter is nothing to git, and so is a filter that is bound nowhere."""
    noted = [
        originals.give_back(place, ATTRIBUTES, attributes_of(place)),
        originals.give_back_in_gits_way(place, CONFIG, config_of(place)),
    ]
    return [one for one in noted if one is not None]


def settings(place: paths.Place) -> dict[str, str]:
    return dict(index.settings(place.root, filtering.NAME))


def disproof(place: paths.Place, spot: Spot) -> str:
    """git itself is asked: with the filter it must store the same object as without it and without our lines."""
    data = content(spot) or b""
    bare = filtering.bare(data)
    wanted = index.digest(place.root, spot.path, bare, without=filtering.NAME)
    texts = [data, bare, *(filtering.probed(bare, local) for local in (True, False))]
    if not wanted:
        return "git could not say what it would store"
    if any(index.digest(place.root, spot.path, text) != wanted for text in texts):
        return "the filter does not give the text back as it is without our lines"
    return ""


def content(spot: Spot) -> bytes | None:
    try:
        return edit.read(spot.file)
    except (FileNotFoundError, NotADirectoryError):
        return None


def kept_out(place: paths.Place, spot: Spot) -> str:
    """Keep a file that ib made out of git by a line in info/exclude, until it is tracked or has text of the user.

    Returns what there is to say of it, or ''."""
    if spot.tracked or not is_made_by_ib(place, spot):
        git_exclude.remove_file(place)
        return spot.note
    if not tracked_file.is_ignored(place, spot.path):
        git_exclude.add_file(place, filtering.exact(spot.path))
    if originals.known(place, git_exclude.FILE, git_exclude.path_of(place)) is None:
        return spot.note
    line = f"a line in {git_exclude.path_of(place)} keeps it out until it has text of yours"
    return f"git does not track {spot.path}; {line}"


def show_text(place: paths.Place) -> bool:
    """Take CLAUDE.md out of info/exclude when it has text of the user: an older ib excluded every untracked one, and
    people write into one that ib made. False when ib does not keep it out, or it has no such text."""
    if originals.known(place, git_exclude.FILE, git_exclude.path_of(place)) is None:
        return False
    spot = tracked_file.named(place)
    if is_made_by_ib(place, spot):
        return False
    with git_files.turn(place):
        git_exclude.remove_file(place)
    return True


def is_made_by_ib(place: paths.Place, spot: Spot) -> bool:
    """True when there was no such file before ib, and the user has written nothing into it."""
    noted, data = originals.known(place, originals.CLAUDE_MD, spot.file), content(spot)
    if data is None:
        return noted is None or noted.before is None
    return noted is not None and noted.before is None and not filtering.without_block(data).strip()


def judge(place: paths.Place) -> list[Finding]:
    """For `ib doctor`: proven, or why not. Nothing is changed."""
    spot = tracked_file.find(place)
    data = content(spot)
    if not spot.path and not spot.why:
        return [findings.ok(SUBJECT, spot.note)]
    if data is None or not filtering.holds_ours(data):
        return [findings.ok(SUBJECT, f"there is nothing of ib in {spot.file}")]
    if spot.why:
        return [Finding("warn", SUBJECT, f"git sees the node: {spot.why}")]
    if not spot.tracked and tracked_file.is_ignored(place, spot.path):
        return [findings.ok(SUBJECT, f"git does not track {spot.path} and ignores it")]
    if settings(place) != filtering.wanted() or tracked_file.attribute(place, spot.path) != filtering.NAME:
        return [Finding("warn", SUBJECT, f"git sees the node: {spot.path} has no filter of this ib", findings.INIT)]
    why = disproof(place, spot)
    if why:
        return [Finding("warn", SUBJECT, f"git sees the node: {why}", f"git diff -- {quoted(spot.path)}")]
    return [*doubts(place, spot, data), findings.ok(SUBJECT, PROVEN)]


def shown_again(place: paths.Place) -> Finding:
    """What `ib doctor` says after `show_text` has mended something."""
    path = tracked_file.named(place).path or "CLAUDE.md"
    text = f"{path} has text of yours and ib kept it out of git: its line is removed from {git_exclude.path_of(place)}"
    return Finding("note", SUBJECT, text, f"git add {quoted(path)}")


def doubts(place: paths.Place, spot: Spot, data: bytes) -> Iterator[Finding]:
    """It holds, but not all is as it should be."""
    if filtering.is_local(data) and not spot.local:
        text = f"{spot.path} has a block in git now, and the one here is of the kind that stays out whole"
        yield Finding("warn", SUBJECT, text, findings.INIT)
    unchanged = spot.tracked and index.digest(place.root, spot.path, data) == tracked_file.oid(place, spot.path)
    if unchanged and index.status(place.root, spot.path).endswith("M"):
        yield Finding("note", SUBJECT, f"git has an old size of {spot.path} and shows it as modified", findings.INIT)
