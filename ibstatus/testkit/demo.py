"""The whole flow in a throw-away repository, with the real commands, tmux and git: five agents from task to merge.

Where the demo plays: a throw-away repository, a tmux of its own, agents that the stand-in for Claude Code plays.
"""

import json
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple

from ibstatus.errors import IbError
from ibstatus.project import paths, supervisor_process
from ibstatus.system import locks
from ibstatus.system.process import run

PRIMARY = {"CLAUDE_CODE_SESSION_ID": "demo"}
SOCKET = "ib"  # the default; TMUX_TMPDIR makes it ours alone
PATIENCE = 30.0


class Line(NamedTuple):
    """One line of the show: `say` explains, `run` is a command (by `who`), `out` is what it printed."""

    kind: str
    text: str
    who: str = ""


class Stage:
    """How things are run in it. `folder` is the throw-away HOME, `root` the repository."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(folder)
        self.root = self.folder + "/shop"
        self.sockets = tempfile.mkdtemp(prefix="ib-demo-", dir="/tmp")  # a socket's path must be short
        self.env = {
            **run.apart(self.folder),
            "TMUX_TMPDIR": self.sockets,
            "IB_CLAUDE": self.folder + "/bin/claude",
            "FAKE_CLAUDE_SCRIPT": self.folder + "/scripts",
            "PATH": f"{self.folder}/bin:{os.environ.get('PATH', os.defpath)}",
        }
        os.mkdir(self.root)
        os.mkdir(self.folder + "/bin")
        os.mkdir(self.folder + "/scripts")
        self.program("claude", "ibstatus.testkit.fake_claude")
        self.program("ib", "ibstatus")

    def program(self, name: str, module: str) -> None:
        """This very installation under its own name, whatever is on PATH."""
        path = f"{self.folder}/bin/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m {module} "$@"\n')
        os.chmod(path, 0o755)

    def plays(self, agent: str, script: str) -> None:
        with open(f"{self.folder}/scripts/{agent}", "w", encoding="utf-8") as file:
            file.write(script)

    def quiet(self, *argv: str) -> str:
        done = run.run(list(argv), self.root, {**self.env, **PRIMARY})
        if done.code:
            raise IbError(f"The demo stopped at: {shlex.join(argv)}", cause=(done.err or done.out).strip())
        return done.out

    def run(self, *argv: str) -> Iterator[Line]:
        """Show a command of the primary and what it prints."""
        yield Line("run", " ".join(quoted(word) for word in argv), "primary")
        done = run.run(list(argv), self.root, {**self.env, **PRIMARY})
        for text in (done.err + done.out).splitlines():  # its progress, then its result
            yield Line("out", text)
        if done.code:
            raise IbError(f"The demo stopped at: {shlex.join(argv)}", cause=done.err.strip())

    def wait(self, there: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not there():
            if time.monotonic() > deadline:
                raise IbError(otherwise, hint="ib doctor")
            time.sleep(0.02)

    def close(self) -> None:
        place = paths.find(self.root)
        try:
            run.run(["tmux", "-L", SOCKET, "kill-server"], self.root, self.env)
        except OSError:
            pass
        supervisor_process.stop(place)
        shutil.rmtree(self.sockets, ignore_errors=True)


def quoted(word: str) -> str:
    """As a person would type it."""
    return f'"{word}"' if " " in word or not word else word


# A manager is woken by whatever its workers do, so it waits for what it needs.
SCRIPTS = {
    "checkout": """\
run ib new-agent --name cart --worker "Show the total in the cart"
run ib new-agent --name payment --worker "Validate card numbers"
wait Two workers are at it.
run ib wait cart --state complete
run ib merge cart --force
run ib send payment "cart is merged, go on"
wait One is merged.
run ib wait payment --state complete
run ib merge payment --force
finish Cart and payment are merged and tested.
""",
    "cart": """\
wait I have a plan.
write cart.js export const total = (items) => items.reduce((sum, item) => sum + item.price, 0)
commit Show the total in the cart
run ib send checkout "cart.js is committed"
finish The cart shows its total.
""",
    "payment": """\
wait The cart comes first.
write payment.js export const isCard = (digits) => /^[0-9]{16}$/.test(digits)
commit Validate card numbers
run ib send checkout "payment.js is committed"
finish Card numbers are validated.
""",
    "dark-mode": """\
run ib ask "CSS variables, or a theme provider?"
wait I need to know which.
write theme.css :root { --ink: #eee; --paper: #111 }
commit Dark mode by CSS variables
run ib send user-claude "COMPLETE: dark mode is ready to merge"
finish Dark mode works.
""",
    "login": """\
work 0.5
write login.js export const retries = 3
commit Retry a failed login
finish The login is fixed.
""",
}


def show() -> Generator[Line, None, None]:
    if not run.path_of("tmux"):
        raise IbError("tmux is not installed, and agents live in it", hint="install tmux 3.2 or newer")
    with tempfile.TemporaryDirectory(prefix="ib-demo-", ignore_cleanup_errors=True) as folder:
        stage = Stage(folder)
        try:
            yield from opening(stage)
            yield from question(stage)
            yield from reply(stage)
            yield from merging(stage)
            yield from closing(stage)
        finally:
            stage.close()


def opening(stage: Stage) -> Iterator[Line]:
    yield Line(
        "say", "A throw-away repository. The agents are played by a stand-in for Claude Code: no model is asked."
    )
    for agent, script in SCRIPTS.items():
        stage.plays(agent, script)
    stage.quiet("git", "init", "-q", "-b", "main")
    with open(f"{stage.root}/CLAUDE.md", "w", encoding="utf-8") as file:
        file.write("# Shop\n\nTests run with make check.\n")
    stage.quiet("git", "add", "CLAUDE.md")
    stage.quiet("git", "commit", "-q", "-m", "first")
    yield from stage.run("ib", "init")
    yield Line(
        "say", "Your Claude gives out three tasks. Each agent is a session of its own, in a git worktree of its own."
    )
    yield from stage.run("ib", "new-agent", "--name", "checkout", "Rework the checkout")
    yield from stage.run("ib", "new-agent", "--name", "login", "--worker", "Fix the login bug")


def question(stage: Stage) -> Iterator[Line]:
    yield Line("run", "ib listen &", "primary")
    listener = run.start(["ib", "listen", "--timeout", "30"], stage.root, {**stage.env, **PRIMARY})
    try:
        place = paths.find(stage.root)
        stage.wait(lambda: locks.is_held(place.lock("cursor-listen@demo")), "The demo's listener did not start")
        yield from stage.run("ib", "new-agent", "--name", "dark-mode", "--worker", "Implement dark mode")
        yield Line("say", "One of them has a question. The listener exits, and that wakes your Claude:")
        heard, _ = listener.communicate()
    finally:
        listener.kill()
        listener.wait()
    for text in heard.decode("utf-8", "replace").splitlines():
        yield Line("out", text)
    yield Line("say", "Meanwhile the manager has spawned workers of its own.")
    stage.wait(lambda: len(fleet(stage)) == 5, "The five agents did not come up")
    yield from stage.run("ib", "tree")
    yield Line("say", "A new session finds the question in CLAUDE.md at once (states there may be half a minute old):")
    yield Line("run", "sed -n '/^<ittybitty-status>/,$p' CLAUDE.md", "primary")
    for text in shown_node(stage):
        yield Line("out", text)


def fleet(stage: Stage) -> dict[str, str]:
    """Every agent with its state."""
    return {agent["id"]: agent["state"] for agent in json.loads(stage.quiet("ib", "list", "--json"))}


def shown_node(stage: Stage) -> list[str]:
    """The node, once the supervisor has put the question in. Its padding is not shown: it is there to be blank."""
    found: list[str] = []

    def there() -> bool:
        with open(f"{stage.root}/CLAUDE.md", encoding="utf-8") as file:
            text = file.read()
        found[:] = text[text.rindex("<ittybitty-status>\n") :].splitlines() if "<ittybitty-status>\n" in text else []
        return any("theme provider" in line for line in found)

    stage.wait(there, "The status node in CLAUDE.md was not written")
    return [line for line in found if line and not line.startswith("<!-- ib:room")]


def reply(stage: Stage) -> Iterator[Line]:
    yield Line("say", "It answers. The agent is idle, so it is woken; its own hook tells it the answer.")
    item = json.loads(stage.quiet("ib", "questions", "--json"))[0]["id"]
    yield from stage.run("ib", "answer", item, "CSS variables")
    yield from stage.run("ib", "send", "cart", "Your plan is fine, go on")
    stage.wait(lambda: "dark mode" in stage.quiet("ib", "messages", "--json"), "The agent did not report")
    yield from stage.run("ib", "listen", "--timeout", "30")


def merging(stage: Stage) -> Iterator[Line]:
    stage.wait(lambda: fleet(stage).get("dark-mode") == "complete", "The agent did not complete")
    yield from stage.run("ib", "diff", "dark-mode", "--stat")
    yield Line("say", "The merge is made and judged beside your checkout, which then moves in one step.")
    yield from stage.run("ib", "merge", "dark-mode", "--force")
    yield from stage.run("git", "log", "--oneline", "--graph", "-3")
    yield Line("say", "Second thoughts: agent, worktree and branch come back, and the merge is gone.")
    yield from stage.run("ib", "undo")
    yield from stage.run("git", "log", "--oneline", "-3")


def closing(stage: Stage) -> Iterator[Line]:
    stage.wait(lambda: fleet(stage).get("checkout") == "complete", "The manager did not complete")
    yield Line("say", "The manager has merged its workers; it and the login fix go into main.")
    yield from stage.run("ib", "list")
    stage.quiet("ib", "merge", "checkout", "--force")
    stage.quiet("ib", "merge", "login", "--force")
    yield from stage.run("git", "log", "--oneline", "--graph")
    place = paths.find(stage.root)
    with open(place.messages, encoding="utf-8") as file:
        message = json.load(file)[0]["id"]
    yield from stage.run("ib", "acknowledge", message)
    yield Line("say", "And git has seen nothing of it, CLAUDE.md included:")
    yield from stage.run("git", "status", "--short")
