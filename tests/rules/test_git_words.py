"""Which git is about to have another branch."""

import pytest

from ibstatus.rules import git_words


@pytest.mark.parametrize(
    ("words", "command", "switches"),
    [
        ("git checkout main", "checkout", True),
        ("/usr/bin/git switch -c x", "switch", True),
        ("git -c a.b=c -C .. --no-pager checkout -", "checkout", True),
        ("git --git-dir=.git --work-tree . -P switch x", "switch", True),
        ("git --git-dir checkout log", "log", False),
        ("git -c core.editor=vi commit", "commit", False),
        ("git log checkout", "log", False),
        ("git cat-file --batch", "cat-file", False),
        ("git rebase -i main", "rebase", True),
        ("git checkout -p", "checkout", False),
        ("git checkout main --patch a.txt", "checkout", False),
        ("git checkout main -- a.txt", "checkout", False),
        ("git checkout main --", "checkout", True),  # as a bisect calls it
        ("git", "", False),
        ("git -C", "", False),
        ("sh checkout", "", False),
        ("", "", False),
    ],
)
def test_the_command_of_a_git(words: str, command: str, switches: bool) -> None:
    assert git_words.command(words.split())[0] == command
    assert git_words.may_switch(words.split()) == switches


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("/bin/sh .git/hooks/post-checkout a b 1", True),
        ("/usr/bin/env bash /x/hooks/post-checkout a b 1", True),
        ("git lfs post-checkout a b 1", True),
        (".git/hooks/post-index-change 1 1", False),
        ("", False),
    ],
)
def test_the_hook_that_is_told_of_a_switch(words: str, told: bool) -> None:
    assert git_words.is_told_of_a_switch(words.split()) is told
