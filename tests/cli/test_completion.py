"""completion: through a real shell, and through the protocol of click."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.project import paths
from tests.conftest import PROJECT, Done

Ib = Callable[..., Done]


class TestCompletion:
    @pytest.fixture
    def shell(self, tmp_path: Path, ib: Ib) -> Callable[..., list[str]]:
        """Completes a command line in a real bash, through the function that our script defines."""
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "ib"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ibstatus "$@"\n')
        program.chmod(0o755)
        script = tmp_path / "ib.bash"
        script.write_text(ib("completion", "bash").out)

        def complete(line: str, cwd: str = "") -> list[str]:
            asked = (
                f'source "{script}"; COMP_WORDS=({line}); [[ "{line}" == *" " ]] && COMP_WORDS+=("")\n'
                "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                "$(complete -p ib | sed 's/.*-F //; s/ .*//') ib \"${COMP_WORDS[COMP_CWORD]}\"\n"
                'printf "%s\\n" "${COMPREPLY[@]}"'
            )
            env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(PROJECT)}
            done = subprocess.run(
                ["bash", "--norc", "-c", asked], cwd=cwd, env=env, capture_output=True, text=True, check=True
            )
            assert done.stderr == ""
            return done.stdout.split()

        if shutil.which("bash") is None:
            pytest.skip("there is no bash")
        return complete

    def test_the_first_comment_says_how_to_install(self, ib: Ib) -> None:
        for name, at in (("bash", 0), ("zsh", 1), ("fish", 0)):
            done = ib("completion", name)
            assert (done.code, done.err) == (0, "")
            assert done.out.splitlines()[at].startswith("# To install: ")
            assert f"ib completion {name} > " in done.out.splitlines()[at]
        assert ib("completion", "zsh").out.startswith("#compdef ib\n")  # zsh looks only at the first line

    def test_an_unknown_shell(self, ib: Ib) -> None:
        assert ib("completion", "tcsh").code == 2

    @pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
    def test_the_script_is_one(self, ib: Ib, tmp_path: Path, name: str) -> None:
        if shutil.which(name) is None:
            pytest.skip(f"there is no {name}")
        script = tmp_path / "script"
        script.write_text(ib("completion", name).out)
        assert subprocess.run([name, "-n", str(script)], check=False).returncode == 0

    def test_commands_in_bash(self, repo: paths.Place, shell: Callable[..., list[str]]) -> None:
        assert shell("ib un", repo.root) == ["undo", "uninstall"]
        assert "acknowledge" in shell("ib ", repo.root)
        assert shell("ib doctor --js", repo.root) == ["--json"]

    def test_ids_of_a_hot_command_in_bash(self, repo: paths.Place, ib: Ib, shell: Callable[..., list[str]]) -> None:
        assert ib("send", "user-claude", "? one").code == 0
        (item,) = json.loads(Path(repo.messages).read_text())
        assert shell("ib acknowledge ms", repo.root) == [item["id"]]
        assert shell("ib send us", repo.root) == ["user-claude"]

    @pytest.mark.parametrize(
        ("words", "index", "expected"),
        [("ib noti", 1, "notify"), ("ib acknowledge ms", 2, "msg-"), ("ib completion z", 2, "zsh")],
    )
    def test_the_protocol(self, ib: Ib, words: str, index: int, expected: str) -> None:
        assert ib("send", "user-claude", "? one").code == 0
        done = ib(env={"_IB_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(index)})
        assert done.code == 0
        assert f",{expected}" in done.out

    # Fails until cli/app.py is silent for an IbError while _IB_COMPLETE is set: stderr lands in the line being typed.
    def test_no_complaint_outside_of_a_repository(self, tmp_path: Path, ib: Ib) -> None:
        asked = {"_IB_COMPLETE": "bash_complete", "COMP_WORDS": "ib acknowledge ms", "COMP_CWORD": "2"}
        assert ib(cwd=tmp_path, env=asked).err == ""
