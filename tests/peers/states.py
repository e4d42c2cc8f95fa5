"""One agent with the real client, led through its states by keys, answers and signals; how soon each was right."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from ibstatus.claude.screens import prompt
from ibstatus.project import agent_meta, paths
from ibstatus.system.process import user_processes
from ibstatus.system.tmux import server as driver
from tests.peers.messages_api import Handler, Json, MessagesApi, Turn
from tests.until import until

LONGEST = 15.0
RESET = 3600  # seconds from a 429 until the limit is over
QUESTION = {
    "questions": [
        {
            "question": "Which port shall it take?",
            "header": "Port",
            "options": [{"label": "80", "description": "x"}, {"label": "81", "description": "y"}],
            "multiSelect": False,
        }
    ]
}
LIMITED = {
    "x-should-retry": "false",
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
}


class Model:
    """What the agents' model does next, whoever asks; a summary waits until it is let go, or for ever."""

    def __init__(self, api: MessagesApi) -> None:
        self.turns: list[Turn] = []
        self.summary = threading.Event()
        self.summary.set()
        self.answer = api.answer
        api.rule = lambda shown: self.turns.pop(0) if self.turns else Turn(words="WAITING")
        api.answer = self.answered  # type: ignore[method-assign]

    def answered(self, request: Json, headers: dict[str, str]) -> tuple[Turn, Json]:
        if "create a detailed summary" in json.dumps(request["messages"][-1]):
            self.summary.wait(20)
        return self.answer(request, headers)


class Watched:
    """`run` is ib; `took`: of each change, the seconds until status.json was right."""

    def __init__(self, run: Callable[..., Any], model: Model, place: paths.Place, tmux: Callable[..., str]) -> None:
        self.run, self.model, self.place, self.tmux = run, model, place, tmux
        self.took: list[tuple[str, float]] = []
        self.name = self.pane = ""

    def begin(self, name: str) -> None:
        self.name = name
        self.run("new-agent", "--name", name, "--yolo", "--worker", "Begin")
        self.becomes("first turn", "waiting", "input")
        self.find()

    def begin_asking(self, name: str, worktree: Path, program: str) -> None:
        """One that no hook answers for: in plan mode, with the hooks that note its state alone."""
        self.name = name
        path = Path(self.run("hooks", "agent-settings", name).out.strip())
        known = json.loads(path.read_text())
        hooks = {event: groups for event, groups in known["hooks"].items() if event != "PreToolUse"}
        hooks["PermissionRequest"] = hooks["Stop"]
        own = path.with_name("asking.json")
        own.write_text(json.dumps({"hooks": hooks}))
        session = agent_meta.session_of(self.place, agent_meta.Record(name, {}))
        agent_meta.change(self.place, name, tmux_session=session, tmux_socket="ib")
        argv = ["env", "CLAUDECODE=", program, "--settings", str(own), "--permission-mode", "plan"]
        driver.start("ib", session, str(worktree), argv, name)
        self.find()
        self.until(self.is_ready)

    def is_ready(self) -> bool:
        """On the way there the folder is trusted."""
        screen = self.screen()
        if "Yes, I trust" in screen and "Enter to confirm" in screen:
            self.keys("Enter" if "❯ Yes" in screen else "Down")
            self.until(lambda: self.screen() != screen)
        return "plan mode on" in screen

    def find(self) -> None:
        lines = self.tmux("list-panes", "-a", "-F", "#{session_name} #{pane_id}").splitlines()
        self.pane = next(line.split()[1] for line in lines if line.split()[0].endswith("-" + self.name))

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", self.pane) if self.pane else ""

    def keys(self, *names: str) -> None:
        self.tmux("send-keys", "-t", self.pane, *names)

    def until(self, holds: Callable[[], object], seconds: float = 20.0) -> None:
        try:
            until(holds, seconds)
        except AssertionError as failure:
            raise AssertionError(f"{failure}\n{self.screen()}") from None

    def shows(self, text: str) -> None:
        self.until(lambda: text in self.screen())

    def prompt(self, *turns: Turn, text: str = "go on") -> None:
        self.model.turns = list(turns)
        self.keys("C-u")
        self.keys("-l", text)
        self.shows("❯\u00a0" + text)
        self.keys("Enter")

    def published(self) -> dict[str, Any]:
        try:
            found = json.loads(Path(self.place.home, "status.json").read_bytes())
        except (OSError, ValueError):
            return {}
        return next((one for one in found["agents"] if one["id"] == self.name), {})

    def listed(self) -> dict[str, Any]:
        return next((one for one in self.run("list", "--json").json() if one["id"] == self.name), {})

    def becomes(self, what: str, state: str, reason: str = "", began: float = 0.0) -> dict[str, Any]:
        """Published, and what `ib list` says."""
        began = began or time.monotonic()
        for look in (self.published, self.listed):
            try:
                until(partial(self.is_now, look, state, reason), LONGEST)
            except AssertionError:
                why = self.run("why", self.name).out
                text = f"{what}: never {state} {reason}: {look()}\n{self.screen()}\n{self.took}\n{why}"
                raise AssertionError(text) from None
            if look == self.published:
                self.took.append((what, time.monotonic() - began))
        return self.published()

    def is_now(self, look: Callable[[], dict[str, Any]], state: str, reason: str) -> bool:
        return is_so(look(), state, reason)

    def takes_a_turn(self) -> None:
        """From its prompt to its end; it waits before and afterwards."""
        began = time.time()
        self.prompt()
        self.until(lambda: is_so(self.published(), "waiting", "input") and self.published()["since"] > began)

    def esc(self, what: str) -> dict[str, Any]:
        """Pressed again if the client has not taken it: a dialog that has just opened may not."""
        deadline = time.monotonic() + LONGEST
        while True:
            began = time.monotonic()
            self.keys("Escape")
            try:
                until(self.has_taken_it, 3)
            except AssertionError:
                assert time.monotonic() < deadline, f"{what}: Esc is not taken\n{self.screen()}"
                continue
            return self.becomes(what, "waiting", "input", began)

    def is_asked(self) -> bool:
        return prompt.read(self.screen()).kind == "dialog"

    def has_taken_it(self) -> bool:
        return prompt.read(self.screen()).kind == "prompt"

    def family(self) -> list[psutil.Process]:
        return user_processes.family(int(self.tmux("display-message", "-p", "-t", self.pane, "#{pane_pid}")))

    def client(self) -> psutil.Process:
        known = self.family()
        return user_processes.clients(known[0].pid, known)[0]

    def go_on(self) -> None:
        for process in self.family():
            with suppress(ProcessLookupError):  # a command of the client's that has ended meanwhile
                os.kill(process.pid, signal.SIGCONT)


def is_so(found: dict[str, Any], state: str, reason: str) -> bool:
    return bool(found) and found["state"] == state and str(found["reason"]).startswith(reason)


def interrupted(at: Watched) -> None:
    at.prompt(Turn(silent=True))
    at.becomes("a turn", "running")
    at.shows("esc to interrupt")
    at.esc("Esc before the first token")

    at.prompt(Turn(words="word " * 200, pace=0.1))
    at.shows("word word")
    assert at.esc("Esc while it streams")["note"] == "interrupted"

    at.prompt(Turn("Bash", {"command": "tail -f file.txt"}))
    at.shows("tail -f file.txt")
    at.becomes("a tool", "running")
    at.esc("Esc in Bash")

    at.prompt(Turn("AskUserQuestion", QUESTION))
    at.until(at.is_asked)
    at.becomes("question", "waiting", "question")
    at.until(lambda: "Which port" in at.published()["asks"], 5)
    at.esc("Esc in a question")


def failing(at: Watched) -> None:
    at.prompt(*[Turn(status=529)] * 8)
    at.shows("etrying in")
    at.becomes("retrying", "running", "retrying")
    at.shows("API Error: 529")
    at.becomes("529, final", "waiting", "error")

    at.prompt(*[Turn(status=429)] * 8)
    at.becomes("429", "rate_limited")
    at.prompt()
    at.becomes("a turn again", "waiting", "input")


def compacting(at: Watched) -> None:
    for what in ("compacted", "Esc in a compaction"):
        at.model.summary.clear()
        at.prompt(text="/compact")
        at.shows("Compacting")
        at.becomes("compacting", "compacting")
        if what == "compacted":
            at.model.summary.set()
            at.becomes(what, "waiting", "input")
        else:
            at.esc(what)
        at.model.summary.set()
        at.takes_a_turn()


def asking(at: Watched) -> None:
    at.prompt(Turn("Bash", {"command": "touch a-file; python3 -c 'print(1)'"}))
    at.until(at.is_asked)
    at.becomes("permission", "waiting", "permission")
    at.until(lambda: "touch a-file" in at.published()["asks"], 5)
    at.esc("Esc in a permission")

    at.prompt(Turn("ExitPlanMode", {"plan": "1. Do it"}))
    at.until(at.is_asked)
    at.becomes("plan", "waiting", "plan")
    at.esc("Esc in a plan")


def stopped(at: Watched) -> None:
    stops: dict[str, Callable[[], object]] = {
        "SIGSTOP": lambda: at.client().suspend(),
        "Ctrl-Z": lambda: at.keys("C-z"),
    }
    for what, stop in stops.items():
        stop()
        at.becomes(f"{what} at rest", "waiting", "suspended")
        at.go_on()
        at.becomes("continued", "waiting", "input")
        at.prompt(Turn(silent=True))
        at.becomes("a turn", "running")
        at.shows("esc to interrupt")
        stop()
        at.becomes(f"{what} at work", "waiting", "suspended")
        at.go_on()
        at.becomes("continued", "running")
        at.esc("Esc")


def crashed(at: Watched) -> None:
    at.prompt(Turn(silent=True))
    at.becomes("a turn", "running")
    at.client().kill()
    at.becomes("crash", "stopped")


class Limiting(Handler):
    """With a 429 it tells until when, and that another try is in vain."""

    def send_response(self, code: int, message: str | None = None) -> None:
        super().send_response(code, message)
        if code == 429:
            for key, value in {**LIMITED, "anthropic-ratelimit-unified-reset": str(int(time.time()) + RESET)}.items():
                self.send_header(key, value)
