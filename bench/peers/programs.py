"""Other job queues, from PyPI in a throw-away venv: nothing of ib depends on them."""

import subprocess
import sys
from pathlib import Path

from psycopg import conninfo

PACKAGES = ("procrastinate", "pgqueuer", "asyncpg", "psycopg[binary]")
SCRIPTS = Path(__file__).resolve().parent


def installed(folder: str) -> str:
    """The venv's python; raises CalledProcessError where there is no PyPI."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
    python = f"{folder}/bin/python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
    subprocess.run(pip, check=True, capture_output=True)
    return python


def environment(dsn: str) -> dict[str, str]:
    """The address as libpq's own variables: psycopg, asyncpg and pgbench all understand them."""
    given = conninfo.conninfo_to_dict(dsn)
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE"}
    return {"PATH": "/usr/bin:/bin"} | {
        names[key]: str(value) for key, value in given.items() if key in names and value
    }


class Peer:
    """One process of a peer; `ready` when this has returned."""

    def __init__(self, python: str, name: str, dsn: str, *words: str) -> None:
        argv = [python, str(SCRIPTS / f"{name}_peer.py"), *words]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(argv, env=environment(dsn), stdin=pipe, stdout=pipe, text=True)
        assert self.answer() == "ready"

    def tell(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise RuntimeError(f"a peer ended: {self.process.args!r}")
        return line

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def run(python: str, name: str, dsn: str, *words: str) -> None:
    argv = [python, str(SCRIPTS / f"{name}_peer.py"), *words]
    subprocess.run(argv, env=environment(dsn), check=True)


def work(python: str, name: str, dsn: str, count: int, processes: int, how: int) -> float:
    """Jobs a second of so many processes, from the first one's start to the last one's end."""
    run(python, name, dsn, "fill", str(count))
    peers = [Peer(python, name, dsn, "work", str(how)) for _ in range(processes)]
    for peer in peers:
        peer.tell()
    spans = [[float(word) for word in peer.answer().split()] for peer in peers]
    for peer in peers:
        peer.end()
    return count / (max(span[1] for span in spans) - min(span[0] for span in spans))
