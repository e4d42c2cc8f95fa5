"""agents/<id>/start.sh: what runs in an agent's terminal. Every word of it is quoted; nothing is spliced in.

prompt.txt: what a new agent is told first. Who it is and where it may work it hears when its session starts.
"""

from collections.abc import Sequence
from shlex import join, quote
from typing import NamedTuple

SCRIPT = """\
#!/bin/sh
# Written by ib for the agent {id}. `start.sh` begins its session, `start.sh resume` goes on with it.
unset {left_behind}
IB_AGENT_ID={id}
IB_AGENT_TOKEN=$(cat {folder}/token)
export IB_AGENT_ID IB_AGENT_TOKEN
{environment}{shell}{git}{fence}{path}cd {cwd} || exit 1
if [ "$1" = resume ]; then
    {again}
else
    {begin} "$(cat {folder}/prompt.txt)"
fi
code=$?
[ -n "$TMUX_PANE" ] && tmux capture-pane -p -t "$TMUX_PANE" > {folder}/last-screen 2>/dev/null
unset IB_AGENT_ID IB_AGENT_TOKEN
cd {root} && {ended} "$code"
"""
PATH = 'command -v ib >/dev/null 2>&1 || PATH="$PATH:"{bin}\nexport PATH\n'
# The guard reads commands as bash does: zsh has more ways to name a program or a file.
SHELL = "if [ -x /bin/bash ]; then SHELL=/bin/bash; export SHELL; fi\n"
# What git must not take from files that an agent can write, behind what the caller's environment says.
GIT = """\
n=${GIT_CONFIG_COUNT:-0}
export "GIT_CONFIG_KEY_$n=core.hooksPath" "GIT_CONFIG_VALUE_$n=/dev/null"
GIT_CONFIG_COUNT=$((n + 1))
export GIT_CONFIG_COUNT
"""
NO_BARE = """\
n=$GIT_CONFIG_COUNT
export "GIT_CONFIG_KEY_$n=safe.bareRepository" "GIT_CONFIG_VALUE_$n=explicit"
GIT_CONFIG_COUNT=$((n + 1))
"""
# The worktree lies inside of the repository: once its .git is lost, git would take the user's checkout for it. Of a
# path with a colon git cannot be told so.
FENCE = """\
GIT_CEILING_DIRECTORIES={folder}${{GIT_CEILING_DIRECTORIES:+:$GIT_CEILING_DIRECTORIES}}
export GIT_CEILING_DIRECTORIES
"""


class Start(NamedTuple):
    """`begin` gets the prompt as its last word; `ended` is told the client's exit code; `bin`: where ib is; `bare`: the
    repository itself is bare, and what agents run of ib must find it."""

    id: str
    folder: str
    cwd: str
    root: str
    begin: Sequence[str]
    again: Sequence[str]
    ended: Sequence[str]
    left_behind: Sequence[str]
    bin: str = ""
    environment: Sequence[tuple[str, str]] = ()
    bare: bool = False


def script_text(start: Start) -> str:
    return SCRIPT.format(
        id=quote(start.id),
        folder=quote(start.folder),
        cwd=quote(start.cwd),
        root=quote(start.root),
        begin=join(start.begin),
        again=join(start.again),
        ended=join(start.ended),
        left_behind=" ".join(start.left_behind),
        shell=SHELL,
        git=GIT if start.bare else GIT + NO_BARE,
        path=PATH.format(bin=quote(start.bin)) if start.bin else "",
        fence=FENCE.format(folder=quote(start.folder)) if start.cwd != start.root else "",
        environment="".join(f"{name}={quote(value)}\nexport {name}\n" for name, value in start.environment),
    )


MARKER = "<ittybitty>You are an IttyBitty {role} agent.</ittybitty>"
TASK = "[USER TASK]"
LONGEST = 100_000  # bytes: the prompt is one word of a command line, which may hold 128 KiB


def prompt_text(role: str, custom: list[tuple[str, str]], task: str) -> str:
    """`custom`: (name, text) of the project's own instructions, `all` first."""
    parts = [MARKER.format(role=role)]
    parts += [f"{heading(name)}\n{said}" for name, said in custom]
    return "\n\n".join([*parts, f"{TASK}\n{task}"]) + "\n"


def heading(name: str) -> str:
    return "[CUSTOM INSTRUCTIONS]" if name == "all" else f"[CUSTOM {name.upper()} INSTRUCTIONS]"
