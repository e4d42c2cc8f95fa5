"""The kinds of coding agents. Ops speak to a client through here alone, whichever it is."""

from collections.abc import Mapping
from typing import Any

from ibstatus.claude.client import Claude
from ibstatus.claude.command import Launch

__all__ = ["DEFAULT", "Launch", "of"]

DEFAULT = Claude()
KINDS = {DEFAULT.kind: DEFAULT}


def of(meta: Mapping[str, Any]) -> Claude:
    """By what was written down when the agent was made."""
    return KINDS.get(str(meta.get("kind")), DEFAULT)
