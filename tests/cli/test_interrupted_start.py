"""Ctrl-C while modules are still imported: the real program, interrupted at the import of a certain one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ibstatus.project import paths

AT_IMPORT = """
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
"""
PROGRAM = Path(sys.executable).parent / "ib"
LIST = ("ibstatus.system", "ibstatus.cli", "click", "msgspec", "ibstatus.cli.state", "ibstatus.state.fleet")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        *((name, "list") for name in LIST),
        ("ibstatus.cli.fast_list", "list --json"),
        ("ibstatus.cli.fast", "notify hi"),
        ("ibstatus.mail.messages", "send user-claude hi"),
    ],
)
@pytest.mark.parametrize("start", ["module", "script"])
def test_it_ends_with_130_and_without_a_traceback(
    repo: paths.Place, tmp_path: Path, start: str, name: str, command: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(AT_IMPORT.format(name=name))
    program = [sys.executable, "-m", "ibstatus"] if start == "module" else [str(PROGRAM)]
    if not PROGRAM.exists() and start == "script":
        pytest.skip("ib is not installed beside this Python")
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [*program, *command.split()], cwd=repo.root, env=env, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")  # click ends the line of ^C
