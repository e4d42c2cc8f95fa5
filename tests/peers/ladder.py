"""The wake ladder of the real ib under the real client: a repository with its hooks, an agent, and what was told."""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import ibstatus
from ibstatus.claude.hooks import events
from ibstatus.project import home, paths
from tests.conftest import make_agent, run_ib
from tests.peers.hooks import Hooks
from tests.peers.messages_api import MessagesApi, Shown, Turn
from tests.peers.tui import Tui

WAITER, WATCH = "wait-for-news", "queue-changed"
STUB = Path(ibstatus.__file__).parent / "hooks" / "stub.py"
LISTEN = Turn(
    "Bash",
    {"command": f"{sys.executable} -m ibstatus listen", "description": "ib listen", "run_in_background": True},
)

Telling = tuple[str, bool]  # the text of a message, and whether it was marked as a repeat


class Ladder:
    """`notify` is an agent that reports; `told` is what the model was shown of it."""

    def __init__(self, place: paths.Place, api: MessagesApi, log: Path) -> None:
        self.place = place
        self.api = api
        self.root = Path(place.root)
        self.hooks = Hooks(self.root, log)
        home.enter(place)
        self.agent = make_agent(place, "worker-1")

    def install(self, *without: str) -> None:
        """All hooks of ib but these; the ends of turns and the dialogs are recorded as well."""
        wanted = events.wanted((sys.executable, str(STUB)))
        self.hooks.settings["hooks"] = events.as_values([hook for hook in wanted if hook.hook not in without])
        for event in ("SessionStart", "UserPromptSubmit", "Stop", "PermissionRequest", "FileChanged", "CwdChanged"):
            self.hooks.on(event)
        self.hooks.write()

    def notify(self, text: str) -> float:
        """Returns when it began."""
        began = time.time()
        done = run_ib("notify", "--type", "complete", text, cwd=self.agent)
        assert done.code == 0, done
        return began

    def turns(self, session: Tui) -> int:
        """How many have ended."""
        return sum(fired.payload["session_id"] == session.session for fired in self.hooks.fired("Stop"))

    def tellings(self, session: Tui) -> Iterator[tuple[Shown, "Counter[Telling]"]]:
        """Each request of the session, and what it tells that the one before did not."""
        before: Counter[Telling] = Counter()
        for shown in self.api.of(session.session):
            now = told_in(shown)
            yield shown, now - before
            before = now

    def told(self, session: Tui) -> "Counter[Telling]":
        """All tellings, those that Esc took back among them."""
        return sum((new for _, new in self.tellings(session)), Counter())


def told_in(shown: Shown) -> "Counter[Telling]":
    """The lines of news in everything that this request shows."""
    found: Counter[Telling] = Counter()
    for line in shown.whole.splitlines():
        if line.startswith('{"') and '"msg"' in line:
            value = json.loads(line)
            found[value["msg"], value.get("again", False)] += 1
    return found
