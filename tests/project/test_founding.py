"""Making .ittybitty, once and again, beside others, on what an older tool left, and on a disk that refuses."""

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.errors import IbError
from ibstatus.mail import json_list
from ibstatus.project import agent_meta, agents, founding, git_exclude, home, originals, paths, tokens
from ibstatus.setup import init, remove_home
from tests.conftest import Done, git, make_agent, make_repo
from tests.faults import Faults
from tests.mail import layouts
from tests.sweeps import Sweep


def bytes_of(path: str) -> bytes | None:
    return originals.content(path)


def mode(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_everything_is_private_and_out_of_git(repo: paths.Place) -> None:
    os.umask(os.umask(0o000))
    founding.settle(repo)
    assert mode(repo.home) == 0o700
    assert mode(repo.repo_id) == 0o600
    assert bytes_of(repo.version) == home.CURRENT
    assert founding.is_repo_id(bytes_of(repo.repo_id) or b"")
    assert git(repo.root, "status", "--porcelain") == ""


def test_once_more_changes_nothing(repo: paths.Place) -> None:
    founding.settle(repo)
    before = {path: bytes_of(path) for path in (repo.repo_id, git_exclude.path_of(repo), repo.version)}
    founding.settle(repo)
    init.mend(repo)
    assert before == {path: bytes_of(path) for path in before}


def test_two_first_commands_agree_on_one_id(tmp_path: Path) -> None:
    place = make_repo(tmp_path / "r")
    code = (
        "import sys; from ibstatus.project import home; from ibstatus.project import paths as places\n"
        "place = places.find(sys.argv[1]); sys.stdin.read(); home.enter(place); print(open(place.repo_id).read())"
    )
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", code, place.root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        for _ in range(6)
    ]
    for racer in racers:
        assert racer.stdin
        racer.stdin.close()
    ids = set()
    for racer in racers:
        assert racer.stdout
        ids.add(racer.stdout.read())
        racer.stdout.close()
        assert racer.wait() == 0
    assert len(ids) == 1
    assert (bytes_of(git_exclude.path_of(place)) or b"").count(b".ittybitty") == 1


def test_the_id_comes_back_after_git_clean(repo: paths.Place) -> None:
    founding.settle(repo)
    known = bytes_of(repo.repo_id)
    shutil.rmtree(repo.home)
    assert home.look(repo)
    assert bytes_of(repo.repo_id) == known


def test_a_newer_format_is_refused_and_left_alone(repo: paths.Place, ib: Callable[..., Done]) -> None:
    founding.settle(repo)
    Path(repo.version).write_text("2\n")
    for args in (("send", "user-claude", "x"), ("init",), ("uninstall", "--force"), ("questions",)):
        done = ib(*args)
        assert done.code == 1, args
        assert "has format 2, and this ib knows up to 1" in done.err
        assert "Hint: bring ib up to date" in done.err
    assert bytes_of(repo.version) == b"2\n"
    assert not os.path.exists(repo.messages)


def test_the_folder_of_the_bash_tool_is_taken_over_without_loss(repo: paths.Place, ib: Callable[..., Done]) -> None:
    Path(repo.home, "agents/worker-a").mkdir(parents=True)
    os.chmod(repo.home, 0o755)
    Path(repo.repo_id).write_text("0a1b2c3d\n")
    Path(repo.home, "agents/worker-a/meta.json").write_text('{"id":"worker-a","manager":null}')
    asked = {
        "id": "q-1-worker-a",
        "agent": "worker-a",
        "question": "Why?",
        "timestamp": "2026-01-11T15:30:00Z",
        "status": "pending",
    }
    Path(repo.questions).write_text(json.dumps({"questions": [asked]}))
    done = ib("questions", "--json")
    assert [item["id"] for item in json.loads(done.out)] == ["q-1-worker-a"]
    assert (bytes_of(repo.repo_id), bytes_of(repo.version), mode(repo.home)) == (b"0a1b2c3d\n", home.CURRENT, 0o700)
    assert json_list.load(repo, repo.questions, "questions").items == [asked]


def test_init_says_that_it_took_over(repo: paths.Place, ib: Callable[..., Done]) -> None:
    Path(repo.home).mkdir()
    Path(repo.repo_id).write_text("0a1b2c3d\n")
    done = ib("init")
    assert done.out.startswith(f"Already there: {repo.home} (repo-id 0a1b2c3d)\n")
    assert "older tool" in done.err


@pytest.mark.parametrize("bad", [b"", b"\n", b"nonsense!\n", b"0A1B2C3D\n", b"\xff" * 8])
def test_a_broken_id_is_replaced_and_kept_aside(repo: paths.Place, bad: bytes) -> None:
    Path(repo.home).mkdir()
    Path(repo.repo_id).write_bytes(bad)
    founding.settle(repo)
    assert founding.is_repo_id(bytes_of(repo.repo_id) or b"")
    aside = [leaf for leaf in os.listdir(repo.home) if ".corrupt-" in leaf]
    assert [Path(repo.home, leaf).read_bytes() for leaf in aside] == ([bad] if bad.strip() else [])


def test_init_parts_a_copy_from_the_agents_of_the_other(
    repo: paths.Place, tmp_path: Path, ib: Callable[..., Done]
) -> None:
    ib("init")
    make_agent(repo, "a1")
    agent_meta.change(repo, "a1", tmux_session=f"ittybitty-{bytes_of(repo.repo_id).decode().strip()}-a1")
    tokens.make(repo.token("a1"))
    agents.keep(repo, "a1")
    before = agent_meta.read(repo, "a1"), tokens.of(repo.token("a1"))
    shutil.copytree(repo.root, tmp_path / "copy", symlinks=True)
    copy = paths.find(str(tmp_path / "copy"))

    assert ib("init", "--copied", cwd=copy.root).code == 0

    ident = bytes_of(copy.repo_id).decode().strip()
    assert ident != bytes_of(repo.repo_id).decode().strip()
    assert agent_meta.read(copy, "a1")["tmux_session"] == f"ittybitty-{ident}-a1"
    assert tokens.of(copy.token("a1")) not in (b"", before[1])
    assert os.path.samefile(copy.token("a1"), copy.safe_copy(copy.token("a1")))
    assert (agent_meta.read(repo, "a1"), tokens.of(repo.token("a1"))) == before
    assert ib("gc", cwd=repo.root).code == 0
    assert (agent_meta.read(repo, "a1"), tokens.of(repo.token("a1"))) == before


def test_a_moved_repository_keeps_its_id(repo: paths.Place, tmp_path: Path) -> None:
    founding.settle(repo)
    known = bytes_of(repo.repo_id)
    os.rename(repo.root, tmp_path / "moved")
    moved = paths.find(str(tmp_path / "moved"))
    founding.settle(moved, answer=founding.MOVED)
    assert bytes_of(moved.repo_id) == known


def test_something_else_is_called_ittybitty(repo: paths.Place, ib: Callable[..., Done]) -> None:
    Path(repo.home).write_text("a file\n")
    done = ib("send", "user-claude", "hello")
    assert done.code == 1
    assert done.err.startswith(f"Error: {repo.home} is a file, not a folder.\nHint: mv ")
    assert Path(repo.home).read_text() == "a file\n"


def test_a_symlink_to_nowhere(repo: paths.Place, ib: Callable[..., Done]) -> None:
    os.symlink("/nonexistent/place", repo.home)
    done = ib("notify", "hello")
    assert done.code == 1
    assert done.err == f"Error: {repo.home} is a symlink to nowhere.\nHint: rm {repo.home}\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; the test with another uid runs instead")
def test_a_read_only_directory(repo: paths.Place, ib: Callable[..., Done]) -> None:
    os.chmod(repo.root, 0o500)
    try:
        done = ib("send", "user-claude", "hello")
    finally:
        os.chmod(repo.root, 0o700)
    assert done.code == 1
    assert "Permission denied" in done.err
    assert "Hint: ib doctor" in done.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_directory_of_somebody_else(tmp_path: Path) -> None:
    """In a child that is nobody: a clear refusal, and nothing is left behind."""
    place = make_repo(tmp_path / "r")
    code = (
        "import os, sys\n"
        "from ibstatus.cli import app; from ibstatus.cli import fast as plain; from ibstatus.cli import mail as say\n"
        "from ibstatus.project import founding\n"
        "os.chdir(sys.argv[1]); os.setuid(65534)\n"
        "sys.exit(app.main(['send', 'user-claude', 'hello']))"
    )
    for folder in (tmp_path, *tmp_path.parents):
        if not os.stat(folder).st_mode & 0o001:
            os.chmod(folder, os.stat(folder).st_mode | 0o011)
        if folder.parent == Path("/tmp"):
            break
    argv = [sys.executable, "-c", code, place.root]
    done = subprocess.run(argv, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith(f"Error: Could not make {place.home}.\nCaused by: Permission denied")
    assert "Hint: ib doctor" in done.stderr
    assert not os.path.exists(place.home)


@pytest.mark.sweep
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_killed_anywhere_by_the_disk_the_next_one_finishes(tmp_path: Path, faults: Faults, error: int) -> None:
    sweep = Sweep(every=8)
    for at in sweep:
        place = make_repo(tmp_path / f"r{at}") if at == 1 else paths.find(str(clone(tmp_path, at)))
        original = bytes_of(git_exclude.path_of(place))
        faults.arm(at, error)
        try:
            founding.settle(place)
            struck = faults.seen >= at
        except (IbError, OSError):
            struck = True
        finally:
            faults.disarm()
        founding.settle(place)
        assert founding.is_repo_id(bytes_of(place.repo_id) or b"")
        assert bytes_of(place.safe + "/repo-id") == bytes_of(place.repo_id)
        assert (bytes_of(git_exclude.path_of(place)) or b"").count(b".ittybitty") == 1
        remove_home.remove(place)
        assert bytes_of(git_exclude.path_of(place)) == original
        sweep.tell(struck)


def clone(base: Path, at: int) -> Path:
    """A fresh repository without asking git again."""
    target = base / f"r{at}"
    shutil.copytree(base / "r1", target, symlinks=True)
    return target


@pytest.mark.parametrize(
    "before",
    [None, b"", b"# comment\n", b"no newline", b"a\r\nb\r\n", b"a\r\nb", b"sub/.ittybitty/\n", b"\xff\xfe\n", b"\n\n"],
)
@pytest.mark.parametrize("name", git_exclude.BOTH)
def test_a_touched_file_gets_its_bytes_back(repo: paths.Place, name: str, before: bytes | None) -> None:
    path = Path(git_exclude.path_of(repo, name))
    path.unlink(missing_ok=True)
    if before is not None:
        path.write_bytes(before)
        path.chmod(0o640)
    founding.settle(repo, gitignore=name == git_exclude.GITIGNORE)
    assert git(repo.root, "check-ignore", ".ittybitty/x") == ".ittybitty/x\n"
    remove_home.remove(repo)
    assert bytes_of(str(path)) == before
    if before is not None:
        assert mode(str(path)) == 0o640


@pytest.mark.parametrize("before", [None, b"", b"# comment\n", b"no newline", b"sub/.ittybitty/\n", b"a\r\nb"])
@pytest.mark.parametrize("later", [b"mine\n", b"sub/.ittybitty/\n", b"more\nand no end"])
def test_what_others_wrote_since_stays(repo: paths.Place, before: bytes | None, later: bytes) -> None:
    path = Path(git_exclude.path_of(repo))
    path.unlink()
    if before is not None:
        path.write_bytes(before)
    founding.settle(repo)
    with path.open("ab") as file:
        file.write(later)
    noted = remove_home.remove(repo)[2]
    lines = path.read_bytes().splitlines()
    assert lines == [*(before or b"").splitlines(), *later.splitlines()]
    assert originals.differs(noted[0]) != ""


def test_a_folder_that_was_made_for_it_goes_too(tmp_path: Path) -> None:
    layouts.checkout(tmp_path / "r", "--template=")
    place = paths.find(str(tmp_path / "r"))
    assert not Path(place.common, "info").exists()
    founding.settle(place)
    assert Path(place.common, "info/exclude").exists()
    remove_home.remove(place)
    assert not Path(place.common, "info").exists()


def test_a_line_of_the_user_is_never_taken(repo: paths.Place) -> None:
    path = Path(git_exclude.path_of(repo))
    path.write_bytes(b"/.ittybitty/\n")
    founding.settle(repo)
    assert remove_home.remove(repo)[2] == []
    assert path.read_bytes() == b"/.ittybitty/\n"


def test_a_bare_repository_touches_no_exclude_file(tmp_path: Path) -> None:
    at = layouts.bare_with_worktree(tmp_path)
    place = paths.find(str(at.cwd))
    before = bytes_of(git_exclude.path_of(place))
    founding.settle(place)
    assert bytes_of(git_exclude.path_of(place)) == before
    assert git(at.cwd, "status", "--porcelain") == ""


def test_mend_puts_back_what_is_missing(repo: paths.Place, ib: Callable[..., Done]) -> None:
    assert ib("send", "user-claude", "? one").code == 0
    assert ib("listen", "--timeout", "0").code == 0
    shutil.rmtree(repo.safe)
    os.chmod(repo.messages, 0o644)
    old = Path(repo.home, ".x.1.1.ib-tmp")
    old.write_text("")
    os.utime(old, (1, 1))
    assert ib("init").code == 0
    assert bytes_of(repo.safe_copy(repo.messages)) == bytes_of(repo.messages)
    for path in (repo.queue, repo.cursor("default")):
        assert os.path.samefile(path, repo.safe_copy(path))
    assert mode(repo.messages) == 0o600
    assert not old.exists()


def test_mend_never_copies_a_broken_array(repo: paths.Place, ib: Callable[..., Done]) -> None:
    assert ib("send", "user-claude", "one").code == 0
    good = bytes_of(repo.safe_copy(repo.messages))
    Path(repo.messages).write_text("[{")
    assert ib("init").code == 0
    assert bytes_of(repo.safe_copy(repo.messages)) == good
