"""Any sequence of what can be done to tasks leaves every store where a small model of their life is."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from ibstatus.errors import IbError
from ibstatus.model.board import Claimer, Fence, NewTask
from tests.board.doing import ANY, BRANCH, RUN_OUT
from tests.board.stores import Store

AGENTS = st.sampled_from(["ann", "bob"])
PICK = st.integers(0, 7)
WAITING = ("pending", "pending_approval", "ready")


@dataclass
class One:
    """A task as the model knows it. `branch`: number of its open entry in the merge queue."""

    id: str
    number: int
    priority: int
    after: set[str]
    asks: bool
    given: int
    most: int
    status: str = "draft"
    attempt: int = 0
    holder: str | None = None
    approved: bool = False
    done_by: str | None = None
    branch: int | None = None
    old_branches: list[int] = field(default_factory=list)


class Life(RuleBasedStateMachine):
    fresh: Callable[[], AbstractContextManager[str]]
    store: Store

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.board = self.store.opened(self.stack.enter_context(self.fresh()))
        self.stack.callback(self.board.close)
        self.all: dict[str, One] = {}
        self.entries = 0

    def teardown(self) -> None:
        self.stack.close()

    # the model

    def holding(self, one: One) -> list[str]:
        known = [self.all[id] for id in one.after]
        return sorted(it.id for it in known if it.status != "done" or it.branch is not None)

    def due(self, one: One) -> str:
        if self.holding(one):
            return "pending"
        return "pending_approval" if one.asks and not one.approved else "ready"

    def settle(self) -> None:
        for one in self.all.values():
            if one.status in WAITING:
                one.status = self.due(one)

    def reaches(self, start: str, goal: str) -> bool:
        return start == goal or any(self.reaches(id, goal) for id in self.all[start].after)

    def ready(self) -> list[One]:
        """The best first."""
        ready = [it for it in self.all.values() if it.status == "ready"]
        return sorted(ready, key=lambda it: (-it.priority, it.number))

    def chosen(self, pick: int) -> One:
        return list(self.all.values())[pick % len(self.all)]

    def tried(self, legal: bool, act: Callable[[], object]) -> bool:
        """What the model refuses the board refuses, too."""
        try:
            act()
        except IbError:
            assert not legal
        else:
            assert legal
        return legal

    def back(self, one: One, *, counts: bool) -> None:
        one.holder = None
        one.most += not counts
        one.status = "failed" if one.attempt >= one.most else self.due(one)

    # the verbs

    @rule(picks=st.lists(PICK, max_size=2), priority=st.integers(0, 2), asks=st.booleans(), draft=st.booleans())
    @precondition(lambda self: len(self.all) < 8)
    def add(self, picks: list[int], priority: int, asks: bool, draft: bool) -> None:
        number = len(self.all)
        after = {self.chosen(pick).id for pick in picks} if self.all else set()
        one = One(f"t{number}", number, priority, after, asks and not draft, 1 + number % 2, 1 + number % 2)
        options = {"priority": priority, "requires_approval": one.asks, "draft": draft, "max_attempts": one.given}
        self.board.add(NewTask(one.id, one.id, after=tuple(after), **options))  # type: ignore[arg-type]
        self.all[one.id] = one
        one.status = "draft" if draft else self.due(one)

    @rule(agent=AGENTS, count=st.integers(1, 3), dead=st.booleans())
    def claim(self, agent: str, count: int, dead: bool) -> None:
        ready = self.ready()
        taken = self.board.claim(ANY, Claimer(agent, RUN_OUT if dead else 900.0), count)
        assert [task.id for task in taken] == [it.id for it in ready[:count]]
        for it in ready[:count]:
            it.status, it.holder, it.attempt = "claimed", agent, it.attempt + 1
        if dead:
            assert self.board.sweep() == [it.id for it in sorted(ready[:count], key=lambda it: it.number)]
            for it in ready[:count]:
                self.back(it, counts=True)

    @precondition(lambda self: self.all)
    @rule(pick=PICK, agent=AGENTS, stale=st.booleans(), branch=st.booleans())
    def done(self, pick: int, agent: str, stale: bool, branch: bool) -> None:
        one = self.chosen(pick)
        fence = Fence(one.id, agent, one.attempt - stale)
        again = one.done_by == agent and not stale
        mine = one.holder == agent and not stale
        if self.tried(mine or again, lambda: self.board.done([fence], branch=BRANCH if branch else None)) and mine:
            one.status, one.holder, one.done_by = "done", None, agent
            if branch:
                self.entries += 1
                (one.branch,) = [it.id for it in self.board.entries() if it.task_id == one.id]
            self.settle()

    @precondition(lambda self: self.all)
    @rule(pick=PICK, agent=AGENTS, stale=st.booleans())
    def done_and_claim(self, pick: int, agent: str, stale: bool) -> None:
        one, taken = self.chosen(pick), list[str]()
        fence = Fence(one.id, agent, one.attempt - stale)
        again = one.done_by == agent and not stale
        mine = one.holder == agent and not stale

        def act() -> None:
            taken.extend(task.id for task in self.board.done_and_claim([fence], ANY, Claimer(agent)))

        if not self.tried(mine or again, act):
            return
        if mine:
            one.status, one.holder, one.done_by = "done", None, agent
            self.settle()
        best = self.ready()[:1]
        assert taken == [it.id for it in best]
        for it in best:
            it.status, it.holder, it.attempt = "claimed", agent, it.attempt + 1

    @precondition(lambda self: self.all)
    @rule(pick=PICK, agent=AGENTS, stale=st.booleans(), fails=st.booleans())
    def give_up(self, pick: int, agent: str, stale: bool, fails: bool) -> None:
        one = self.chosen(pick)
        fence = Fence(one.id, agent, one.attempt - stale)
        act = (lambda: self.board.fail(fence, "no")) if fails else (lambda: self.board.release(fence))
        if self.tried(one.holder == agent and not stale, act):
            self.back(one, counts=fails)

    @precondition(lambda self: self.all)
    @rule(pick=PICK)
    def take_back(self, pick: int) -> None:
        one = self.chosen(pick)
        if self.tried(one.status == "claimed", lambda: self.board.take_back(one.id, "mine")):
            self.back(one, counts=False)

    @precondition(lambda self: self.all)
    @rule(pick=PICK)
    def publish(self, pick: int) -> None:
        one = self.chosen(pick)
        if self.tried(one.status == "draft", lambda: self.board.publish(one.id)):
            one.status = self.due(one)

    @precondition(lambda self: self.all)
    @rule(pick=PICK)
    def approve(self, pick: int) -> None:
        one = self.chosen(pick)
        legal = one.status in (*WAITING, "draft", "claimed")
        if self.tried(legal, lambda: self.board.approve(one.id, "me")):
            one.approved = one.asks
            self.settle()

    @precondition(lambda self: self.all)
    @rule(pick=PICK)
    def reject(self, pick: int) -> None:
        one = self.chosen(pick)
        if self.tried(one.status not in ("claimed", "done"), lambda: self.board.reject(one.id, "me", "no")):
            one.status = "rejected"

    @precondition(lambda self: self.all)
    @rule(pick=PICK)
    def retry(self, pick: int) -> None:
        one = self.chosen(pick)
        if self.tried(one.status in ("failed", "rejected"), lambda: self.board.retry(one.id)):
            one.most = one.attempt + one.given
            one.status = self.due(one)

    @precondition(lambda self: self.all)
    @rule(pick=PICK, on=PICK, ends=st.booleans())
    def depend(self, pick: int, on: int, ends: bool) -> None:
        one, other = self.chosen(pick), self.chosen(on)
        legal = one.status in (*WAITING, "draft") and (ends or not self.reaches(other.id, one.id))
        verb = self.board.undepend if ends else self.board.depend
        if self.tried(legal, lambda: verb(one.id, [other.id])):
            one.after = one.after - {other.id} if ends else one.after | {other.id}
            self.settle()

    @precondition(lambda self: any(one.branch for one in self.all.values()))
    @rule(pick=PICK, merged=st.booleans())
    def end_merge(self, pick: int, merged: bool) -> None:
        queued = [one for one in self.all.values() if one.branch]
        one = queued[pick % len(queued)]
        assert one.branch is not None
        if merged:
            self.board.merging(one.branch)
            self.board.merged(one.branch, "f" * 40)
        else:
            self.board.abandon(one.branch, "no")
            one.old_branches.append(one.branch)
        one.branch = None
        self.settle()

    @precondition(lambda self: any(one.old_branches for one in self.all.values()))
    @rule(pick=PICK)
    def requeue(self, pick: int) -> None:
        dropped = [one for one in self.all.values() if one.old_branches]
        one = dropped[pick % len(dropped)]
        one.branch = one.old_branches.pop()
        self.board.requeue(one.branch)
        self.settle()

    # and what must hold after each of them

    @invariant()
    def the_board_stands_where_the_model_does(self) -> None:
        for task in self.board.tasks():
            one = self.all[task.id]
            assert (task.status, task.attempt, task.max_attempts) == (one.status, one.attempt, one.most)
            assert (task.claimed_by, task.done_by) == (one.holder, one.done_by)
            assert (sorted(task.after), sorted(task.waits_for)) == (sorted(one.after), self.holding(one))

    @invariant()
    def the_events_tell_the_same(self) -> None:
        events = self.board.events(0, 10**6)
        assert [event.seq for event in events] == sorted({event.seq for event in events})
        told = [(event.channel, event.task_id) for event in events]
        for one in self.all.values():
            assert told.count(("task_claimed", one.id)) == one.attempt
            assert told.count(("task_done", one.id)) == (one.status == "done")
            last = [channel for channel, id in told if id == one.id and channel.startswith("task_")][-1:]
            if one.status not in ("draft", "pending"):
                assert last == [f"task_{one.status}"]


def test_any_life_of_tasks_follows_the_model(store: Store, tmp_path: Path) -> None:
    class Mine(Life):
        pass

    Mine.store = store
    Mine.fresh = staticmethod(lambda: store.fresh(tmp_path))  # type: ignore[assignment]
    few = settings(max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Mine, settings=few)  # type: ignore[no-untyped-call]
