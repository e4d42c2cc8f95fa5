"""Small hooks that a test writes down in a project's settings: each is recorded, then does what the test says."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any, NamedTuple

from ibstatus.claude import hook_output

RECORDER = Path(__file__).with_name("recorder.py")


class Fired(NamedTuple):
    """A hook ran at this time, with this payload."""

    at: float
    payload: dict[str, Any]

    @property
    def event(self) -> str:
        return str(self.payload["hook_event_name"])

    @property
    def prompt(self) -> str:
        """The id of the turn it ran in."""
        return str(self.payload.get("prompt_id", ""))


class Hooks:
    """The hooks of one project. `on` collects them, `write` puts them into force, `fired` says what ran."""

    def __init__(self, project: Path, log: Path) -> None:
        self.project = project
        self.log = log
        self.settings: dict[str, Any] = {"hooks": {}}

    def on(self, event: str, then: str = "", matcher: str = "", **options: object) -> None:
        """`then` is shell; options such as asyncRewake go into the settings."""
        record = shlex.join([sys.executable, "-S", "-E", "-I", str(RECORDER), str(self.log)])
        hook = {"type": "command", "command": f"{record}; {then or 'exit 0'}", **options}
        entry: dict[str, object] = {"matcher": matcher} if matcher else {}
        self.settings["hooks"].setdefault(event, []).append({**entry, "hooks": [hook]})

    def write(self) -> None:
        folder = self.project / ".claude"
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / "settings.local.json.new"
        new.write_text(json.dumps(self.settings))
        new.replace(folder / "settings.local.json")

    def fired(self, event: str = "") -> list[Fired]:
        lines = self.log.read_text().split("\n")[:-1] if self.log.exists() else []
        all_of_them = [Fired(**json.loads(line)) for line in lines]
        return [fired for fired in all_of_them if event in ("", fired.event)]


def says(answer: str) -> str:
    """Shell that prints this as the hook's answer."""
    return f"printf %s {shlex.quote(answer)}"


def once(flag: Path, then: str) -> str:
    """Shell that does it the first time only."""
    return f"if mkdir {shlex.quote(str(flag))} 2>/dev/null; then {then}; fi"


def waits(file: Path) -> str:
    """Shell that waits for this file and takes it away."""
    name = shlex.quote(str(file))
    return f"while [ ! -e {name} ]; do sleep 0.02; done; rm -f {name}"


def counts(event: str, folder: Path) -> str:
    """Shell that tells the model CONTEXT-1, then CONTEXT-2 and so on."""
    answer = hook_output.context(event, "CONTEXT-%s")
    file = shlex.quote(str(folder / f"count-{event}"))
    return f"echo >> {file}; printf {shlex.quote(answer)} $(wc -l < {file})"


def wakes(text: str) -> str:
    """Shell of an asyncRewake hook that wakes its session."""
    return f"echo {shlex.quote(text)} >&2; exit 2"
