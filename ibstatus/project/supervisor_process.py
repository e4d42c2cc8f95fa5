"""Starting and stopping the supervisor as a process of its own. Whoever needs it calls `ensure`; nobody imports it."""

import os
import signal
import sys
import time

from ibstatus.project import home, paths
from ibstatus.system import disk, locks

TYPE_CHECKING = False
if TYPE_CHECKING:
    import psutil

LOCK, START = "supervisor", "supervisor-start"
TRY_EVERY = 4.5
LONGEST_WAIT = 600.0
STOPS_WITHIN = 8.0  # it ends what it is typing
KEPT = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "TMUX_TMPDIR", "SSL_CERT_FILE")
KEPT_FAMILIES = ("LC_", "XDG_", "GIT_CONFIG_NOSYSTEM", "IB_BOARD_DSN", "PG")  # libpq's own: PGHOST, PGPASSFILE, …
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SWITCH = "IB_SUPERVISOR"
MOST_FILES = 1 << 16


def is_running(place: paths.Place) -> bool:
    return locks.is_held(place.lock(LOCK))


def ensure(place: paths.Place) -> bool:
    """Start the supervisor unless it runs; True when one was started. Never waits, never fails its caller.

    One try in less than five seconds; longer apart, when the last ones did not come up. Not started in a sandbox
    that cannot write the root: it would hold the lock and publish nothing.
    """
    try:
        if os.environ.get(SWITCH) == "off" or is_running(place) or not os.access(place.root, os.W_OK):
            return False
        if home.is_elsewhere(place):
            return False  # it would refuse to begin
        lock = locks.Lock(place.lock(START))
        if not lock.try_take():
            return False
        try:
            tried, failures = tries(lock)
            wait = min(TRY_EVERY * 2**failures, LONGEST_WAIT)
            if -1 < time.time() - tried < wait or is_running(place):  # noted in round milliseconds: a hair from now
                return False
            note(lock, time.time(), failures + 1)
            apart([sys.executable, "-P", "-m", "ibstatus", "status-watchdog", "--repo", place.root], log_of(place))
            return True
        finally:
            lock.release()
    except OSError:
        return False


def log_of(place: paths.Place) -> str:
    return place.home + "/status-watchdog.log"


def pid_file_of(place: paths.Place) -> str:
    return place.home + "/status-watchdog.pid"


def tries(lock: locks.Lock) -> tuple[float, int]:
    """(when the last try was, how many in a row did not come up)."""
    words = disk.pread(lock.fd, 64, 0).split()
    try:
        return float(words[0]), min(int(words[1]), 10)
    except (IndexError, ValueError, OverflowError):
        return 0.0, 0


def note(lock: locks.Lock, tried: float, failures: int) -> None:
    disk.ftruncate(lock.fd, 0)
    disk.pwrite(lock.fd, b"%.3f %d\n" % (tried, failures), 0)


def came_up(place: paths.Place) -> None:
    """Called by the supervisor once it works: the next start need not wait."""
    with locks.Lock(place.lock(START)) as lock:
        note(lock, tries(lock)[0], 0)


def apart(argv: list[str], log: str, env: "dict[str, str] | None" = None) -> None:
    """Run a program that outlives us: two forks, a session of its own, nothing of ours in its hands. The first one
    closes all that, so when we return no lock of ours is held there."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        null = os.open("/dev/null", os.O_RDWR)
        out = log_opened(log, null)
        for place, fd in ((0, null), (1, out), (2, out)):
            os.dup2(fd, place)
        os.closerange(3, min(os.sysconf("SC_OPEN_MAX"), MOST_FILES))
        if os.fork() == 0:
            os.chdir("/")
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            for number in (*ENDING, signal.SIGQUIT, signal.SIGPIPE, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            os.execve(argv[0], argv, environment() if env is None else env)
    finally:
        os._exit(0)


def log_opened(log: str, null: int) -> int:
    """Not a pipe or a link that somebody has put there: it could stop us here, with the start lock in our hands."""
    try:
        return os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError:
        return null


def environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key in KEPT or key.startswith(KEPT_FAMILIES)}


def sign(lock: locks.Lock) -> None:
    """Our pid and when we began, in the lock file: what `stop` needs in order to hit nobody else."""
    disk.ftruncate(lock.fd, 0)
    disk.pwrite(lock.fd, f"{os.getpid()} {began(os.getpid())}\n".encode(), 0)


def holder(place: paths.Place) -> "psutil.Process | None":
    """The process that holds the supervisor's lock, if it is still the one that signed."""
    import psutil

    try:
        words = disk.read_file(place.lock(LOCK)).split()
        process = psutil.Process(int(words[0]))
        return process if began(process.pid) == words[1].decode() else None
    except (OSError, IndexError, ValueError, psutil.Error):
        return None


def began(pid: int) -> str:
    """When this process began, in a form that stays the same when somebody sets the clock."""
    import psutil

    try:
        stat = disk.read_file(f"/proc/{pid}/stat")
        return stat.rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return f"{psutil.Process(pid).create_time():.0f}"


def stop(place: paths.Place) -> bool:
    """End the supervisor and wait until it is gone; False when it does not go."""
    import psutil

    deadline = time.monotonic() + STOPS_WITHIN
    asked = False
    while is_running(place):
        process = holder(place)
        if process is not None and not asked:
            try:
                process.terminate()
                asked = True
            except psutil.Error:
                pass
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
