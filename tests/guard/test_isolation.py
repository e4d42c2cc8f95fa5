"""Where an agent may read and write, on a real disk."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.guard.isolation import READ, WRITE, Grounds, is_below
from ibstatus.system import symlinks
from tests.guard.judging import Ground, ground

GROUND = ground()


def grounds(of: Ground = GROUND) -> Grounds:
    agents = of.agents
    return Grounds(of.worktree, of.root, agents, agents + "/w1", "w1", of.home, symlinks.Resolver())


def may(access: str, path: str, *, whole: bool = False) -> bool:
    return not grounds().objection(access, GROUND.placed(path).replace("@H", GROUND.home), whole=whole)


@pytest.mark.parametrize(
    "path",
    [
        "@W",
        "@W/",
        "@W/src/app.ts",
        "@W/new/deep",
        "@W/src/../x",
        "@W//src",
        "@W/links/to-src/x",
        "/tmp/ib-w1/x",
        "/dev/null",
    ],
)
def test_its_own_ground_is_read_and_written(path: str) -> None:
    assert may(READ, path)
    assert may(WRITE, path)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/hosts",
        "/usr/bin/env",
        "/tmp/x",
        "@H/other/x",
        "@H/.claude/CLAUDE.md",
        "@M-other/x",
        "/proc/cpuinfo",
        "/",
        "@M/.ittybitty/agents/w1/agent.log",
    ],
)
def test_these_are_read_only(path: str) -> None:
    assert may(READ, path)
    assert not may(WRITE, path)


@pytest.mark.parametrize(
    "path",
    [
        "@M",
        "@M/",
        "@M/secret",
        "@M/./secret",
        "@M/none/../secret",
        "@W/../meta.json",
        "@W/..",
        "@W-evil/x",
        "@W/links/to-root",
        "@W/links/to-root/x",
        "@W/links/to-secret",
        "@W/none/../../meta.json",
        "@M/.ittybitty",
        "@M/.git/config",
        "@M/.ittybitty/agents/w2/repo/x",
        "@H/.ssh/id_rsa",
        "@H/.aws/credentials",
        "@H/.claude/.credentials.json",
        "@H/.claude.json",
        "@H/.netrc",
        "@H/.config/gh/hosts.yml",
        "/etc/shadow",
        "/proc/self/environ",
        "/proc/1/cwd/x",
        "/proc/self/root/etc/hosts",
        "/dev/sda",
        "/dev/mem",
        "@W/links/to-src/../../../meta.json",
    ],
)
def test_these_are_neither(path: str) -> None:
    assert not may(READ, path)
    assert not may(WRITE, path)


@pytest.mark.parametrize("path", ["/", "@H", "@M/..", "@W/../../../.."])
def test_what_holds_the_main_checkout_is_not_searched(path: str) -> None:
    assert not may(READ, path, whole=True)


@pytest.mark.parametrize(
    "path", ["@W/.git", "@W/.git/x", "@W/.claude/settings.json", "@W/a/.claude/settings.local.json"]
)
def test_what_decides_over_the_agent_is_not_written(path: str) -> None:
    assert may(READ, path)
    assert not may(WRITE, path)


def test_another_case_of_a_forbidden_folder_is_forbidden() -> None:
    assert not may(READ, GROUND.root.upper() + "/secret")


def test_a_scratch_folder_that_is_a_link_leads_nowhere(tmp_path: Path) -> None:
    name = f"w-{os.getpid()}"
    link = Path(f"/tmp/ib-{name}")
    link.symlink_to("/etc")
    try:
        one = Grounds(
            GROUND.worktree, GROUND.root, GROUND.agents, GROUND.agents + "/w1", name, GROUND.home, symlinks.Resolver()
        )
        assert one.objection(WRITE, f"{link}/x")
    finally:
        link.unlink()


def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError):
        symlinks.Resolver()(f"{tmp_path}/a/x")
    assert grounds().objection(READ, f"{tmp_path}/a/x")


@given(
    st.lists(st.sampled_from(["..", ".", "", "src", "links", "to-root", "to-src", "none", "w2", "repo"]), max_size=8)
)
def test_the_resolver_agrees_with_the_system(parts: list[str]) -> None:
    path = "/".join([GROUND.worktree, *parts])

    assert symlinks.Resolver()(path) == os.path.realpath(path)


@given(st.text("ab/.", max_size=10), st.text("ab/.", max_size=6))
def test_below_goes_by_whole_names(path: str, folder: str) -> None:
    path, folder = os.path.normpath("/" + path).replace("//", "/"), os.path.normpath("/" + folder).replace("//", "/")
    assert is_below(path, folder) is Path(path).is_relative_to(folder)


@given(st.text(max_size=60))
def test_any_path_gets_an_answer(text: str) -> None:
    reason = grounds().objection(READ, "/" + text)
    assert len(reason) < 500
    assert reason.isprintable()


@pytest.mark.parametrize(
    ("access", "path", "allowed"),
    [
        (WRITE, "/r/file", True),
        (READ, "/r/.ittybitty/agents/x/agent.log", True),
        (READ, "/r/.ittybitty/agents/x/token", False),
        (WRITE, "/r/.ittybitty/agents/x/agent.log", False),
        (READ, "/r/.ittybitty.json", True),
        (WRITE, "/r/.ittybitty.json", False),
    ],
)
def test_an_agent_without_a_worktree_of_its_own_leaves_ibs_files_alone(access: str, path: str, allowed: bool) -> None:
    agents = "/r/.ittybitty/agents"
    found = Grounds("/r", "/r", agents, agents + "/x", "x", "/home/u", lambda path: path)

    assert (found.objection(access, path) == "") is allowed
    assert found.objection(WRITE, "/r", whole=True)


@pytest.mark.parametrize("safe", ["/elsewhere/git/ib", "/r/.git/modules/x/ib", "/r/.ittybitty/agents/x/repo/git/ib"])
@pytest.mark.parametrize("access", [READ, WRITE])
def test_what_ib_keeps_in_the_git_directory_is_closed_wherever_that_lies(safe: str, access: str) -> None:
    agents = "/r/.ittybitty/agents"
    for worktree in (agents + "/x/repo", "/r"):
        found = Grounds(worktree, "/r", agents, agents + "/x", "x", "/home/u", lambda path: path, safe)

        assert found.objection(access, safe + "/agents/bob/token")
        assert found.objection(access, safe)


@pytest.mark.parametrize(
    "path", ["/tmp/ib-w2", "/tmp/ib-w1-x/y", "/tmp/ib-/x", "/tmp/ib-other/message-1.txt", "/dev/tty"]
)
def test_the_scratch_of_others_and_terminals_are_not_read(path: str) -> None:
    assert not may(READ, path)


def test_where_ib_had_to_take_another_scratch_folder_it_is_read() -> None:
    assert may(READ, "/tmp/ib-w1-1/message-1.txt")
    assert not may(WRITE, "/tmp/ib-w1-1/message-1.txt")


def test_the_number_of_a_scratch_folder_may_be_another_agents_name() -> None:
    found = Grounds(
        GROUND.worktree, GROUND.root, GROUND.agents, GROUND.agents + "/w", "w", GROUND.home, symlinks.Resolver(),
        entries=lambda folder: ["w-1"] if folder == GROUND.agents else [],
    )  # fmt: skip

    assert found.objection(READ, "/tmp/ib-w-1/x")
    assert not found.objection(READ, "/tmp/ib-w-2/x")


def test_a_folder_with_keys_in_it_is_not_read_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "bob/.ssh").mkdir(parents=True)
    (tmp_path / "ann").mkdir()
    disk = symlinks.Disk()
    found = Grounds(
        GROUND.worktree, GROUND.root, GROUND.agents, GROUND.agents + "/w1", "w1", GROUND.home, disk.resolve,
        entries=disk.entries,
    )  # fmt: skip

    assert found.objection(READ, f"{tmp_path}/bob", whole=True)
    assert not found.objection(READ, f"{tmp_path}/bob")
    assert not found.objection(READ, f"{tmp_path}/ann", whole=True)
