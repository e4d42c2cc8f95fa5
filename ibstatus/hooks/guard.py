"""PreToolUse of an agent: which tools it may use, and where. The policy is read from the root, where it cannot write.

It always answers; what it cannot judge is denied.
"""

from ibstatus.claude import hook_output
from ibstatus.guard import decide
from ibstatus.hooks.entry import Event
from ibstatus.project import paths
from ibstatus.system import disk, jsonl, symlinks
from ibstatus.system.disk import environ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONFIG = "/.ittybitty.json"
LONGEST = 4 << 20
NOWHERE = "ib does not find the repository of this agent, so nothing is allowed. Say so and end your turn with WAITING"
NO_RULES = "The rules of agent {} cannot be read ({}), so nothing is allowed. Say so and end your turn with WAITING"
BROKEN = "{}. Until that is mended, agents may only read in their worktree. Say so and end your turn with WAITING"
READING = frozenset(("Read", "Grep", "Glob", "LS"))


class Broken(Exception):
    """Why there is no policy."""


def run(event: Event) -> int:
    verdict = judged(event)
    if verdict.decision == decide.DENY:
        event.say(hook_output.deny(jsonl.clean(verdict.reason)))
        if event.place is not None:
            note(event, event.place, verdict)
    else:
        event.say(hook_output.allow() if verdict.decision == decide.ALLOW else hook_output.nothing())
    return 0


def judged(event: Event) -> decide.Verdict:
    if event.place is None or not event.agent:
        return decide.Verdict(decide.DENY, NOWHERE)
    tool, given = event.text("tool_name"), event.body.get("tool_input") if event.body else None
    if not tool or not isinstance(given, dict):
        return decide.Verdict(decide.DENY, "ib cannot read this tool call, so it is not allowed. Try it in another way")
    try:
        policy = policy_of(event.place, event.agent)
    except Broken as error:
        return decide.Verdict(decide.DENY, str(error))
    verdict = decide.judge(tool, given, event.cwd, policy, symlinks.Disk())
    if verdict.decision == decide.ALLOW and not (tool in READING and stays(event, given, policy)):
        broken = broken_config(event.place)
        if broken:
            return decide.Verdict(decide.DENY, decide.cut(BROKEN.format(broken)))
    return verdict


def stays(event: Event, given: "dict[str, Any]", policy: decide.Policy) -> bool:
    """Does it only read in the worktree?"""
    paths = [given[key] for key in ("file_path", "path") if isinstance(given.get(key), str)] or [event.cwd]
    paths = [path if path.startswith("/") else f"{event.cwd}/{path}" for path in paths]
    return all(".." not in path and f"{path}/".startswith(policy.worktree + "/") for path in paths)


def broken_config(place: paths.Place) -> str:
    """What is wrong with the configuration, '' when nothing is: its rules would be missing."""
    if not any(disk.exists(folder + CONFIG) for folder in (place.root, home_folder()) if folder):
        return ""
    from ibstatus.project import config

    broken = config.load(place).broken
    return broken[0].partition(";")[0] if broken else ""


def home_folder() -> str:
    home = environ("HOME").rstrip("/")
    if home.startswith("/"):
        return home
    from ibstatus.project import config

    return config.home_folder()


def policy_of(place: paths.Place, agent: str) -> decide.Policy:
    if "/" in agent or agent in ("", ".", ".."):
        raise Broken(NO_RULES.format("?", "this is no agent's name"))
    folder = place.agent_dir(agent)
    meta = object_in(folder + "/meta.json", agent)
    permissions = object_in(folder + "/settings.local.json", agent).get("permissions")
    if not isinstance(permissions, dict):
        raise Broken(NO_RULES.format(agent, "settings.local.json has no permissions"))
    return decide.Policy(
        agent,
        allow=listed(permissions, "allow", agent),
        deny=listed(permissions, "deny", agent),
        worktree=place.root if meta.get("worktree") is False else folder + "/repo",
        root=place.root,
        agents=place.home + "/agents",
        folder=folder,
        home=home_folder(),
        manager=meta.get("worker") is not True,
        yolo=meta.get("yolo") is True,
        safe=place.safe,
    )


def object_in(path: str, agent: str) -> "dict[str, Any]":
    try:
        value = jsonl.decode(disk.read_ours(path, LONGEST).decode())
    except (OSError, ValueError) as error:
        raise Broken(NO_RULES.format(agent, f"{path.rpartition('/')[2]}: {error}")) from None
    if not isinstance(value, dict):
        raise Broken(NO_RULES.format(agent, f"{path.rpartition('/')[2]} holds no object"))
    return value


def listed(permissions: "dict[str, Any]", name: str, agent: str) -> list[str]:
    value = permissions.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Broken(NO_RULES.format(agent, f"permissions.{name} is no list of texts"))
    return value


def note(event: Event, place: paths.Place, verdict: decide.Verdict) -> None:
    """In upstream's words; the log escapes what could forge a line."""
    tool = event.text("tool_name")
    given = event.body.get("tool_input") if event.body else None
    if verdict.kind == "cd":
        text = f"Path violation: Bash cd command tried to enter other agent's worktree: {verdict.path}"
    elif verdict.kind == "agent":
        text = f"Path violation: {tool} tried to access other agent's data: {verdict.path}"
    elif verdict.kind == "root":
        text = f"Path violation: {tool} tried to access main repo: {verdict.path}"
    elif verdict.path:
        text = f"Path violation: {tool} tried to access: {verdict.path}"
    else:
        shown = ", ".join([f"{key}: {told(value)}" for key, value in given.items()]) if isinstance(given, dict) else ""
        text = f"Permission denied: {tool}" + (f" ({shown})" if shown else "")
    from ibstatus.project import logs

    logs.write(place, event.agent, f"[PreToolUse] {jsonl.clean(text)}"[:4000], event.now)


def told(value: object) -> str:
    return value if isinstance(value, str) else jsonl.encode(value)
