"""Who changes sessions of a tmux server and who connects to it in control mode take turns.

tmux 3.3 falls over a client that comes in control mode while a session is made or ended, and all sessions with it.
"""

import contextlib
import fcntl
import os
import socket as sockets
import time
from collections.abc import Iterator

STEP = 0.01
PATIENCE = 3.0  # who has been stopped in between must not hold up everybody


def path_of(socket: str) -> str:
    folder = os.environ.get("TMUX_TMPDIR") or "/tmp"
    return f"{os.path.realpath(folder)}/tmux-{os.getuid()}/{socket}"


@contextlib.contextmanager
def changing(socket: str) -> Iterator[bool]:
    """While sessions are made or ended; several may at once."""
    with held(socket, fcntl.LOCK_SH, PATIENCE) as got:
        yield got


@contextlib.contextmanager
def connecting(socket: str, patience: float) -> Iterator[bool]:
    """While a client in control mode is let in. False when somebody changes sessions: try again later."""
    with held(socket, fcntl.LOCK_EX, patience) as got:
        yield got


@contextlib.contextmanager
def held(socket: str, how: int, patience: float) -> Iterator[bool]:
    try:
        os.makedirs(os.path.dirname(path_of(socket)), mode=0o700, exist_ok=True)
        fd = os.open(path_of(socket) + ".ib", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        yield how == fcntl.LOCK_SH  # without the gate nobody connects, and nobody is kept from working
        return
    try:
        yield taken(fd, how, patience)
    finally:
        os.close(fd)


def taken(fd: int, how: int, patience: float) -> bool:
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() >= until:
                return False
            time.sleep(STEP)


def is_served(socket: str) -> bool:
    """Does anybody hold this socket open? Also a server that hangs does."""
    with sockets.socket(sockets.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(path_of(socket))
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
            return False
        except OSError:
            return True
    return True
