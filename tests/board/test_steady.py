"""What those are told who wait for a board that is gone."""

import pytest

from ibstatus.board.port import Board, Broken, Gone
from ibstatus.board.reconnect import Steady


class Rung(Exception):
    """It was opened once more: seen enough."""


def test_whether_a_change_was_made_is_told_to_those_who_make_one() -> None:
    said = list[str]()
    steady = Steady(lambda: pytest.fail("not opened here"), said.append)

    steady.lost(Broken("It broke off", cause="whether it was made is not known"))

    assert said == ["It broke off; trying again until it is back (whether it was made is not known)"]


@pytest.mark.parametrize(
    ("gone", "text"),
    [(Broken("It broke off", cause="not known"), "It broke off"), (Gone("It is away", cause="no route"), "It is away")],
)
def test_who_only_asks_is_told_what_is_wrong_alone(gone: Gone, text: str) -> None:
    said = list[str]()
    tries = iter([gone, Rung()])

    def open_board() -> Board:
        raise next(tries)

    with Steady(open_board, said.append) as steady, pytest.raises(Rung):
        steady.ask(lambda board: board.last_seq())

    cause = "" if isinstance(gone, Broken) else " (no route)"
    assert said == [f"{text}; trying again until it is back{cause}"]
