"""A tenth of what `bench/rungs.py` plays: all rungs armed, Esc, subagents, one kill -9; each message once a turn."""

import pytest

from tests.peers.ladder import Ladder
from tests.peers.rounds import Rounds

pytestmark = pytest.mark.peer


@pytest.mark.timeout(300)
def test_each_message_is_told_once_in_a_turn_that_ends(tui, repo, api, tmp_path) -> None:
    ladder = Ladder(repo, api, tmp_path / "hooks.log")
    ladder.install()
    rounds = Rounds(ladder, tui(ladder.root))
    rounds.begin()

    rounds.play(20, killed=10)

    assert [heard for heard in rounds.heard() if not heard.is_right] == []
    assert len(rounds.heard()) == 21
    assert sum(heard.in_vain for heard in rounds.heard()) > 3
