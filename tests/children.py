"""Forked processes for tests in which several do the same at once."""

import json
import os
import signal
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import psutil

from ibstatus.system import disk


def is_alive(pid: int) -> bool:
    """A zombie is dead; who began it may look for it at any moment."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class Child:
    """A forked process that hands back one JSON value; its trouble becomes ours."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.reader, writer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.close(self.reader)
                disk.write_all(writer, json.dumps(work()).encode())
                code = 0
            except BaseException:
                disk.write_all(writer, traceback.format_exc().encode())
            finally:
                os._exit(code)
        os.close(writer)

    def result(self) -> Any:
        with os.fdopen(self.reader, "rb") as pipe:
            data = pipe.read()
        assert os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]) == 0, data.decode()
        return json.loads(data)

    def ended(self) -> int:
        """Its exit code, however it ended."""
        with os.fdopen(self.reader, "rb") as pipe:
            pipe.read()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def kill(self) -> None:
        """In the middle of whatever it does."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.reader)
