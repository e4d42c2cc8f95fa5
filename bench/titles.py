"""What the title hook costs: without a change against an empty python, with one against a script with jq and tmux.

Of ours and of the script all processes are counted; the tmux server's own work is not, in either.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import ibstatus
from bench.ground import Row, percentile, repository
from bench.hot import available, compiled
from bench.inject import ISOLATED, hook, seconds
from ibstatus.project import paths

BAR, CHEAPER, ROUNDS = 1.4, 6.0, 25
ROOT = Path(ibstatus.__file__).parent.parent
PATIENT = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from ibstatus.hooks import entry
entry.LIMIT["lasts"] = 60.0
entry.main(["notify-tmux"])
"""  # the hook with more time than under valgrind it would get: nothing else is changed
SEED = """
input=$(cat)
event=$(printf '%s' "$input" | jq -r .hook_event_name)
tool=$(printf '%s' "$input" | jq -r '.tool_name // .tool_calls[0].tool_name // empty')
running=$(tmux show-options -wqv -t "$TMUX_PANE" @agent_running)
last=$(tmux show-options -wqv -t "$TMUX_PANE" @last_completed_time)
tmux set-option -w -t "$TMUX_PANE" @agent_running false
tmux set-option -w -t "$TMUX_PANE" @last_completed_time 1700000000
tmux rename-window -t "$TMUX_PANE" seed
"""
WRAPPER = """#!/bin/sh
n=$(mktemp {folder}/call.XXXXXX)
printf '%s\\n' "$@" > "$n.argv"
case " $* " in *" - "*) cat > "$n.stdin"; exec {tmux} "$@" < "$n.stdin";; esac
exec {tmux} "$@"
"""
TURN = ("Read", "Grep", "Edit", "Bash", "Read", "Edit", "Edit", "Bash", "Read")  # then Stop


class Call(NamedTuple):
    """One process of tmux, as it was called."""

    argv: list[str]
    stdin: bytes


class Session:
    """Claude's session in a tmux of its own, as the hook sees it."""

    def __init__(self, place: paths.Place, folder: Path) -> None:
        self.place, self.folder = place, folder
        self.tmux = str(shutil.which("tmux"))
        self.turn = 0
        self.start()
        (folder / "bin").mkdir()
        (folder / "bin" / "tmux").write_text(WRAPPER.format(folder=folder, tmux=self.tmux))
        (folder / "bin" / "tmux").chmod(0o755)

    def start(self) -> None:
        self.ask("-f", os.devnull, "new-session", "-d", "-x", "80", "-y", "24", "cat")
        pane = self.ask("display-message", "-p", "#{pane_id} #{pid}").split()
        os.environ.update(TMUX=f"{self.folder}/s,{pane[1]},0", TMUX_PANE=pane[0], CLAUDE_PROJECT_DIR=self.place.root)
        os.environ.update(CLAUDE_CODE_ENTRYPOINT="cli", TERM="xterm-256color", LC_ALL="C.UTF-8")

    def ask(self, *args: str) -> str:
        argv = [self.tmux, "-S", f"{self.folder}/s", *args]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout

    def payload(self, name: str, **more: object) -> bytes:
        value = {
            "session_id": "b7a1f9c2",
            "transcript_path": "/home/user/.claude/projects/x/b7a1f9c2.jsonl",
            "cwd": self.place.root,
            "prompt_id": f"p{self.turn}",
            "permission_mode": "default",
            "hook_event_name": name,
            **more,
        }
        return json.dumps(value).encode()

    def batch(self, tool: str) -> bytes:
        call = {"tool_name": tool, "tool_input": {"command": "make"}, "tool_response": "done"}
        return self.payload("PostToolBatch", tool_calls=[call])

    def stop(self, *tasks: object) -> bytes:
        return self.payload("Stop", stop_hook_active=False, background_tasks=tasks, session_crons=[])

    def begin(self) -> None:
        """A new session, and a turn with nothing done yet."""
        self.turn += 1
        self.tell(self.payload("SessionStart", source="startup"))

    def work(self) -> None:
        """What makes the turn's end a change."""
        self.begin()
        self.tell(self.batch("Edit"))

    def tell(self, data: bytes) -> list[Call]:
        """The hook hears of it; the processes of tmux that it starts."""
        env = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        subprocess.run(hook("notify-tmux"), input=data, stdout=subprocess.DEVNULL, check=True, env=env)
        return self.calls()

    def calls(self) -> list[Call]:
        found = []
        for path in sorted(self.folder.glob("call.??????")):
            stdin = path.with_name(path.name + ".stdin")
            argv = path.with_name(path.name + ".argv").read_text().split("\n")[:-1]
            found.append(Call(argv, stdin.read_bytes() if stdin.exists() else b""))
            for file in self.folder.glob(path.name + "*"):
                file.unlink()
        return found

    def cost(self, data: bytes, change: Callable[[], object]) -> int:
        """Instructions of the hook and of its tmux, whose call a rehearsal shows; `change` leads up to the event."""
        change()
        calls = self.tell(data)
        change()
        own = spent([*ISOLATED, "-c", PATIENT], data, children=False)
        return own + sum(spent([self.tmux, *call.argv], call.stdin) for call in calls)

    def seed(self, data: bytes) -> int:
        return spent(["sh", "-c", SEED], data)


@contextmanager
def session(mode: str = "stop-only") -> Iterator[Session]:
    with repository() as place, tempfile.TemporaryDirectory(prefix="ib-b-", dir="/tmp") as folder:
        Path(place.root, ".ittybitty.json").write_text(json.dumps({"tmux": {"titles": mode}}))
        made = Session(place, Path(folder))
        try:
            yield made
        finally:
            made.ask("kill-server")


def spent(argv: list[str], data: bytes, *, children: bool = True) -> int:
    """Instructions of a process, with those of all that it starts."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as stdin:
        stdin.write(data)
        stdin.seek(0)
        tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={folder}/%p"]
        run(tool + (["--trace-children=yes"] if children else []) + argv, stdin)
        logs = [path.read_text(errors="replace") for path in Path(folder).iterdir()]
    return sum(int(number) for log in logs for number in re.findall(r"Collected : (\d+)", log))


def run(argv: list[str], stdin: IO[bytes]) -> None:
    done = subprocess.run(argv, stdin=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{argv} failed: {done.stderr[-2000:]}")


def measure() -> list[Row]:
    if shutil.which("tmux") is None:
        return [Row("title hook", "not measured: tmux is not installed", f"≤ {BAR} ×", False)]
    compiled()
    with session() as known:
        rows = [processes(known)]
        rows += against_the_seed(known) if shutil.which("jq") else [SEEDLESS]
        if not available():
            return [Row("title hook", "not measured: valgrind is not installed", f"≤ {BAR} ×", False), *rows]
        floor = spent([*ISOLATED, "-c", "pass"], b"")
        quiet = unchanged(known, floor)
    with session("real-time") as known:
        return [*quiet, repeated(known, floor), *rows]


def ratio(what: str, cost: int, floor: int) -> Row:
    return Row(what, f"{cost / floor:.2f} ×", f"≤ {BAR} ×", cost / floor <= BAR)


def unchanged(known: Session, floor: int) -> list[Row]:
    known.begin()
    quiet = spent(hook("notify-tmux"), known.batch("Read"))
    known.tell(known.batch("Edit"))
    return [
        ratio("title hook, a tool that only reads", quiet, floor),
        ratio("… the second edit of a turn", spent(hook("notify-tmux"), known.batch("Edit")), floor),
    ]


def repeated(known: Session, floor: int) -> Row:
    known.begin()
    data = known.payload("PreToolUse", tool_name="Edit", tool_input={"file_path": "x"})
    known.tell(data)
    return ratio("… the same tool again, in real time", spent(hook("notify-tmux"), data), floor)


def processes(known: Session) -> Row:
    """Counted in a day of a session; what changes is what its window shows after each event."""
    changes, calls, idle = 0, 0, 0
    for data in a_day(known):
        before = window(known)
        count = len(known.tell(data))
        changed = window(known) != before
        changes, calls, idle = changes + changed, calls + count * changed, idle + count * (not changed)
    figure = f"{calls / changes:g} / {idle}" if changes else "no change was seen"
    what = f"… tmux processes: each of {changes} changes / all other events"
    return Row(what, figure, "≤ 1 / 0", changes >= 4 and calls <= changes and idle == 0)


def a_day(known: Session) -> Iterator[bytes]:
    """Begun, a turn that starts an agent, the agent's end, two turns of work, cleared."""
    agent = {"id": "a1", "type": "subagent", "status": "running"}
    known.turn += 1
    yield known.payload("SessionStart", source="startup")
    yield from (known.batch(tool) for tool in (*TURN, "Agent"))
    yield known.stop(agent)
    yield known.payload("SubagentStop", agent_id="a1", background_tasks=[agent])
    for _ in range(2):
        known.turn += 1
        yield from (known.batch(tool) for tool in TURN)
        yield known.stop()
    yield known.payload("SessionStart", source="clear")


def window(known: Session) -> str:
    return known.ask("display-message", "-p", "#{window_name} #{@ib_state} #{@ib_state_since} #{@last_completed_time}")


SEEDLESS = Row("… a change, of 2 jq + 5 tmux", "not measured: jq is not installed", f"≤ 1/{CHEAPER:g}", False)


def against_the_seed(known: Session) -> list[Row]:
    jq = subprocess.run(["jq", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    what = f"… a change, of 2 jq + 5 tmux ({jq})"
    if not available():
        return [share(f"{what}, in time", in_time(known), CHEAPER)]
    change, seed = known.cost(known.stop(), known.work), known.seed(known.stop())
    known.begin()
    quiet, edit = (spent(hook("notify-tmux"), known.batch(tool)) for tool in ("Read", "Edit"))
    of_turn = (len(TURN) + 1) * seed / ((len(TURN) - 1) * quiet + edit + change)
    return [
        share(what, seed / change, CHEAPER),
        share(f"… an event of a turn with {len(TURN)} tools, of the same", of_turn, CHEAPER),
        share("… a change, of the same, in time", in_time(known), None),
    ]


def share(what: str, times: float, bar: float | None) -> Row:
    return Row(what, f"1/{times:.1f}", f"≤ 1/{bar:g}" if bar else "stated", bar is None or times >= bar)


def in_time(known: Session) -> float:
    """By the medians; the two take turns."""
    pairs = []
    for _ in range(ROUNDS):
        known.work()
        pairs.append((seconds(hook("notify-tmux"), known.stop()), seconds(["sh", "-c", SEED], known.stop())))
    ours, seed = (percentile([pair[at] for pair in pairs], 0.5) for at in (0, 1))
    return seed / ours
