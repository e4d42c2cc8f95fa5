"""How many columns a text takes: as a running tmux counts it, and as the terminal that we run in draws it."""

import os
import re
import secrets
import select
import termios
import time
import tty
from collections.abc import Sequence

from ibstatus.drivers import tmux_servers

PATIENCE = 1.0  # a terminal that has not answered by then never will
REPORT = re.compile(rb"\x1b\[\d+;(\d+)R")
ASK = b"\x1b[6n"  # where is the cursor?
CLEAR = b"\r\x1b[K"
DUMB = ("", "dumb", "unknown")


def in_tmux(server: tmux_servers.Server, texts: Sequence[str]) -> list[int] | None:
    """None when this server cannot be asked. It keeps nothing: the option it is asked by has a name of its own."""
    name = f"@ib_width_{secrets.token_hex(4)}"
    asking = [f"set-option -g {name} '{text}'\ndisplay-message -p '#{{w:{name}}}'\n" for text in texts]
    done = tmux_servers.asked(server, commands="".join(asking) + f"set-option -gu {name}\n")
    found = done.out.split()
    return [int(word) for word in found] if len(found) == len(texts) and all(map(str.isdigit, found)) else None


def in_terminal(texts: Sequence[str]) -> list[int] | None:
    """Drawn on stdout and looked where the cursor is then; None without a terminal that answers."""
    if os.environ.get("TERM", "") in DUMB or not (os.isatty(0) and os.isatty(1)) or not is_in_front():
        return None
    before = termios.tcgetattr(0)
    try:
        tty.setcbreak(0)
        os.write(1, b"".join([b"\r" + text.encode() + ASK for text in texts]) + CLEAR)
        return reported(len(texts))
    except OSError:
        return None
    finally:
        termios.tcsetattr(0, termios.TCSAFLUSH, before)  # what comes too late is nobody's input


def is_in_front() -> bool:
    """A job in the background would be stopped for it."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def reported(count: int) -> list[int] | None:
    """The columns that the terminal tells, one a report; keys that were struck meanwhile stand between them."""
    data = b""
    deadline = time.monotonic() + PATIENCE
    while (left := deadline - time.monotonic()) > 0 and select.select([0], [], [], left)[0]:
        got = os.read(0, 4096)
        data += got
        found = REPORT.findall(data)
        if len(found) >= count or not got:
            break
    found = REPORT.findall(data)
    return [int(column) - 1 for column in found[:count]] if len(found) >= count else None
