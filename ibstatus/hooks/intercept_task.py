"""PreToolUse of Agent and Task, where the user asked for it: the Task becomes an agent of ib.

The spawn is a process of its own that says the new agent's id when the agent stands, and takes everything back when it
is told to end before. So there are two outcomes only: the id came in time, and the Task is denied with it; or it did
not, the spawn is told to end, and the Task goes on as the client's own. Nothing is done twice, and nobody waits long.

Which Task becomes an agent of ib, and by which command line. Everything else stays the client's own.
"""

import sys
import time

from ibstatus.claude import hook_output
from ibstatus.project import agent_meta, names, paths, roles
from ibstatus.system import atomic, disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen
    from typing import Any

    from ibstatus.hooks.entry import Event


PATIENCE = 0.8
ENDING = 0.1  # that an id written at the last moment is still read
LONGEST_ID = 4096


def run(event: "Event") -> int:
    place, body = event.place, event.body
    if place is None or body is None or event.of_subagent or event.name != "PreToolUse":
        return 0
    if event.agent and is_worker(place, event.agent):
        return 0
    prompt = prompt_of(event.text("tool_name"), body.get("tool_input"))
    agent = spawned(place, event.agent, prompt, body["tool_input"]) if prompt else ""
    if agent:
        event.say(hook_output.deny(HANDED_OVER.format(id=agent)))
    return 0


def is_worker(place: paths.Place, agent: str) -> bool:
    record = agent_meta.record_of(place, agent)
    return roles.role_of(agent, record.meta if record is not None else {}) == roles.WORKER


def spawned(place: paths.Place, caller: str, prompt: str, tool_input: dict[str, object]) -> str:
    """The id of the new agent, '' when there is none."""
    path = f"{place.home}/tmp/prompt-{time.time_ns():x}"
    disk.make_dirs(path.rpartition("/")[0])
    atomic.put(path, prompt.encode("utf-8", "replace"), durable=False)
    try:
        return said_by(process(place, caller, words(path, caller, tool_input)))
    finally:
        atomic.forget(path)


def process(place: paths.Place, caller: str, words: list[str]) -> "Popen[bytes]":
    """Where the caller stands, so that ib knows who it is; apart, so that our end is not its own."""
    import subprocess

    return subprocess.Popen(
        [sys.executable, "-P", "-m", "ibstatus", *words],
        cwd=place.agent_dir(caller) + "/repo" if caller else place.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def said_by(spawn: "Popen[bytes]") -> str:
    out = spawn.stdout
    if out is None:
        return ""
    agent = line_within(out.fileno(), PATIENCE)
    if agent is None:
        spawn.terminate()
        agent = line_within(out.fileno(), ENDING)
    return agent if agent is not None and names.is_agent_id(agent) else ""


def line_within(fd: int, seconds: float) -> str | None:
    """The first line; '' when it ends without one, None when neither comes in time."""
    import select

    data, until = b"", time.monotonic() + seconds
    while b"\n" not in data and len(data) < LONGEST_ID:
        if not select.select([fd], [], [], max(0.0, until - time.monotonic()))[0]:
            return None
        more = disk.read(fd, LONGEST_ID)
        if not more:
            return ""
        data += more
    return data.partition(b"\n")[0].decode("utf-8", "replace").strip()


TOOLS = ("Agent", "Task")
# Helpers of the client itself, and those that exist to look at agents of ib.
LEFT_ALONE = ("Bash", "statusline-setup", "claude-code-guide", "meta-agent", "ib-merge")
MODELS = ("sonnet", "opus", "haiku")
HANDED_OVER = (
    "ib has taken this over: agent {id} works on it in a git worktree of its own. Do not do it yourself and do not ask "
    'for it again. Its news reaches you by itself; ib list shows its state, ib send {id} "…" speaks to it'
)


def prompt_of(tool: str, tool_input: object) -> str:
    """What the agent is to do; '' when this call is left alone."""
    if tool not in TOOLS or not isinstance(tool_input, dict) or tool_input.get("subagent_type") in LEFT_ALONE:
        return ""
    texts = (tool_input.get(key) for key in ("prompt", "description"))
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def words(prompt_file: str, caller: str, tool_input: "dict[str, Any]") -> list[str]:
    """`caller`: the managing agent, '' for the primary. What a manager spawns is its worker."""
    below = ["--worker", "--manager", caller] if caller else []
    model = tool_input.get("model")
    return ["new-agent", "--prompt-file", prompt_file, *below, *(["--model", model] if model in MODELS else [])]
