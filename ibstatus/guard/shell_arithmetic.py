"""Arithmetic runs what stands in brackets in a value: may what is computed here hold anything but numbers?

Looked at only when a line computes. A value is fit when the line itself says that it is a number or a plain name.
"""

from ibstatus.guard.shell_parse import Simple
from ibstatus.guard.shell_words import ALL_OF, CODE, CUT, DEFAULT, NAME, NAME_START, ONE_OF, OPEN, TAME, TEXT, VAR, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ibstatus.guard.shell_flow import Course
    from ibstatus.guard.shell_parse import Seq
    from ibstatus.guard.shell_values import Scope
    from ibstatus.guard.shell_words import Piece

REASON = (
    "What is computed here could hold a command in brackets, which arithmetic runs. Compare with [ … ] instead of "
    "[[ … ]] or (( … )), or take a number from wc -l, grep -c or the like"
)
# The shell sets these to text that can come from anywhere.
FOREIGN = frozenset(
    ("_", "OPTARG", "BASH_REMATCH", "PWD", "OLDPWD", "DIRSTACK", "BASH_COMMAND", "BASH_ARGV", "FUNCNAME", "MAPFILE")
)
COUNTS = frozenset(("nproc", "seq"))
KEEPS = frozenset(("head", "tail", "sort", "uniq", "tac", "tr", "cut"))


def judge(course: "Course", sums: "list[list[Piece]]") -> None:
    for pieces in sums:
        if not Fit(course.scope).pieces(pieces):
            course.unsure(REASON)


def text(course: "Course", value: str) -> None:
    """A word that a command computes: an expression of let, a variable's name."""
    if "\0" in value or not Fit(course.scope).pieces([(TEXT, value, True)]):
        course.unsure(REASON)


class Fit:
    """One question; a variable that depends on itself is judged by its other values."""

    def __init__(self, scope: "Scope") -> None:
        self.scope = scope
        self.asked: set[str] = set()

    def pieces(self, pieces: "list[Piece]") -> bool:
        return all(self.piece(kind, value) for kind, value, _ in pieces)

    def piece(self, kind: int, value: "Any") -> bool:
        if kind == TEXT:
            return "$" not in value and "`" not in value and all(self.variable(name) for name in names(value))
        if kind == VAR:
            return self.variable(bare(value))
        if kind == DEFAULT:
            return self.variable(bare(value[0])) and self.pieces(value[2].pieces)
        if kind == CUT:
            change = value[2].pieces if value[1][0] == "/" else []
            return self.variable(bare(value[0])) and self.pieces(change)
        if kind == CODE:
            return self.output(value)
        return kind == TAME or (kind == OPEN and value not in ("", "*", "?", "[", "~") and self.keys(value))

    def keys(self, name: str) -> bool:
        """Those of an array are numbers unless the line writes [key]=…"""
        values = self.scope.values_of(name) or ()
        words = [word for value in values if isinstance(value, tuple) for word in value if isinstance(word, Word)]
        return None not in values and not any(word.raw[:1] == "[" or word.text is None for word in words)

    def variable(self, name: str) -> bool:
        if name in self.asked:
            return True
        self.asked.add(name)
        if name in FOREIGN:
            return False
        return all(self.value(value) for value in self.scope.values_of(name) or ())

    def value(self, value: "Any") -> bool:
        if isinstance(value, Word):
            return self.pieces(value.pieces)
        if isinstance(value, tuple):
            return all(self.value(one) for one in (value[1:2] if value[:1] in (("each",), ("more",)) else value))
        return value is not None and self.output(value)

    def output(self, seq: "Seq") -> bool:
        """Does $(…) print numbers?"""
        if len(seq) != 1 or len(seq[0][1]) != 1:
            return False
        for command in reversed(seq[0][1][0][2]):
            if not isinstance(command, Simple) or not command.words:
                return False
            name, args = command.words[0].text, command.words[1:]
            if name not in KEEPS or len(args) > 3:
                return self.prints(name or "", args)
        return False

    def prints(self, name: str, args: "list[Word]") -> bool:
        if name in ("echo", "printf"):
            return all(
                self.pieces(word.pieces) for word in args if word.text not in ("-n", "%s", "%d", "%s\\n", "%d\\n")
            )
        given = [word.text or "$" for word in args]
        plain = [word for word in given if word[:1] != "-"]
        if name == "wc":
            return not plain
        if name in ("grep", "egrep", "rg"):
            return len(plain) < 3 and any(word[:1] == "-" and word[1:2] != "-" and "c" in word for word in given)
        if name == "date":
            return all(word[:2] == "+%" and "$" not in word and "`" not in word for word in plain)
        if name == "git":
            return given[:1] == ["rev-list"] and "--count" in given
        if name == "stat":
            return given[:2] in (["-c", "%s"], ["-c", "%Y"], ["-f", "%z"], ["-f", "%m"], ["-c%s"], ["-c%Y"])
        return name in COUNTS or (name == "id" and given == ["-u"]) or (name == "jq" and given[:1] == ["length"])


def bare(name: str) -> str:
    return name.removesuffix(ONE_OF).removesuffix(ALL_OF)


def names(text_: str) -> list[str]:
    """The variables that an expression names."""
    found: list[str] = []
    at, end = 0, len(text_)
    while at < end:
        start = at
        while at < end and text_[at] in NAME:
            at += 1
        if at > start and text_[start] in NAME_START:
            found.append(text_[start:at])
        at += at == start
    return found
