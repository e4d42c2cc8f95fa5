"""The block in CLAUDE.md: put in by `ib init`, brought up to date, taken out again with nothing left behind."""

import os
import time
from collections.abc import Callable

from ibstatus.errors import IbError, quoted, refused
from ibstatus.node import hide_from_git, tracked_file
from ibstatus.node.node import Keeper, desk_of, leads_out, path_of
from ibstatus.node.rules import block, node
from ibstatus.node.tracked_file import is_ours
from ibstatus.project import originals, paths
from ibstatus.state import fleet, hook_history
from ibstatus.system import atomic, disk, locks
from ibstatus.system.git import index
from ibstatus.system.text import markers
from ibstatus.system.text.splices import Splice, applied
from ibstatus.system.userfiles import displaced
from ibstatus.system.userfiles import edit as user_file

LOOK_AFTER = 0.02
ENCODING = "working-tree-encoding"
PAST_QUIET = 60.0  # a person who types knows when git is done; an operation under way is another matter


def put_in(place: paths.Place, local: bool) -> list[str]:
    """The block with its node, or the present one brought up to date. Returns what there is to say."""
    said: list[str] = []
    path, now = path_of(place), time.time()
    keeper = Keeper(place)
    seen = fleet.look(place, hook_history.States(place), {}, now)

    def change(data: bytes) -> Splice | None:
        said.clear()
        spot = markers.find(data)
        if spot is None:
            refuse_hidden(path, data)
            made = keeper.with_block(data, local, seen, now)
            if not made.exact:
                said.append("CLAUDE.md has no place where the block could stand without a change of its own lines")
            return made.splice
        if block.version_of(data) == "edited":
            said.append("the <ittybitty> block in CLAUDE.md was edited by somebody and is left alone")
            return None
        return block.refresh(data) or block.set_local(data, local)

    try:
        refuse_now(place, path)
        with locks.Lock(place.lock("node")):
            make_if_missing(place, path)
            note(place, path)
            edit(place, path, change)
    except IbError as error:
        return [*said, "; ".join(part for part in (error.message, error.cause, error.hint) if part)]
    return said


def edit(place: paths.Place, path: str, change: Callable[[bytes], Splice | None]) -> None:
    """As a person waits: what cannot be done is an error that says why."""
    refuse_now(place, path)
    try:
        edited = user_file.edit(
            path, change, desk=desk_of(place), now_ok=lambda: hide_from_git.ready(place, True, hurried=True)
        )
    except markers.Malformed as error:
        raise IbError(
            f"{path} is left alone: line {error.line}: {error.why}",
            hint=f"mend line {error.line} (or delete the whole <ittybitty> block), then run the command again",
        ) from error
    if edited.how in ("busy", "gone", "held"):
        writable = os.access(path, os.W_OK) and disk.stat(path).st_mode & user_file.OWNER_WRITES
        hint = f"ls -l {quoted(path)}" if writable else f"chmod u+w {quoted(path)}"
        raise IbError(f"{path} could not be changed", cause=edited.note, hint=hint)
    if edited.how == "exchanged":
        time.sleep(LOOK_AFTER)
        displaced.look(desk_of(place), time.time())
    hide_from_git.sync(
        place, hurried=True
    )  # also when nothing was to be done: the last time may have been killed before this


def refuse_now(place: paths.Place, path: str) -> None:
    if disk.exists(path) and not is_regular(path):
        raise IbError(f"{path} is not a file", hint=f"ls -ld {quoted(path)}")
    encoding = encoding_of(place, path)
    if encoding:
        raise IbError(f"{path} is not UTF-8 ({encoding}), and is left alone")
    if leads_out(place):
        raise IbError(f"{path} is a link out of this repository, and is left alone", hint=f"ls -l {quoted(path)}")
    busy = hide_from_git.still(place, True, time.time() + PAST_QUIET)
    if busy:
        raise IbError(f"{path} is not changed now: {busy}", hint="when it is over, run the command again")


def encoding_of(place: paths.Place, path: str) -> str:
    """'' for UTF-8 and all that looks like it in its ASCII part."""
    if (originals.content(path) or b"").startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16"
    known = tracked_file.named(place).path
    found = index.attributes(place.root, known, (ENCODING,)).get(ENCODING, "") if known else ""
    return "" if found in ("", "unspecified", "unset") else f"{ENCODING} {found}"


def refuse_hidden(path: str, data: bytes) -> None:
    """Our block stands in what somebody opened above it and did not close: a second one would be in its way."""
    at = next((at for at, line in enumerate(data.split(b"\n"), 1) if line.rstrip() == markers.OPEN_BLOCK), 0)
    if at:
        raise IbError(
            f"{path} is left alone: the <ittybitty> block of line {at} stands inside a fence or comment",
            hint=f"close the fence that is open before line {at}, then run the command again",
        )


def make_if_missing(place: paths.Place, path: str) -> None:
    """An empty file to begin with; noted before, so that it goes again."""
    target = atomic.resolved(path)
    if disk.exists(target):
        return
    known = tracked_file.named(place).path
    if known and index.entries(place.root, known):
        raise IbError(
            f"{path} is not here, but git has it (sparse checkout, or deleted)", hint=f"git checkout -- {quoted(known)}"
        )
    note(place, path)
    fd = disk.open(target, disk.O_WRONLY | disk.O_CREAT | disk.O_CLOEXEC, 0o666)
    disk.close(fd)


def note(place: paths.Place, path: str) -> None:
    """What the file held before the first touch of ours."""
    if originals.known(place, originals.CLAUDE_MD, path) is None:
        try:
            data = originals.content(path)
            markers.find(data or b"")
        except markers.Malformed:
            return  # nothing will be put into it
        except OSError as error:
            raise refused(f"read {path}", error) from error
        originals.noted_first(place, originals.CLAUDE_MD, path, "<ittybitty>", data)


def take_out(place: paths.Place) -> originals.Touched | None:
    """The block goes with all that is in it; a file that was made for it goes too. None: the block was not ours.

    One that came with a commit, or that another repository put into a shared file, stays: only its node is ours."""
    path = path_of(place)
    noted = originals.known(place, originals.CLAUDE_MD, path)
    with locks.Lock(place.lock("node")):
        if is_regular(path) and (noted is not None or has_block(path)):
            edit(place, path, lambda data: out(data, noted))
        if noted is not None and noted.before is None:
            remove_if_empty(place, path)
    if noted is not None:
        originals.forgotten(place, originals.CLAUDE_MD, noted)
    return noted


def out(data: bytes, noted: originals.Touched | None) -> Splice | None:
    if noted is None or not is_ours(noted):
        return node_as_before(data, noted)
    splice = block.remove(data)
    if splice is None:
        refuse_hidden(noted.path, data)
        return None
    if block.version_of(data) == "edited":
        return own_words(data)
    if not noted.before:
        return splice
    rest = applied(data, splice)
    added = rest.removeprefix(noted.before)
    if added in (b"\n", b"\r\n") and rest != noted.before:  # the newline that the block needed before it
        return Splice(len(noted.before), len(data), b"") if splice.start == len(rest) else splice
    return splice


def node_as_before(data: bytes, noted: originals.Touched | None) -> Splice | None:
    """In a block that came with a commit: the node that stood there before, or none."""
    spot = markers.find(data)
    if spot is None:
        return None
    before = noted.before if noted is not None and noted.before is not None else b""
    there = markers.find(before)
    if there is None or there.node is None:
        return node.remove(spot)
    old = before[there.node.start : there.node.end]
    return Splice(*spot.node, old) if spot.node is not None else None


def own_words(data: bytes) -> Splice | None:
    """Somebody wrote into our block: all of it stays, but for the node and the line that kept it out of commits."""
    spot = markers.find(data)
    if spot is None:
        return None
    inner = node.remove(spot)
    text = applied(data, inner) if inner is not None else data
    mark = block.set_local(text, False)
    rest = applied(text, mark) if mark is not None else text
    return Splice(spot.block.start, spot.block.end, between(data, rest, Splice(*spot.block, b"")))


def between(before: bytes, after: bytes, place: Splice) -> bytes:
    """What stands in `after` where `before` has this place."""
    return after[place.start : len(after) - (len(before) - place.end)]


def is_regular(path: str) -> bool:
    try:
        return disk.is_file(disk.stat(path))
    except OSError:
        return False


def has_block(path: str) -> bool:
    """A file that was never ours and is no business of ours now cannot stand in the way of an uninstall."""
    try:
        return markers.find(user_file.read(path)) is not None
    except (OSError, markers.Malformed):
        return False


def remove_if_empty(place: paths.Place, path: str) -> None:
    """Out of the way first, then looked at: what somebody saved in between comes back."""
    target = atomic.resolved(path)
    disk.make_dirs(desk_of(place))
    aside = f"{desk_of(place)}/emptied"
    if originals.content(target) != b"":
        return
    disk.rename(target, aside)
    if disk.stat(aside).st_size:
        disk.link(aside, target)
    disk.unlink(aside)
