"""CwdChanged: the client forgets what it watches when the session changes its directory; it is told again.

FileChanged (asyncRewake): the queue has changed; the session is woken if there is news that nobody has told.

Stop (asyncRewake): waits between two turns until there is news. Gone with its client, or when a newer one comes.
"""

import posix
import select
import time

from ibstatus.claude import hook_output
from ibstatus.mail import bells, session_reader, wake_claim, wake_state
from ibstatus.model import constants
from ibstatus.system import atomic, disk, locks
from ibstatus.system.disk import environ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.hooks.entry import Event
    from ibstatus.project.paths import Place


def cwd_changed(event: "Event") -> int:
    if event.place is not None and not event.agent and event.session and event.name == "CwdChanged":
        event.say(hook_output.watch(event.name, [event.place.queue]))
        wake_state.set_watched(event.place, event.session, event.now)
    return 0


SPEAKS_FOR = 0.5


def queue_changed(event: "Event") -> int:
    place, session = event.place, event.session
    if place is None or event.agent or not session or event.name != "FileChanged":
        return 0
    patience = time.monotonic() + SPEAKS_FOR
    while session_reader.is_speaking(place, session) and time.monotonic() < patience:
        time.sleep(0.02)  # a hook of the session is telling: what it leaves over is ours to ring for
    return constants.RING if wake_claim.claim(place, session, wake_state.WATCH, event.now) else 0


LOOK_EVERY, UNRUNG = 5.0, 1.0
SOON = 0.1
VOICE = __file__.rpartition("/")[0] + "/inject_status.py"  # once ib is removed there is nobody to tell what we ring for
LONGEST = 7000.0  # before the client's own limit for this hook, 7,200 s
HANDED_OVER = 3.0
INTERACTIVE = "cli"  # `claude -p` would wait for us before it ends


def wait_for_news(event: "Event") -> int:
    client = event.args[0] if event.args else ""
    if event.place is None or not event.session or not client.isdigit():
        return 0
    if event.place.agent or event.of_subagent or environ("CLAUDE_CODE_ENTRYPOINT") != INTERACTIVE:
        return 0
    waiter = Waiter(event.place, event.session, int(client))
    try:
        return constants.RING if waiter.hears() else 0
    finally:
        waiter.close()
        if waiter.is_bereft():
            wake_state.leave(event.place, event.session)  # killed: no hook of it says so


class Waiter:
    """One at a time for a session: the newest. It holds a lock, so that others see that the session can be woken."""

    def __init__(self, place: "Place", session: str, client: int) -> None:
        self.place = place
        self.session = session
        self.client = client
        self.line = lifeline(client)
        self.pid = b"%d\n" % posix.getpid()
        self.name = wake_state.waiter_path(place, session)
        self.bell: bells.Bell | None = None
        self.lock = locks.Lock(wake_state.waiter_lock(place, session))

    def hears(self) -> bool:
        """True: there is news, and it is for us to ring."""
        self.sign()
        self.bell = bells.Bell(self.place.bells)
        if self.line >= 0:
            self.bell.poll.register(self.line, select.POLLIN)
        bells.ring(self.place.bells)  # an older waiter looks, and sees our name
        if not self.takes_over():
            return False
        deadline, pause = time.monotonic() + LONGEST, SOON
        while self.is_needed() and time.monotonic() < deadline:
            if wake_claim.claim(self.place, self.session, wake_state.WAITER, time.time()):
                return True
            # News that is not ours to ring for now: somebody tells it or has rung, or it wakes another session first.
            every = LOOK_EVERY if self.bell.fd >= 0 else UNRUNG
            pause = min(pause * 2, every) if wake_claim.unheard(self.place, self.session)[0] else every
            if self.bell.wait(pause):
                pause = SOON
        return False

    def sign(self) -> None:
        try:
            atomic.put(self.name, self.pid, durable=False)
        except FileNotFoundError:
            disk.make_dirs(self.name.rpartition("/")[0])
            atomic.put(self.name, self.pid, durable=False)

    def takes_over(self) -> bool:
        """The older one leaves when it sees our name."""
        until = time.monotonic() + HANDED_OVER
        while not self.lock.try_take():
            if time.monotonic() > until or not self.is_needed():
                return False
            time.sleep(0.01)
        return True

    def is_needed(self) -> bool:
        """The client lives, and no newer waiter has come."""
        try:
            newest = disk.read_file(self.name) == self.pid
        except OSError:
            newest = False
        return newest and disk.exists(VOICE) and not is_gone(self.client, self.line)

    def is_bereft(self) -> bool:
        return is_gone(self.client, self.line)

    def close(self) -> None:
        if self.bell is not None:
            self.bell.close()
        self.lock.release()


def lifeline(client: int) -> int:
    """A descriptor that becomes readable when the client ends; -1 where there is no such thing."""
    try:
        return posix.pidfd_open(client, 0)
    except (AttributeError, OSError):
        return -1


def is_gone(client: int, line: int) -> bool:
    if line >= 0:
        return bool(select.select([line], [], [], 0)[0])
    try:
        posix.kill(client, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False
