"""ib doctor: every check, on repositories that really are so."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ibstatus
from ibstatus.model import constants
from ibstatus.model.board import Branch
from ibstatus.model.fleet import Finding
from ibstatus.project import agent_meta, git_exclude, home, paths
from ibstatus.project.rules import findings as health
from ibstatus.system import locks
from tests.board import doing, postgres_server
from tests.conftest import Done, git, make_repo
from tests.mail import layouts
from tests.queuework import opened

Ib = Callable[..., Done]
Agent = Callable[..., Path]


@pytest.fixture
def program(tmp_path: Path) -> dict[str, str]:
    """An environment with this very ib on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script(folder / "ib", f'exec "{sys.executable}" -m ibstatus "$@"')
    return {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(Path(ibstatus.__file__).parent.parent)}


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def findings(done: Done, subject: str) -> list[dict[str, str]]:
    found: Any = done.json()
    return [item for item in found if item["subject"] == subject]


def levels(done: Done, subject: str) -> list[str]:
    return [item["level"] for item in findings(done, subject)]


@pytest.fixture
def look(ib: Ib, program: dict[str, str]) -> Callable[..., Done]:
    def run(**where: Any) -> Done:
        env = {**program, **where.pop("env", {})}
        return ib("doctor", "--json", env=env, **where)

    return run


def test_a_healthy_repository(repo: paths.Place, ib: Ib, look: Ib, program: dict[str, str]) -> None:
    assert ib("init").code == 0
    assert ib("send", "user-claude", "? one").code == 0
    assert ib("listen", "--timeout", "0").code == 0
    done = look(env={"IB_CLAUDE": sys.executable})
    assert done.code == 0
    worse: Any = [item for item in done.json() if item["level"] != "ok"]  # type: ignore[attr-defined]
    assert [item["subject"] for item in worse if item["subject"] not in ("tmux", "space")] == [
        "supervisor",
        "hooks",
        "listener",
    ]
    shown = ib("doctor", env=program).out.splitlines()
    assert all(line.startswith(("ok   ", "note ", "warn ", "fail ", " " * 18 + "→ ")) for line in shown)


def test_it_changes_nothing(repo: paths.Place, ib: Ib, look: Ib) -> None:
    look()
    assert not Path(repo.home).exists()
    assert ib("send", "user-claude", "? one").code == 0
    shutil.rmtree(repo.safe + "/notify")
    Path(repo.queue_base).unlink(missing_ok=True)
    before = sorted(str(path) for folder in (repo.home, repo.safe) for path in Path(folder).rglob("*"))
    look()
    assert sorted(str(path) for folder in (repo.home, repo.safe) for path in Path(folder).rglob("*")) == before


def test_no_repository(tmp_path: Path, look: Ib) -> None:
    done = look(cwd=tmp_path)
    assert done.code == 1
    assert findings(done, "repository") == [
        {
            "level": "fail",
            "subject": "repository",
            "text": "This is not a git repository",
            "hint": "cd into your project, or make one here: git init",
        }
    ]


@pytest.mark.parametrize("layout", layouts.ALL, ids=lambda make: make.__name__)
def test_ib_and_git_agree_in_every_layout(tmp_path: Path, look: Ib, layout: Callable[[Path], layouts.Layout]) -> None:
    at = layout(tmp_path / "here")
    done = look(cwd=at.cwd)
    (found,) = findings(done, "repository")
    assert (found["level"], done.code) == ("ok", 0)
    assert found["text"].endswith(f"the root is {at.root}")


@pytest.mark.parametrize(
    ("layout", "kind"),
    [
        (layouts.main, "a main checkout"),
        (layouts.linked, "a linked worktree"),
        (layouts.bare_with_worktree, "a worktree of a bare repository"),
        (layouts.bare_itself, "a bare repository"),
        (layouts.submodule, "a submodule"),
        (layouts.separate, "a checkout with its git directory elsewhere"),
    ],
)
def test_the_kind_of_repository(tmp_path: Path, look: Ib, layout: Callable[[Path], layouts.Layout], kind: str) -> None:
    assert findings(look(cwd=layout(tmp_path / "here").cwd), "repository")[0]["text"].startswith(kind + ";")


def test_an_agents_worktree(repo: paths.Place, look: Ib, agent: Agent) -> None:
    assert "the worktree of agent worker-a" in findings(look(cwd=agent(repo, "worker-a")), "repository")[0]["text"]


def test_the_environment_of_a_git_hook_does_not_confuse(repo: paths.Place, look: Ib, tmp_path: Path) -> None:
    other = make_repo(tmp_path / "other")
    done = look(env={"GIT_DIR": other.common, "GIT_WORK_TREE": other.root})
    assert levels(done, "repository") == ["ok"]


def test_an_ib_of_another_version(look: Ib, tmp_path: Path, program: dict[str, str]) -> None:
    script(tmp_path / "bin/ib", "echo ib 0.0.9")
    done = look()
    (found,) = findings(done, "ib")
    assert (done.code, found["level"]) == (1, "fail")
    assert f"this is ib {ibstatus.__version__}, but {tmp_path}/bin/ib is ib 0.0.9" in found["text"]
    script(tmp_path / "bin/ib", "exit 1")
    assert "something that is not this ib" in findings(look(), "ib")[0]["text"]


def test_no_ib_no_git_no_tmux(look: Ib, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = look(env={"PATH": str(tmp_path / "empty")})
    assert [levels(done, subject) for subject in ("ib", "git", "tmux", "repository")] == [
        ["warn"],
        ["fail"],
        ["warn"],
        ["warn"],
    ]
    assert done.code == 1


def test_folder_open_to_others(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("send", "user-claude", "one").code == 0
    os.chmod(repo.messages, 0o644)
    assert levels(look(), "permissions") == ["ok"]  # the folder itself is closed
    os.chmod(repo.home, 0o755)
    (found,) = findings(look(), "permissions")
    assert (found["level"], found["hint"]) == ("warn", f"chmod -R go-rwx {repo.home}")
    assert ib("init").code == 0
    assert levels(look(), "permissions") == ["ok"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_files_of_somebody_else(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("init").code == 0
    os.chown(repo.version, 65534, 65534)
    assert "belongs to uid 65534" in findings(look(), "permissions")[0]["text"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("init").code == 0
    os.chmod(repo.home, 0o500)
    try:
        done = look()
    finally:
        os.chmod(repo.home, 0o700)
    assert (done.code, levels(done, "writable")) == (1, ["fail"])


def test_repo_id(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("init").code == 0
    Path(repo.safe, "repo-id").write_text("00000000\n")
    assert levels(look(), "repo-id") == ["warn"]
    Path(repo.repo_id).write_text("?\n")
    assert levels(look(), "repo-id") == ["fail"]
    assert ib("init").code == 0
    assert levels(look(), "repo-id") == ["ok"]


def test_a_newer_format(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("init").code == 0
    Path(repo.version).write_text("99\n")
    done = look()
    assert (done.code, levels(done, "folder")) == (1, ["fail"])


def test_an_older_tool_and_a_cleaned_folder(repo: paths.Place, ib: Ib, look: Ib) -> None:
    Path(repo.home).mkdir(mode=0o700)
    assert levels(look(), "folder") == ["note"]
    assert ib("init").code == 0
    git(repo.root, "clean", "-fdxq")
    assert "its safety copy brings it back" in findings(look(), "folder")[0]["text"]


def test_symlinks(repo: paths.Place, ib: Ib, look: Ib, tmp_path: Path) -> None:
    assert ib("init").code == 0
    os.rename(repo.home, tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", repo.home)
    assert levels(look(), "folder") == ["warn", "ok"]
    shutil.rmtree(tmp_path / "elsewhere")
    done = look()
    assert (done.code, levels(done, "folder")) == (1, ["fail"])


def test_kept_out_of_git(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("init").code == 0
    assert levels(look(), "git-ignore") == ["ok"]
    Path(git_exclude.path_of(repo)).write_text("")
    assert levels(look(), "git-ignore") == ["warn"]
    git(repo.root, "add", "-f", ".ittybitty/version")
    done = look()
    assert (done.code, levels(done, "git-ignore")) == (1, ["fail"])
    git(repo.root, "rm", "-r", "-q", "--cached", ".ittybitty")
    assert ib("init").code == 0
    assert levels(look(), "git-ignore") == ["ok"]


def test_safety_copies(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("send", "user-claude", "? one").code == 0
    assert ib("listen", "--timeout", "0").code == 0
    assert levels(look(), "copies") == ["ok"]
    for path in (repo.queue, repo.cursor("default"), repo.messages):
        os.unlink(repo.safe_copy(path))
    (found,) = findings(look(), "copies")
    assert found["level"] == "warn"
    assert "queue, default, user-messages.json" in found["text"]
    assert ib("init").code == 0
    assert levels(look(), "copies") == ["ok"]


def test_broken_mail(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("send", "user-claude", "? one").code == 0
    Path(repo.messages).write_text("null\n")
    done = look()
    assert (done.code, levels(done, "mail")) == (1, ["fail"])
    assert ib("send", "user-claude", "two").code == 0
    done = look()
    assert (done.code, levels(done, "leftovers")) == (0, ["warn"])
    assert ".corrupt-" in findings(done, "leftovers")[0]["text"]


def test_an_item_without_its_queue_line(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("send", "user-claude", "? one").code == 0
    Path(repo.messages).write_text(Path(repo.messages).read_text().replace('"queued":true', '"queued":false'))
    (found, _) = findings(look(), "mail")
    assert found["level"] == "note"
    assert "did not reach the queue" in found["text"]


def test_queue_and_readers(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("notify", "one").code == 0
    assert ib("listen", "--timeout", "0").code == 0
    assert findings(look(), "queue")[0]["level"] == "ok"
    assert findings(look(), "cursors")[0]["text"] == "default has read everything"
    with open(repo.queue, "ab") as file:
        file.write(b"garbage\n{}\n[1]\nopen end")
    done = look()
    assert [item["text"] for item in findings(done, "queue")] == [
        "2 lines of 4 are no JSON objects and are skipped",
        "the last line has no end yet; the next writer or listener ends it",
    ]
    assert findings(done, "cursors")[0]["text"] == "default has 3 lines to read"
    Path(repo.cursor("default")).write_text("nonsense")
    assert levels(look(), "cursors") == ["warn"]
    assert look().code == 0


def test_the_lag_counts_from_the_base_of_a_trimmed_queue(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("notify", "one").code == 0
    assert ib("listen", "--timeout", "0").code == 0
    size = os.path.getsize(repo.queue)
    base, _, rest = Path(repo.queue_base).read_text().partition(" ")
    Path(repo.queue_base).write_text(f"{int(base) + 1000} {rest}")
    Path(repo.cursor("default")).write_text(f"{1000 + size} {1000 + size} -")
    assert findings(look(), "cursors")[0]["text"] == "default has read everything"


def test_a_listener(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("init").code == 0
    assert levels(look(), "listener") == ["note"]
    with locks.Lock(repo.lock("cursor-" + constants.DEFAULT_READER)):
        assert findings(look(), "listener")[0]["text"] == "listening: default"


def test_temp_files(repo: paths.Place, ib: Ib, look: Ib) -> None:
    assert ib("init").code == 0
    old = Path(repo.home, "notify/.queue.1.2.ib-tmp")
    old.write_text("")
    os.utime(old, (1, 1))
    assert levels(look(), "leftovers") == ["note"]
    assert ib("init").code == 0
    assert levels(look(), "leftovers") == ["ok"]


def test_a_newline_in_a_path_is_no_new_check(tmp_path: Path, ib: Ib) -> None:
    root = layouts.checkout(tmp_path / "a\nfail injected\x1b[31m")
    shown = ib("doctor", cwd=root).out
    assert "\x1b" not in shown
    assert not any(line.startswith("fail injected") for line in shown.splitlines())


def test_a_reader_that_goes_away(repo: paths.Place) -> None:
    argv = f'"{sys.executable}" -m ibstatus doctor | head -1'
    done = subprocess.run(argv, shell=True, cwd=repo.root, capture_output=True, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git version 2.39.5", (2, 39, 5)),
        ("git version 2.39.5 (Apple Git-154)", (2, 39, 5)),
        ("git version 2.45.1.windows.1", (2, 45, 1)),
        ("tmux 3.3a", (3, 3)),
        ("tmux next-3.6", (3, 6)),
        ("tmux master", ()),
        ("", ()),
    ],
)
def test_versions(text: str, expected: tuple[int, ...]) -> None:
    assert health.numbers(text) == expected


@pytest.mark.parametrize(
    ("finding", "level"),
    [
        (health.python((3, 10, 9)), "fail"),
        (health.python((3, 11, 0)), "ok"),
        (health.git(""), "fail"),
        (health.git("git version 2.20.1"), "warn"),
        (health.tmux("tmux 2.9a"), "warn"),
        (health.tmux("tmux 3.2"), "ok"),
        (health.tmux("tmux master"), "ok"),
        (health.space(1 << 20, 10_000), "fail"),
        (health.space(100 << 20, 10_000), "warn"),
        (health.space(10 << 30, 10_000), "ok"),
        (health.space(10 << 30, 0), "fail"),
        (health.space(10 << 30, 20), "warn"),
        (health.space(10 << 30, None), "ok"),
        (health.repository("a main checkout", "/r", "/r/.git", "/x/.git"), "fail"),
        (health.queue(9 << 20, 5, 0, False)[0], "warn"),
        (health.kept_out(None, False), "ok"),
    ],
)
def test_judgements(finding: Finding, level: str) -> None:
    assert finding.level == level


def test_the_worst_level_decides() -> None:
    assert health.worst([]) == "ok"
    assert health.worst([Finding("warn", "a", "b"), Finding("ok", "a", "b"), Finding("note", "a", "b")]) == "warn"


def test_a_missing_client_is_said(repo: paths.Place, look: Ib) -> None:
    found: Any = look(env={"IB_CLAUDE": "/nowhere/claude"}).json()  # type: ignore[attr-defined]

    client = next(item for item in found if item["subject"] == "claude")
    assert client["level"] == "warn"
    assert "/nowhere/claude" in client["text"]


class TestBoard:
    """Which one, can it be reached, and what in it waits for somebody."""

    def test_none_and_one(self, repo: paths.Place, ib: Ib, look: Ib) -> None:
        ib("init")
        assert findings(look(), "board")[0]["text"] == "none yet; ib board up makes one"
        assert not Path(repo.board).exists()
        ib("board", "add", "One")
        assert [(item["level"], item["text"]) for item in findings(look(), "board")] == [("ok", repo.board)]

    def test_what_waits_for_somebody(self, repo: paths.Place, ib: Ib, look: Ib) -> None:
        kept = opened(repo)
        for id in ("a", "b", "late"):
            doing.add(kept, id)
        branch = Branch(agent_meta.repo_id(repo), "agent/a", "main", "a" * 40)
        for id in ("a", "b"):
            doing.finish(kept, id, branch)
            kept.merging(kept.entries()[-1].id)
        kept.conflicted(1, ["f"], "no")
        kept.merge_failed(2, "no")
        doing.claim_it(kept, "late", lease=-60.0)
        kept.close()

        found = findings(look(), "board")

        assert [(item["level"], item["text"]) for item in found[1:]] == [
            ("warn", "in the merge queue somebody is needed for 1 (conflict), 2 (failed)"),
            ("note", "no sign of life from who has late; whoever claims, watches or merges next frees it"),
        ]

    def test_changes_that_are_still_to_come_are_not_made(self, repo: paths.Place, ib: Ib, look: Ib) -> None:
        ib("init")
        Path(repo.board).touch(0o600)

        (found,) = findings(look(), "board")

        assert (found["level"], found["hint"]) == ("note", "ib board up")
        assert "001_board.sql" in found["text"]
        assert Path(repo.board).stat().st_size == 0

    def test_a_file_that_is_no_board(self, repo: paths.Place, ib: Ib, look: Ib) -> None:
        ib("init")
        Path(repo.board).write_text("not a database\n" * 100)

        (found,) = findings(look(), "board")

        assert (found["level"], "is damaged, or is no board" in found["text"]) == ("warn", True)

    def test_a_server_that_is_down_without_its_password(self, ib: Ib, look: Ib) -> None:
        ib("init")
        (found,) = findings(look(env={"IB_BOARD_DSN": "postgresql://u:hunter2@127.0.0.1:1/x"}), "board")

        assert found["level"] == "warn"
        assert found["text"] == "The board's PostgreSQL at 127.0.0.1 cannot be reached (nobody listens there)"

    def test_a_server_by_its_name(self, ib: Ib, look: Ib) -> None:
        ib("init")
        with postgres_server.SERVER.fresh() as dsn:
            (found,) = findings(look(env={"IB_BOARD_DSN": dsn}), "board")
        with postgres_server.SERVER.fresh(migrated=False) as dsn:
            (bare,) = findings(look(env={"IB_BOARD_DSN": dsn}), "board")

        assert (found["level"], found["text"].startswith("PostgreSQL: ")) == ("ok", True)
        assert (bare["level"], bare["hint"]) == ("warn", "ib board up")

    def test_without_psycopg(self, repo: paths.Place, program: dict[str, str]) -> None:
        home.enter(repo)
        program = {**program, "IB_BOARD_DSN": "postgresql://u:hunter2@127.0.0.1:1/x"}
        code = "import sys; sys.modules['psycopg'] = None\nfrom ibstatus.cli import app; sys.exit(app.main(['doctor']))"
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=repo.root, env={**os.environ, **program}, capture_output=True, text=True, check=False,
        )  # fmt: skip

        assert "A board on PostgreSQL needs psycopg" in done.stdout
        assert "pipx inject ibstatus 'psycopg[binary]'; or, without pipx: " in done.stdout
