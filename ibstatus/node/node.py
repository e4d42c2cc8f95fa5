"""The status node in CLAUDE.md: what it shows now, and making it show something else. Nobody else's byte is touched."""

import os
from collections.abc import Hashable
from typing import NamedTuple

import msgspec

from ibstatus.errors import IbError
from ibstatus.node import hide_from_git, tracked_file
from ibstatus.node.rules import block, content, node
from ibstatus.project import config, git_exclude, originals, paths
from ibstatus.state.fleet import Seen
from ibstatus.system import disk, locks
from ibstatus.system.git import index as git_index
from ibstatus.system.text import markers
from ibstatus.system.text.splices import Splice, applied
from ibstatus.system.userfiles import edit

TRY_AGAIN_AFTER = 60.0
AT_REST = 60.0
STARVED = 5.0
BIG_INDEX = 8 << 20  # not written anew for a file that only looks changed to programs that do not look into it
INIT = "run ib init"


class Key(NamedTuple):
    """What a node shows, as far as it decides whether it is written again; all empty where there is none."""

    content: Hashable
    questions: Hashable
    ages: Hashable


NOTHING = Key("", (), ())
NO_BLOCK = "CLAUDE.md has no <ittybitty> block"


def path_of(place: paths.Place) -> str:
    return place.root + tracked_file.FILE


def desk_of(place: paths.Place) -> str:
    """Where texts are made ready, and where displaced files wait."""
    return place.home + "/tmp"


def leads_out(place: paths.Place) -> bool:
    """A file that other repositories may share cannot show the agents of one of them."""
    return not (os.path.realpath(path_of(place)) + "/").startswith(os.path.realpath(place.root) + "/")


def is_wanted(place: paths.Place) -> bool:
    """Not where it is switched off, and not in the folder of a bare repository: nobody reads a CLAUDE.md there."""
    if not git_exclude.in_checkout(place):
        return False
    known = config.load(place)
    return bool(known.value("status_node.enabled")) and known.value("status_node.mode") == "inline"


def limits(place: paths.Place) -> node.Limits:
    known = config.load(place)
    return node.Limits(
        int(known.value("status_node.max_messages")), bool(known.value("status_node.include_children_count"))
    )


def facts(seen: Seen) -> node.Facts:
    return node.Facts([msgspec.to_builtins(agent) for agent in seen.agents], seen.messages, seen.questions)


def key_of(content: content.Item | None) -> Key:
    if content is None:
        return NOTHING
    messages, agents = content.get("messages"), content.get("root_agents")
    asked = [item.get("id") for item in listed(messages) if item.get("type") == "question"]
    return Key(node.key(content), tuple(map(str, asked)), tuple(str(agent.get("age")) for agent in listed(agents)))


def listed(value: object) -> list[content.Item]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class Keeper:
    """Remembers what the file showed when it was last seen. `why` says what keeps the node from being written."""

    def __init__(self, place: paths.Place) -> None:
        self.place = place
        self.path = path_of(place)
        self.why = ""
        self.tried = 0.0
        self.state: tuple[int, ...] = ()
        self.key = NOTHING
        self.capacity = node.CAPACITY
        self.newline = b"\n"
        self.may_grow = True
        self.told_git, self.wrote = True, 0.0
        self.taken = False  # git has taken our block away, and it is to be put back
        self.by_hand = False  # a person has, and it is not
        self.index: tuple[int, ...] = ()
        self.sizes_told: tuple[int, ...] = ()
        self.known: edit.Known | None = None

    def wanted(self, seen: Seen, now: float) -> Key:
        """What the node should show; nothing where it is switched off."""
        if not is_wanted(self.place):
            return NOTHING
        return key_of(self.fitted(seen, now, self.newline).content)

    def fitted(self, seen: Seen, now: float, newline: bytes) -> node.Fitted:
        return node.fitted(facts(seen), limits(self.place), now, self.capacity, may_grow=self.may_grow, newline=newline)

    def shown(self, now: float) -> Key:
        """What the node shows; the file is only read again when it has changed, or when we gave up a minute ago."""
        index = self.index_now()  # before the file: whatever git writes in between, it writes its index last
        state = state_of(self.path)
        if state != self.state or (self.why and now - self.tried > TRY_AGAIN_AFTER):
            self.state, self.tried, self.why, self.may_grow = state, now, "", True
            self.key = self.read(index)
        elif self.index and not (self.taken or self.by_hand):
            self.index = index  # the block was still there, whatever git did
        return self.key

    def index_now(self) -> tuple[int, ...]:
        return state_of(self.place.common + "/index")

    def read(self, index: tuple[int, ...]) -> Key:
        if leads_out(self.place):
            self.why = "CLAUDE.md is a link out of this repository"
            return NOTHING
        try:
            data = edit.read(self.path)
            spot = markers.find(data)
        except FileNotFoundError:
            self.why = "there is no CLAUDE.md"
            return NOTHING
        except OSError as error:
            self.why = f"CLAUDE.md cannot be read: {error.strerror}"
            return NOTHING
        except markers.Malformed as error:
            self.why = f"CLAUDE.md is left alone: line {error.line}: {error.why}"
            return NOTHING
        if spot is None:
            if not self.taken and not self.by_hand:
                if self.index and disk.exists(self.place.common + "/index.lock"):
                    self.state, self.why = (), "git is at work"  # it writes its index last: nobody can tell yet
                    return NOTHING
                self.taken = self.git_was_at_work() if self.index else tracked_file.by_git(self.place, self.path, data)
                self.by_hand = bool(self.index) and not self.taken
            self.why = "" if self.taken else f"{NO_BLOCK}: {INIT}"
            return NOTHING
        self.taken, self.by_hand, self.index = False, False, index
        if spot.body is None:
            return NOTHING
        self.capacity, self.newline = max(node.LEAST, spot.body.end - spot.body.start), spot.newline
        return key_of(node.decoded(data[spot.body.start : spot.body.end]) or {})

    def put(self, seen: Seen, now: float) -> bool:
        """Make the node show this; False when it has to wait (`held`) or cannot be done (`why`)."""
        resizing = False
        wanted = is_wanted(self.place)
        ready = self.fitted(seen, now, self.newline)  # before the file is opened: others wait for us while it is
        if wanted and self.rewritten(ready.body, now):
            return True
        made: Splice | None = None

        def change(data: bytes) -> Splice | None:
            nonlocal resizing, made
            spot = markers.find(data)
            if spot is not None:
                made = self.splice(data, spot, seen, now, ready) if wanted else node.remove(spot)
            elif self.taken:
                made = self.with_block(data, True, seen, now).splice
            else:
                raise IbError(NO_BLOCK, hint=INIT)
            resizing = made is not None and not made.fits
            return made

        try:
            with locks.Lock(self.place.lock("node")):
                edited = edit.edit(
                    self.path,
                    change,
                    desk=desk_of(self.place),
                    may_resize=False,
                    now_ok=lambda: hide_from_git.ready(self.place, resizing),
                    durable=False,
                )
        except (OSError, ValueError, IbError, markers.Malformed) as error:
            return self.gave_up(f"CLAUDE.md could not be written: {getattr(error, 'strerror', '') or error}", now)
        if edited.how == "held":
            return False
        if edited.how in ("busy", "gone"):
            if resizing and self.may_grow and self.key != NOTHING:
                self.may_grow = False  # what does not fit is left out, as long as the room cannot grow
                return False
            return self.gave_up(f"CLAUDE.md could not be written: {edited.note}", now)
        self.state = ()
        if edited.stamp is not None and made is not None:
            self.known = edit.Known(edited.stamp, made.start, made.data)
        self.told_git, self.wrote = False, now
        if edited.resized:
            self.sync(now, at_once=True)
        return True

    def rewritten(self, body: bytes, now: float) -> bool:
        """The quick way: nobody has saved the file since our last update."""
        if self.known is None:
            return False
        with locks.Lock(self.place.lock("node")):
            try:
                self.known = edit.rewrite(
                    self.path, self.known, body, now_ok=lambda: not hide_from_git.still(self.place, False)
                )
            except IbError:
                self.known = None
        if self.known is None:
            return False
        self.state, self.told_git, self.wrote = (), False, now
        return True

    def gave_up(self, why: str, now: float) -> bool:
        self.why, self.tried, self.state = why, now, state_of(self.path)
        return False

    def splice(
        self, data: bytes, spot: markers.Spot, seen: Seen, now: float, ready: node.Fitted | None = None
    ) -> Splice | None:
        room = None if spot.body is None else spot.body.end - spot.body.start
        if ready is not None and (ready.capacity, self.newline) == (room, spot.newline):
            return node.set_body(spot, data, ready.body)
        if room is not None:
            self.capacity = max(node.LEAST, room)
        self.newline = spot.newline
        made = self.fitted(seen, now, spot.newline)
        self.capacity = made.capacity
        if spot.body is None:
            return node.insert(spot, data, made.body)
        return node.set_body(spot, data, made.body)

    def git_was_at_work(self) -> bool:
        """Since the last look, which found the block there: then it was not a person who took it out."""
        noted = originals.known(self.place, originals.CLAUDE_MD, self.path)
        return tracked_file.is_ours(noted) and self.index != self.index_now()

    def with_block(self, data: bytes, local: bool, seen: Seen, now: float) -> block.Insertion:
        """The block with its node in it, as one splice."""
        made = block.insert(data, local)
        text = applied(data, made.splice)
        spot = markers.find(text)
        inner = self.splice(text, spot, seen, now) if spot is not None else None
        whole = applied(text, inner) if inner is not None else text
        end = len(whole) - (len(data) - made.splice.end)
        return made._replace(splice=made.splice._replace(data=whole[made.splice.start : end]))

    def sync(self, now: float, *, at_once: bool = False) -> None:
        """Tell git's index how the file looks now: another size at once, or git shows it as changed; the same size when
        the node has come to rest, for programs that only look at times (`git diff-index` without a refresh).

        Not more often than that: for an instant the index is locked, and somebody's git could come across it."""
        resized = at_once or self.sizes() != self.sizes_told
        rested = not self.told_git and now - self.wrote > AT_REST
        starved = resized and now - self.wrote > STARVED  # somebody asks git for its status again and again
        if not (resized or rested) or hide_from_git.still(self.place, not starved):
            return
        path = tracked_file.named(self.place).path
        index, before = self.index_now(), state_of(self.path)
        if not path or not index or index[0] > BIG_INDEX:
            done = True
        else:
            unseen = not (at_once or rested) and not git_index.status(self.place.root, path)
            done = unseen or hide_from_git.sync(self.place, hurried=starved)
            told = self.index_now()
            if index == self.index and state_of(self.path) == before:  # else git was at work since the last look
                self.index = told
        if done:
            self.told_git, self.sizes_told = self.told_git or at_once or rested, self.sizes()

    def sizes(self) -> tuple[int, ...]:
        """When these stay, git has nothing new to say."""
        return (*state_of(self.path)[:2], *self.index_now()[:2])


def state_of(path: str) -> tuple[int, ...]:
    """Changes when the file does: size, inode, times."""
    try:
        status = disk.stat(path)
    except OSError:
        return (0,)
    return (status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
