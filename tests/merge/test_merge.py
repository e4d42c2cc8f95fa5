"""Merging with real git: what comes out, and that nothing changes when it cannot be."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ibstatus.errors import IbError
from ibstatus.merge import merge, move_branch, preview
from ibstatus.project import agent_meta, agents, identity, paths
from ibstatus.system.git import checkouts, refs
from tests.conftest import git, make_repo
from tests.gitwork import commit, parents, state, subjects, tip

pytestmark = pytest.mark.usefixtures("tmux")
Agent = Callable[..., Path]
USER = identity.Caller(identity.PERSON, "user")


def manager(name: str) -> identity.Caller:
    return identity.Caller(identity.AGENT, name)


def merged(
    place: paths.Place, agent: str = "w", into: str = "", caller: identity.Caller = USER, test: str = "", cwd: str = ""
) -> list[str]:
    """What was said meanwhile, what is shown before the question first."""
    said: list[str] = []

    def agree(lines: list[str]) -> bool:
        said.extend(lines)
        return True

    wish = merge.Wish(agent, into, test, cwd or place.root)
    assert merge.merge(place, caller, wish, agree, said.append) is not None
    return said


def test_a_users_merge_keeps_the_branch_point_and_brings_the_checkout_along(repo: paths.Place, agent: Agent) -> None:
    work = commit(agent(repo, "w"), "new.txt", "new\n")
    before = tip(repo.root)

    said = merged(repo)

    assert parents(repo.root) == [before, work]
    assert subjects(repo.root, "-1") == ["Merge agent w work"]
    assert said[:2] == ["Will merge 1 commit from agent/w into main:", f"  {work[:7]} write new.txt"]
    assert Path(repo.root, "new.txt").read_text() == "new\n"
    assert git(repo.root, "status", "--porcelain", "--untracked-files=no") == ""
    assert git(repo.root, "reflog", "-1", "--format=%gs").startswith("ib merge agent/w")
    assert not agents.exists(repo, "w")
    assert git(repo.root, "branch", "--list", "agent/w") == ""


def test_a_managers_merge_is_a_fast_forward_where_it_can_be(repo: paths.Place, agent: Agent) -> None:
    lead, worker = agent(repo, "lead"), agent(repo, "w", "lead")
    work = commit(worker, "new.txt", "new\n")
    main = tip(repo.root)

    merged(repo, caller=manager("lead"), cwd=str(lead))

    assert tip(lead) == work
    assert (lead / "new.txt").exists()
    assert tip(repo.root) == main


def test_a_managers_merge_is_a_line_even_when_both_have_gone_on(
    repo: paths.Place, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead, worker = agent(repo, "lead"), agent(repo, "w", "lead")
    mine = commit(lead, "lead.txt", "lead\n")
    git(worker, "commit", "--allow-empty", "-q", "-m", "empty on purpose")
    (worker / "a.txt").write_text("a\n")
    git(worker, "add", ".")
    with monkeypatch.context() as ann:
        ann.setenv("GIT_AUTHOR_NAME", "Ann Ö")
        ann.setenv("GIT_AUTHOR_DATE", "2001-02-03T04:05:06+0230")
        git(worker, "commit", "-q", "-m", "first\n\nbody  with  blanks\n")
    git(worker, "checkout", "-q", "-b", "side")
    commit(worker, "side.txt", "side\n")
    git(worker, "checkout", "-q", "agent/w")
    commit(worker, "b.txt", "b\n")
    git(worker, "merge", "-q", "--no-ff", "-m", "a merge of its own", "side")

    merged(repo, caller=manager("lead"), cwd=str(lead))

    assert set(subjects(lead, f"{mine}..")) == {"write b.txt", "write side.txt", "first", "empty on purpose"}
    assert git(lead, "rev-list", "--merges", f"{mine}..") == ""
    assert git(lead, "log", "--format=%an|%aI|%B", "--grep=^first", "-1") == (
        "Ann Ö|2001-02-03T04:05:06+02:30|first\n\nbody  with  blanks\n\n"
    )
    assert git(lead, "status", "--porcelain") == ""
    assert {path.name for path in lead.glob("*.txt")} == {"file.txt", "lead.txt", "a.txt", "b.txt", "side.txt"}


def test_what_the_manager_has_already_is_not_carried_over_again(repo: paths.Place, agent: Agent) -> None:
    lead, worker = agent(repo, "lead"), agent(repo, "w", "lead")
    picked = commit(worker, "a.txt", "a\n")
    commit(worker, "b.txt", "b\n")
    commit(lead, "lead.txt", "lead\n")
    git(lead, "cherry-pick", picked)
    before = tip(lead)

    merged(repo, caller=manager("lead"), cwd=str(lead))

    assert subjects(lead, f"{before}..") == ["write b.txt"]


@pytest.mark.parametrize("by", ["user", "lead"])
def test_a_conflict_names_the_files_and_changes_nothing(repo: paths.Place, agent: Agent, by: str) -> None:
    lead, worker = agent(repo, "lead"), agent(repo, "w", "lead")
    commit(worker, "file.txt", "theirs\n")
    commit(worker, "odd 'ü'\n.txt", "theirs\n")
    for place in (repo.root, lead):
        commit(place, "file.txt", "ours\n")
        commit(place, "odd 'ü'\n.txt", "ours\n")
    before = state(repo.root), state(lead), state(worker)
    caller, cwd = (USER, repo.root) if by == "user" else (manager("lead"), str(lead))

    with pytest.raises(preview.Blocked) as blocked:
        merged(repo, caller=caller, cwd=cwd)

    assert blocked.value.problem == "conflict"
    assert "file.txt" in blocked.value.files
    assert by == "lead" or blocked.value.files == ["file.txt", "odd 'ü'\n.txt"]
    assert "ib send w '" in blocked.value.hint
    assert "ib merge w --into" in blocked.value.hint
    assert (state(repo.root), state(lead), state(worker)) == before
    assert agents.exists(repo, "w")


DIRT: dict[str, Callable[[Path], object]] = {
    "changed": lambda root: (root / "file.txt").write_text("mine\n"),
    "staged": lambda root: ((root / "x").write_text("x"), git(root, "add", "x")),
    "deleted": lambda root: (root / "file.txt").unlink(),
    "in-the-way": lambda root: (root / "new.txt").write_text("mine\n"),
    "ignored-in-the-way": lambda root: (
        (root / ".git/info/exclude").write_text("new.txt\n.ittybitty\n"),
        (root / "new.txt").write_text("mine\n"),
    ),
    "skip-worktree": lambda root: (
        git(root, "update-index", "--skip-worktree", "file.txt"),
        (root / "file.txt").write_text("mine\n"),
    ),
}


@pytest.mark.parametrize("dirt", DIRT)
def test_a_dirty_checkout_is_left_alone(repo: paths.Place, agent: Agent, dirt: str) -> None:
    worker = agent(repo, "w")
    commit(worker, "new.txt", "new\n")
    commit(worker, "file.txt", "theirs\n")
    DIRT[dirt](Path(repo.root))
    before = state(repo.root)

    with pytest.raises(preview.Blocked) as blocked:
        merged(repo)

    assert blocked.value.problem == "dirty-target"
    assert blocked.value.cause
    assert state(repo.root) == before
    assert agents.exists(repo, "w")


def test_untracked_files_elsewhere_are_in_nobodys_way(repo: paths.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "folder/new.txt", "new\n")
    Path(repo.root, "folder").mkdir()
    Path(repo.root, "folder/notes").write_text("mine\n")

    merged(repo)

    assert Path(repo.root, "folder/notes").read_text() == "mine\n"
    assert Path(repo.root, "folder/new.txt").exists()


@pytest.mark.parametrize("dirt", ["changed", "staged", "deleted", "untracked"])
def test_an_agents_uncommitted_work_stops_the_merge(repo: paths.Place, agent: Agent, dirt: str) -> None:
    worker = agent(repo, "w")
    commit(worker, "new.txt", "new\n")
    if dirt == "untracked":
        (worker / "sub").mkdir()
        (worker / "sub/left.txt").write_text("left\n")
    else:
        DIRT[dirt](worker)
    before = state(repo.root)

    with pytest.raises(preview.Blocked) as blocked:
        merged(repo)

    assert blocked.value.problem == "dirty-agent"
    assert blocked.value.files == {"staged": ["x"], "untracked": ["sub/left.txt"]}.get(dirt, ["file.txt"])
    assert "ib send w 'Commit" in blocked.value.hint
    assert state(repo.root) == before


def test_commits_beside_the_agents_branch_stop_the_merge(repo: paths.Place, agent: Agent) -> None:
    worker = agent(repo, "w")
    commit(worker, "new.txt", "new\n")
    git(worker, "checkout", "-q", "--detach")
    commit(worker, "astray.txt", "astray\n")

    with pytest.raises(preview.Blocked, match="commits that are not on agent/w: it is on no branch"):
        merged(repo)

    git(worker, "branch", "-f", "agent/w")
    merged(repo)
    assert Path(repo.root, "astray.txt").exists()


def test_a_rebase_under_way_in_the_agents_worktree_stops_the_merge(repo: paths.Place, agent: Agent) -> None:
    worker = agent(repo, "w")
    commit(worker, "file.txt", "theirs\n")
    commit(repo.root, "file.txt", "ours\n")
    with pytest.raises(Exception, match="non-zero"):
        git(worker, "rebase", "main")
    git(worker, "checkout", "-f", "HEAD")

    with pytest.raises(preview.Blocked, match="in the middle of a rebase"):
        merged(repo)


def test_a_target_in_a_rebase_is_left_alone(repo: paths.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    git(repo.root, "branch", "other")
    git(repo.root, "checkout", "-q", "other")
    commit(repo.root, "file.txt", "other\n")
    git(repo.root, "checkout", "-q", "main")
    commit(repo.root, "file.txt", "main\n")
    with pytest.raises(Exception, match="non-zero"):
        git(repo.root, "rebase", "other")

    with pytest.raises(preview.Blocked, match="a rebase is under way"):
        merged(repo, into="main")


def test_a_detached_head_needs_a_name(repo: paths.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    git(repo.root, "checkout", "-q", "--detach")

    with pytest.raises(IbError, match="not on a branch") as refused:
        merged(repo)
    assert refused.value.hint == "ib merge w --into BRANCH"

    merged(repo, into="main")
    assert subjects(repo.root, "-1", "main") == ["Merge agent w work"]
    assert not Path(repo.root, "new.txt").exists()


def test_an_unborn_branch_has_nothing_to_merge_into(repo: paths.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    git(repo.root, "checkout", "-q", "--orphan", "fresh")

    with pytest.raises(IbError, match="fresh has no commit yet"):
        merged(repo)


def test_a_branch_that_is_checked_out_nowhere_moves_by_its_name(repo: paths.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    git(repo.root, "branch", "release")
    git(repo.root, "tag", "release")
    Path(repo.root, "file.txt").write_text("dirty, and nobody's business\n")

    merged(repo, into="release")

    assert git(repo.root, "show", "refs/heads/release:new.txt") == "new\n"
    assert git(repo.root, "rev-parse", "refs/tags/release") == git(repo.root, "rev-parse", "main")
    assert git(repo.root, "symbolic-ref", "HEAD") == "refs/heads/main\n"
    assert "ib merge agent/w" in git(repo.root, "reflog", "refs/heads/release", "-1")


@pytest.mark.parametrize("name", ["", "nowhere", "main~1", "origin/main", "-f", "v1", "a b", "ma\nin"])
def test_only_a_local_branch_can_be_a_target(repo: paths.Place, agent: Agent, name: str) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    git(repo.root, "tag", "v1")
    git(repo.root, "update-ref", "refs/remotes/origin/main", "main")
    git(repo.root, "checkout", "-q", "--detach")

    with pytest.raises(IbError, match="not on a branch" if not name else "no local branch"):
        merged(repo, into=name)


def test_every_checkout_of_the_target_goes_along(repo: paths.Place, agent: Agent, tmp_path: Path) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    second = tmp_path / "a second 'ü'"
    git(repo.root, "worktree", "add", "-q", "--force", str(second), "main")

    merged(repo, cwd=str(second))

    for checkout in (Path(repo.root), second):
        assert (checkout / "new.txt").exists()
        assert git(checkout, "status", "--porcelain", "--untracked-files=no") == ""


def test_the_checkout_that_one_stands_in_names_the_target(repo: paths.Place, agent: Agent, tmp_path: Path) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    other = tmp_path / "other"
    git(repo.root, "worktree", "add", "-q", "-b", "feature", str(other))
    main = tip(repo.root)

    merged(repo, cwd=str(other))

    assert (other / "new.txt").exists()
    assert tip(repo.root) == main


def test_nothing_to_merge_closes_the_agent_all_the_same(repo: paths.Place, agent: Agent) -> None:
    agent(repo, "w")
    before = state(repo.root)[2:]

    said = merged(repo)

    assert said[0].startswith("Nothing to merge from agent/w")
    assert state(repo.root)[2:] == before
    assert not agents.exists(repo, "w")


def test_no_is_no(repo: paths.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    before = state(repo.root)

    assert merge.merge(repo, USER, merge.Wish("w", cwd=repo.root), lambda lines: False, print) is None
    assert state(repo.root) == before


@pytest.mark.parametrize("mode", ["user", "manager"])
def test_somebody_commits_in_between(repo: paths.Place, agent: Agent, monkeypatch, mode: str) -> None:
    """The branch has moved when it is this merge's turn: all is computed once more, and both works are there."""
    worker = agent(repo, "w", "lead" if mode == "manager" else None)
    target = Path(repo.root) if mode == "user" else agent(repo, "lead")
    commit(worker, "new.txt", "new\n")
    races = iter(["one.txt", "two.txt"])
    real = move_branch.advance

    def race(*args, **kwargs):
        name = next(races, "")
        if name:
            commit(target, name, "race\n")
        return real(*args, **kwargs)

    monkeypatch.setattr(move_branch, "advance", race)

    said = merged(repo, caller=USER if mode == "user" else manager("lead"), cwd=str(target))

    assert sum("moved meanwhile" in line for line in said) == 2
    assert {path.name for path in target.glob("*.txt")} == {"file.txt", "new.txt", "one.txt", "two.txt"}
    assert git(target, "status", "--porcelain", "--untracked-files=no") == ""


def test_a_branch_that_never_stands_still_is_given_up(repo: paths.Place, agent: Agent, monkeypatch) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    real, count = move_branch.advance, iter(range(9))

    def race(*args, **kwargs):
        commit(repo.root, f"{next(count)}.txt", "race\n")
        return real(*args, **kwargs)

    monkeypatch.setattr(move_branch, "advance", race)

    with pytest.raises(IbError, match="could not be moved"):
        merged(repo)
    assert agents.exists(repo, "w")
    assert not Path(repo.root, "new.txt").exists()
    monkeypatch.undo()


def test_a_commit_of_the_agent_while_it_is_stopped_is_not_lost(repo: paths.Place, agent: Agent, monkeypatch) -> None:
    worker = agent(repo, "w")
    commit(worker, "new.txt", "new\n")
    monkeypatch.setattr("ibstatus.agents.session.stop", lambda *args: commit(worker, "late.txt", "late\n"))
    before = tip(repo.root)

    with pytest.raises(IbError, match="has committed meanwhile"):
        merged(repo)

    assert tip(repo.root) == before
    assert (worker / "late.txt").exists()
    assert agents.exists(repo, "w")


HOOKS = {
    "post-merge": "exit 1",
    "reference-transaction": 'test "$1" != prepared || ! grep -q " refs/heads/main$"',
}


@pytest.fixture
def hooked(repo: paths.Place) -> Callable[[str], None]:
    def install(name: str) -> None:
        folder = Path(repo.common, "odd hooks")
        folder.mkdir()
        (folder / name).write_text(f"#!/bin/sh\n{HOOKS[name]}\n")
        (folder / name).chmod(0o755)
        git(repo.root, "config", "core.hooksPath", str(folder))

    return install


def test_a_failing_post_merge_hook_does_not_undo_what_stands(repo: paths.Place, agent: Agent, hooked) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    hooked("post-merge")

    merged(repo)

    assert Path(repo.root, "new.txt").exists()
    assert git(repo.root, "status", "--porcelain", "--untracked-files=no") == ""


def test_a_hook_that_refuses_the_move_leaves_the_files_as_they_were(repo: paths.Place, agent: Agent, hooked) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    before = state(repo.root)
    hooked("reference-transaction")

    with pytest.raises(IbError):
        merged(repo)

    git(repo.root, "config", "--unset", "core.hooksPath")
    assert state(repo.root) == before
    assert agents.exists(repo, "w")
    merged(repo)


def test_the_users_settings_for_merges_do_not_change_what_is_done(repo: paths.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    for key, value in {
        "merge.ff": "false",
        "branch.main.mergeOptions": "--squash --no-commit",
        "merge.conflictStyle": "diff3",
        "log.showSignature": "true",
        "core.autocrlf": "true",
        "status.showUntrackedFiles": "no",
        "merge.autoStash": "true",
    }.items():
        git(repo.root, "config", key, value)

    merged(repo)

    assert subjects(repo.root, "-1") == ["Merge agent w work"]
    assert Path(repo.root, "new.txt").read_bytes() == b"new\r\n"


def test_commits_are_signed_where_the_user_signs_and_a_failing_signature_changes_nothing(
    repo: paths.Place, agent: Agent, tmp_path: Path
) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    signer = tmp_path / "signer"
    signer.write_text("#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho SIGNED\n")
    signer.chmod(0o755)
    git(repo.root, "config", "commit.gpgSign", "true")
    git(repo.root, "config", "gpg.program", "false")
    before = state(repo.root)

    with pytest.raises(IbError, match="could not make the commit") as refused:
        merged(repo)
    assert "gpg failed to sign" in refused.value.cause or "failed to write commit object" in refused.value.cause
    assert state(repo.root) == before

    git(repo.root, "config", "gpg.program", str(signer))
    merged(repo)
    assert "gpgsig SIGNED" in git(repo.root, "cat-file", "commit", "HEAD")


def test_without_an_identity_git_says_so_and_nothing_is_changed(repo: paths.Place, agent: Agent, monkeypatch) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    for role in ("AUTHOR", "COMMITTER"):
        for key in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{role}_{key}")
    git(repo.root, "config", "user.useConfigOnly", "true")
    before = state(repo.root)

    with pytest.raises(IbError) as refused:
        merged(repo)
    assert "no email was given" in refused.value.cause
    assert "git config user.name" in refused.value.hint
    assert state(repo.root) == before


def test_the_test_runs_on_the_merged_work_and_gates_it(repo: paths.Place, agent: Agent) -> None:
    commit(agent(repo, "w"), "new.txt", "new\n")
    commit(repo.root, "other.txt", "other\n")
    before = state(repo.root)
    said: list[str] = []

    with pytest.raises(IbError, match="test fails on the merged work"):
        merge.merge(
            repo, USER, merge.Wish("w", "", "cat new.txt other.txt; exit 7", repo.root), lambda lines: True, said.append
        )
    assert said[-2:] == ["  new", "  other"]
    assert state(repo.root) == before
    assert len(git(repo.root, "worktree", "list").splitlines()) == 2

    merged(repo, test="test -f new.txt && test -f other.txt && ! test -e .ittybitty")
    assert Path(repo.root, "new.txt").exists()


def test_who_may_merge_what_into_what(repo: paths.Place, agent: Agent) -> None:
    lead, other = agent(repo, "lead"), agent(repo, "other")
    commit(agent(repo, "w", "lead"), "new.txt", "new\n")

    with pytest.raises(IbError, match="other may not merge w"):
        merged(repo, caller=manager("other"), cwd=str(other))
    with pytest.raises(IbError, match="cannot merge itself"):
        merged(repo, "lead", caller=manager("lead"), cwd=str(lead))
    with pytest.raises(IbError, match="lead may not merge into main"):
        merged(repo, into="main", caller=manager("lead"), cwd=str(lead))
    with pytest.raises(IbError, match="into itself"):
        merged(repo, into="agent/w")


def test_the_agents_of_a_merged_manager_get_the_manager_above(repo: paths.Place, agent: Agent) -> None:
    agent(repo, "top")
    commit(agent(repo, "lead", "top"), "new.txt", "new\n")
    agent(repo, "w", "lead")

    said = merged(repo, "lead")

    assert "Its own agents get the manager top: w" in said
    assert agent_meta.read(repo, "w")["manager"] == "top"


def test_an_agent_without_a_branch_has_nothing_to_merge(repo: paths.Place, agent: Agent) -> None:
    folder = Path(repo.agent_dir("w"))
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text('{"id": "w", "worktree": false}')

    with pytest.raises(IbError, match="no branch agent/w") as refused:
        merged(repo)
    assert refused.value.hint == "ib kill w"


def test_a_branch_with_a_worktree_that_is_gone_can_be_merged(repo: paths.Place, agent: Agent) -> None:
    worker = agent(repo, "w")
    commit(worker, "new.txt", "new\n")
    git(repo.root, "worktree", "remove", str(worker))

    merged(repo)

    assert Path(repo.root, "new.txt").exists()


def test_histories_that_have_nothing_in_common_are_refused(repo: paths.Place, agent: Agent) -> None:
    worker = agent(repo, "w")
    git(worker, "checkout", "-q", "--orphan", "fresh")
    commit(worker, "fresh.txt", "fresh\n")
    git(worker, "branch", "-f", "agent/w")
    git(worker, "checkout", "-q", "agent/w")
    lead = agent(repo, "lead")
    agent_meta.change(repo, "w", manager="lead")

    with pytest.raises(IbError, match="could not try the merge") as refused:
        merged(repo)
    assert "unrelated histories" in refused.value.cause
    with pytest.raises(IbError, match="no history in common"):
        merged(repo, caller=manager("lead"), cwd=str(lead))


def test_binary_files_links_and_modes_come_out_as_they_are(repo: paths.Place, agent: Agent) -> None:
    worker = agent(repo, "w")
    (worker / "bin").write_bytes(bytes(range(256)))
    (worker / "run").write_text("#!/bin/sh\n")
    (worker / "run").chmod(0o755)
    (worker / "link").symlink_to("run")
    (worker / b"\xff name".decode(errors="surrogateescape")).write_text("odd\n")
    git(worker, "add", "-A")
    git(worker, "commit", "-q", "-m", "all kinds")

    merged(repo)

    root = Path(repo.root)
    assert (root / "bin").read_bytes() == bytes(range(256))
    assert os.access(root / "run", os.X_OK)
    assert os.readlink(root / "link") == "run"
    assert (root / b"\xff name".decode(errors="surrogateescape")).exists()


def test_the_drivers_know_every_checkout(repo: paths.Place, agent: Agent, tmp_path: Path) -> None:
    worker = agent(repo, "w")
    odd = tmp_path / "odd\nname 'ü'"
    git(repo.root, "worktree", "add", "-q", "--detach", str(odd))
    gone = tmp_path / "gone"
    git(repo.root, "worktree", "add", "-q", "-b", "gone", str(gone))
    for path in sorted(gone.rglob("*"), reverse=True):
        path.unlink()
    gone.rmdir()

    found = {one.path: one.ref for one in checkouts.all_of(repo.root, repo.root, repo.common)}

    assert found == {repo.root: "refs/heads/main", str(worker): "refs/heads/agent/w", str(odd): ""}
    assert refs.head_of(str(odd)) == ""


def test_a_submodules_commits_that_nobody_else_has_stop_the_merge(
    repo: paths.Place, agent: Agent, tmp_path: Path
) -> None:
    library = make_repo(tmp_path / "library").root
    git(repo.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "odd lib")
    git(repo.root, "commit", "-q", "-m", "with a library")
    worker = agent(repo, "w")
    git(worker, "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init")
    commit(worker / "odd lib", "inside.txt", "inside\n")
    git(worker, "commit", "-q", "-a", "-m", "a newer library")
    before = tip(repo.root)

    with pytest.raises(preview.Blocked, match="submodules that nobody else has") as blocked:
        merged(repo)
    assert blocked.value.files == ["odd lib"]
    assert tip(repo.root) == before

    git(worker / "odd lib", "push", "-q", "origin", "HEAD:refs/heads/new")
    merged(repo)
    assert subjects(repo.root, "-1") == ["Merge agent w work"]


def test_a_git_that_fails_half_way_leaves_no_file_behind(repo: paths.Place, agent: Agent) -> None:
    """A filter that the user requires fails for the last file, when the others are written already."""
    commit(repo.root, "old/gone.txt", "gone\n")
    commit(repo.root, "kind.txt", "file\n")
    worker = agent(repo, "w")
    commit(worker, "a/new.txt", "new\n")
    commit(worker, "file.txt", "theirs\n")
    git(worker, "rm", "-q", "-r", "old")
    (worker / "kind.txt").unlink()
    (worker / "kind.txt").symlink_to("file.txt")
    git(worker, "add", "-A")
    git(worker, "commit", "-q", "-m", "more")
    commit(worker, "zz.bad", "bad\n")
    Path(repo.common, "info/attributes").write_text("*.bad filter=bad\n")
    git(repo.root, "config", "filter.bad.smudge", "false")
    git(repo.root, "config", "filter.bad.clean", "cat")
    git(repo.root, "config", "filter.bad.required", "true")
    before = state(repo.root)

    with pytest.raises(IbError, match="could not be moved"):
        merged(repo)

    assert state(repo.root) == before
    assert not Path(repo.root, "a").exists()
    assert agents.exists(repo, "w")
