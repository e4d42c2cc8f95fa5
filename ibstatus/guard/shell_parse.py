"""A Bash command line as its commands: who runs after whom, in which subshell, with which redirects.

A Seq is a list of chains, a chain (background, [(operator, negated, [commands of a pipe])]), a command a Simple or a
Block. What bash would read otherwise raises Unreadable. Time is linear, nesting bounded.
"""

from ibstatus.guard.shell_words import BLANKS, DEEPEST, ENDS, NAME, NAME_START, Unreadable, Word, Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Pipe = list[Any]
    Chain = tuple[bool, list[tuple[str, bool, Pipe]]]
    Seq = list[Chain]

SUBSHELL, GROUP, IF, LOOP, FOR, CASE, FUNCTION, TEST = "(", "{", "if", "while", "for", "case", "function", "[["
OPENING = frozenset(("if", "while", "until", "for", "select", "case", "function", "coproc", "[["))
CLOSING = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
DECLARES = frozenset(("export", "declare", "typeset", "local", "readonly"))
MOST_COMMANDS = 1_000
LONGEST_NAME = 300  # of a variable with its subscript; a longer one is no name


class Simple:
    """`assigns`: (name, value), name+ for +=, a list of Words for an array. `redirects`: in the line's order."""

    __slots__ = ("assigns", "end", "redirects", "source", "start", "words")

    def __init__(self, source: str, start: int) -> None:
        self.assigns: list[tuple[str, Word | list[Word]]] = []
        self.words: list[Word] = []
        self.redirects: list[Redirect] = []
        self.source = source
        self.start = start
        self.end = start


class Block:
    """A compound command. `name` is a loop's variable or a function's name, `words` what it loops over or tests."""

    __slots__ = ("kind", "name", "parts", "redirects", "words")

    def __init__(self, kind: str, parts: "list[Seq]", name: str = "", words: "list[Word] | None" = None) -> None:
        self.kind = kind
        self.parts = parts
        self.name = name
        self.words = words
        self.redirects: list[Redirect] = []


class Redirect:
    """`target` is the file, or the text of a here-document or here-string."""

    __slots__ = ("descriptor", "operator", "target")

    def __init__(self, operator: str, descriptor: str, target: Word) -> None:
        self.operator = operator
        self.descriptor = descriptor
        self.target = target


class Script:
    """`arithmetic`: an expression is computed somewhere, and that can run what a variable holds."""

    __slots__ = ("arithmetic", "seq", "sums")

    def __init__(self, seq: "Seq", reader: "Reader") -> None:
        self.seq = seq
        self.arithmetic = reader.arithmetic
        self.sums = reader.sums


def read(text: str, depth: int = 0) -> Script:
    reader = Reader(text, depth)
    return Script(reader.whole(), reader)


class Reader(Words):
    def __init__(self, text: str, depth: int = 0, *, in_document: bool = False) -> None:
        super().__init__(text, depth, in_document=in_document)
        self.commands = 0
        if depth > DEEPEST:
            raise Unreadable("it is nested too deeply")

    def whole(self) -> "Seq":
        seq = self.seq(())
        if self.at < self.end:
            raise Unreadable(f"'{self.text[self.at]}' is not expected there")
        self.newline()
        return seq

    def inner(self, text: str) -> "Seq":
        """The commands of a text of its own, that of backticks."""
        reader = Reader(text, self.depth + 1)
        seq = reader.whole()
        self.arithmetic = self.arithmetic or reader.arithmetic
        self.sums += reader.sums
        self.commands += reader.commands
        return seq

    def command_in(self, close: str) -> "Seq":
        self.deeper()
        pending, self.pending = self.pending, []
        seq = self.seq(())
        if not self.text.startswith(close, self.at):
            raise Unreadable(f"'{close}' is missing")
        if self.pending:
            raise Unreadable("a here-document is not closed")
        self.at += 1
        self.pending = pending
        self.depth -= 1
        return seq

    def blanks(self, lines: bool = False) -> None:
        """Over blanks, line continuations and, where a command may begin, comments; `lines`: newlines too."""
        text, at, end = self.text, self.at, self.end
        while at < end:
            char = text[at]
            if char in BLANKS:
                at += 1
            elif char == "\\" and text.startswith("\n", at + 1):
                at += 2
            elif char == "#":
                at = text.find("\n", at)
                at = end if at < 0 else at
            elif char == "\n" and lines:
                self.at = at + 1
                if self.pending:
                    self.newline()
                at = self.at
            else:
                break
        self.at = at

    def newline(self) -> None:
        if self.pending:
            from ibstatus.guard import shell_heredocs

            for pending in self.pending:
                shell_heredocs.take(self, pending)
            self.pending = []

    def peek(self) -> str:
        """The word here if it is plain letters, as keywords are."""
        text, at = self.text, self.at
        if text.startswith("[[", at):
            stop = at + 2
        elif text.startswith("{", at):
            stop = at + 1
        else:
            stop = self.next_mark(at)
        if stop < self.end and text[stop] not in ENDS:
            return ""
        return text[at:stop]

    def seq(self, stops: tuple[str, ...]) -> "Seq":
        """Chains up to one of these keywords, a closing parenthesis, `;;` or the end."""
        seq: Seq = []
        while True:
            self.blanks(lines=True)
            if self.at >= self.end or self.text[self.at] == ")" or self.text.startswith(";", self.at):
                return seq
            word = self.peek()
            if word in CLOSING:
                if word in stops:
                    return seq
                raise Unreadable(f"'{word}' is not expected there")
            parts = self.chain()
            self.blanks()
            char = self.text[self.at : self.at + 1]
            background = char == "&"
            seq.append((background, parts))
            if background or (char == ";" and self.text[self.at + 1 : self.at + 2] not in (";", "&")):
                self.at += 1
            elif char not in ("\n", ";", ")", ""):
                raise Unreadable(f"'{char}' is not expected there")

    def chain(self) -> "list[tuple[str, bool, Pipe]]":
        parts: list[tuple[str, bool, Pipe]] = []
        operator = ""
        while True:
            self.blanks(lines=bool(operator))
            negated, pipe = self.pipe()
            parts.append((operator, negated, pipe))
            self.blanks()
            operator = self.text[self.at : self.at + 2]
            if operator not in ("&&", "||"):
                return parts
            self.at += 2

    def pipe(self) -> "tuple[bool, Pipe]":
        negated, word = False, self.peek()
        while word in ("!", "time"):
            negated ^= word == "!"
            self.at += len(word)
            self.blanks()
            if word == "time" and self.peek() == "-p":
                self.at += 2
                self.blanks()
            word = self.peek()
        pipe: Pipe = []
        while True:
            pipe.append(self.command())
            self.blanks()
            text, at = self.text, self.at
            if not text.startswith("|", at) or text.startswith("||", at):
                return negated, pipe
            self.at += 2 if text.startswith("|&", at) else 1
            self.blanks(lines=True)

    def command(self) -> "Any":
        self.commands += 1
        if self.commands > MOST_COMMANDS:
            raise Unreadable("it has too many commands")
        word = self.peek()
        char = self.text[self.at : self.at + 1]
        if word in OPENING or word == "{" or char == "(":
            from ibstatus.guard import shell_compound

            return shell_compound.read(self, word)
        return self.simple()

    def simple(self) -> "Simple | Block":
        text = self.text
        command = Simple(text, self.at)
        while True:
            self.blanks()
            at = self.at
            char = text[at : at + 1]
            if (char == "&" and text.startswith("&>", at)) or (char in ("<", ">") and not text.startswith("(", at + 1)):
                self.redirect(command.redirects, "")
            elif char in ("", "\n", ";", "&", "|", ")"):
                break
            elif char == "(":
                from ibstatus.guard import shell_compound

                return shell_compound.function(self, command)
            elif not command.words and self.is_assignment(at) and self.assignment(command):
                pass
            else:
                word = self.word()
                if word.is_plain and text[self.at : self.at + 1] in ("<", ">") and is_descriptor(word.text or ""):
                    self.redirect(command.redirects, word.text or "")
                elif text[self.at : self.at + 1] == "(" and self.declares(command, word):
                    command.words.append(word)
                    command.words += self.array()
                else:
                    command.words += self.expanded(word)
            command.end = self.at
        if not (command.words or command.assigns or command.redirects):
            raise Unreadable("a command is missing")
        return command

    def declares(self, command: Simple, word: Word) -> bool:
        """`declare x=(…)`: only these commands take an array for an argument."""
        name = (word.text or "").removesuffix("=").removesuffix("+")
        is_name = word.is_plain and name[:1] in NAME_START and NAME.issuperset(name) and (word.text or "")[-1:] == "="
        return is_name and bool(command.words) and command.words[0].text in DECLARES

    def is_assignment(self, at: int) -> bool:
        """May be one: a quick look, most commands have none."""
        stop = self.text.find("=", at, at + LONGEST_NAME)
        return stop > at and self.text[at] in NAME_START and " " not in self.text[at:stop].partition("[")[0]

    def assignment(self, command: Simple) -> bool:
        """`name=value` in front of a command."""
        from ibstatus.guard import shell_assignments

        return shell_assignments.read(self, command)

    def array(self) -> list[Word]:
        from ibstatus.guard import shell_assignments

        return shell_assignments.array(self)

    def redirect(self, redirects: list[Redirect], descriptor: str) -> None:
        text, at = self.text, self.at
        for operator in ("&>>", "<<<", "<<-", "&>", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">"):
            if text.startswith(operator, at):
                break
        self.at = at + len(operator)
        self.blanks()
        if text[self.at : self.at + 1] in ENDS and text[self.at : self.at + 2] not in ("<(", ">("):
            raise Unreadable(f"'{operator}' has no target")
        word = self.word()
        redirect = Redirect(operator, descriptor, word)
        redirects.append(redirect)
        if operator in ("<<", "<<-"):
            from ibstatus.guard import shell_heredocs

            self.pending.append(shell_heredocs.Pending(word, redirect))


def is_descriptor(text: str) -> bool:
    return text.isdigit() or (text.startswith("{") and text.endswith("}"))
