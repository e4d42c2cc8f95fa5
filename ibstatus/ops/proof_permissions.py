"""The proof commands of permissions: a fixture in, the word out that the real rules answer."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ibstatus.errors import IbError
from ibstatus.rules.guarding import commands, entering, guard, isolation, permissions, shell
from ibstatus.rules.guarding.shell_words import Unreadable
from ibstatus.store import links

EXAMPLE = '{"tool_name": "Bash", "tool_input": {"command": "ls"}, …}'
PLACES = ("worktree_path", "agents_dir", "root_repo", "agent_dir", "cwd", "home")


def read(path: str) -> dict[str, Any]:
    try:
        value = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise IbError(f"{path} cannot be read", cause=error.strerror or str(error)) from error
    except ValueError as error:
        raise IbError(f"{path} is not valid JSON", cause=str(error)) from None
    if not isinstance(value, dict) or not isinstance(value.get("tool_input", {}), dict):
        raise IbError(f"{path} should hold a tool call", hint=EXAMPLE)
    return value


def texts(value: dict[str, Any], key: str) -> list[str]:
    found = value.get(key, [])
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def pretooluse(path: str) -> tuple[str, str]:
    """(allow, deny or none, the reason). With `files`, a tree is made on disk first and all paths lie in it."""
    value = read(path)
    if not isinstance(value.get("files"), dict):
        return judged(value)
    with tempfile.TemporaryDirectory(prefix="ib-proof-") as folder:
        base = os.path.realpath(folder)
        for name, content in value["files"].items():
            plant(Path(base + name), content, base)
        return judged(moved(value, base))


def plant(path: Path, content: object, base: str) -> None:
    """A file with this text, a folder for null, a symlink for `{"link": target}`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, dict):
        target = str(content.get("link", ""))
        path.symlink_to(base + target if target.startswith("/") else target)
    elif content is None:
        path.mkdir(exist_ok=True)
    else:
        path.write_text(str(content))


def moved(value: dict[str, Any], base: str) -> dict[str, Any]:
    """The paths of the fixture below the folder that stands for the disk's root; `@` stands for it in the input."""
    made = {key: base + one if key in PLACES and isinstance(one, str) else one for key, one in value.items()}
    made["tool_input"] = json.loads(json.dumps(value.get("tool_input", {})).replace("@/", base + "/"))
    return made


def judged(value: dict[str, Any]) -> tuple[str, str]:
    agents = str(value.get("agents_dir", ""))
    worktree = str(value.get("worktree_path", ""))
    agent = worktree.removeprefix(agents + "/").partition("/")[0] if worktree.startswith(agents + "/") else "test-agent"
    policy = guard.Policy(
        agent,
        allow=texts(value, "allow_list"),
        deny=texts(value, "deny_list"),
        worktree=worktree,
        root=str(value.get("root_repo", "")),
        agents=agents,
        folder=str(value.get("agent_dir", f"{agents}/test-agent")),
        home=str(value.get("home", "/home/tester")),
        manager=value.get("worker") is not True,
        yolo=value.get("yolo") is True,
    )
    cwd = str(value.get("cwd", "")) or worktree
    verdict = guard.judge(str(value.get("tool_name", "")), value.get("tool_input", {}), cwd, policy, links.Disk())
    return verdict.decision, verdict.reason


def tool_match(path: str) -> str:
    """A fixture with `pattern` or `patterns`: does one of them match the call?"""
    value = read(path)
    patterns = [value["pattern"]] if isinstance(value.get("pattern"), str) else texts(value, "patterns")
    return "match" if is_allowed(value, patterns) else "no-match"


def tool_allowed(path: str) -> str:
    """A fixture with `settings`: do its permissions allow the call?"""
    value = read(path)
    settings = value.get("settings")
    given = settings.get("permissions") if isinstance(settings, dict) else None
    given = given if isinstance(given, dict) else {}
    if is_allowed(value, texts(given, "deny"), deny=True):
        return "denied"
    return "allowed" if is_allowed(value, texts(given, "allow")) else "denied"


def is_allowed(value: dict[str, Any], patterns: list[str], *, deny: bool = False) -> bool:
    """By the lists alone: no path is judged."""
    rules = permissions.Rules(patterns, deny=deny)
    tool, given = str(value.get("tool_name", "")), value.get("tool_input", {})
    command = given.get("command")
    if rules.names(tool):
        return True
    if tool in permissions.SHELLS and isinstance(command, str):
        return is_listed(command, patterns, deny=deny)
    return rules.fits(tool, given, (str(value.get("cwd", "")), str(value.get("home", "/home/tester"))), deny=deny)


class Listed(commands.Judged):
    """The rules for commands without those for paths, git and ib."""

    def path(self, *args: Any, **options: Any) -> None:
        return

    def special(self, name: str, *args: Any) -> Any:
        return None if name in ("git", "ib") else super().special(name, *args)


def is_listed(command: str, patterns: list[str], *, deny: bool) -> bool:
    """Is every command of the line listed or, for a deny list, any?"""
    nowhere = {"worktree": "/w", "root": "/m", "agents": "/a", "folder": "/a/x", "home": "", "manager": True}
    allow, denied = (["Bash"], patterns) if deny else (patterns, [])
    policy = guard.Policy("x", allow=allow, deny=denied, yolo=deny, **nowhere)  # type: ignore[arg-type]
    disk = links.Disk()
    grounds = isolation.Grounds("/w", "/m", "/a", "/a/x", "x", "", disk.resolve)
    course = Listed(policy, grounds, disk)
    states = (("/w", "", ()),)
    try:
        course.script(shell.read(command), states)
        course.uncalled(states)
    except Unreadable:
        return deny
    except commands.Refused:
        return deny
    return not deny


def main_path(path: str) -> tuple[str, str]:
    value = read(path)
    command = value.get("tool_input", {}).get("command")
    if value.get("tool_name") != "Bash" or not isinstance(command, str):
        return "allow", ""
    cwd, home = str(value.get("cwd", "/")), str(value.get("home", "/home/tester"))
    reason = entering.refusal(command, cwd, home, links.Disk())
    return ("deny" if reason else "allow"), reason
