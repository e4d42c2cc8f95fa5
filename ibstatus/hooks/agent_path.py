"""PreToolUse of an agent: which tools it may use, and where. The policy is read from the root, where it cannot write.

It always answers; what it cannot judge is denied.
"""

from ibstatus.hooks.event import Event
from ibstatus.rules import answers, lines
from ibstatus.rules.guarding import guard
from ibstatus.store import disk, links, places
from ibstatus.store.disk import environ

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
    if verdict.decision == guard.DENY:
        event.say(answers.deny(lines.clean(verdict.reason)))
        if event.place is not None:
            note(event, event.place, verdict)
    else:
        event.say(answers.allow() if verdict.decision == guard.ALLOW else answers.nothing())
    return 0


def judged(event: Event) -> guard.Verdict:
    if event.place is None or not event.agent:
        return guard.Verdict(guard.DENY, NOWHERE)
    tool, given = event.text("tool_name"), event.body.get("tool_input") if event.body else None
    if not tool or not isinstance(given, dict):
        return guard.Verdict(guard.DENY, "ib cannot read this tool call, so it is not allowed. Try it in another way")
    try:
        policy = policy_of(event.place, event.agent)
    except Broken as error:
        return guard.Verdict(guard.DENY, str(error))
    verdict = guard.judge(tool, given, event.cwd, policy, links.Disk())
    if verdict.decision == guard.ALLOW and not (tool in READING and stays(event, given, policy)):
        broken = broken_config(event.place)
        if broken:
            return guard.Verdict(guard.DENY, guard.cut(BROKEN.format(broken)))
    return verdict


def stays(event: Event, given: "dict[str, Any]", policy: guard.Policy) -> bool:
    """Does it only read in the worktree?"""
    paths = [given[key] for key in ("file_path", "path") if isinstance(given.get(key), str)] or [event.cwd]
    paths = [path if path.startswith("/") else f"{event.cwd}/{path}" for path in paths]
    return all(".." not in path and f"{path}/".startswith(policy.worktree + "/") for path in paths)


def broken_config(place: places.Place) -> str:
    """What is wrong with the configuration, '' when nothing is: its rules would be missing."""
    if not any(disk.exists(folder + CONFIG) for folder in (place.root, home_folder()) if folder):
        return ""
    from ibstatus.store import config

    broken = config.load(place).broken
    return broken[0].partition(";")[0] if broken else ""


def home_folder() -> str:
    home = environ("HOME").rstrip("/")
    if home.startswith("/"):
        return home
    from ibstatus.store import config

    return config.home_folder()


def policy_of(place: places.Place, agent: str) -> guard.Policy:
    if "/" in agent or agent in ("", ".", ".."):
        raise Broken(NO_RULES.format("?", "this is no agent's name"))
    folder = place.agent_dir(agent)
    meta = object_in(folder + "/meta.json", agent)
    permissions = object_in(folder + "/settings.local.json", agent).get("permissions")
    if not isinstance(permissions, dict):
        raise Broken(NO_RULES.format(agent, "settings.local.json has no permissions"))
    return guard.Policy(
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
        value = lines.decode(disk.read_ours(path, LONGEST).decode())
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


def note(event: Event, place: places.Place, verdict: guard.Verdict) -> None:
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
    from ibstatus.store import agent_log

    agent_log.write(place, event.agent, f"[PreToolUse] {lines.clean(text)}"[:4000], event.now)


def told(value: object) -> str:
    return value if isinstance(value, str) else lines.encode(value)
