"""What is printed as JSON: frozen records. Cold: the hot set never loads this."""

from typing import Literal

import msgspec

Level = Literal["ok", "note", "warn", "fail"]


class Finding(msgspec.Struct, frozen=True):
    """One line of `ib doctor`: how bad, about what, a sentence, and what to type where something can be done."""

    level: Level
    subject: str
    text: str
    hint: str = ""


class Setup(msgspec.Struct, frozen=True):
    """What `ib init` made or found. `kept_out_by`: the file that keeps .ittybitty out of git, '' where none has to."""

    root: str
    home: str
    repo_id: str
    made: bool
    kept_out_by: str
    notes: list[str] = []


class Loss(msgspec.Struct, frozen=True):
    """What would go with .ittybitty: counts, and the names of the agents."""

    messages: int
    questions: int
    unread: int
    agents: list[str]

    def parts(self) -> list[str]:
        """As words, without what is none."""
        counted = (
            (self.messages, "unacknowledged message"),
            (self.questions, "open question"),
            (self.unread, "unread queue line"),
        )
        found = [f"{count} {what}{'' if count == 1 else 's'}" for count, what in counted if count]
        if self.agents:
            found.append(f"the records of {', '.join(self.agents)}")
        return found


class GivenBack(msgspec.Struct, frozen=True):
    """A file of the user that ib had touched. `differs` is '' when it has its original bytes."""

    path: str
    differs: str


class Left(msgspec.Struct, frozen=True):
    """What `ib uninstall` removed, where it is kept, and how the touched files are now."""

    removed: list[str]
    kept_in: str
    lost: Loss
    files: list[GivenBack]
