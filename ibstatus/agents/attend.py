"""Beside a new session until its client is up: the user's post-create hook runs, the trust dialog is answered."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

from ibstatus.claude import client as clients
from ibstatus.claude import hook_events, sessions
from ibstatus.claude import hook_state as standings
from ibstatus.claude.screens.dialogs import Dialog
from ibstatus.claude.screens.prompt import Pace
from ibstatus.mail import wake_agent
from ibstatus.project import agent_meta, logs, paths, roles, supervisor_process
from ibstatus.system import disk, locks
from ibstatus.system.tmux import server, typing

PATIENCE = 60.0
LOOK_EVERY = 0.25
OF_STARTS = ("trust", "bypass", "api-key", "imports", "other")
HOOK_PATIENCE = 60.0
LONGEST_LINE, LONGEST_OUTPUT = 1000, 1 << 20
FOREIGN = ("TMUX", "TMUX_PANE", "IB_AGENT_ID", "IB_AGENT_TOKEN", *clients.DEFAULT.left_behind)
WRITER = "cli"
RESUMED = (
    "[ib] Your session was stopped and runs again. Go on with your task, or end your turn with one of the two phrases."
)


def begin(place: paths.Place, agent: str, *, resumed: bool = False) -> None:
    """As a process of its own, so that nobody waits. `resumed`: whatever mail it has, it is roused to."""
    words = ["attend", "--repo", place.root, agent, *(["--resumed"] if resumed else [])]
    env = {key: value for key, value in os.environ.items() if key not in FOREIGN}
    supervisor_process.apart([sys.executable, "-P", "-m", "ibstatus", *words], supervisor_process.log_of(place), env)


def attend(place: paths.Place, agent: str, *, resumed: bool = False) -> str:
    """Until the client takes text or works, or cannot come up; returns what became of it."""
    lock = locks.Lock(place.lock("attend-" + agent))
    if not lock.try_take():
        return "another process attends to it"
    hook = threading.Thread(target=run_hook, args=(place, agent))
    if not resumed:
        hook.start()
    try:
        came = see_up(place, agent)
        if resumed and came == "up":
            wake_agent.rouse(place, agent)
        elif came == "up" and is_up(place, agent, known := agent_meta.read(place, agent)) and not known.get("prompted"):
            agent_meta.change(place, agent, prompted=True)
        return came
    finally:
        if not resumed:
            hook.join()
        lock.release()


def see_up(place: paths.Place, agent: str) -> str:
    at = sessions.of(place, agent)
    mode = agent_meta.read(place, agent)
    deadline = time.monotonic() + PATIENCE
    told, pace = "", Pace()
    while time.monotonic() < deadline:
        if is_up(place, agent, mode):
            return "up"
        pane = at.pane()
        if pane is None or pane.dead:
            return "ended"
        screen = clients.of(mode).read(at.screen(pane) or "")
        if screen.kind in ("prompt", "busy") or (screen.dialog is not None and screen.dialog.which not in OF_STARTS):
            return "up"  # it is past its start: what is asked now its hooks and its screen tell
        if screen.dialog is not None:
            if not answered(at, pane, screen.dialog, mode, pace) and told != screen.dialog.which:
                told = screen.dialog.which
                report(place, agent, screen.dialog)
            deadline = max(deadline, time.monotonic() + PATIENCE / 2)
        time.sleep(LOOK_EVERY)
    keep_screen(place, agent, at)
    return "unknown"


def is_settled(place: paths.Place, agent: str) -> bool:
    """Is its client up, or gone again? One look."""
    known, at = agent_meta.read(place, agent), sessions.of(place, agent)
    pane = at.pane()
    if pane is None or pane.dead or is_up(place, agent, known):
        return True
    return clients.of(known).read(at.screen(pane) or "").kind in ("prompt", "busy")


def is_up(place: paths.Place, agent: str, known: dict[str, object]) -> bool:
    """Its hooks have spoken since this session began."""
    said = standings.read(standings.path_of(place, agent, ""))
    began = known.get("started")
    return said.state == hook_events.RUNNING and isinstance(began, int | float) and said.at >= began


def answered(at: sessions.Session, pane: server.Pane, dialog: Dialog, known: dict[str, object], pace: Pace) -> bool:
    """What the user has allowed by making the agent is answered; what else is asked only the user can answer."""
    client = clients.of(known)
    answer = client.answer(dialog, known.get("yolo") is True)
    keys = client.steps(dialog, answer) if answer else ()
    if keys and pace.is_free(dialog, time.monotonic()):
        typing.press(at.socket, pane, keys[0])  # one step; Enter only once the arrow is seen to stand there
        pace.pressed(dialog, time.monotonic())
    return bool(keys)


def report(place: paths.Place, agent: str, dialog: Dialog) -> None:
    now = time.time()
    reason = "trust" if dialog.which in ("trust", "imports") else "permission"
    logs.write(place, agent, f"Start-up waits for an answer: {dialog.which}: {' / '.join(dialog.options)}", now)
    logs.note(place, agent, now, {"kind": "agent.state", "who": agent, "state": "waiting", "reason": reason})


def keep_screen(place: paths.Place, agent: str, at: sessions.Session) -> None:
    """What was on the screen when nobody knew what to make of it."""
    pane = at.pane()
    text = at.screen(pane) if pane is not None else None
    logs.write(place, agent, f"The client was not seen to come up within {PATIENCE:.0f} s", time.time())
    if text:
        folder = place.agent_dir(agent) + "/debug-logs"
        disk.make_dirs(folder)
        with open(f"{folder}/start-{int(time.time())}-unknown.txt", "w", encoding="utf-8", errors="replace") as file:
            file.write(text)


def run_hook(place: paths.Place, agent: str) -> None:
    """.ittybitty/hooks/post-create-agent: a process of its own, a minute, its output in agent.log."""
    path = f"{place.home}/hooks/post-create-agent"
    if not os.access(path, os.X_OK) or not os.path.isfile(path):
        return
    with tempfile.TemporaryFile() as out:  # what it starts beside itself may keep it open
        try:
            hook = subprocess.Popen(
                [path],
                cwd=place.root,
                env={**os.environ, **hook_environment(place, agent)},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            logs.write(place, agent, f"[post-create-agent] could not be run: {error.strerror}", time.time())
            return
        how = waited_for(hook)
        out.seek(0)
        said = [*out.read(LONGEST_OUTPUT).decode("utf-8", "replace").splitlines(), *how]
    for line in said:
        logs.write(place, agent, f"[post-create-agent] {line[:LONGEST_LINE]}", time.time())


def waited_for(hook: "subprocess.Popen[bytes]") -> list[str]:
    """How it ended, where that is worth a line. What takes too long is ended with all that it has started."""
    try:
        code = hook.wait(HOOK_PATIENCE)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(hook.pid, signal.SIGKILL)
        hook.wait()
        return [f"ended after {HOOK_PATIENCE:.0f} s"]
    return [f"ended with exit code {code}"] if code else []


def hook_environment(place: paths.Place, agent: str) -> dict[str, str]:
    known = agent_meta.read(place, agent)
    return {
        "IB_AGENT_ID": agent,
        "IB_AGENT_TYPE": roles.role_of(agent, known),
        "IB_AGENT_DIR": place.agent_dir(agent),
        "IB_AGENT_BRANCH": "" if known.get("worktree") is False else f"agent/{agent}",
        "IB_AGENT_MANAGER": str(known.get("manager") or ""),
        "IB_AGENT_PROMPT": str(known.get("prompt") or "").replace("\0", ""),
        "IB_AGENT_MODEL": str(known.get("model") or ""),
    }
