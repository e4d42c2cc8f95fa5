"""A role as it was written down: .ittybitty/prompts/<role>.md, else .claude/agents/<role>.md, with front matter."""

import os
from typing import Any, NamedTuple

import frontmatter
import yaml

from ibstatus.agents import prompts
from ibstatus.agents.rules import start_script
from ibstatus.claude.hooks import agent_settings
from ibstatus.errors import IbError, quoted
from ibstatus.project import config, paths
from ibstatus.system import disk

BUILT_IN = ("all", "manager", "worker")


class Role(NamedTuple):
    """What the front matter says. `tools` names all it may use: the others are among `deny`."""

    text: str = ""
    model: str = ""
    worker: bool = False
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


NONE = Role()


def load(place: paths.Place, name: str) -> Role:
    path = found(place, name)
    if not path:
        known = ", ".join(known_roles(place)) or "none yet"
        raise IbError(
            f"There is no role {name}",
            cause=f"the roles here: {known}",
            hint=f"write {quoted(f'{place.home}/prompts/{name}.md')}",
        )
    try:
        post = frontmatter.loads(disk.read_file(path)[: prompts.LONGEST].decode("utf-8", "replace"))
    except (yaml.YAMLError, ValueError) as error:
        raise IbError(f"The front matter of {path} cannot be read", cause=str(error).replace("\n", " ")) from None
    return role_of(post.content.strip(), post.metadata, path)


def role_of(text: str, said: dict[str, Any], path: str) -> Role:
    tools = rules_of(said.get("tools"), path)
    model = said.get("model")
    return Role(
        text,
        model if isinstance(model, str) and model != "inherit" else "",
        said.get("worker") is True,
        (*tools, *rules_of(said.get("allow"), path)),
        (*agent_settings.left_out(tools), *rules_of(said.get("deny"), path)),
    )


def rules_of(value: object, path: str) -> tuple[str, ...]:
    """A list, or a text with commas, as Claude's own agents have it."""
    if value is None:
        return ()
    items = agent_settings.split(value) if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) and agent_settings.is_rule(item) for item in items):
        raise IbError(f"The tools in {path} cannot be read", hint="as in tools: Read, Grep, Bash(npm test:*)")
    return tuple(items)


def found(place: paths.Place, name: str) -> str:
    """The file of a role, '' when there is none. The root's, so that every agent gets the same."""
    return next((path for folder in folders(place) if disk.exists(path := f"{folder}/{name}.md")), "")


def folders(place: paths.Place) -> list[str]:
    own = os.environ.get("CLAUDE_CONFIG_DIR") or config.home_folder() + "/.claude"
    return [place.home + "/prompts", place.root + "/.claude/agents", own + "/agents"]


def known_roles(place: paths.Place) -> list[str]:
    names: set[str] = set()
    for folder in folders(place):
        try:
            names.update(leaf.removesuffix(".md") for leaf in disk.listdir(folder) if leaf.endswith(".md"))
        except OSError:
            continue
    return sorted(names - set(BUILT_IN))


def prompt(place: paths.Place, role: str, special: str, task: str) -> str:
    """All of prompt.txt. `special`: the custom role, '' without one."""
    custom = prompts.of(place, role)
    if special and special not in (role, prompts.EVERYBODY):
        custom.append((special, load(place, special).text))
    return start_script.prompt_text(role, [pair for pair in custom if pair[1]], task)
