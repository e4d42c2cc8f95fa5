"""Where a command stands and who calls it."""

import os
import sys

from ibstatus.project import identity, paths


def place() -> paths.Place:
    return paths.here()


def caller(at: paths.Place) -> identity.Caller:
    return identity.caller_of(at.agent, os.environ.get("CLAUDE_CODE_SESSION_ID", ""), on_terminal(), at.proven)


def is_person() -> bool:
    """At a terminal, and not under Claude: whoever types in an agent's worktree may do there what a person may."""
    return on_terminal() and "CLAUDECODE" not in os.environ


def on_terminal() -> bool:
    return any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
