"""ib as a process that begins where the imports end: a server that has loaded everything forks for each command.

A command is run with its own arguments, folder, environment and files; what it does at its start is tested elsewhere
(test_house, test_cost). `what` and `at` arm the fault seam first, see tests/faults.py.
"""

import array
import gc
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from tests.patience import lengthen

PROJECT = Path(__file__).resolve().parent.parent
PATIENCE = 60.0
LONGEST = 1 << 22
KILL, STEP = "KILL", "STEP"  # at the n-th operation of the fault seam; at the n-th step of tests/killed.py
AT_START = ("PYTHON", "LC_", "LANG", "TZ")  # what an interpreter looks at once, when it begins


class Server:
    """One for each process that runs tests; it ends with it, because its socket does."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.path = ""
        self.process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        with self.lock:
            if self.process is not None and self.process.poll() is None:
                return
            self.end()
            folder = tempfile.mkdtemp(prefix="ib-f-", dir="/tmp")  # a socket's path must be short
            self.path = folder + "/s"
            argv = [sys.executable, "-m", "tests.forked", self.path]
            env = {**os.environ, "PYTHONPATH": str(PROJECT), "HOME": "/"}  # of no test: who ends what has its HOME
            self.process = subprocess.Popen(argv, cwd=PROJECT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert self.process.stdout is not None
            assert self.process.stdout.readline() == b"ready\n"

    def run(self, request: dict[str, Any], fds: list[int]) -> int:
        self.begin()
        with socket.socket(socket.AF_UNIX) as wire:
            wire.connect(self.path)
            data = json.dumps(request).encode()
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
            wire.sendmsg([len(data).to_bytes(4, "big")], rights)
            wire.sendall(data)
            wire.settimeout(PATIENCE)
            try:
                pid = int.from_bytes(wire.recv(4), "big")
                return int.from_bytes(wire.recv(4), "big", signed=True)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(request["argv"], PATIENCE) from None

    def end(self) -> None:
        if self.process is not None and self.process.stdin is not None and self.process.stdout is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()
            self.process = None
            shutil.rmtree(os.path.dirname(self.path), ignore_errors=True)


SERVER = Server()


def can_run(env: dict[str, str]) -> bool:
    return all(os.environ.get(key) == value or not key.startswith(AT_START) for key, value in env.items())


def run(
    argv: list[str], cwd: str, env: dict[str, str], given: bytes | None, what: str = "", at: int = 0, patient: str = ""
) -> tuple[int, bytes, bytes]:
    """(exit code, negative for a signal; stdout; stderr). Pipes are read to their end, as subprocess does it."""
    request = {"argv": argv, "cwd": cwd, "env": env, "what": what, "at": at, "patient": patient}
    with tempfile.TemporaryFile() as stdin:
        null = os.open(os.devnull, os.O_RDONLY)
        if given is not None:
            stdin.write(given)
            stdin.seek(0)
        pipes = [os.pipe(), os.pipe()]
        read: list[bytes] = [b"", b""]
        readers = [threading.Thread(target=drain, args=(pipes[n][0], read, n)) for n in (0, 1)]
        for reader in readers:
            reader.start()
        try:
            code = SERVER.run(request, [null if given is None else stdin.fileno(), pipes[0][1], pipes[1][1]])
        finally:
            for fd in (null, pipes[0][1], pipes[1][1]):
                os.close(fd)
            for reader in readers:
                reader.join()
    return code, read[0], read[1]


def drain(fd: int, into: list[bytes], number: int) -> None:
    with open(fd, "rb") as file:
        into[number] = file.read()


def serve(path: str) -> None:
    load_everything()
    lengthen()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        door.listen(64)
        threading.Thread(target=leave_with_parent, daemon=True).start()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those who wait for the commands are nobody's to wait for
        os.write(1, b"ready\n")
        while True:
            wire, _ = door.accept()
            if os.fork() == 0:
                door.close()
                attend(wire)
            wire.close()


def load_everything() -> None:
    from ibstatus.cli import app

    for command, _ in app.COMMANDS.values():
        import_module(command.partition(":")[0])
    for path in sorted(Path(PROJECT, "ibstatus").rglob("*.py")):
        name = ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")
        if "__main__" not in name and "stub" not in name:
            import_module(name)
    import_module("ibstatus.__main__")
    gc.freeze()


def leave_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


def attend(wire: socket.socket) -> None:
    """One command, beside the server: begun, waited for, reported."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, ancillary, _, _ = wire.recvmsg(4, socket.CMSG_SPACE(3 * 4))
    fds = array.array("i")
    for _, _, data in ancillary:
        fds.frombytes(data)
    left = int.from_bytes(length, "big")
    body = b""
    while len(body) < left:
        body += wire.recv(LONGEST)
    pid = os.fork()
    if pid == 0:
        wire.close()
        become(json.loads(body), list(fds))
    wire.sendall(pid.to_bytes(4, "big"))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        wire.sendall(code.to_bytes(4, "big", signed=True))
    finally:
        os._exit(0)


def become(request: dict[str, Any], fds: list[int]) -> None:
    code = 3
    try:
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
        os.closerange(3, 64)
        sys.stdin, sys.stdout, sys.stderr = (anew(number, mode) for number, mode in enumerate("rww"))
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        tempfile.tempdir = None
        argv = request["argv"]
        sys.argv = ["ib", *argv]
        if request["patient"]:
            from tests.hooks.patient import be_patient

            be_patient(request["patient"])
        if request["what"] == STEP:
            from tests import killed

            code = killed.program(request["at"], argv)
        elif request["what"]:
            from tests import faults

            code = faults.program([request["what"], str(request["at"]), "--", *argv])
        else:
            from ibstatus.__main__ import main

            code = main(argv)
        sys.stdout.flush()
        sys.stderr.flush()
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def anew(number: int, mode: str) -> TextIO:
    """A standard stream as a new interpreter makes it; those of the server have their own past."""
    errors = "backslashreplace" if number == 2 else "strict"
    return open(number, mode, buffering=1 if number == 2 else -1, errors=errors, closefd=False)


if __name__ == "__main__":
    serve(sys.argv[1])
