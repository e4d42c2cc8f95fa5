"""Several at the same board: nothing twice, nothing lost, whoever dies in the middle of it.

No board is open where a process forks: neither SQLite's locks nor a server's socket may be inherited."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ibstatus.board.port import Board, Lost
from ibstatus.errors import IbError
from ibstatus.model.board import Claimer, NewTask
from tests.board.doing import ANY, BRANCH, add, claim_it, fence, finish, known, new, status, told
from tests.children import Child
from tests.until import until

CLAIMERS = 8
TASKS = 200
KILLS = 12
SHORT = 1.5  # a lease that the dead leave behind, and the living do not outlive
ROUNDS = 8

Open = Callable[[], Board]


@contextmanager
def opened(open_board: Open) -> Iterator[Board]:
    board = open_board()
    try:
        yield board
    finally:
        board.close()


def put(open_board: Open, *tasks: NewTask) -> None:
    with opened(open_board) as board:
        for task in tasks:
            board.add(task)


def work_all(open_board: Open, agent: str, lease: float = 900.0, batch: int = 1, on: bool = False) -> list[str]:
    """Claim and finish until nothing is left; what was done, by this agent's account. `on`: both in one step."""
    board, done = open_board(), list[str]()
    while board.tasks(statuses=["pending", "ready", "claimed"], limit=1):
        taken = board.claim(ANY, Claimer(agent, lease), batch)
        try:
            while on and taken:
                held = taken
                taken = board.done_and_claim(
                    [fence(task) for task in held], ANY, Claimer(agent, lease), agent, count=batch
                )
                done += [task.id for task in held]
            done += [task.id for task in board.done([fence(task) for task in taken], agent)]
        except Lost:
            pass  # slower than its lease: somebody else does it
        if not taken:
            time.sleep(0.01)
    return done


def test_each_task_is_done_by_one(open_board: Open) -> None:
    after = [(f"t{number - 1}",) if number % 5 == 4 else () for number in range(TASKS // 4)]
    put(open_board, *(new(f"t{number}", after=after[number]) for number in range(TASKS // 4)))

    children = [
        Child(lambda n=n: work_all(open_board, f"a{n}", batch=1 + n % 3, on=n % 2 == 0)) for n in range(CLAIMERS // 2)
    ]
    done = [id for child in children for id in child.result()]

    assert Counter(done) == Counter(f"t{number}" for number in range(TASKS // 4))
    assert told_once(open_board(), TASKS // 4)


def told_once(board: Board, count: int) -> bool:
    done = [event.task_id for event in board.events(0, 10**6, ["task_done"])]
    return len(done) == len(set(done)) == count == len(board.tasks(statuses=["done"]))


def test_whoever_is_killed_leaves_nothing_stuck_and_nothing_twice(open_board: Open) -> None:
    """Claimers are killed at any moment and replaced; their leases run out, and others do what they had."""
    after = [(f"t{number - 10}",) if number % 20 > 9 else () for number in range(TASKS)]
    put(open_board, *(new(f"t{number}", max_attempts=1000, after=after[number]) for number in range(TASKS)))
    dice, names = random.Random(4), iter(f"a{number}" for number in range(1000))

    def start() -> Child:
        name = next(names)
        return Child(lambda: work_all(open_board, name, SHORT, dice.randint(1, 3), dice.random() < 0.5))

    children = [start() for _ in range(CLAIMERS)]
    for _ in range(KILLS):
        time.sleep(dice.random() / 20)
        victim = dice.randrange(CLAIMERS)
        children[victim].kill()
        children[victim] = start()
    for child in children:
        child.result()

    board = open_board()
    assert told_once(board, TASKS)
    claims = Counter(event.task_id for event in board.events(0, 10**6, ["task_claimed"]))
    ends = Counter(event.task_id for event in board.events(0, 10**6, ["task_retry", "task_done"]))
    assert claims == ends, "each attempt has one end"
    attempts = {task.id: task.attempt for task in board.tasks()}
    assert attempts == dict(claims)


def test_the_first_of_two_that_finish_together_leaves_the_last_to_the_second(open_board: Open) -> None:
    put(open_board, *(new(f"{side}{number}") for number in range(ROUNDS) for side in "ab"))
    put(open_board, *(new(f"t{number}", after=(f"a{number}", f"b{number}")) for number in range(ROUNDS)))

    def finish_all(side: str) -> None:
        mine = open_board()
        for number in range(ROUNDS):
            until(lambda number=number: f"{side}{number}" in mine.ids(side))  # type: ignore[misc]
            finish(mine, f"{side}{number}", agent=side)

    for child in [Child(lambda side=side: finish_all(side)) for side in "ab"]:
        child.result()

    board = open_board()
    assert {status(board, f"t{number}") for number in range(ROUNDS)} == {"ready"}
    ready = [event.task_id for event in board.events(0, 10**4, ["task_ready"]) if str(event.task_id).startswith("t")]
    assert sorted(map(str, ready)) == sorted(f"t{number}" for number in range(ROUNDS))


def test_who_is_added_after_what_is_just_finished_is_not_forgotten(open_board: Open) -> None:
    put(open_board, *(new(f"a{number}") for number in range(ROUNDS)))

    def add_all() -> None:
        mine = open_board()
        for number in range(ROUNDS):
            mine.add(new(f"t{number}", after=(f"a{number}",)))

    def depend_all() -> None:
        mine = open_board()
        for number in range(ROUNDS):
            add(mine, f"u{number}", priority=0)
            mine.depend(f"u{number}", [f"a{number}"])

    def finish_all() -> None:
        mine = open_board()
        for number in range(ROUNDS):
            finish(mine, f"a{number}")

    for child in [Child(work) for work in (add_all, depend_all, finish_all)]:
        child.result()

    board = open_board()
    for number in range(ROUNDS):
        assert [known(board, f"{side}{number}").waits_for for side in "tu"] == [[], []]
        assert [status(board, f"{side}{number}") for side in "tu"] == ["ready", "ready"]


def test_two_cannot_close_a_circle_from_both_sides(open_board: Open) -> None:
    put(open_board, *(new(f"{side}{number}") for number in range(ROUNDS) for side in "ab"))

    def depend_all(one: str, other: str) -> int:
        mine, refused = open_board(), 0
        for number in range(ROUNDS):
            try:
                mine.depend(f"{one}{number}", [f"{other}{number}"])
            except IbError:
                refused += 1
        return refused

    children = [Child(lambda sides=sides: depend_all(*sides)) for sides in ("ab", "ba")]

    assert sum(child.result() for child in children) == ROUNDS
    board = open_board()
    for number in range(ROUNDS):
        assert sorted(status(board, f"{side}{number}") for side in "ab") == ["pending", "ready"]


def test_one_of_many_mergers_takes_an_entry(open_board: Open) -> None:
    put(open_board, *(new(f"t{number}") for number in range(ROUNDS)))
    with opened(open_board) as board:
        for number in range(ROUNDS):
            finish(board, f"t{number}", BRANCH)

    def take_all() -> list[int]:
        mine = open_board()
        return [entry.id for entry in mine.entries() if mine.merging(entry.id)]

    children = [Child(take_all) for _ in range(3)]

    assert sorted(id for child in children for id in child.result()) == [entry.id for entry in open_board().entries()]


def test_a_reader_of_the_stream_misses_nothing_while_others_write(open_board: Open) -> None:
    def write(name: str) -> None:
        mine = open_board()
        for number in range(ROUNDS * 3):
            add(mine, f"{name}{number}")

    children = [Child(lambda name=name: write(name)) for name in "abc"]
    board, seen, since = open_board(), list[str](), 0
    while len(seen) < ROUNDS * 9:
        for event in board.events(since, 5):
            seen.append(str(event.task_id))
            since = event.seq
    for child in children:
        child.result()

    assert [f"task_ready {id}" for id in seen] == told(board)


def test_a_change_is_seen_by_who_opens_the_board_next(open_board: Open) -> None:
    put(open_board, new("t"))

    assert Child(lambda: claim_it(open_board(), "t").attempt).result() == 1

    assert [status(open_board(), "t") for _ in range(2)] == ["claimed", "claimed"]
