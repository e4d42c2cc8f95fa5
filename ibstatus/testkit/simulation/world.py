"""Where a simulation takes place: a throw-away HOME and repository, a tmux of its own, programs on its own clock."""

import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator

from ibstatus.errors import IbError
from ibstatus.project import paths, supervisor_process
from ibstatus.system.process import run
from ibstatus.system.process.run import Ended
from ibstatus.testkit.simulation import clocked, watcher
from ibstatus.testkit.simulation.clock import Clock

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
        self.watching = watcher.beside(self.folder)
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

    def keys(self, session: str, *names: str, socket: str = watcher.SOCKET) -> None:
        self.tried("tmux", "-L", socket, "send-keys", "-t", f"={session}:", *names)

    def processes(self) -> Iterator[tuple[int, list[str]]]:
        return watcher.processes_in(self.folder)

    def poke(self) -> None:
        """After a leap: whoever sleeps until a time looks at the clock. SIGCHLD means nothing to anybody else."""
        for pid, words in self.processes():
            if "ibstatus.testkit.fake_claude" in words:
                watcher.signalled(pid, signal.SIGCHLD)
        os.utime(self.place.messages) if os.path.exists(self.place.messages) else os.utime(self.place.home)
        os.utime(self.root + "/.ittybitty.json")

    def close(self, *, keep: bool) -> None:
        try:
            supervisor_process.stop(paths.find(self.root))
        except IbError:
            pass  # it never became a repository
        watcher.clear(self.folder, keep=keep)
        self.clock.close()
        watcher.dismiss(self.watching)
