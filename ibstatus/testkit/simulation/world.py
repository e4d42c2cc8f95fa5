"""Where a simulation takes place: a throw-away HOME and repository, a tmux of its own, programs on its own clock.

The end of a simulation: agents are removed, and what must be gone or still there is looked at.

Clears a simulation away whose own process was killed: started beside it, it reads until that is gone.

argv: FOLDER; on stdin, `done` from one that has cleared up by itself.
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from ibstatus.errors import IbError
from ibstatus.project import paths, supervisor_process
from ibstatus.system.process import run
from ibstatus.system.process.run import Ended
from ibstatus.testkit.simulation import clocked, plan
from ibstatus.testkit.simulation.records import Clock, Record

DONE = b"done"
SOCKET = "ib"
ROUNDS = 3  # what is killed may have started something meanwhile


def beside(folder: str) -> "subprocess.Popen[bytes]":
    """In a session of its own, and without anything in its environment by which it would be taken for a part."""
    argv = [sys.executable, "-P", "-m", __name__, folder]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        argv, cwd="/", stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, bufsize=0, start_new_session=True
    )


def dismiss(watching: "subprocess.Popen[bytes]") -> None:
    try:
        watching.communicate(DONE)
    except OSError:
        return  # somebody has ended it


def main(folder: str) -> None:
    if sys.stdin.buffer.read() != DONE:
        clear(folder)


def clear(folder: str, *, keep: bool = False) -> None:
    """All that runs there, and the files."""
    for socket in (SOCKET, "sim"):
        try:
            run.run(["tmux", "-L", socket, "kill-server"], "/", {**os.environ, "TMUX_TMPDIR": folder + "/tmux"})
        except OSError:
            pass
    for _ in range(ROUNDS):
        for pid, _ in list(processes_in(folder)):
            signalled(pid, signal.SIGKILL)
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)


def processes_in(folder: str) -> Iterator[tuple[int, list[str]]]:
    """Every process that runs in this world, by its environment."""
    mark = f"={folder}/".encode()
    for leaf in os.listdir("/proc"):
        if not leaf.isdigit() or int(leaf) == os.getpid():
            continue
        try:
            with open(f"/proc/{leaf}/environ", "rb") as file:
                inside = mark in file.read()
            with open(f"/proc/{leaf}/cmdline", "rb") as file:
                words = [os.fsdecode(word) for word in file.read().split(b"\0")]
        except OSError:
            continue
        if inside and any(words):
            yield int(leaf), words


def signalled(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return


if __name__ == "__main__":
    main(sys.argv[1])


PRIMARY = "sim-primary"
SESSION = "00000000-0000-4000-8000-000000000001"
DISORDER = "repeat=0.1,swap=0.05,drop=0.02"
MEMORY, DISK, ROOM = "/dev/shm", "/tmp", 1 << 30
TEXT = "# Simulation\n\nTests run with make check.\n"
PYTHON = """\
#!/bin/sh
case $1 in
-S) shift 3; exec {python} -S -E -I {prelude} {clock} "$0" script "$@" ;;
*) shift 2; exec {python} -P {prelude} {clock} "$0" module "$@" ;;
esac
"""


def ground() -> str:
    """In memory where that is possible: nothing of a simulation is to outlive the machine, and all of it syncs all the
    time. Short in any case, because sockets lie in it."""
    try:
        known = os.statvfs(MEMORY)
    except OSError:
        return DISK
    fits = known.f_bavail * known.f_frsize >= ROOM and not known.f_flag & os.ST_NOEXEC
    return MEMORY if fits and os.access(MEMORY, os.W_OK | os.X_OK) else DISK


class World:
    """`name` is known to every process of it by its environment, so that none is left."""

    def __init__(self, seed: int) -> None:
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="ib-sim-", dir=ground()))
        self.watching = beside(self.folder)
        self.root = self.folder + "/repo"
        for leaf in ("bin", "scripts", "orders", "tmux", "home", "repo", "claude"):
            os.mkdir(f"{self.folder}/{leaf}", 0o700)
        self.clock = Clock(self.folder + "/clock")
        self.env = {
            **run.apart(self.folder + "/home"),
            "TMUX_TMPDIR": self.folder + "/tmux",
            "CLAUDE_CONFIG_DIR": self.folder + "/claude",
            "IB_CLAUDE": self.folder + "/bin/claude",
            "FAKE_CLAUDE_SCRIPT": self.folder + "/scripts",
            "PATH": f"{self.folder}/bin:{os.environ.get('PATH', os.defpath)}",
            "FAKE_CLAUDE_HOOKS": f"{DISORDER},seed={seed}",
            "TZ": "UTC",
        }
        self.programs()

    def programs(self) -> None:
        quoted = {"python": sys.executable, "prelude": clocked.__file__, "clock": self.clock.path}
        self.program("python", PYTHON.format(**{key: shlex.quote(value) for key, value in quoted.items()}))
        for name, module in (("ib", "ibstatus"), ("claude", "ibstatus.testkit.fake_claude")):
            python = shlex.quote(self.folder + "/bin/python")
            self.program(name, f'#!/bin/sh\nexec {python} -P -m {module} "$@"\n')

    def program(self, name: str, text: str) -> None:
        with open(f"{self.folder}/bin/{name}", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(file.name, 0o755)

    def found(self, most: int) -> None:
        """The repository, with room for so many agents, and the session that the user talks to."""
        self.write(self.root + "/CLAUDE.md", TEXT)
        self.write(self.root + "/.ittybitty.json", f'{{"maxAgents": {most}}}\n')
        self.run("git", "init", "-q", "-b", "main")
        self.place = paths.find(self.root)
        self.run("git", "add", "CLAUDE.md")
        self.run("git", "commit", "-q", "-m", "first")
        self.first = self.run("git", "rev-parse", "HEAD").strip()
        self.run("ib", "init")
        self.run("ib", "hooks", "install")
        self.follows(PRIMARY)
        self.env["FAKE_CLAUDE_SCRIPT"] = f"{self.folder}/scripts/{PRIMARY}"
        size = ("-x", "160", "-y", "48")
        argv = (self.folder + "/bin/claude", "--session-id", SESSION, "--permission-mode", "bypassPermissions")
        self.run("tmux", "-f", "/dev/null", "-L", "sim", "new-session", "-d", "-s", "primary", *size, "--", *argv)
        self.env["FAKE_CLAUDE_SCRIPT"] = self.folder + "/scripts"

    def write(self, path: str, text: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def follows(self, who: str, first: str = "") -> None:
        """This session does what its orders say."""
        self.write(f"{self.folder}/scripts/{who}", f"{first}\norders {self.orders_of(who)}\n")

    def orders_of(self, who: str) -> str:
        return f"{self.folder}/orders/{who}"

    def order(self, who: str, *lines: str) -> None:
        with open(self.orders_of(who), "a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))

    def tried(self, *argv: str, primary: bool = False) -> Ended:
        session = {"CLAUDE_CODE_SESSION_ID": SESSION} if primary else {}
        return run.run(list(argv), self.root, {**self.env, **session})

    def run(self, *argv: str, primary: bool = False) -> str:
        done = self.tried(*argv, primary=primary)
        if done.code:
            raise IbError(f"The simulation stopped at: {shlex.join(argv)}", cause=(done.err or done.out).strip())
        return done.out

    def keys(self, session: str, *names: str, socket: str = SOCKET) -> None:
        self.tried("tmux", "-L", socket, "send-keys", "-t", f"={session}:", *names)

    def processes(self) -> Iterator[tuple[int, list[str]]]:
        return processes_in(self.folder)

    def poke(self) -> None:
        """After a leap: whoever sleeps until a time looks at the clock. SIGCHLD means nothing to anybody else."""
        for pid, words in self.processes():
            if "ibstatus.testkit.fake_claude" in words:
                signalled(pid, signal.SIGCHLD)
        os.utime(self.place.messages) if os.path.exists(self.place.messages) else os.utime(self.place.home)
        os.utime(self.root + "/.ittybitty.json")

    def close(self, *, keep: bool) -> None:
        try:
            supervisor_process.stop(paths.find(self.root))
        except IbError:
            pass  # it never became a repository
        clear(self.folder, keep=keep)
        self.clock.close()
        dismiss(self.watching)


GONE_WITHIN = 5.0


def judge(there: World, drawn: plan.Plan, record: Record) -> None:
    record.outside = outside(there)
    made = commits(there, drawn)
    workers = [who.name for who in drawn.agents if who.is_worker]
    gone = workers[: max(1, len(workers) // 3)] if workers else []
    record.lost_commits += missing(made, drawn)
    if gone:
        done = there.tried("ib", "kill", *gone, "--force", primary=True)
        record.acts["removed"] = record.acts.get("removed", 0) + len(gone)
        if done.code:
            record.failures.append(f"ib kill: {done.err.strip()}")
        record.orphans += orphans(there, gone)
    for who, each in made.items():
        lost = [one for one in each if there.tried("git", "cat-file", "-e", one + "^{commit}").code]
        record.lost_commits += [f"{one} of {who} is gone" for one in lost]


def outside(there: World) -> str:
    """CLAUDE.md without what ib has put into it, against what it was."""
    done = there.tried("git", "diff", "--quiet", "--", "CLAUDE.md")
    if done.code:
        return f"git shows CLAUDE.md as changed: {done.err.strip()}"
    with open(there.root + "/CLAUDE.md", encoding="utf-8") as file:
        text = file.read()
    return "" if text.startswith(TEXT) else "its own text is changed"


def commits(there: World, drawn: plan.Plan) -> dict[str, list[str]]:
    found = {}
    for who in drawn.agents:
        found[who.name] = there.tried("git", "rev-list", "--no-merges", f"{there.first}..agent/{who.name}").out.split()
    return found


def missing(made: dict[str, list[str]], drawn: plan.Plan) -> list[str]:
    """Every piece of work was a commit of its own."""
    wanted: dict[str, int] = {}
    for moment in drawn.moments:
        for act in moment.acts:
            wanted[act.who] = wanted.get(act.who, 0) + (act.fate == "work")
    return [
        f"{who} made {count} commits, {len(made[who])} are there"
        for who, count in wanted.items()
        if len(made[who]) < count
    ]


def orphans(there: World, gone: list[str]) -> list[str]:
    deadline = time.monotonic() + GONE_WITHIN
    while (found := left(there, gone)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def left(there: World, gone: list[str]) -> list[str]:
    sessions = there.tried("tmux", "-L", SOCKET, "list-sessions", "-F", "#{session_name}").out.split()
    found = [f"the tmux session {name}" for name in sessions if any(name.endswith(f"-{who}") for who in gone)]
    for pid, words in there.processes():
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                entries = file.read().split(b"\0")
        except OSError:
            continue
        if any(f"IB_AGENT_ID={who}".encode() in entries for who in gone):
            found.append(f"process {pid}: {' '.join(map(os.path.basename, words))[:100]}")
    return found
