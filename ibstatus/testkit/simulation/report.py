"""What a simulation came to, as it is printed."""

import msgspec


class Judged(msgspec.Struct, frozen=True):
    """One promise: how often it was put to the test, and what broke it."""

    name: str
    text: str
    judged: int
    broken: list[str]


class Report(msgspec.Struct, frozen=True):
    """`kept_in`: where the world was left for a look."""

    agents: int
    hours: float
    seed: int
    acts: dict[str, int]
    promises: list[Judged]
    kept_in: str = ""

    @property
    def holds(self) -> bool:
        return not any(one.broken for one in self.promises)
