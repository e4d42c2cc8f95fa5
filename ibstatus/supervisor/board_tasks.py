"""What agents do is carried to the board: tasks of the living are kept, those of the complete are done."""

import time
from collections.abc import Collection, Mapping, Sequence

from ibstatus.board import holdings, opening
from ibstatus.board.port import Board, Lost
from ibstatus.errors import IbError
from ibstatus.mail import inbox
from ibstatus.merge.queue import branches, notices
from ibstatus.merge.rules import queue
from ibstatus.model.board import Fence
from ibstatus.model.fleet import Agent
from ibstatus.project import agent_meta, paths
from ibstatus.project import agents as agents_there
from ibstatus.state.rules.notices import SYSTEM
from ibstatus.supervisor.background import Done, Errands
from ibstatus.supervisor.log import Log
from ibstatus.supervisor.notices import WRITER

ELSEWHERE = "the task of {} is on another board than the supervisor's: set board.dsn, or IB_BOARD_DSN where ib runs"


class Boarding:
    """A board may be far away, or gone: what is asked of it is an errand. `over`: of these there is no more to say."""

    def __init__(self, place: paths.Place, errands: Errands, log: Log) -> None:
        self.place = place
        self.errands = errands
        self.log = log
        self.known: dict[tuple[str, float | None], Fence | None] = {}
        self.over: set[Fence] = set()
        self.beaten = queue.NEVER
        self.concerned = False  # at the last beat
        self.keeps = False  # without us leases run out, of paused agents too
        self.tried: dict[Fence, float] = {}

    def look(self, agents: Sequence[Agent], mono: float) -> float | None:
        """When there is something to do next; None where nobody can have a task."""
        mine = [(agent, fence) for agent in agents if (fence := self.fence(agent)) is not None]
        times = [self.finish(fence, agent.said, mono) for agent, fence in mine if queue.is_done(agent)]
        if mono >= self.beaten + queue.BEAT:
            fences = [fence for agent, fence in mine if queue.is_kept(agent)]
            holders = [agent.id for agent in agents if queue.is_at_it(agent)]
            self.concerned = bool(mine or (holders and opening.is_there(self.place)))
            self.keeps = self.keeps and self.concerned
            self.beaten = mono
            if self.concerned:
                self.beat(fences, holders, bool(mine))
        if mine or self.concerned:
            times.append(self.beaten + queue.BEAT)
        return min(times, default=None)

    def fence(self, agent: Agent) -> Fence | None:
        """Which task an agent has is written down once, before its session begins; unless it takes it once more."""
        key = (agent.id, agent.created)
        if key not in self.known:
            known = agent_meta.read(self.place, agent.id)
            fence = holdings.fence(agent.id, known)
            if holdings.is_elsewhere(self.place, [known.get(agent_meta.TASK)]):
                self.log.complain(f"task of {agent.id}", ELSEWHERE.format(agent.id))
                return None
            if fence is None and (not known or agent_meta.TASK in known):
                return None  # it is just being written
            self.known[key] = fence
        fence = self.known[key]
        return None if fence in self.over else fence

    def finish(self, fence: Fence, said: str, mono: float) -> float:
        at = self.tried.get(fence, mono)
        if mono < at:
            return at
        self.tried[fence] = mono + queue.AGAIN

        def errand() -> Done | None:
            text = self.finished(fence, said)
            return lambda: self.ended(fence, text)

        self.errands.add(f"finish {fence.task_id}", errand)
        return self.tried[fence]

    def finished(self, fence: Fence, said: str) -> str:
        board = opening.opened(self.place)
        try:
            return branches.finish(self.place, board, fence, said)
        except Lost as lost:
            return lost.message
        finally:
            board.close()

    def ended(self, fence: Fence, text: str) -> None:
        self.tried.pop(fence, None)
        if self.is_anew(fence):
            return
        self.over.add(fence)
        if text:
            self.log.say(text)

    def beat(self, fences: Sequence[Fence], holders: Sequence[str], opens: bool) -> None:
        """`holders` may have claimed more by themselves; `opens`: the board concerns us whether they have or not."""

        def errand() -> Done | None:
            held, away = self.held(holders)
            beats = [*(holdings.Held(fence, holdings.LEASE) for fence in fences), *held]
            lost = self.lost(beats, set(fences)) if opens or held else {}
            return lambda: self.told(lost, fences, away, len(beats) > len(lost))

        self.errands.add("beat", errand)

    def held(self, agents: Sequence[str]) -> tuple[list[holdings.Held], list[str]]:
        """What they have claimed by themselves; and who has claimed on another board."""
        known = {agent: agent_meta.read(self.place, agent) for agent in agents}
        away = [agent for agent, one in known.items() if holdings.is_elsewhere(self.place, holdings.records(one))]
        found = [held for agent, one in known.items() for held in holdings.of(self.place, agent, one)]
        return [held for held in found if held.is_kept], away

    def told(self, lost: Mapping[Fence, str], spawned: Sequence[Fence], away: Sequence[str], keeps: bool) -> None:
        """Whoever works on what is not theirs any more shall know it. What they have ended themselves meanwhile is not
        on record any more."""
        self.keeps = keeps
        for agent in away:
            self.log.complain(f"task of {agent}", ELSEWHERE.format(agent))
        for fence, letter in lost.items():
            is_claim = fence not in spawned
            if self.is_held(fence) if is_claim else not self.is_anew(fence):
                self.tell(fence, letter)
                self.over.update([] if is_claim else [fence])
            if is_claim:
                holdings.drop(self.place, fence.agent, [fence])

    def is_held(self, fence: Fence) -> bool:
        return any(held.fence == fence for held in holdings.of(self.place, fence.agent))

    def tell(self, fence: Fence, letter: str) -> None:
        """Once, whoever of us is killed before it is written down that it was told."""
        key = f"lost-{fence.task_id}-{fence.attempt}"
        if letter and agents_there.exists(self.place, fence.agent) and not inbox.held(self.place, fence.agent, key):
            inbox.put(self.place, WRITER, fence.agent, SYSTEM, True, letter, time.time(), key)

    def is_anew(self, fence: Fence) -> bool:
        """Has its agent taken the very task once more? Then that is the one to be kept."""
        now = holdings.fence_of(self.place, fence.agent)
        if now is None or now == fence or now.task_id != fence.task_id:
            return False
        self.known.update({key: now for key, old in self.known.items() if old == fence})
        return True

    def lost(self, beats: Sequence[holdings.Held], spawned: Collection[Fence]) -> dict[Fence, str]:
        """Those whose task is over, or somebody else's by now, and what they are to hear of it."""
        board = opening.opened(self.place)
        try:
            gone = [held.fence for held in beats if not is_beaten(board, held)]
            found = {fence: queue.letter(fence, board.task(fence.task_id), fence in spawned) for fence in gone}
            for id in board.sweep():
                self.log.say(f"The lease of task {id} has run out")
            notices.tell(self.place, board, self.log.say)
            return found
        finally:
            board.close()


def is_beaten(board: Board, held: holdings.Held) -> bool:
    """False when it is lost, or is not on this board at all: then the others are kept all the same."""
    try:
        board.beat(*held)
    except Lost:
        return False
    except IbError:
        if board.task(held.fence.task_id) is not None:
            raise
        return False
    return True
