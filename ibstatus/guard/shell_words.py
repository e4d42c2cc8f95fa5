"""Words of a Bash command line: quotes resolved, expansions as pieces, never guessed.

A piece is (kind, value, quoted). What cannot be read as bash reads it raises Unreadable.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Piece = tuple[int, Any, bool]

TEXT = 0  # value: text as it stands
GLOB = 1  # one of * ? [ that bash may match with file names
VAR = 2  # name of a variable, with [@] and the like taken off
CODE = 3  # $(…) or `…`: a Seq of rules/guarding/shell
HOME = 4  # ~ or ~user: the user's name
TAME = 5  # a number, whatever it is
OPEN = 6  # nobody knows
CUT = 7  # ${x%pattern}: (name, operator, pattern)
DEFAULT = 8  # ${x:-word}: (name, operator, Word)
PIPE = 9  # <(…): a Seq

ONE_OF = "[]"  # behind the name of an array of which one element is meant
ALL_OF = "[*]"  # … of which all are, in one word

MARK = "\0"
BLANKS = " \t"
ENDS = " \t\n;&|<>()"
MARKS = {ord(char): MARK for char in ENDS + "$`'\"\\*?[{~"}
QUOTE_MARKS = {ord(char): MARK for char in '"$`\\'}
NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
NAME = NAME_START | frozenset("0123456789")
LONE_BRACKET: "list[Piece]" = [(GLOB, "[", False)]  # the command, not a pattern
PART = 4096
DEEPEST = 40
MOST_WORDS = 20_000


class Unreadable(Exception):
    """Why this cannot be read, as the end of a sentence."""


class Word:
    """`text` is None unless nothing in it is left to bash; `codes`: the Seqs that run when it is expanded."""

    __slots__ = ("braces", "codes", "end", "pieces", "quoted", "source", "start", "text")

    def __init__(
        self, source: str, start: int, end: int, pieces: "list[Piece]", quoted: bool, codes: "list[Any] | None"
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.pieces = pieces
        self.quoted = quoted
        self.codes = codes
        self.braces = False
        if len(pieces) == 1 and pieces[0][0] == TEXT:
            self.text: str | None = pieces[0][1]
        elif any(piece[0] != TEXT for piece in pieces):
            self.text = "[" if pieces == LONE_BRACKET else None
        else:
            self.text = "".join([piece[1] for piece in pieces])

    @property
    def raw(self) -> str:
        return self.source[self.start : self.end]

    @property
    def is_plain(self) -> bool:
        """Literal and without quotes, as keywords and file descriptors must be."""
        return self.text is not None and not self.quoted


class Words:
    """Reads words from `text` at `at`. The grammar (rules/guarding/shell) is built on it."""

    def __init__(self, text: str, depth: int = 0, *, in_document: bool = False) -> None:
        if MARK in text or "\1" in text or "\2" in text or "\3" in text or "\4" in text:
            raise Unreadable("it holds control characters")
        self.text = text
        self.end = len(text)
        self.at = 0
        self.depth = depth
        self.count = 0
        self.in_document = in_document
        self.pending: list[Any] = []  # here-documents whose text comes after this line
        self.arithmetic = False
        self.sums: list[list[Piece]] = []  # what is computed
        self.codes: list[Any] | None = None
        self.low = self.high = 0  # the part of the text that `marks` stands for
        self.marks = ""
        self.quote_marks = ""

    def command_in(self, close: str) -> "Any":
        raise NotImplementedError

    def inner(self, text: str) -> "Any":
        raise NotImplementedError

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable("it is nested too deeply")

    def next_mark(self, at: int) -> int:
        """The next character that is no letter of a word. Of a long text only the part at hand is looked at."""
        while True:
            if not self.low <= at < self.high:
                self.low, self.high = at, min(at + PART, self.end)
                self.marks = self.text[at : self.high].translate(MARKS)
            stop = self.marks.find(MARK, at - self.low)
            if stop >= 0:
                return self.low + stop
            at = self.high
            if at >= self.end:
                return self.end

    def next_in_quotes(self, at: int) -> int:
        if not self.quote_marks:
            self.quote_marks = self.text.translate(QUOTE_MARKS)
        stop = self.quote_marks.find(MARK, at)
        if stop < 0:
            raise Unreadable("a quote is not closed")
        return stop

    def word(self) -> Word:
        """The word that begins at `at`; it may be empty when a metacharacter stands there."""
        self.count += 1
        if self.count > MOST_WORDS:
            raise Unreadable("it is too long")
        text, start, end = self.text, self.at, self.end
        outer, self.codes = self.codes, None
        pieces: list[Piece] = []
        quoted = braces = False
        while True:
            at = self.at
            stop = self.next_mark(at)
            if stop > at:
                pieces.append((TEXT, text[at:stop], False))
                self.at = stop
            if stop >= end:
                break
            char = text[stop]
            if char in ENDS:
                if char in "<>" and text[stop + 1 : stop + 2] == "(":
                    self.at = stop + 2
                    pieces.append((PIPE, self.substitution(), False))
                    continue
                break
            if char == "'":
                close = text.find("'", stop + 1)
                if close < 0:
                    raise Unreadable("a quote is not closed")
                pieces.append((TEXT, text[stop + 1 : close], True))
                self.at = close + 1
                quoted = True
            elif char == '"':
                self.at = stop + 1
                self.double(pieces)
                quoted = True
            elif char == "\\":
                quoted = self.escaped(pieces, stop) or quoted
            elif char == "$":
                quoted = text[stop + 1 : stop + 2] in ("'", '"') or quoted
                self.dollar(pieces, False)
            elif char == "`":
                self.nested().backticks(self, pieces, False)
            elif char == "~":
                self.nested().tilde(self, pieces)
            elif char == "{":
                if stop > start and text[stop - 1] == "$":
                    raise Unreadable("it has $${")
                braces = True
                pieces.append((TEXT, "{", False))
                self.at = stop + 1
            else:
                pieces.append((GLOB, char, False))
                self.at = stop + 1
        codes, self.codes = self.codes, outer
        if self.pending and "\n" in text[start : self.at]:
            raise Unreadable("a word goes on over the line of a here-document")
        word = Word(text, start, self.at, pieces, quoted, codes)
        word.braces = braces
        return word

    def expanded(self, word: Word) -> list[Word]:
        """The words that brace expansion makes of it."""
        if not word.braces:
            return [word]
        from ibstatus.guard import shell_braces

        made = shell_braces.expanded(word)
        self.count += len(made)
        return made

    def escaped(self, pieces: "list[Piece]", at: int) -> bool:
        """A backslash outside quotes; False for a line continuation."""
        if at + 1 >= self.end:
            pieces.append((TEXT, "\\", True))
            self.at = at + 1
            return True
        self.at = at + 2
        char = self.text[at + 1]
        if char == "\n":
            return False
        pieces.append((TEXT, char, True))
        return True

    def double(self, pieces: "list[Piece]", close: str = '"') -> None:
        """The inside of double quotes, the closing one included."""
        text = self.text
        pieces.append((TEXT, "", True))
        while True:
            at = self.at
            stop = self.next_in_quotes(at)
            if stop > at:
                pieces.append((TEXT, text[at:stop], True))
            char = text[stop]
            self.at = stop
            if char == '"':
                self.at = stop + 1
                return
            self.in_quotes(pieces, char, stop)

    def in_quotes(self, pieces: "list[Piece]", char: str, stop: int) -> None:
        """$ ` or a backslash inside double quotes or an unquoted here-document."""
        if char == "$":
            self.dollar(pieces, True)
        elif char == "`":
            self.nested().backticks(self, pieces, True)
        else:
            follows = self.text[stop + 1 : stop + 2]
            special = "$`\\\n" if self.in_document else '$`"\\\n'
            if follows and follows in special:
                if follows != "\n":
                    pieces.append((TEXT, follows, True))
                self.at = stop + 2
            else:
                pieces.append((TEXT, "\\", True))
                self.at = stop + 1

    def dollar(self, pieces: "list[Piece]", quoted: bool) -> None:
        text, at = self.text, self.at
        char = text[at + 1 : at + 2]
        if char == "(":
            self.at = at + 2
            if text[at + 2 : at + 3] == "(" and self.nested().is_arithmetic(self, at + 3):
                pieces.append((TAME, "", quoted))
            else:
                self.at = at + 2
                pieces.append((CODE, self.substitution(), quoted))
        elif char == "{":
            from ibstatus.guard import shell_parameters

            self.at = at + 2
            pieces.append(shell_parameters.read(self, quoted))
        elif char in NAME_START and char:
            stop = at + 2
            while stop < self.end and text[stop] in NAME:
                stop += 1
            self.at = stop
            after = text[stop : stop + 2]
            changed = after[:1] == "[" or (after[:1] == ":" and after[1:].isalpha())  # by zsh
            pieces.append((OPEN if changed else VAR, text[at + 1 : stop], quoted))
        elif char and char in "0123456789@*":
            self.at = at + 2
            pieces.append((VAR, char, quoted))
        elif char and char in "#?-$!":
            self.at = at + 2
            pieces.append((TAME, "", quoted))
        elif char == "'" and not quoted:
            from ibstatus.guard import shell_quotes

            value, self.at = shell_quotes.ansi(text, at + 2)
            pieces.append((TEXT, value, True))
        elif char == '"' and not quoted:
            self.at = at + 2
            self.double(pieces)
        elif char and char in "[=~^+":
            raise Unreadable(f"it has ${char}, which not all shells read alike")
        else:
            self.at = at + 1
            pieces.append((TEXT, "$", quoted))

    def substitution(self) -> "Any":
        """What stands in $(…) or <(…), from after the parenthesis to behind the closing one."""
        codes, self.codes = self.codes, None
        code = self.command_in(")")
        self.codes = codes if codes is not None else []
        self.codes.append(code)
        return code

    def nested(self) -> "Any":
        """What stands in backticks, $((…)) and behind a tilde is read by a module that few lines need."""
        from ibstatus.guard import shell_quotes

        return shell_quotes
