"""A dialog that is answered from outside, with a client that reads its keys late, or loses the first ones."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ibstatus.claude.screens.dialogs import Dialog, step_to
from ibstatus.claude.screens.prompt import LOST, SETTLED, Pace

LOOK = 0.25
OPTIONS = ("No, exit", "Yes, I trust this folder")


class Client:
    """Each key is read `delay` after it was pressed; those before `deaf` are thrown away. The list goes round. By where
    the arrow is drawn it goes only `late` afterwards."""

    def __init__(self, at: int, delay: float, deaf: float, late: float) -> None:
        self.at, self.delay, self.deaf, self.late = at, delay, deaf, late
        self.before, self.moved = at, -late
        self.keys: list[tuple[float, str]] = []
        self.chosen = ""

    def press(self, key: str, now: float) -> None:
        if now >= self.deaf:
            self.keys.append((now + self.delay, key))

    def read(self, now: float) -> None:
        while self.keys and self.keys[0][0] <= now and not self.chosen:
            _, key = self.keys.pop(0)
            if key == "Enter":
                self.chosen = OPTIONS[self.at if now - self.moved >= self.late else self.before]
            else:
                self.before, self.moved = self.at, now
                self.at = (self.at + (1 if key == "Down" else -1)) % len(OPTIONS)


@given(
    at=st.sampled_from([0, 1]),
    delay=st.floats(0, LOST * 0.9),
    deaf=st.floats(0, 8),
    late=st.floats(0, SETTLED),
)
def test_however_slow_it_is_the_answer_is_the_one_that_was_meant(
    at: int, delay: float, deaf: float, late: float
) -> None:
    client, pace, pressed = Client(at, delay, deaf, late), Pace(), []
    for tick in range(240):
        now = tick * LOOK
        client.read(now)
        if client.chosen:
            break
        dialog = Dialog("trust", OPTIONS, client.at)
        if pace.is_free(dialog, now):
            key = step_to(dialog, "Yes")[0]
            client.press(key, now)
            pace.pressed(dialog, now)
            pressed.append((now, key))

    assert client.chosen == OPTIONS[1]
    assert all(second - first >= LOST or one != other for (first, one), (second, other) in pairwise(pressed))


def test_the_next_dialog_is_answered_as_soon_as_it_rests() -> None:
    pace = Pace()
    first, second = Dialog("trust", OPTIONS, 1), Dialog("bypass", ("No, exit", "Yes, I accept"), 0)
    assert [pace.is_free(first, at) for at in (100.0, 100.25, 100.5)] == [False, False, True]
    pace.pressed(first, 100.5)
    assert [pace.is_free(first, at) for at in (100.75, 105.0, 105.5)] == [False, False, True]
    assert [pace.is_free(second, at) for at in (106.0, 106.25, 106.5)] == [False, False, True]
