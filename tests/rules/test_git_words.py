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
        ("git rebase -i main", "rebase", False),
        ("git", "", False),
        ("git -C", "", False),
        ("sh checkout", "", False),
        ("", "", False),
    ],
)
def test_the_command_of_a_git(words: str, command: str, switches: bool) -> None:
    assert git_words.command(words.split()) == command
    assert git_words.may_switch(words.split()) == switches
