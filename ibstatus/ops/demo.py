"""The main job in a throw-away repository, with the real commands: agents speak, the primary wakes, nothing is lost."""

import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple

from ibstatus.drivers import daemon, processes
from ibstatus.errors import IbError
from ibstatus.store import fleet, locks, places, spool

PRIMARY = {"CLAUDE_CODE_SESSION_ID": "demo"}
MANAGER, WORKER = "dark-mode", "login-fix"
SOCKET = "ib"  # the default; TMUX_TMPDIR makes it ours alone


class Line(NamedTuple):
    """One line of the show: `say` explains, `run` is a command (by `who`), `out` is what it printed."""

    kind: str
    text: str
    who: str = ""


class Stage:
    """A repository of our own, and how to run things in it."""

    def __init__(self, folder: str) -> None:
        self.root = os.path.join(os.path.realpath(folder), "shop")
        self.env = {**processes.apart(folder), "TMUX_TMPDIR": folder}
        os.mkdir(self.root)

    def worktree(self, agent: str) -> str:
        return f"{self.root}/.ittybitty/agents/{agent}/repo"

    def program(self, argv: list[str]) -> list[str]:
        return [sys.executable, "-m", "ibstatus", *argv[1:]] if argv[0] == "ib" else argv

    def quiet(self, *argv: str) -> str:
        done = processes.run(self.program(list(argv)), self.root, {**self.env, **PRIMARY})
        if done.code:
            raise IbError(f"The demo stopped at: {shlex.join(argv)}", cause=(done.err or done.out).strip())
        return done.out

    def run(self, who: str, *argv: str) -> Iterator[Line]:
        """Show a command and what it prints. `who` is an agent or the primary."""
        agent = who in (MANAGER, WORKER)
        yield Line("run", " ".join(quoted(word) for word in argv), who)
        env = self.env if agent else {**self.env, **PRIMARY}
        done = processes.run(self.program(list(argv)), self.worktree(who) if agent else self.root, env)
        for text in (done.out + done.err).splitlines():
            yield Line("out", text)
        if done.code:
            raise IbError(f"The demo stopped at: {shlex.join(argv)}", cause=done.err.strip())

    def inhabit(self, agent: str) -> None:
        """A tmux session where the agent would live, on a server of its own; and its first word, as a hook notes it."""
        place = places.find(self.root)
        session = f"ittybitty-{fleet.repo_id(place)}-{agent}"
        try:
            processes.run(["tmux", "-L", SOCKET, "new-session", "-d", "-s", session, "sleep 600"], self.root, self.env)
        except FileNotFoundError:
            pass  # without tmux the show goes on: the state is then what the hooks say
        self.says(agent, "running")

    def says(self, agent: str, state: str, reason: str = "") -> None:
        event = {"kind": "agent.state", "who": agent, "state": state, "reason": reason}
        spool.note(places.find(self.root), agent, time.time(), event)

    def wait(self, there: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + 20
        while not there():
            if time.monotonic() > deadline:
                raise IbError(otherwise, hint="ib doctor")
            time.sleep(0.01)

    def close(self) -> None:
        try:
            processes.run(["tmux", "-L", SOCKET, "kill-server"], self.root, self.env)
        except OSError:
            pass
        daemon.stop(places.find(self.root))


def quoted(word: str) -> str:
    """As a person would type it."""
    return f'"{word}"' if " " in word or not word else word


def show() -> Generator[Line, None, None]:
    with tempfile.TemporaryDirectory(prefix="ib-demo-", ignore_cleanup_errors=True) as folder:
        stage = Stage(folder)
        try:
            yield from opening(stage)
            yield from news(stage)
            yield from reply(stage)
            yield from closing(stage)
        finally:
            stage.close()


def opening(stage: Stage) -> Iterator[Line]:
    yield Line("say", "A throw-away repository, and two agents at work, each in its own git worktree.")
    stage.quiet("git", "init", "-q", "-b", "main")
    with open(f"{stage.root}/CLAUDE.md", "w", encoding="utf-8") as file:
        file.write("# Shop\n\nTests run with make check.\n")
    stage.quiet("git", "add", "CLAUDE.md")
    stage.quiet("git", "commit", "-q", "-m", "first")
    yield from stage.run("primary", "ib", "init")
    for agent, task in ((MANAGER, "Implement dark mode"), (WORKER, "Fix the login bug")):
        os.makedirs(stage.worktree(agent).removesuffix("/repo"))
        meta = {"id": agent, "manager": None, "prompt": task, "created_epoch": int(time.time()), "model": "sonnet"}
        with open(f"{stage.root}/.ittybitty/agents/{agent}/meta.json", "w", encoding="utf-8") as file:
            json.dump(meta, file)
        stage.quiet("git", "worktree", "add", "-q", "-b", f"agent/{agent}", stage.worktree(agent))
        stage.inhabit(agent)
    yield from stage.run("primary", "ib", "list")


def news(stage: Stage) -> Iterator[Line]:
    yield Line("say", "Your Claude listens in the background. An agent has a question; the other one is done.")
    yield Line("run", "ib listen &", "primary")
    listener = processes.start(stage.program(["ib", "listen", "--timeout", "30"]), stage.root, {**stage.env, **PRIMARY})
    try:
        await_listener(stage)
        yield from stage.run(MANAGER, "ib", "ask", "CSS variables, or a theme provider?")
        stage.says(MANAGER, "waiting", "question")
        heard, _ = listener.communicate()
    finally:
        listener.kill()
        listener.wait()
    yield Line("say", "The listener has exited, and that wakes your Claude:")
    for text in heard.decode("utf-8", "replace").splitlines():
        yield Line("out", text)
    yield from stage.run(WORKER, "ib", "send", "user-claude", "COMPLETE: login bug fixed, ready for merge")
    stage.says(WORKER, "complete")
    yield Line("say", "A session that starts now, or one that was compacted, finds it all in CLAUDE.md:")
    yield Line("run", "sed -n '/^<ittybitty-status>/,$p' CLAUDE.md", "primary")
    for text in shown_node(stage):
        yield Line("out", text)


def await_listener(stage: Stage) -> None:
    place = places.find(stage.root)
    stage.wait(lambda: locks.is_held(place.lock("cursor-listen@demo")), "The demo's listener did not start")


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
    yield Line("say", "It answers. The answer waits in the agent's inbox, and the question is settled.")
    question = json.loads(stage.quiet("ib", "questions", "--json"))[0]["id"]
    yield from stage.run("primary", "ib", "answer", question, "CSS variables")
    yield Line(
        "say", "What was not heard yet is there when it listens again, even after somebody cleans the repository."
    )
    yield from stage.run("primary", "git", "clean", "-fdxq")
    yield from stage.run("primary", "ib", "listen")


def closing(stage: Stage) -> Iterator[Line]:
    place = places.find(stage.root)
    with open(place.messages, encoding="utf-8") as file:
        message = json.load(file)[0]["id"]
    yield from stage.run("primary", "ib", "acknowledge", message)
    yield from stage.run("primary", "ib", "trace", message)
    yield Line("say", "And git has seen nothing of it, CLAUDE.md included:")
    yield from stage.run("primary", "git", "status", "--short")
