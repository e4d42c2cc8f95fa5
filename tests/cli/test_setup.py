"""init, uninstall, completion: the real program."""

import errno
import json
import os
import pty
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.mail import send
from ibstatus.model import constants
from ibstatus.project import git_exclude, identity, paths
from ibstatus.setup import doctor, init, remove_home, uninstall
from ibstatus.system import disk, locks
from tests import forked
from tests.conftest import PROJECT, Done, git
from tests.faults import Faults
from tests.mail import layouts
from tests.sweeps import Sweep

PASSED = 77  # tests.faults: the operation that should have failed was never reached
EVERY = 40  # to try each takes some minutes
Ib = Callable[..., Done]
Agent = Callable[..., Path]


@pytest.fixture(autouse=True)
def own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where uninstall keeps its tar files."""
    folder = tmp_path / "temp files"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def everything(root: str) -> dict[str, bytes]:
    """Every file below, with its bytes; the exclude file of git is among them."""
    found = {}
    for folder, _, files in os.walk(root):
        for leaf in files:
            path = os.path.join(folder, leaf)
            found[path] = b"link " + os.readlink(path).encode() if os.path.islink(path) else Path(path).read_bytes()
    return found


class TestInit:
    def test_says_what_was_made_and_then_that_it_is_there(self, repo: paths.Place, ib: Ib) -> None:
        first = ib("init")
        known = Path(repo.repo_id).read_text().strip()
        assert first == Done(
            0,
            f"Made {repo.home} (repo-id {known})\nKept out of git by {git_exclude.path_of(repo)}\n"
            f"Claude learns of its agents from the <ittybitty> block in {repo.root}/CLAUDE.md\n"
            f"Git does not track CLAUDE.md; a line in {git_exclude.path_of(repo)} "
            "keeps it out until it has text of yours\n",
            "",
        )
        assert ib("init").out == first.out.replace("Made", "Already there:", 1)

    def test_json(self, repo: paths.Place, ib: Ib) -> None:
        made = ib("init", "--json").json()
        assert made == {
            "root": repo.root,
            "home": repo.home,
            "repo_id": Path(repo.repo_id).read_text().strip(),
            "made": True,
            "kept_out_by": git_exclude.path_of(repo),
            "claude_md": f"{repo.root}/CLAUDE.md",
            "hidden": f"git does not track CLAUDE.md; a line in {git_exclude.path_of(repo)} "
            "keeps it out until it has text of yours",
            "notes": [],
        }
        assert ib("init", "--json").json() == {**made, "made": False}

    def test_without_the_option_nothing_tracked_changes(self, repo: paths.Place, ib: Ib) -> None:
        assert ib("init").code == 0
        assert not Path(repo.root, ".gitignore").exists()
        assert git(repo.root, "status", "--porcelain") == ""

    def test_gitignore_instead_of_exclude(self, repo: paths.Place, ib: Ib) -> None:
        original = Path(git_exclude.path_of(repo)).read_bytes()
        Path(repo.root, ".gitignore").write_text("*.pyc")
        assert ib("notify", "first").code == 0  # makes the folder, with the line in exclude
        assert ib("init", "--gitignore").code == 0
        assert Path(repo.root, ".gitignore").read_text() == "*.pyc\n.ittybitty/\n"
        assert Path(git_exclude.path_of(repo)).read_bytes() == original + b"/CLAUDE.md\n"
        assert ib("init", "--gitignore").code == 0
        assert ib("init").code == 0
        assert Path(repo.root, ".gitignore").read_text().count("ittybitty") == 1
        assert ib("uninstall", "--force", "--verify").code == 0
        assert Path(repo.root, ".gitignore").read_text() == "*.pyc"

    @pytest.mark.parametrize("kind", ["folder", "pipe", "open block"])
    def test_a_claude_md_that_cannot_be_ours_is_said_and_left_alone(self, repo: paths.Place, ib: Ib, kind: str) -> None:
        path = Path(repo.root, "CLAUDE.md")
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.write_text("a\n<ittybitty>\nb\n")
        done = ib("init")
        assert (done.code, "Warning: " in done.err, str(path) in done.err) == (0, True, True)
        assert kind != "open block" or path.read_text() == "a\n<ittybitty>\nb\n"
        assert ib("doctor").code == (1 if kind == "open block" else 0)
        done = ib("uninstall", "--force", "--verify")
        assert (done.code, done.err.partition("To have")[0]) == (0, "")
        assert path.exists()

    def test_a_block_that_came_with_a_commit_stays(self, repo: paths.Place, ib: Ib) -> None:
        path = Path(repo.root, "CLAUDE.md")
        path.write_text("# Ours\n\n<ittybitty>\nour own words\n</ittybitty>\n\nMore.\n")
        git(repo.root, "add", "CLAUDE.md")
        git(repo.root, "commit", "-q", "-m", "block")
        before = path.read_bytes()
        assert "was edited by somebody and is left alone" in ib("init").err
        assert ib("status-watchdog", "--once").code == 0
        assert ib("uninstall", "--force", "--verify").code == 0
        assert path.read_bytes() == before
        assert git(repo.root, "status", "--porcelain") == ""

    def test_a_node_that_came_with_a_commit_is_there_again(self, repo: paths.Place, ib: Ib, agent: Agent) -> None:
        path = Path(repo.root, "CLAUDE.md")
        path.write_text("<ittybitty>\nhi\n<ittybitty-status>\n{}\n</ittybitty-status>\n</ittybitty>\nTAIL\n")
        git(repo.root, "add", "CLAUDE.md")
        git(repo.root, "commit", "-q", "-m", "node")
        before = path.read_bytes()
        assert "git will show" in ib("init").err
        assert ib("ask", "now?", cwd=agent(repo, "lead")).code == 0
        os.utime(repo.common + "/index", (1, 1))
        assert ib("status-watchdog", "--once").code == 0
        assert b"now?" in path.read_bytes()
        git(repo.root, "worktree", "remove", "--force", repo.agent_dir("lead") + "/repo")
        done = ib("uninstall", "--force", "--verify")
        assert (done.code, f"Gave back {path}: its original bytes" in done.out) == (0, True)
        assert path.read_bytes() == before

    def test_a_file_that_git_has_and_does_not_check_out_is_not_made(self, repo: paths.Place, ib: Ib) -> None:
        path = Path(repo.root, "CLAUDE.md")
        path.write_text("# Ours\n")
        git(repo.root, "add", "CLAUDE.md")
        git(repo.root, "commit", "-q", "-m", "ours")
        git(repo.root, "update-index", "--skip-worktree", "CLAUDE.md")
        path.unlink()
        assert "git has it" in ib("init").err
        assert not path.exists()

    def test_another_encoding_is_left_alone(self, repo: paths.Place, ib: Ib) -> None:
        path = Path(repo.root, "CLAUDE.md")
        path.write_bytes("# Ours\n".encode("utf-16"))
        before = path.read_bytes()
        assert "is not UTF-8" in ib("init").err
        assert path.read_bytes() == before
        path.write_text("# Ours\n")
        Path(repo.root, ".gitattributes").write_text("CLAUDE.md working-tree-encoding=UTF-16LE\n")
        assert "is not UTF-8" in ib("init").err
        assert path.read_text() == "# Ours\n"

    def test_what_somebody_wrote_into_our_block_stays(self, repo: paths.Place, ib: Ib) -> None:
        path = Path(repo.root, "CLAUDE.md")
        path.write_text("# Ours\n")
        git(repo.root, "add", "CLAUDE.md")
        git(repo.root, "commit", "-q", "-m", "ours")
        assert ib("init").code == 0
        path.write_text(path.read_text().replace("### Agent States\n", "### Agent States\n\nNever on Friday.\n"))
        done = ib("uninstall", "--force", "--verify")
        assert done.code == 1
        assert "it is not as before" in done.out
        assert "Never on Friday." in path.read_text()
        assert b"<ittybitty-status>" not in [line.encode() for line in path.read_text().splitlines()]
        assert "ib:local" not in path.read_text()

    def test_a_fence_left_open_above_the_block(self, repo: paths.Place, ib: Ib) -> None:
        assert ib("init").code == 0
        path = Path(repo.root, "CLAUDE.md")
        path.write_text("```sh\nmake\n" + path.read_text())
        assert "stands inside a fence" in ib("init").err
        assert path.read_text().splitlines().count("<ittybitty>") == 1
        assert "stands inside a fence" in ib("uninstall", "--force").err
        path.write_text(path.read_text().replace("make\n", "make\n```\n", 1))
        assert ib("uninstall", "--force").code == 0
        assert path.read_text() == "```sh\nmake\n```\n"

    def test_a_link_out_of_the_repository_is_left_alone(self, repo: paths.Place, ib: Ib, tmp_path: Path) -> None:
        shared = tmp_path / "shared.md"
        shared.write_text("# Everybody's\n")
        Path(repo.root, "CLAUDE.md").symlink_to(shared)
        assert "is a link out of this repository" in ib("init").err
        assert ib("status-watchdog", "--once").code == 0
        assert ib("uninstall", "--force", "--verify").code == 0
        assert shared.read_text() == "# Everybody's\n"

    def test_a_merge_under_way_is_waited_for(self, repo: paths.Place, ib: Ib) -> None:
        Path(repo.common, "MERGE_HEAD").write_text(git(repo.root, "rev-parse", "HEAD"))
        done = ib("init")
        assert done.code == 0
        assert "a merge is under way" in done.err
        assert not Path(repo.root, "CLAUDE.md").exists()

    def test_from_a_linked_worktree_it_is_made_in_the_main_checkout(self, tmp_path: Path, ib: Ib) -> None:
        at = layouts.linked(tmp_path)
        assert ib("init", cwd=at.cwd).out.startswith(f"Made {at.root}/.ittybitty ")
        assert not (at.cwd / ".ittybitty").exists()

    def test_an_agent_is_refused(self, repo: paths.Place, ib: Ib, agent: Agent) -> None:
        done = ib("init", cwd=agent(repo, "worker-a"))
        assert done.code == 1
        assert "An agent cannot set up its repository" in done.err

    @pytest.mark.parametrize("name", layouts.ODD_NAMES)
    def test_odd_names(self, tmp_path: Path, ib: Ib, name: str) -> None:
        root = layouts.checkout(tmp_path / name / "r")
        assert ib("init", "--json", cwd=root).json()["root"] == str(root)  # type: ignore[index]
        assert ib("send", "user-claude", "? one", cwd=root).code == 0
        told = ib("doctor", cwd=root).out.splitlines()
        assert len(told) >= 15
        assert all(line[:5].strip() in ("ok", "note", "warn", "fail", "") for line in told)
        done = ib("uninstall", "--force", "--verify", cwd=root)
        assert (done.code, (root / ".ittybitty").exists()) == (0, False)

    def test_two_bare_repositories_in_one_folder_are_said(self, tmp_path: Path, ib: Ib) -> None:
        source = layouts.checkout(tmp_path / "source")
        for name in ("a.git", "b.git"):
            git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / "srv" / name))
        assert ib("init", cwd=tmp_path / "srv/a.git").err == ""
        done = ib("init", cwd=tmp_path / "srv/b.git")
        assert f"is shared with {tmp_path / 'srv/a.git'}" in done.err
        assert "sharing" in [
            item["subject"]
            for item in ib("doctor", "--json", cwd=tmp_path / "srv/a.git").json()
            if item["level"] == "warn"
        ]  # type: ignore[attr-defined]
        refused = ib("uninstall", "--force", cwd=tmp_path / "srv/a.git")
        assert (refused.code, (tmp_path / "srv/.ittybitty").exists()) == (1, True)
        assert "also belongs to" in refused.err


class TestUninstall:
    @pytest.mark.parametrize("options", [(), ("--gitignore",)])
    def test_every_byte_is_as_before(self, repo: paths.Place, ib: Ib, options: tuple[str, ...]) -> None:
        before = everything(repo.root)
        assert ib("init", *options).code == 0
        assert ib("send", "user-claude", "? one").code == 0
        assert ib("listen", "--timeout", "0").code == 0
        assert ib("events").code == 0
        done = ib("uninstall", "--force", "--verify")
        assert (done.code, everything(repo.root)) == (0, before)
        assert "its original bytes" in done.out
        assert ib("uninstall", "--verify") == Done(0, "Nothing of ib is here\n", "")

    def test_says_what_would_be_lost_and_does_nothing_without_a_yes(
        self, repo: paths.Place, ib: Ib, agent: Agent
    ) -> None:
        for text in ("? one", "two", "! three"):
            assert ib("send", "user-claude", text).code == 0
        Path(repo.agent_dir("worker-a")).mkdir(parents=True)
        Path(repo.agent_dir("worker-a"), "meta.json").write_text("{}")
        assert ib("ask", "--from", "worker-a", "Why?").code == 0
        before = everything(repo.home)
        done = ib("uninstall")
        assert done.code == 1
        assert done.err == (
            f"This removes {repo.home} with 3 unacknowledged messages, 1 open question, 3 unread queue lines, "
            "the records of worker-a.\n"
            "Error: Nothing was removed: nobody is here to agree.\nHint: ib uninstall --force\n"
        )
        assert everything(repo.home) == before

    def test_what_was_removed_can_be_had_back(self, repo: paths.Place, ib: Ib, own_temp: Path) -> None:
        assert ib("send", "user-claude", "? one").code == 0
        assert ib("notify", "two").code == 0
        known = Path(repo.repo_id).read_text()
        done = ib("uninstall", "--force")
        (tar,) = own_temp.glob("ib-uninstalled-*.tar.gz")
        assert f"Kept in {tar}" in done.out
        assert tar.stat().st_mode & 0o777 == 0o600
        command = (
            done.err.strip().removeprefix("To have it back: ").replace("&& ib", f"&& {sys.executable} -m ibstatus")
        )
        subprocess.run(command, shell=True, check=True, capture_output=True, cwd=repo.root)
        assert Path(repo.repo_id).read_text() == known
        heard = [json.loads(line)["msg"] for line in ib("listen", "--timeout", "0").out.splitlines()]
        assert heard == ["one", "two"]
        assert ib("acknowledge", "--all").out.startswith("Acknowledged message: msg-")

    def test_the_board_is_counted_kept_and_can_be_had_back(self, repo: paths.Place, ib: Ib, own_temp: Path) -> None:
        first = ib("board", "add", "First").out.strip()
        ib("board", "add", "Second", "--after", first)
        ib("board", "claim", first)
        ib("board", "done", first)
        assert "1 open task" in ib("uninstall").err
        assert "1 open task" in ib("uninstall", env={"IB_BOARD_DSN": "postgresql:///b?host=/nowhere"}).err
        done = ib("uninstall", "--force", "--verify")
        assert done.code == 0, done.out + done.err
        assert not Path(repo.board).exists()
        (tar,) = own_temp.glob("ib-uninstalled-*.tar.gz")
        assert f"Kept in {tar}\n" in done.out
        assert f"tar -xzf '{tar}' " in done.err
        with tarfile.open(tar) as archive:
            assert archive.getmember(".ittybitty/board.db").isreg()
        command = done.err.strip().removeprefix("To have it back: ").partition(" && ")[0]
        subprocess.run(command, shell=True, check=True, cwd=repo.root)
        assert [task["title"] for task in ib("board", "list", "--all", "--json").json()] == ["First", "Second"]  # type: ignore[attr-defined]
        assert Path(repo.home, "board.db").resolve() == Path(repo.board).resolve()

    def test_a_tar_file_that_cannot_be_made_takes_nothing_with_it(
        self, repo: paths.Place, ib: Ib, faults: Faults
    ) -> None:
        ib("board", "add", "First")
        for at in range(1, 100):
            faults.arm(at, errno.ENOSPC)
            try:
                kept = remove_home.keep(repo)
            except OSError:
                assert Path(repo.board).exists(), at
            else:
                if faults.seen < at:
                    Path(kept).unlink()
                    return
            finally:
                faults.disarm()
        pytest.fail("it never passes")

    def test_without_room_to_keep_the_board_it_stays(self, repo: paths.Place, ib: Ib, own_temp: Path) -> None:
        text = Path(own_temp, "text")
        text.write_text(os.urandom(400_000).hex())
        id = ib("board", "add", "Long", "--body", str(text)).out.strip()

        words = f"ulimit -f 200; exec {sys.executable} -m ibstatus uninstall --force"
        done = subprocess.run(["sh", "-c", words], cwd=repo.root, capture_output=True, text=True, check=False)

        assert done.returncode == 1, done
        assert not list(own_temp.glob("ib-uninstalled-*"))
        assert ib("board", "show", id, "--json").json()["body"] == text.read_text()  # type: ignore[attr-defined]

    def test_what_git_clean_took_is_kept_too(self, repo: paths.Place, ib: Ib, own_temp: Path) -> None:
        assert ib("send", "user-claude", "? one").code == 0
        git(repo.root, "clean", "-fdxq")
        assert not Path(repo.home).exists()
        assert "1 unacknowledged message" in ib("uninstall").err
        assert ib("uninstall", "--force").code == 0
        (tar,) = own_temp.glob("*.tar.gz")
        with tarfile.open(tar) as archive:
            file = archive.extractfile(".ittybitty/user-messages.json")
            assert file is not None
            assert b"one" in file.read()

    def test_what_undo_keeps_is_in_the_tar_file_and_gone_from_git(
        self, repo: paths.Place, ib: Ib, agent: Agent, own_temp: Path
    ) -> None:
        assert ib("init").code == 0
        (agent(repo, "worker-a") / "work.txt").write_text("not committed\n")
        assert ib("kill", "worker-a", "--force").code == 0
        (ref,) = git(repo.root, "for-each-ref", "--format=%(refname)", "refs/ib").split()
        assert "ib undo: worker-a before kill" in git(repo.root, "log", "-1", "--format=%s", ref)
        done = ib("uninstall", "--force", "--verify")
        assert done.code == 0, done.out + done.err
        assert "Removed 1 ref of ib undo" in done.out
        assert git(repo.root, "for-each-ref", "refs/ib") == ""
        (tar,) = own_temp.glob("*.tar.gz")
        with tarfile.open(tar) as archive:
            archive.extract(".ittybitty/undo.bundle", own_temp, filter="data")
            assert f".ittybitty/undo/{ref.rpartition('/')[2]}/record.json" in archive.getnames()
        git(repo.root, "fetch", "-q", str(own_temp / ".ittybitty" / "undo.bundle"), "refs/ib/*:refs/ib/*")
        assert git(repo.root, "show", f"{ref}:work.txt") == "not committed\n"

    def test_a_ref_of_ours_is_a_trace(self, repo: paths.Place, ib: Ib) -> None:
        git(repo.root, "update-ref", "refs/ib/undo/old", "HEAD")
        done = ib("uninstall", "--verify")
        assert (done.code, done.out) == (1, "Nothing of ib is here\nStill there: refs/ib/undo/old\n")

    def test_worktrees_of_agents_are_named_and_kept(self, repo: paths.Place, ib: Ib, agent: Agent) -> None:
        agent(repo, "worker-a")
        (agent(repo, "worker-b") / "work.txt").write_text("not committed\n")
        done = ib("uninstall", "--force")
        assert done.code == 1
        assert "There are still agents: worker-a, worker-b." in done.err
        assert Path(repo.agent_dir("worker-b"), "repo/work.txt").exists()

    def test_a_living_listener_is_named(self, repo: paths.Place, ib: Ib) -> None:
        assert ib("init").code == 0
        with locks.Lock(repo.lock("cursor-" + constants.DEFAULT_READER)):
            done = ib("uninstall", "--force")
            assert (done.code, Path(repo.home).exists()) == (1, True)
            assert "Somebody listens here: default." in done.err
        assert ib("uninstall", "--force").code == 0

    def test_an_agent_is_refused(self, repo: paths.Place, ib: Ib, agent: Agent) -> None:
        assert "An agent cannot uninstall ib" in ib("uninstall", "--force", cwd=agent(repo, "worker-a")).err

    def test_symlinks_are_not_followed(self, repo: paths.Place, ib: Ib, tmp_path: Path) -> None:
        treasure = tmp_path / "treasure"
        (treasure / "inner").mkdir(parents=True)
        (treasure / "inner/file").write_text("gold")
        assert ib("init").code == 0
        os.symlink(treasure, Path(repo.home, "prompts"))
        os.symlink(treasure / "inner/file", Path(repo.home, "notify/extra"))
        assert ib("uninstall", "--force").code == 0
        assert (treasure / "inner/file").read_text() == "gold"

    def test_a_symlinked_folder_is_left_to_the_user(self, repo: paths.Place, ib: Ib, tmp_path: Path) -> None:
        assert ib("init").code == 0
        os.rename(repo.home, tmp_path / "elsewhere")
        os.symlink(tmp_path / "elsewhere", repo.home)
        done = ib("uninstall", "--force")
        assert (done.code, "is a symlink" in done.err) == (1, True)
        assert (tmp_path / "elsewhere/version").exists()

    def test_verify_says_precisely_what_differs(self, repo: paths.Place, ib: Ib) -> None:
        assert ib("init").code == 0
        with open(git_exclude.path_of(repo), "a") as file:
            file.write("mine\n")
        done = ib("uninstall", "--force", "--verify")
        assert done.code == 1
        assert f"{git_exclude.path_of(repo)}; it is not as before: lines of others: 1 added, first 'mine'\n" in done.out
        assert Path(git_exclude.path_of(repo)).read_text().endswith("mine\n")

    def test_verify_names_a_line_that_is_not_ours(self, repo: paths.Place, ib: Ib) -> None:
        Path(repo.root, ".gitignore").write_text(".ittybitty/\n")
        assert ib("init").code == 0
        done = ib("uninstall", "--force", "--verify")
        assert done.code == 1
        assert f"Still there: {repo.root}/.gitignore" in done.out

    def test_json(self, repo: paths.Place, ib: Ib) -> None:
        assert ib("send", "user-claude", "? one").code == 0
        left = ib("uninstall", "--force", "--verify", "--json").json()
        assert isinstance(left, dict)
        assert left["removed"] == [repo.home, repo.safe]
        assert left["files"] == [{"path": git_exclude.path_of(repo), "differs": ""}]
        assert left["lost"] == {
            "messages": 1,
            "questions": 0,
            "unread": 1,
            "agents": [],
            "saves": 0,
            "tasks": 0,
            "merges": 0,
        }
        assert left["remains"] == []
        assert os.path.exists(left["kept_in"])

    def test_the_users_config_stays(self, repo: paths.Place, ib: Ib) -> None:
        Path(repo.root, ".ittybitty.json").write_text("{}\n")
        assert ib("init").code == 0
        assert ib("uninstall", "--force").code == 0
        assert Path(repo.root, ".ittybitty.json").read_text() == "{}\n"

    def test_no_room_for_the_tar_file_means_nothing_is_removed(self, repo: paths.Place, ib: Ib) -> None:
        assert ib("send", "user-claude", "? one").code == 0
        before = {path: data for path, data in everything(repo.home).items() if "/locks/" not in path}
        code = (
            "import resource, signal, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200));"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
            "from ibstatus.cli import app; sys.exit(app.main(['uninstall', '-f']))"
        )
        env = {**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "1"}  # they would be cut, too
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=repo.root, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "Caused by: File too large" in done.stderr
        assert {path: data for path, data in everything(repo.home).items() if "/locks/" not in path} == before
        assert not list(Path(os.environ["TMPDIR"]).iterdir())

    @pytest.mark.parametrize(("typed", "gone"), [("y\n", True), ("n\n", False), ("\n", False), ("\x04", False)])
    def test_a_y_on_a_terminal(self, repo: paths.Place, ib: Ib, typed: str, gone: bool) -> None:
        assert ib("init").code == 0
        code, shown = on_terminal(["uninstall"], repo.root, typed)
        assert "nothing unread is in it" in shown
        assert (code == 0, Path(repo.home).exists()) == (gone, not gone)

    def test_an_interrupted_one_is_finished_by_the_next(self, repo: paths.Place, ib: Ib) -> None:
        assert ib("init").code == 0
        before = Path(git_exclude.path_of(repo)).read_bytes()
        os.unlink(repo.safe + "/version")
        os.rename(repo.home, repo.safe + "/removed")
        assert ib("questions").code == 0  # nothing comes back by itself
        assert not Path(repo.home).exists()
        done = ib("uninstall", "--force", "--verify")
        assert (done.code, Path(repo.safe).exists()) == (0, False)
        assert b"ittybitty" not in Path(git_exclude.path_of(repo)).read_bytes() != before


def test_the_git_directory_on_another_file_system(repo: paths.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    before = everything(repo.root)
    me = identity.Caller(identity.PERSON, "user")
    init.init(repo, me, gitignore=False)
    real = disk.rename

    def across(old: str, new: str) -> None:
        if (old + "/").startswith(repo.home + "/") and new.startswith(repo.common):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), old)
        real(old, new)

    monkeypatch.setattr(disk, "rename", across)
    uninstall.uninstall(repo, me)
    assert everything(repo.root) == before


def on_terminal(args: list[str], cwd: str, typed: str) -> tuple[int, str]:
    """(exit code, what was shown) of the program with a terminal for all three streams."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "ibstatus", *args], cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown, asked = b"", False
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:
            break
        if not more:
            break
        shown += more
        if b"[y/N]" in shown and not asked:
            asked = True
            os.write(ours, typed.encode())
    os.close(ours)
    return child.wait(), shown.decode()


def test_uninstall_beside_commands_that_write(repo: paths.Place, ib: Ib) -> None:
    """What is sent while everything goes is either in the tar file or there afterwards."""
    argv = [sys.executable, "-m", "ibstatus", "send", "user-claude"]
    senders = [
        subprocess.Popen([*argv, f"message {n}"], cwd=repo.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for n in range(8)
    ]
    done = ib("uninstall", "--force", "--json")
    ends = [sender.communicate() for sender in senders]
    assert [sender.returncode for sender in senders] == [0] * 8, ends
    assert done.code == 0, done.err
    kept = done.json()["kept_in"]  # type: ignore[index]
    found = Path(repo.messages).read_text() if Path(repo.messages).exists() else ""
    if kept:
        with tarfile.open(kept) as archive:
            names = archive.getnames()
            file = (
                archive.extractfile(".ittybitty/user-messages.json")
                if ".ittybitty/user-messages.json" in names
                else None
            )
            found += file.read().decode() if file is not None else ""
    assert [n for n in range(8) if f"message {n}" not in found] == []


@pytest.mark.sweep
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("options", [("init",), ("init", "--gitignore"), ("uninstall", "--force")])
def test_killed_at_a_file_operation(
    repo: paths.Place, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next command finishes it, the message is not lost, and the files of git get their bytes back."""
    monkeypatch.chdir(repo.root)
    before = everything(repo.root)
    me = identity.Caller(identity.PERSON, "user")
    sweep = Sweep(EVERY, exact=False)
    for at in sweep:
        if options[0] == "uninstall":
            send.send_to_primary(repo, me, [f"? message {at}"], "", 1_700_000_000)
        ended = forked.run([*options], repo.root, dict(os.environ), None, forked.KILL, at)[0]
        assert ended in (PASSED, -signal.SIGKILL), at
        if options[0] == "uninstall" and not Path(repo.home, "user-messages.json").exists():
            assert f"message {at}" in kept_mail(), at
        init.init(repo, me, gitignore=False)
        assert [finding for finding in doctor.examine(lambda: repo) if finding.level == "fail"] == [], at
        uninstall.uninstall(repo, me)
        assert everything(repo.root) == before, at
        for tar in Path(os.environ["TMPDIR"]).iterdir():
            tar.unlink()
        sweep.tell(ended != PASSED)


def kept_mail() -> str:
    """The messages in every tar file that uninstall left."""
    found = ""
    for tar in Path(os.environ["TMPDIR"]).glob("ib-uninstalled-*"):
        with tarfile.open(tar) as archive:
            file = archive.extractfile(".ittybitty/user-messages.json")
            found += file.read().decode() if file is not None else ""
    return found
