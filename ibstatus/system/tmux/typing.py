"""Typing into the pane of an agent, as a person would: text as a bracketed paste, keys by their names."""

import os
import sys
from typing import TYPE_CHECKING

from ibstatus.system.tmux import server as tmux

if TYPE_CHECKING:
    import libtmux


def server(socket: str) -> "libtmux.Server":
    """Loaded when one types: it takes its time, and cannot bear a closed stdout."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    import libtmux

    return libtmux.Server(socket_name=socket, config_file=os.devnull)


def asked(socket: str, target: str, *words: str) -> bool:
    """One command of tmux, '' or a pane's id for its target; False when it was refused."""
    to = server(socket)
    from libtmux.exc import LibTmuxException

    try:
        return not to.cmd(*words, target=target or None).stderr
    except LibTmuxException:
        return False


def press(socket: str, known: tmux.Pane, *names: str) -> bool:
    """Keys such as Enter, Down, C-u; False when the pane is gone. Its id is never given out again."""
    return asked(socket, known.id, "send-keys", *names)


def paste(socket: str, known: tmux.Pane, line: str) -> bool:
    """One line, as if pasted: no key is pressed by it, whatever it holds. False when the pane is gone."""
    buffer = f"ib-{known.id.lstrip('%')}-{os.getpid()}"
    taken = asked(socket, "", "set-buffer", "-b", buffer, "--", line)
    return taken and asked(socket, known.id, "paste-buffer", "-p", "-d", "-b", buffer)


def styled(socket: str, known: tmux.Pane) -> str:
    """The screen with its styles, which tell a hint on the prompt line from somebody's draft. '' when it is gone."""
    done = tmux.asked(socket, "capture-pane", "-p", "-e", "-t", known.id)
    return done.out if done.code == 0 else ""
