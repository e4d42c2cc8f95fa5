"""Where a command stands and who calls it."""

import os
import sys

from ibstatus.rules import identity
from ibstatus.store import places


def place() -> places.Place:
    return places.here()


def caller(at: places.Place) -> identity.Caller:
    terminal = any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    return identity.caller_of(at.agent, os.environ.get("CLAUDE_CODE_SESSION_ID", ""), terminal)
