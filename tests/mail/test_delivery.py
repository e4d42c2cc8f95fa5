"""Offered, then confirmed: under any order of events, crashes and two sessions."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ibstatus.mail import delivery

SESSIONS = ("a", "b")
EVENTS = (delivery.START, delivery.PROMPT, delivery.BATCH, delivery.STOP)
CRASHES = ("none", "none", "none", "claimed", "printed")
NO_IDS = ("", *delivery.MARKS)


class Listener:
    """What a session has really seen, and under which prompt. Lines are numbered from 0."""

    def __init__(self, begin: int) -> None:
        self.begin = begin
        self.done = begin
        self.printed: set[int] = set()
        self.under: dict[str, set[int]] = {}
        self.at_start: set[int] = set()


class Deliveries(RuleBasedStateMachine):
    """The model, and what must hold. `happen` is the machine under test."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.turn = 0
        self.listeners: dict[str, Listener] = {}

    def add(self) -> None:
        """One more line at the end of the queue."""

    def cut(self, line: int) -> None:
        """Trim the queue before this line."""

    def happen(self, session: str, event: str, prompt: str, crash: str) -> tuple[list[int], list[tuple[int, bool]]]:
        """(lines that this event confirmed, lines that it printed with their mark); it may crash on the way."""
        raise NotImplementedError

    @rule(number=st.integers(1, 3))
    def append(self, number: int) -> None:
        for _ in range(number):
            self.add()
            self.count += 1

    @rule()
    def trim(self) -> None:
        if len(self.listeners) == len(SESSIONS):
            self.cut(min(listener.done for listener in self.listeners.values()))

    @rule(
        session=st.sampled_from(SESSIONS),
        event=st.sampled_from(EVENTS),
        turn=st.sampled_from(("same", "same", "new", "old", *NO_IDS)),
        crash=st.sampled_from(CRASHES),
    )
    def event(self, session: str, event: str, turn: str, crash: str) -> None:
        self.turn += turn == "new"
        prompt = {"same": f"p{self.turn}", "new": f"p{self.turn}", "old": f"p{self.turn - 1}"}.get(turn, turn)
        known = prompt not in NO_IDS and event != delivery.START
        if session not in self.listeners:
            self.listeners[session] = Listener(max([each.done for each in self.listeners.values()], default=0))
        me = self.listeners[session]
        under = me.under.setdefault(prompt, set()) if known else set()
        if known:  # what SessionStart printed is in the context of the first prompt that follows
            under |= me.at_start
            me.at_start = set()
        confirmed, told = self.happen(session, event, prompt, crash)

        assert known or not confirmed, "confirmed by an event without a prompt"
        assert confirmed == list(range(me.done, me.done + len(confirmed)))
        assert under.issuperset(confirmed), "confirmed, but not printed under this prompt"
        me.done += len(confirmed)
        lines = [line for line, _ in told]
        assert lines == list(range(lines[0], self.count)) if lines else True, "a gap, or another order"
        assert event != delivery.STOP or not lines
        for line, again in told:
            assert line >= me.done, "told again, though a turn had confirmed it"
            assert again or line not in me.printed, "a repeat that is not marked"
            assert not again or line in self.claimed(session), "marked, though it was never offered"
        if crash != "claimed":
            me.printed |= set(lines)
            if event == delivery.START:
                me.at_start |= set(lines)
            under |= set(lines)
        self.offered.setdefault(session, set()).update(lines)
        if crash == "none" and event != delivery.STOP:
            assert me.printed.issuperset(range(me.begin, self.count)), "something was not told"

    @property
    def offered(self) -> dict[str, set[int]]:
        return self.__dict__.setdefault("ever", {})

    def claimed(self, session: str) -> set[int]:
        return self.offered.get(session, set())

    @rule(session=st.sampled_from(SESSIONS))
    def whole_turn(self, session: str) -> None:
        """Without a crash everything is confirmed when the turn ends, and the next turn is silent."""
        self.event(session, delivery.PROMPT, "new", "none")
        self.event(session, delivery.STOP, "same", "none")
        assert self.listeners[session].done == self.count
        confirmed, told = self.happen(session, delivery.PROMPT, f"p{self.turn}x", "none")
        assert (confirmed, told) == ([], [])

    @invariant()
    def nothing_is_done_that_was_not_printed(self) -> None:
        for listener in self.listeners.values():
            assert listener.printed.issuperset(range(listener.begin, listener.done))


class PureDeliveries(Deliveries):
    WIDTH = 7

    def __init__(self) -> None:
        super().__init__()
        self.base = 0
        self.cursors: dict[str, delivery.Cursor] = {}

    def cut(self, line: int) -> None:
        self.base = max(self.base, line * self.WIDTH)

    def happen(self, session: str, event: str, prompt: str, crash: str) -> tuple[list[int], list[tuple[int, bool]]]:
        end = self.count * self.WIDTH
        known = self.cursors.get(session)
        if known is None:
            known = delivery.first(max([cursor.done for cursor in self.cursors.values()], default=0))
        cursor = delivery.fitted(known, self.base, end)
        step = delivery.step(cursor, event, prompt, end)
        self.cursors[session] = step.settle if crash == "none" or not step.tells else step.claim
        told = range(step.again_from, step.end, self.WIDTH) if step.tells else range(0)
        confirmed = range(cursor.done, step.confirmed, self.WIDTH) if step.confirmed >= 0 else range(0)
        return (
            [offset // self.WIDTH for offset in confirmed],
            [(offset // self.WIDTH, offset < step.fresh_from) for offset in told],
        )


TestPure = PureDeliveries.TestCase
TestPure.settings = settings(max_examples=300, stateful_step_count=40, deadline=None)


def test_fitted_brings_a_cursor_inside() -> None:
    assert delivery.fitted(delivery.Cursor(5, 9, "p"), 0, 20) == delivery.Cursor(5, 9, "p")
    assert delivery.fitted(delivery.Cursor(5, 9, "p"), 7, 20) == delivery.Cursor(7, 9, "p")
    assert delivery.fitted(delivery.Cursor(5, 9, "p"), 12, 20) == delivery.Cursor(12, 12, "p")
    assert delivery.fitted(delivery.Cursor(5, 9, "p"), 0, 6) == delivery.Cursor(5, 6, "p")
    assert delivery.fitted(delivery.Cursor(0, 1 << 62, "!"), 3, 6) == delivery.Cursor(3, 6, "!")


def test_a_prompt_that_looks_like_a_mark_confirms_nothing() -> None:
    for mark in delivery.MARKS:
        cursor = delivery.Cursor(0, 10, mark)
        assert delivery.step(cursor, delivery.STOP, mark, 10).confirmed == -1
        assert delivery.step(cursor, delivery.BATCH, mark, 10).confirmed == -1


def test_esc_before_the_first_token_tells_again() -> None:
    told = delivery.step(delivery.first(0), delivery.PROMPT, "p1", 10).settle
    again = delivery.step(told, delivery.PROMPT, "p2", 10)
    assert (again.again_from, again.fresh_from, again.end) == (0, 10, 10)
    assert again.settle == delivery.Cursor(0, 10, "p2")
    assert delivery.step(again.settle, delivery.STOP, "p1", 10).confirmed == -1
    assert delivery.step(again.settle, delivery.STOP, "p2", 10).settle == delivery.Cursor(10, 10, "p2")


def test_a_second_session_start_tells_again() -> None:
    """After /compact or a resume what the first one printed may be gone."""
    told = delivery.step(delivery.first(0), delivery.START, "", 10).settle
    for prompt in ("", "p1"):
        again = delivery.step(told, delivery.START, prompt, 10)
        assert (again.again_from, again.fresh_from, again.end) == (0, 10, 10)
        assert again.settle == delivery.Cursor(0, 10, delivery.NO_PROMPT)
