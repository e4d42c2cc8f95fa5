"""The block in CLAUDE.md: put in by `ib init`, brought up to date, taken out again with nothing left behind."""

import time
from collections.abc import Callable

from ibstatus.errors import IbError, quoted
from ibstatus.ops import fleet, hide
from ibstatus.ops.node import Keeper, desk_of, path_of
from ibstatus.rules import block, markers
from ibstatus.rules.splices import Splice, applied
from ibstatus.store import atomic, disk, displaced, locks, places, states, touched, user_file

LOOK_AFTER = 0.02
PAST_QUIET = 60.0  # a person who types knows when git is done; an operation under way is another matter


def put_in(place: places.Place, local: bool) -> list[str]:
    """The block with its node, or the present one brought up to date. Returns what there is to say."""
    said: list[str] = []
    now = time.time()
    keeper = Keeper(place)
    seen = fleet.look(place, states.States(place), {}, now)

    def change(data: bytes) -> Splice | None:
        said.clear()
        spot = markers.find(data)
        if spot is None:
            made = keeper.with_block(data, local, seen, now)
            if not made.exact:
                said.append("CLAUDE.md has no place where the block could stand without a change of its own lines")
            return made.splice
        if block.version_of(data) == "edited":
            said.append("the <ittybitty> block in CLAUDE.md was edited by somebody and is left alone")
            return None
        return block.refresh(data) or block.set_local(data, local)

    path = path_of(place)
    make_if_missing(place, path)
    with locks.Lock(place.lock("node")):
        note(place, path)
        edit(place, path, change)
    return said


def edit(place: places.Place, path: str, change: Callable[[bytes], Splice | None]) -> None:
    """As a person waits: what cannot be done is an error that says why."""
    busy = hide.still(place, True, time.time() + PAST_QUIET)
    if busy:
        raise IbError(f"{path} is not changed now: {busy}", hint="when it is over, run the command again")
    try:
        edited = user_file.edit(path, change, desk=desk_of(place), now_ok=lambda: hide.ready(place, True, hurried=True))
    except markers.Malformed as error:
        raise IbError(
            f"{path} is left alone: line {error.line}: {error.why}", hint=f"mend line {error.line}, then ib init"
        ) from error
    if edited.how in ("busy", "gone", "held"):
        raise IbError(f"{path} could not be changed", cause=edited.note, hint=f"ls -l {quoted(path)}")
    if edited.how == "exchanged":
        time.sleep(LOOK_AFTER)
        displaced.look(desk_of(place), time.time())
    if edited.resized:
        hide.sync(place, hurried=True)


def make_if_missing(place: places.Place, path: str) -> None:
    """An empty file to begin with; noted before, so that it goes again."""
    target = atomic.resolved(path)
    if disk.exists(target):
        return
    note(place, path)
    fd = disk.open(target, disk.O_WRONLY | disk.O_CREAT | disk.O_CLOEXEC, 0o666)
    disk.close(fd)


def note(place: places.Place, path: str) -> None:
    """What the file held before the first touch of ours."""
    if touched.known(place, touched.CLAUDE_MD, path) is None:
        data = touched.content(path)
        if data is None or markers.find(data) is None:
            touched.noted_first(place, touched.CLAUDE_MD, path, "<ittybitty>", data)


def take_out(place: places.Place) -> touched.Touched | None:
    """The block goes with all that is in it; a file that was made for it goes too. None: nothing of ours was there."""
    path = path_of(place)
    noted = touched.known(place, touched.CLAUDE_MD, path)
    with locks.Lock(place.lock("node")):
        if disk.exists(path):
            edit(place, path, lambda data: out(data, noted))
        if noted is not None and noted.before is None:
            remove_if_empty(place, path)
    if noted is not None:
        touched.forgotten(place, touched.CLAUDE_MD, noted)
    return noted


def out(data: bytes, noted: touched.Touched | None) -> Splice | None:
    splice = block.remove(data)
    if splice is None or noted is None or not noted.before:
        return splice
    rest = applied(data, splice)
    added = rest.removeprefix(noted.before)
    if added in (b"\n", b"\r\n") and rest != noted.before:  # the newline that the block needed before it
        return Splice(len(noted.before), len(data), b"") if splice.start == len(rest) else splice
    return splice


def remove_if_empty(place: places.Place, path: str) -> None:
    """Out of the way first, then looked at: what somebody saved in between comes back."""
    target = atomic.resolved(path)
    aside = f"{desk_of(place)}/emptied"
    if touched.content(target) != b"":
        return
    disk.rename(target, aside)
    if disk.stat(aside).st_size:
        disk.link(aside, target)
    disk.unlink(aside)
